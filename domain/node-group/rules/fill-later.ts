/** What a new node has for its first minute, so that kube-scheduler fills it later than others: taints that are a wish and forbid nothing. */
import type { EpochMs } from '../../kernel/time.ts';
import { FILL_LATER } from '../api/names.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Taint } from '../model/pod.ts';

/** The most of them. */
export const LATEST = 2;
/** kube-scheduler waits up to 10 s after it has refused a pod, and all nodes of one plan are to be there; milliseconds. */
const LATER_MS = 60_000;

/** As many as is said: kube-scheduler prefers nodes with fewer taints of `PreferNoSchedule`, before all else that it weighs. */
export function laterTaints(count: number): readonly Taint[] {
  return Array.from({ length: count }, (_, at) => ({ key: `${FILL_LATER}-${at + 1}`, effect: 'PreferNoSchedule' }));
}

export function isLater({ key, effect }: Taint): boolean {
  return effect === 'PreferNoSchedule' && key.startsWith(`${FILL_LATER}-`);
}

/**
 * Those that the node has for no reason any more, since it has been ready for long enough; what its group gives its nodes stays. Of a group
 * that is being deleted at once: nobody would take them off later.
 */
export function laterOver(
  { taints, ready }: Pick<Node, 'taints' | 'ready'>,
  { taints: own, isDeleting }: Pick<NodeGroup, 'taints' | 'isDeleting'>,
  now: EpochMs,
): readonly Taint[] {
  if (ready.status !== 'True' || (!isDeleting && now - ready.since < LATER_MS)) return [];
  return taints.filter((taint) => isLater(taint) && !own.some(({ key }) => key === taint.key));
}
