/** Which Node a machine has become, and what its group puts on that Node. */
import { ownValue } from '../../kernel/record.ts';
import { listText } from '../../kernel/sentence.ts';
import { GROUP_LABEL, MANAGED_LABEL, OFFERING_LABEL, VPSIENODE_LABEL } from '../api/names.ts';
import type { Machine, NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Taint } from '../model/pod.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { laterOver, laterTaints } from '../rules/fill-later.ts';
import type { DrivenMachine } from './driven-machine.ts';

type Owner = Pick<Machine, 'name' | 'providerId' | 'node' | 'hostname' | 'createdAt'>;

/**
 * Whose Node it is, of these machines: the only place that says so.
 *
 * @param machines all that may have become one of the Nodes that are asked about.
 * @returns of a Node, the machines that may be the one which became it. The provider's name of a machine cannot be a mistake. Else it is
 *   the one that its label names, where no other names the Node, or that one does as well. Else nobody knows: all that name it.
 */
export function ownersAmong<M extends Owner>(machines: readonly M[]): (node: Node) => readonly M[] {
  const byName = new Map(machines.map((machine) => [machine.name, machine]));
  const byProvider = Map.groupBy(machines, ({ providerId }) => providerId ?? '');
  const byNode = Map.groupBy(machines, ({ node }) => node ?? '');
  const byHostname = Map.groupBy(machines, ({ hostname }) => hostname);
  return (node) => {
    const provided = providerNames(node).flatMap((id) => byProvider.get(id) ?? []);
    if (provided.length > 0) return provided;
    const known = byNode.get(node.name) ?? [];
    const more = (byHostname.get(node.name) ?? []).filter(
      (machine) => !known.includes(machine) && names(machine, node),
    );
    const naming = [...known, ...more];
    const labelled = byName.get(node.labels[VPSIENODE_LABEL] ?? '');
    if (labelled === undefined) return naming;
    return naming.length === 0 || naming.includes(labelled) ? [labelled] : [...naming, labelled];
  };
}

/** Whether the machine names the Node. Another one may have had the name before that its provider gave it. */
function names({ node: known, hostname, createdAt }: Owner, node: Node): boolean {
  return node.name === known || (node.name === hostname && node.createdAt >= createdAt);
}

/** `<provider>://<zone>/<id>` is how cloud controllers write the names of machines: each end of it may be the provider's own. */
function providerNames({ providerId }: Node): readonly string[] {
  const parts = providerId.split('/');
  return parts.map((_, at) => parts.slice(at).join('/')).filter((id) => id !== '');
}

/** By the names of machines, the Node that each has become, or may have; those have none of which none has registered. */
export function nodesByMachine<T extends Node>(
  nodes: readonly T[],
  ownersOf: (node: Node) => readonly Owner[],
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const node of nodes) {
    for (const machine of ownersOf(node)) {
      const other = found.get(machine.name);
      if (other === undefined || rank(machine, node) > rank(machine, other)) found.set(machine.name, node);
    }
  }
  return found;
}

/** A machine may have left a Node behind that nobody has deleted. */
function rank(machine: Owner, node: Node): number {
  return 2 * Number(isByProvider(machine, node)) + Number(machine.node === node.name);
}

/** Whether no other machine can have become the Node, whatever machines there are: its provider says so, or nothing but its label does. */
export function isSure(machine: Owner, node: Node): boolean {
  return isByProvider(machine, node) || (node.providerId === '' && isLabelled(machine, node) && names(machine, node));
}

/** Whether a Node of which the machine is the only owner may be deleted with it: a name alone may be another one's tomorrow. */
export function goesWithMachine(machine: Owner, node: Node): boolean {
  return isByProvider(machine, node) || isLabelled(machine, node);
}

/** Whether it is more than a label of the Node that says so: anybody may write that on any Node. */
export function standsFor(machine: Owner, node: Node): boolean {
  return isByProvider(machine, node) || names(machine, node);
}

function isByProvider({ providerId }: Owner, node: Node): boolean {
  return providerId !== null && providerNames(node).includes(providerId);
}

function isLabelled({ name }: Owner, { labels }: Node): boolean {
  return labels[VPSIENODE_LABEL] === name;
}

/** How many machines a sentence names. */
const NAMED = 3;

/** That nobody knows which of its machines a Node is, as a sentence; null for one that has one at most. */
export function unknownOwner({ name }: Pick<Node, 'name'>, owners: readonly Pick<Owner, 'name'>[]): string | null {
  if (owners.length < 2) return null;
  const machines = listText(owners.map((owner) => owner.name).toSorted(), NAMED);
  return `${name} may be any of the machines ${machines}: neither its providerID nor its label ${VPSIENODE_LABEL} says which`;
}

/** Why a group may not drain a Node, by whose it is, as a sentence; null where it may. */
export function foreignNode(
  group: string,
  node: Node,
  owners: readonly (Owner & Pick<Machine, 'group'>)[],
): string | null {
  const isOwn = owners.some((owner) => owner.group === group && standsFor(owner, node));
  if (!isOwn) return `${node.name} is no node of the NodeGroup ${group}`;
  return unknownOwner(node, owners);
}

/** A change of a Node that is written as a merge patch. */
export interface MachineNodePatch {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec?: { readonly taints: readonly Taint[] };
}

/**
 * What a Node lacks of its group's labels and taints, and of its machine's taints; and has too much of startup taints once it is ready, and
 * of its machine's when it has been ready for long enough. Null: nothing.
 */
export function machineNodePatch(
  group: Pick<NodeGroup, 'name' | 'labels' | 'taints' | 'startupTaints' | 'isDeleting'>,
  machine: Pick<DrivenMachine, 'name' | 'instanceType' | 'fillLater'>,
  node: Node,
  now: EpochMs,
): MachineNodePatch | null {
  const wanted = {
    ...group.labels,
    [MANAGED_LABEL]: 'true',
    [GROUP_LABEL]: group.name,
    [VPSIENODE_LABEL]: machine.name,
    [OFFERING_LABEL]: machine.instanceType,
  };
  const labels = Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => ownValue(node.labels, key) !== value),
  );
  const taints = taintsOf(group, machine, node, now);
  if (taints === null && Object.keys(labels).length === 0) return null;
  return { metadata: { labels }, ...(taints === null ? {} : { spec: { taints } }) };
}

/** Null where the node has the right ones. */
function taintsOf(
  group: Pick<NodeGroup, 'taints' | 'startupTaints' | 'isDeleting'>,
  { fillLater }: Pick<DrivenMachine, 'fillLater'>,
  node: Node,
  now: EpochMs,
): readonly Taint[] | null {
  const isStarted = node.ready.status === 'True';
  // Once the node is ready, pods are on it already.
  const later = isStarted ? [] : laterTaints(fillLater);
  const taints = [...group.taints, ...later.filter((taint) => !group.taints.some((other) => isSame(taint, other)))];
  const passing = [
    ...(isStarted ? group.startupTaints.filter((taint) => !taints.some((other) => isSame(taint, other))) : []),
    ...laterOver(node, group, now),
  ];
  const missing = taints.filter(
    (taint) => !node.taints.some((other) => isSame(taint, other) && (taint.value ?? '') === (other.value ?? '')),
  );
  const left = node.taints.filter((taint) => ![...passing, ...missing].some((other) => isSame(taint, other)));
  return missing.length === 0 && left.length === node.taints.length ? null : [...left, ...missing];
}

/** The API server takes a key with an effect only once. */
function isSame(one: Pick<Taint, 'key' | 'effect'>, other: Pick<Taint, 'key' | 'effect'>): boolean {
  return one.key === other.key && one.effect === other.effect;
}
