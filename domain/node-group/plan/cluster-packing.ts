/** The cluster as it will be once every machine on its way has come, with pods in their places. */
import { ownValue } from '../../kernel/record.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { InstanceType, Machine, NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Labels, Taint } from '../model/pod.ts';
import type { Amounts } from '../../kernel/amounts.ts';
import { existingSlot, isActive, placeBound } from '../scheduling/fits.ts';
import { Packing } from '../scheduling/packing.ts';
import { type CountedPod, LabelCensus } from '../scheduling/label-census.ts';
import { pour } from '../scheduling/pour.ts';
import type { Slot, SlotSpec } from '../scheduling/packed.ts';
import { namespacesToSetAside } from '../scheduling/term-budget.ts';
import { VolumeBook } from '../scheduling/volumes.ts';
import { type Against, openTo } from './evidence-against.ts';
import { type Daemon, daemonOn, daemonsOf } from './daemons.ts';
import { ownersAmong } from '../machine/machine-node.ts';
import { isComing } from './live-nodes.ts';
import { typeKey } from './type-key.ts';
import { byText, inOrder, pendingWork } from './pending.ts';
import type { Asking } from './pod-kind.ts';

/** Taints of a node that has only just come; they go by themselves. */
export const FRESH_TAINT =
  /^(?:node\.kubernetes\.io\/(?:not-ready|unreachable|network-unavailable)|node\.cloudprovider\.kubernetes\.io\/uninitialized)$/;

/** The labels that a node of the type should have; those of its group are put on it by ourselves. */
export function promisedLabels({ id, labels }: Pick<InstanceType, 'id' | 'labels'>): Labels {
  return {
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'node.kubernetes.io/instance-type': id,
    ...labels,
  };
}

/** The node that a machine of this type becomes, before any pod is on it; startup taints do not count. */
export function templateSlot(
  group: NodeGroup,
  type: InstanceType,
  name: string,
  origin: 'upcoming' | 'new',
  allocatable: Amounts = type.allocatable,
): SlotSpec {
  const { taints = [], missingLabels = [], attachLimits = null, hostPorts = [] } = type.learned ?? {};
  const promised = Object.entries(promisedLabels(type)).filter(([key]) => !missingLabels.includes(key));
  return {
    name,
    labels: { ...Object.fromEntries(promised), ...group.labels, 'kubernetes.io/hostname': name },
    taints: [...group.taints, ...taints],
    isCordoned: false,
    allocatable,
    attachLimits,
    hostPorts,
    origin,
    group: group.name,
    instanceType: type.id,
    template: typeKey(group.name, type.id),
  };
}

/** Opens a node that is to come, with the pods of the DaemonSets that fit it and are not there yet. */
export function openComing(
  packing: Packing,
  spec: SlotSpec,
  daemons: readonly Daemon[],
  present: ReadonlySet<string> = new Set(),
): Slot {
  const slot = packing.open(spec);
  for (const daemon of daemons) {
    const { uid, namespace, labels } = daemon;
    const pod = present.has(uid) ? null : daemonOn(daemon, spec);
    if (pod === null) continue;
    const pods = packing.classOf({ ...pod, namespace, labels, deletesAt: null });
    const misfit = packing.misfit(pods, slot);
    // Room is kept for a pod that may come, also where it is not certain.
    if (misfit === null || misfit === 'NamespaceUnknown' || misfit === 'TooManyTerms') packing.place(pods, slot);
  }
  return slot;
}

/** Nodes that exist, then those on their way, by name; bound pods are on them, pending ones nowhere. */
export function openCluster(state: ClusterState, daemons: readonly Daemon[]): Packing {
  const { namespaces } = state;
  const pods = [...state.pods.filter(isActive), ...(state.coming ?? []), ...daemons.flatMap(podsOf)];
  const census = new LabelCensus(pods);
  const setAside = namespacesToSetAside(pods, census, namespaces);
  const packing = new Packing({ namespaces, volumes: new VolumeBook(state), census, setAside });
  const leaving = new Set(state.leaving);
  const limits = new Map(state.attachLimits.map((entry) => [entry.node, entry.limits]));
  const groups = new Map(state.groups.map((group) => [group.name, group]));
  const there = state.nodes
    .filter(({ name, isDeleting }) => !isDeleting && !leaving.has(name))
    .toSorted((a, b) => byText(a.name, b.name));
  const ownersOf = ownersAmong(state.machines);
  const machines = new Map(
    there.map((node) => [node.name, ownersOf(node).find((machine) => machine.node === node.name)]),
  );
  const isJoining = ({ name }: Node): boolean => {
    const machine = machines.get(name);
    return machine !== undefined && isComing(machine) && machine.phase !== 'Ready';
  };
  for (const node of there.filter((each) => !isJoining(each))) {
    const machine = machines.get(node.name);
    const group = machine === undefined ? undefined : groups.get(machine.group);
    const spec = existingSlot(node, limits.get(node.name) ?? null);
    packing.open({
      ...spec,
      taints: group === undefined ? node.taints : withoutStartup(node.taints, group),
      group: group?.name ?? null,
      instanceType: machine?.instanceType ?? null,
    });
  }
  openUpcoming(
    packing,
    state,
    new Map(there.filter(isJoining).map((node) => [machines.get(node.name), node])),
    daemons,
  );
  placeBound(packing, state.pods);
  return packing;
}

function podsOf({ namespace, labels, pod, byType }: Daemon): readonly CountedPod[] {
  return [pod, ...byType.values()].filter((each) => each !== null).map((each) => ({ ...each, namespace, labels }));
}

/**
 * The cluster with its pending pods, and those that come soon, where they fit: what is left is free. What scaling down begins with.
 *
 * @param against what stands against nodes for pods. Absent: nothing.
 */
export function clusterPacking(
  state: ClusterState,
  daemons: readonly Daemon[] = daemonsOf(state),
  against: (pod: Asking) => Against | null = () => null,
): Packing {
  const packing = openCluster(state, daemons);
  for (const work of inOrder(pendingWork(packing, [...state.pods, ...(state.coming ?? [])]).work)) {
    pour(packing, work.pods, work.names.length, openTo(packing.slots, against(work.first)));
  }
  return packing;
}

export function withoutStartup(taints: readonly Taint[], { startupTaints }: NodeGroup): readonly Taint[] {
  return taints.filter(
    (taint) => !startupTaints.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
}

function openUpcoming(
  packing: Packing,
  state: ClusterState,
  joining: ReadonlyMap<Machine | undefined, Node>,
  daemons: readonly Daemon[],
): void {
  const limits = new Map(state.attachLimits.map((entry) => [entry.node, entry.limits]));
  const groups = new Map(state.groups.map((group) => [group.name, group]));
  const known = new Set(state.nodes.map(({ name }) => name));
  const coming = state.machines
    .filter(
      (machine) => isComing(machine) && (machine.node === null || joining.has(machine) || !known.has(machine.node)),
    )
    .toSorted((a, b) => byText(a.group, b.group) || byText(a.instanceType, b.instanceType) || byText(a.name, b.name));
  for (const machine of coming) {
    const group = groups.get(machine.group);
    const type = (ownValue(state.instanceTypes, machine.group) ?? []).find(({ id }) => id === machine.instanceType);
    const node = joining.get(machine);
    if (group === undefined || (type === undefined && node === undefined)) continue;
    // A machine that has been a node, and whose Node is gone, is no node that comes.
    if (machine.node !== null && node === undefined) continue;
    if (node === undefined) {
      if (type !== undefined) {
        openComing(packing, templateSlot(group, type, machine.name, 'upcoming'), daemons);
      }
      continue;
    }
    const spec = joiningSlot(group, type, node, machine, limits.get(node.name));
    openComing(packing, spec, daemons, daemonsOn(state, node.name));
  }
}

/** A node that has registered and is not ready yet: as it is, with what the group will still put on it. */
function joiningSlot(
  group: NodeGroup,
  type: InstanceType | undefined,
  node: Node,
  machine: Machine,
  attachLimits: Amounts | undefined,
): SlotSpec {
  const own = withoutStartup(node.taints, group).filter(({ key }) => !FRESH_TAINT.test(key));
  const missing = group.taints.filter(
    (taint) => !own.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  const { allocatable: registered } = node;
  // Zones and devices are said later than the rest: until the node is ready, it counts as what it should be.
  const promised = type === undefined ? {} : { ...promisedLabels(type) };
  for (const key of type?.learned?.missingLabels ?? []) Reflect.deleteProperty(promised, key);
  return {
    // Its drivers say later how many volumes it takes.
    ...existingSlot(node, { ...type?.learned?.attachLimits, ...attachLimits }),
    hostPorts: type?.learned?.hostPorts ?? [],
    labels: { ...promised, ...node.labels, ...group.labels },
    taints: [...own, ...missing],
    allocatable:
      (registered['cpu'] ?? 0) > 0 ? { ...registered, ...devicesOf(type, registered) } : (type?.allocatable ?? {}),
    origin: 'upcoming',
    group: group.name,
    instanceType: machine.instanceType,
  };
}

/** Devices that the type has and the node does not say yet. */
function devicesOf(type: InstanceType | undefined, registered: Amounts): Amounts {
  const promised = Object.entries(type?.allocatable ?? {});
  return Object.fromEntries(promised.filter(([name]) => !isBasic(name) && (ownValue(registered, name) ?? 0) === 0));
}

/** Resources that the kubelet says as soon as it registers its node. */
export function isBasic(resource: string): boolean {
  return resource === 'cpu' || resource === 'memory' || resource === 'ephemeral-storage' || resource === 'pods';
}

function daemonsOn({ pods }: ClusterState, node: string): ReadonlySet<string> {
  return new Set(pods.flatMap((pod) => (pod.node === node && pod.owner?.kind === 'DaemonSet' ? [pod.owner.uid] : [])));
}
