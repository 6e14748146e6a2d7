/** Of how many nodes kube-scheduler could speak, and when: what it says of as many again may be from before a node came. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Work } from './pending.ts';

/** In the order of time; each until the next one. */
export type Counted = readonly { readonly at: EpochMs; readonly nodes: number }[];

/** A node is on trial for a quarter of an hour after it was ready, and was there for some time before. */
const KEPT_MS = 3_600_000;

/** With the most nodes that there are, or that waiting pods are told of. */
export function countNodes(before: Counted, { at, nodes }: ClusterState, work: readonly Work[]): Counted {
  const count = work.reduce((most, { first }) => Math.max(most, saidOf(first) ?? 0), nodes.length);
  const all = before.at(-1)?.nodes === count ? before : [...before, { at, nodes: count }];
  return all.filter((_, index) => (all[index + 1]?.at ?? at) >= at - KEPT_MS);
}

/**
 * Whether kube-scheduler has looked at all nodes for the pod, the node among them. It does not say when: for a pod from before the node, it
 * has to speak of more nodes than it could have before.
 */
export function hasLookedAt(pod: Pod, node: Node, { nodes }: ClusterState, counted: Counted): boolean {
  const said = saidOf(pod);
  if (said === null || said < nodes.length) return false;
  const earlier = counted.findLast(({ at }) => at < node.createdAt);
  return pod.createdAt > node.createdAt || (earlier !== undefined && said > earlier.nodes);
}

/** kube-scheduler says of how many nodes none is good. */
function saidOf({ unscheduled }: Pod): number | null {
  const [, count] = /^0\/(\d+) nodes are available/.exec(unscheduled?.message ?? '') ?? [];
  return count === undefined ? null : Number(count);
}
