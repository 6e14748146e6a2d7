/** Which Node a machine has become, and what its group puts on that Node. */
import { ownValue } from '../../kernel/record.ts';
import { GROUP_LABEL, MANAGED_LABEL, OFFERING_LABEL, VPSIENODE_LABEL } from '../api/names.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Taint } from '../model/pod.ts';
import type { DrivenMachine } from './driven-machine.ts';

/**
 * The Node of a machine; null where none has registered. Its label says it, or the provider's name of the machine does. A name of
 * the Node alone counts only for one that is younger than the machine: another one may have had the name before.
 */
export function nodeOfMachine<T extends Node>(machine: DrivenMachine, nodes: readonly T[]): T | null {
  return (
    nodes.find((node) => node.labels[VPSIENODE_LABEL] === machine.name && isSure(machine, node)) ??
    nodes.find((node) => isSure(machine, node)) ??
    nodes.find((node) => isNamed(machine, node)) ??
    null
  );
}

/** Whether a Node is certainly of this machine, so that it may be deleted with it. */
export function isSure(machine: Pick<DrivenMachine, 'name' | 'providerId' | 'createdAt'>, node: Node): boolean {
  const label = node.labels[VPSIENODE_LABEL];
  if (label !== undefined && label !== machine.name) return false;
  return label === machine.name || isByProvider(machine, node);
}

/** Whether the provider's own name of the machine is that of the Node. */
export function isByProvider({ providerId }: Pick<DrivenMachine, 'providerId'>, node: Node): boolean {
  if (providerId === null || node.providerId === '') return false;
  // `<provider>://<zone>/<id>` is how cloud controllers write the names of machines.
  return node.providerId === providerId || node.providerId.endsWith(`/${providerId}`);
}

/**
 * The machines that may be the one which became a Node: the one that its label names, or else the one whose name the provider gave it.
 *
 * @param naming all that name the Node; they are the answer where nothing says which of them it is.
 */
export function ownersOf<M extends Pick<DrivenMachine, 'name' | 'providerId'>>(
  node: Node,
  naming: readonly M[],
): readonly M[] {
  const label = node.labels[VPSIENODE_LABEL];
  const labelled = naming.filter(({ name }) => name === label);
  if (labelled.length > 0) return labelled;
  const provided = naming.filter((machine) => isByProvider(machine, node));
  return provided.length > 0 ? provided : naming;
}

function isNamed({ name, node: known, hostname, createdAt }: DrivenMachine, node: Node): boolean {
  const label = node.labels[VPSIENODE_LABEL];
  if (label !== undefined && label !== name) return false;
  return node.name === known || (node.name === hostname && node.createdAt >= createdAt);
}

/** A change of a Node that is written as a merge patch. */
export interface MachineNodePatch {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec?: { readonly taints: readonly Taint[] };
}

/** What a Node lacks of its group's labels and taints, and has too much of startup taints once it is ready; null: nothing. */
export function machineNodePatch(
  group: Pick<NodeGroup, 'name' | 'labels' | 'taints' | 'startupTaints'>,
  machine: Pick<DrivenMachine, 'name' | 'instanceType'>,
  node: Node,
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
  const taints = taintsOf(group, node);
  if (taints === null && Object.keys(labels).length === 0) return null;
  return { metadata: { labels }, ...(taints === null ? {} : { spec: { taints } }) };
}

/** Null where the node has the right ones. */
function taintsOf(
  { taints, startupTaints }: Pick<NodeGroup, 'taints' | 'startupTaints'>,
  node: Node,
): readonly Taint[] | null {
  const isStarted = node.ready.status === 'True';
  const passing = isStarted ? startupTaints.filter((taint) => !taints.some((other) => isSame(taint, other))) : [];
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
