/**
 * The answer of kube-scheduler to "does this pod fit this node?", for one state of a cluster.
 *
 * `const snapshot = snapshotOf(state); fits(pod, node.name, snapshot)`. The state's bound pods are on their nodes; the pod that is
 * asked about is not one of them. It agrees with the filters of kube-scheduler 1.35 with its default plugins and features, but for
 * what the model does not hold: Dynamic Resource Allocation (never fits), claims that wait for a volume that exists already,
 * volumes that are attached and used by no pod, and disks that a pod names itself and shares with another (iSCSI, RBD).
 */
import type { ClusterState } from '../model/cluster-state.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { explainFit } from './explain.ts';
import { LabelCensus } from './label-census.ts';
import type { FitResult } from './misfit.ts';
import { Packing } from './packing.ts';
import type { Placeable } from './pod-class.ts';
import type { SlotSpec } from './packed.ts';
import { VolumeBook } from './volumes.ts';

export type SnapshotState = Pick<
  ClusterState,
  'nodes' | 'pods' | 'claims' | 'volumes' | 'storageClasses' | 'attachLimits' | 'namespaces'
>;

/** Whether a pod still needs its node: one that has ended does not. */
export function isActive({ phase }: Pick<Pod, 'phase'>): boolean {
  return phase !== 'Succeeded' && phase !== 'Failed';
}

/** A packing without any node, which knows the volumes and selectors of the state. */
function emptyPacking(state: SnapshotState): Packing {
  return new Packing({
    namespaces: state.namespaces,
    volumes: new VolumeBook(state),
    census: new LabelCensus(state.pods),
    setAside: new Map(),
  });
}

/** A node of the cluster as it is. */
export function existingSlot(node: Node, attachLimits: SlotSpec['attachLimits']): SlotSpec {
  const { name, labels, taints, isCordoned, allocatable } = node;
  const none = { group: null, instanceType: null, template: null } as const;
  return { name, labels, taints, isCordoned, allocatable, attachLimits, hostPorts: [], origin: 'existing', ...none };
}

/** Puts pods that are bound on their nodes; those whose node is unknown are nowhere. */
export function placeBound(packing: Packing, pods: readonly Pod[]): void {
  for (const pod of pods) {
    if (pod.node === null || !isActive(pod)) continue;
    const slot = packing.slotOf(pod.node);
    if (slot !== undefined) packing.place(packing.classOf(pod), slot);
  }
}

/** All nodes as they are, with the pods that are bound to them. */
export function snapshotOf(state: SnapshotState): Packing {
  const packing = emptyPacking(state);
  const limits = new Map(state.attachLimits.map((entry) => [entry.node, entry.limits]));
  for (const node of state.nodes) packing.open(existingSlot(node, limits.get(node.name) ?? null));
  placeBound(packing, state.pods);
  return packing;
}

/**
 * Whether the pod fits the node beside what is there.
 *
 * @param pod whose selectors were among those of the snapshot's state.
 * @param node by its name.
 * @throws {Error} for a node that is not in the snapshot.
 */
export function fits(pod: Placeable, node: string, snapshot: Packing): FitResult {
  const slot = snapshot.slotOf(node);
  if (slot === undefined) throw new Error(`the snapshot has no node ${node}`);
  return explainFit(snapshot, snapshot.classOf(pod), slot);
}
