/** The option `estimate: simple`: how the VPSie autoscaler adds nodes, in place of the simulation. */
import type { NodeGroup } from '../model/node-group.ts';
import type { Amounts } from '../../kernel/amounts.ts';

/** It takes every machine for one of 4 cores and 8 GiB. */
export const SIMPLE_NODE: Amounts = { cpu: 4000, memory: 8 * 1024 ** 3 };
/** It adds one node at a time. */
export const SIMPLE_STEP = 1;
/** The kubelet's default, which it takes for every machine's. */
const PODS_OF_NODE = 110;

/** What pending pods request together, and how many they are (`pods`). */
export type Deficit = Amounts;

/** Whether nodes that were asked for are still on their way: no more are asked for until they are ready. */
export function awaitsNodes({ desired, ready }: { readonly desired: number; readonly ready: number }): boolean {
  return desired > ready;
}

/** How many nodes of one size the deficit fills: the most of CPU, memory and number of pods, at least one for any pod. */
export function nodesForDeficit(deficit: Deficit, node: Amounts = SIMPLE_NODE): number {
  const { pods = 0 } = deficit;
  if (pods === 0) return 0;
  const ofResource = (resource: string): number => Math.ceil((deficit[resource] ?? 0) / (node[resource] ?? Infinity));
  return Math.max(1, ofResource('cpu'), ofResource('memory'), Math.ceil(pods / PODS_OF_NODE));
}

/** The size that the group is to have; null where it stays as it is. */
export function simpleScaleUp(
  { desired, ready, maxNodes }: Pick<NodeGroup, 'maxNodes'> & { readonly desired: number; readonly ready: number },
  deficit: Deficit,
  isCoolingDown: boolean,
): number | null {
  if (isCoolingDown || desired >= maxNodes || awaitsNodes({ desired, ready })) return null;
  return nodesForDeficit(deficit) === 0 ? null : desired + SIMPLE_STEP;
}
