/** How many nodes a group is to have, and how many come or go: the arithmetic of the VPSie autoscaler. */
import type { NodeGroup } from '../model/node-group.ts';

interface Size {
  /** Nodes that are there or come. */
  readonly current: number;
  readonly desired: number;
}

/** What a group is to have, within its bounds. Nothing wanted, or 0, is the minimum. */
export function wantedSize(
  desired: number | null,
  { minNodes, maxNodes }: Pick<NodeGroup, 'minNodes' | 'maxNodes'>,
): number {
  return Math.min(Math.max(desired ?? 0, minNodes), maxNodes);
}

/**
 * How many nodes are missing, as far as there may be more (its CalculateNodesToAdd); below 0 where there are too many.
 *
 * @param room how many more the group may have.
 * @param batchSize the most of one decision; 0 for no limit.
 */
export function nodesToAdd({ current, desired }: Size, room: number, batchSize = 0): number {
  const missing = Math.min(desired - current, room);
  return batchSize > 0 ? Math.min(missing, batchSize) : missing;
}

/** How many nodes are too many, as far as the minimum allows; below 0 where there are too few. */
export function nodesToRemove({ current, desired }: Size, minNodes: number): number {
  return Math.min(current - desired, current - minNodes);
}
