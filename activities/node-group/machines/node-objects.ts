/** Reads and writes the Nodes of machines. */
import type { V1Node } from '@kubernetes/client-node';
import { GROUP_LABEL, VPSIENODE_LABEL } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { isSure, type MachineNodePatch, nodeOfMachine } from '../../../domain/node-group/machine/machine-node.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll, METADATA_ONLY } from '../../kubernetes/list.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import { MERGE_PATCH } from '../group/group-objects.ts';

type Core = Pick<Kubernetes, 'core'>;

/** A Node of which the resourceVersion is known, so that a write can be bound to it. */
export interface SeenNode extends Node {
  readonly resourceVersion: string;
}

/** The Nodes that may be those of a group's machines: its own, and where one has registered without a label, those of no group. */
export async function nodesOfMachines(
  { core }: Core,
  group: string,
  machines: readonly DrivenMachine[],
): Promise<ReadonlyMap<string, SeenNode | null>> {
  if (machines.length === 0) return new Map();
  const own = await nodesWith({ core }, `${GROUP_LABEL}=${group}`);
  const lost = machines.some((machine) => mayHaveNode(machine) && nodeOfMachine(machine, own) === null);
  const nodes = lost ? [...own, ...(await nodesWith({ core }, `!${GROUP_LABEL}`))] : own;
  const found = new Map<string, SeenNode | null>(
    machines.map((machine) => [machine.name, nodeOfMachine(machine, nodes)]),
  );
  // Somebody may have given the node the label of another group, or none: it is there all the same.
  for (const machine of machines) {
    if (machine.node === null || found.get(machine.name) !== null) continue;
    const object = await orNull(core.readNode({ name: machine.node }));
    const node = object === null ? null : ofObject(object);
    if (node === null) continue;
    // Whose Node it is by its label may be a mistake: one that is to be drained first is not taken for gone.
    const isOfAnother = machines.some(
      (other) => other.name === node.labels[VPSIENODE_LABEL] && other.node === node.name,
    );
    const named = machine.drainsFirst && !isOfAnother ? node : null;
    found.set(machine.name, nodeOfMachine(machine, [node]) ?? named);
  }
  return found;
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
export async function deleteNodesOf({ core }: Core, machine: DrivenMachine, guard: () => Promise<void>): Promise<void> {
  const nodes = await candidates(core, machine);
  for (const node of nodes.filter((each) => isSure(machine, each))) {
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
