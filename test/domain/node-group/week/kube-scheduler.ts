/** kube-scheduler, one pod after the other: of the nodes that fit, the one with most left of its CPU. */
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { explainFit } from '../../../../domain/node-group/scheduling/explain.ts';
import { snapshotOf } from '../../../../domain/node-group/scheduling/fits.ts';
import { boundTo } from '../builders.ts';

/** What the pods of a node ask for. */
export function askedOf(pods: readonly Pod[], node: string, resource: string): number {
  return pods.reduce((sum, pod) => sum + (pod.node === node ? (pod.requests[resource] ?? 0) : 0), 0);
}

/**
 * All pods, those that waited with a node or with why they have none.
 *
 * @param refuses what no model knows: a plugin of its own places none of these.
 */
export function scheduled(state: ClusterState, refuses: (pod: Pod) => boolean): Pod[] {
  const { nodes, pods } = state;
  if (pods.every(({ node }) => node !== null)) return [...pods];
  const open = nodes.filter(({ ready }) => ready.status === 'True');
  const packing = snapshotOf({ ...state, nodes: open });
  const free = new Map(
    open.map(({ name, allocatable }) => [name, (allocatable['cpu'] ?? 0) - askedOf(pods, name, 'cpu')]),
  );
  const message = `0/${nodes.length} nodes are available: none fits.`;
  return pods.map((pod) => {
    if (pod.node !== null) return pod;
    const of = packing.classOf(pod);
    const order = open.toSorted((a, b) => (free.get(b.name) ?? 0) - (free.get(a.name) ?? 0));
    const fitting = order.flatMap(({ name }) => packing.slotOf(name) ?? []);
    const best = refuses(pod) ? undefined : fitting.find((slot) => explainFit(packing, of, slot).kind === 'fits');
    if (best === undefined) {
      return { ...pod, unscheduled: { reason: 'Unschedulable', since: pod.createdAt, message } };
    }
    packing.place(of, best);
    free.set(best.name, (free.get(best.name) ?? 0) - (pod.requests['cpu'] ?? 0));
    return boundTo(best.name, pod);
  });
}
