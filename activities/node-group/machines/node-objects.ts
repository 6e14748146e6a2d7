/** Reads and writes the Nodes of machines. */
import type { V1Node } from '@kubernetes/client-node';
import { GROUP_LABEL, VPSIENODE_LABEL } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import {
  goesWithMachine,
  isSure,
  type MachineNodePatch,
  nodesByMachine,
  ownersAmong,
} from '../../../domain/node-group/machine/machine-node.ts';
import { withLost } from '../../../domain/node-group/machine/lost.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import { type Sight, sightOf } from '../../../domain/node-group/scale-down/too-few-ready.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll, METADATA_ONLY } from '../../kubernetes/list.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import { MERGE_PATCH } from '../group/group-objects.ts';
import { listEveryMachine } from './machine-objects.ts';
import { machinesOfNode } from './machine-of-node.ts';

type Core = Pick<Kubernetes, 'core'>;

/** A Node of which the resourceVersion is known, so that a write can be bound to it. */
export interface SeenNode extends Node {
  readonly resourceVersion: string;
}

/** Which Nodes the machines of a group have become. */
export interface NodesOfMachines {
  /** The one that a machine has become, or may have; null where there is none. */
  readonly nodeOf: (machine: Pick<DrivenMachine, 'name'>) => SeenNode | null;
  /** The machines that may be the one which became a Node, whichever groups they are of. */
  readonly ownersOf: (node: Node) => readonly DrivenMachine[];
}

/** The Nodes that may be those of a group's machines: its own, and where one has registered without a label, those of no group. */
export async function nodesOfMachines(
  kubernetes: Pick<Kubernetes, 'core' | 'custom'>,
  group: string,
  machines: readonly DrivenMachine[],
): Promise<NodesOfMachines> {
  if (machines.length === 0) return { nodeOf: () => null, ownersOf: () => [] };
  const { core } = kubernetes;
  let ownersOf = ownersAmong(machines);
  const own = await nodesWith({ core }, `${GROUP_LABEL}=${group}`);
  const known = nodesByMachine(own, ownersOf);
  const lost = machines.filter((machine) => mayHaveNode(machine) && !known.has(machine.name));
  const nodes = lost.length > 0 ? [...own, ...(await nodesWith({ core }, `!${GROUP_LABEL}`))] : own;
  // Somebody may have given the node the label of another group: it is there all the same.
  const seen = new Set(nodes.map(({ name }) => name));
  const missing = new Set(lost.flatMap(({ node }) => (node === null || seen.has(node) ? [] : [node])));
  const foreign = await Promise.all([...missing].map(async (name) => await findNode(core, name)));
  const all = [...nodes, ...foreign.filter((node) => node !== null)];
  let found = nodesByMachine(all, ownersOf);
  const isOpen = machines.some((machine) => {
    const node = found.get(machine.name);
    return node !== undefined && !isSure(machine, node);
  });
  if (isOpen) {
    // Those of all groups are many, and a Node without a label is rare.
    ownersOf = ownersAmong(await listEveryMachine(kubernetes));
    found = nodesByMachine(all, ownersOf);
  }
  return { nodeOf: ({ name }) => found.get(name) ?? null, ownersOf };
}

function mayHaveNode({ providerId, node, hostname }: DrivenMachine): boolean {
  return providerId !== null || node !== null || hostname !== '';
}

async function nodesWith({ core }: Core, labelSelector: string): Promise<readonly SeenNode[]> {
  return (await listAll((range) => core.listNode({ ...range, labelSelector }))).map(ofObject);
}

function ofObject({ metadata, spec, status }: V1Node): SeenNode {
  return { ...readNode({ metadata, spec, status }), resourceVersion: metadata?.resourceVersion ?? '' };
}

/** How many nodes of the cluster are ready, and how many are not. Machines of which several have lost their Node are among the latter. */
export async function clusterSight(kubernetes: Pick<Kubernetes, 'core' | 'custom'>): Promise<Sight> {
  const machines = await listEveryMachine(kubernetes);
  const nodes = (await listAll((range) => kubernetes.core.listNode(range))).map(ofObject);
  const names = new Set(nodes.map(({ name }) => name));
  const there = nodes.filter(({ isDeleting }) => !isDeleting);
  return withLost(sightOf(there.map((node) => ({ isReady: node.ready.status === 'True' }))), machines, names);
}

/** Which Nodes there are, all of the cluster where no selector is given: their metadata is read, and nothing else. */
export async function nodeNames(
  { core }: Core,
  selection: { readonly labelSelector?: string } = {},
): Promise<readonly Pick<Node, 'name' | 'uid'>[]> {
  const nodes = await listAll<V1Node>(async (range) => {
    const page: { readonly items: V1Node[] | null } = await core.listNode({ ...range, ...selection }, METADATA_ONLY);
    // The API server writes an empty list of metadata as null.
    return { ...page, items: page.items ?? [] };
  });
  return nodes.map(({ metadata }) => ({ name: metadata?.name ?? '', uid: metadata?.uid ?? '' }));
}

/**
 * Writes a change to exactly this Node, by what it is now.
 *
 * @param seen as it was just now.
 * @param patchOf null where there is nothing to write.
 * @param guard before the write; throws while nothing may be written.
 */
export async function patchNode(
  { core }: Core,
  seen: SeenNode,
  patchOf: (node: Node) => MachineNodePatch | null,
  guard: () => Promise<void>,
): Promise<void> {
  const { name, uid } = seen;
  let present: SeenNode | null = seen;
  await retryOnConflict(`the Node ${name}`, async () => {
    const node = present ?? (await findNode(core, name));
    // The kubelet writes often: what was seen counts for one try.
    present = null;
    const patch = node?.uid === uid ? patchOf(node) : null;
    if (node === null || patch === null) return;
    await guard();
    const body = { ...patch, metadata: { ...patch.metadata, uid, resourceVersion: node.resourceVersion } };
    await orNull(core.patchNode({ name, body }, MERGE_PATCH));
  });
}

/** Null for one that does not exist. */
export async function findNode(core: Core['core'], name: string): Promise<SeenNode | null> {
  const object = await orNull(core.readNode({ name }));
  return object === null ? null : ofObject(object);
}

/** Deletes the Nodes that are certainly of a machine which is gone at its provider. */
export async function deleteNodesOf(
  kubernetes: Pick<Kubernetes, 'core' | 'custom'>,
  machine: DrivenMachine,
  guard: () => Promise<void>,
): Promise<void> {
  const { core } = kubernetes;
  for (const node of await candidates(core, machine)) {
    if (!goesWithMachine(machine, node)) continue;
    const owners = await machinesOfNode(kubernetes, node);
    if (owners.length !== 1 || owners[0]?.uid !== machine.uid) continue;
    await guard();
    await orNull(core.deleteNode({ name: node.name, body: { preconditions: { uid: node.uid } } }));
  }
}

/** Nodes that may be of a machine: by its label, by its name, or where it never had one, all that nobody has labelled. */
async function candidates(core: Core['core'], machine: DrivenMachine): Promise<readonly SeenNode[]> {
  const labelled = await nodesWith({ core }, `${VPSIENODE_LABEL}=${machine.name}`);
  if (labelled.length > 0) return labelled;
  const name = machine.node ?? machine.hostname;
  if (name === '') return machine.providerId === null ? [] : await nodesWith({ core }, `!${GROUP_LABEL}`);
  const named = await findNode(core, name);
  return named === null ? [] : [named];
}
