/** The nodes of each instance type that there are: what the next one is imagined from. */
import type { ClusterState } from '../model/cluster-state.ts';
import type { Machine } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { isStatic } from '../model/pod-owner.ts';
import { mayBeWanted } from '../rules/desired.ts';
import { byText } from './pending.ts';
import { typeKey } from './type-key.ts';

/** The live nodes of an instance type of a group. */
export interface Examples {
  /** Ready once, with everything that is put on them. */
  readonly settled: Node[];
  /** Registered, and perhaps not complete. */
  readonly joining: Node[];
}

/** Whether the machine is there or will be: it counts for the group's size and its pods may go to it. */
export function isComing(machine: Machine): boolean {
  return mayBeWanted(machine) && machine.phase !== 'Deleting';
}

/** By `typeKey`. Nodes that leave lose what is on them, and are no example any more. */
export function examplesOf({
  nodes,
  machines,
  leaving,
}: Pick<ClusterState, 'nodes' | 'machines' | 'leaving'>): ReadonlyMap<string, Examples> {
  const gone = new Set(leaving);
  const byName = new Map(
    nodes.filter(({ name, isDeleting }) => !isDeleting && !gone.has(name)).map((node) => [node.name, node]),
  );
  const found = new Map<string, Examples>();
  for (const machine of machines.toSorted((a, b) => byText(a.name, b.name))) {
    const node = machine.node === null ? undefined : byName.get(machine.node);
    if (node === undefined || (node.allocatable['cpu'] ?? 0) === 0 || !isComing(machine)) continue;
    const key = typeKey(machine.group, machine.instanceType);
    const examples = found.get(key) ?? { settled: [], joining: [] };
    (machine.phase === 'Ready' ? examples.settled : examples.joining).push(node);
    found.set(key, examples);
  }
  return found;
}

/** The annotation of the pods that the kubelet makes by itself: it deletes others that have it. */
const MIRROR = 'kubernetes.io/config.mirror';

/**
 * Of the pods on the node, those that the kubelet makes by itself, and so on the next node as well. The Node owns them, by its UID, and
 * they are marked as mirrors: the kubelet deletes whatever is marked so and is none of its own.
 */
export function staticPodsOf({ uid }: Node, pods: readonly Pod[]): readonly Pod[] {
  return pods.filter(
    (pod) =>
      isStatic(pod) &&
      pod.owner?.uid === uid &&
      Object.hasOwn(pod.annotations, MIRROR) &&
      pod.deletesAt === null &&
      pod.phase !== 'Succeeded' &&
      pod.phase !== 'Failed',
  );
}
