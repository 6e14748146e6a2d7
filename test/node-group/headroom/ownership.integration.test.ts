/** Machines are held by a label: nothing that deletes a group, or the object of a machine, takes a node away that is not drained. */
import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  API_VERSION,
  DELETE_WITHOUT_DRAIN,
  FILL_LATER,
  GROUP_UID_LABEL,
  KIND,
  MACHINE_FINALIZER,
  NAMESPACE,
  VPSIENODE_LABEL,
} from '../../../domain/node-group/api/names.ts';
import { laterTaints } from '../../../domain/node-group/rules/fill-later.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { merge, NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' } }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

const nameOf = ({ metadata }: V1Node): string => metadata?.name ?? '';
const uidsOf = (objects: readonly { readonly metadata?: { readonly uid?: string } }[]): readonly string[] =>
  objects.map(({ metadata }) => metadata?.uid ?? '').toSorted();

/** A group with nodes of its own, each full of pods of a Deployment; both are called the same. */
async function populated(group: string, nodes: number, spec: Readonly<Record<string, unknown>> = {}) {
  await create(group, spec);
  await cluster.createDeployment(group, nodes * 4, onlyOn(group));
  await cluster.untilRunning(group, nodes * 4);
  await cluster.untilReady(group, nodes);
  await cluster.untilSteady(group);
  return await cluster.group(group);
}

async function create(group: string, spec: Readonly<Record<string, unknown>> = {}) {
  return await cluster.createGroup(group, { offeringIDs: ['small'], ...ownNodes(group), ...spec });
}

/** How each machine of a group is held. */
async function holds(group: string) {
  return (await cluster.machines(group)).map(({ metadata }) => ({
    by: metadata.labels?.[GROUP_UID_LABEL] ?? null,
    owners: metadata.ownerReferences ?? [],
    isKept: metadata.finalizers?.includes(MACHINE_FINALIZER) === true,
  }));
}

async function untilHeld(group: string, count: number): Promise<void> {
  const uid = (await cluster.group(group)).metadata.uid;
  const wanted = Array.from({ length: count }, () => ({ by: uid, owners: [], isKept: true }));
  let is = '';
  await eventually(
    () => `${group} holds its machines: it is ${is}`,
    async () => {
      is = JSON.stringify([await holds(group), await cluster.status(group)]);
      return is.startsWith(`[${JSON.stringify(wanted)},`);
    },
    60_000,
  );
}

async function untilGone(group: string): Promise<void> {
  await eventually(`${group} is gone`, async () => !(await cluster.groupNames()).includes(group), 60_000);
}

/** The nodes of a group that were changed and deleted since a moment, in the order of the audit log, each change once in a row. */
async function nodeWrites(nodes: readonly V1Node[], since: number): Promise<readonly string[]> {
  const names = new Set(nodes.map(nameOf));
  const writes = (await cluster.writes()).flatMap(({ verb, objectRef, requestReceivedTimestamp: at }) =>
    objectRef?.resource === 'nodes' && names.has(objectRef.name ?? '') && Date.parse(at) >= since
      ? [`${verb} ${objectRef.name ?? ''}`]
      : [],
  );
  return writes.filter((write, index) => write !== writes[index - 1]);
}

describe('a group that is deleted in the foreground', () => {
  it('has its nodes drained within its budget, one after the other, and no machine goes before', async () => {
    const group = 'pruned';
    await populated(group, 3, { budgets: [{ nodes: '1' }] });
    const nodes = await cluster.nodes(group);
    const since = Date.now();
    await cluster.deleteGroup(group, 'Foreground');
    await cluster.untilEmpty(group);
    await untilGone(group);
    // Each node is cordoned, with whatever is written of it, and gone before the next one is touched.
    const order = (await nodeWrites(nodes, since)).map((write) => write.split(' '));
    expect(order.map(([verb]) => verb)).toEqual(['patch', 'delete', 'patch', 'delete', 'patch', 'delete']);
    for (const at of [0, 2, 4]) expect(order[at + 1]?.[1]).toBe(order[at]?.[1]);
    expect(await cluster.evictions(group)).toHaveLength(12);
  });

  it('has them drained also where its spec has become invalid meanwhile, and keeps them where that is its policy', async () => {
    // The definition lets a label through that Headroom writes itself.
    const spec = { labels: { [VPSIENODE_LABEL]: 'mine' } };
    for (const [group, deletionPolicy] of [
      ['invalid', 'Drain'],
      ['invalid-kept', 'Orphan'],
    ] as const) {
      await populated(group, 2, { deletionPolicy });
      const before = await cluster.nodes(group);
      await cluster.patchGroup(group, { spec });
      await cluster.untilStatus(group, 'it is invalid', ({ reason }) => reason === 'Invalid');
      await cluster.deleteGroup(group, 'Foreground');
      await untilGone(group);
      expect(uidsOf(await cluster.nodes(group))).toEqual(deletionPolicy === 'Drain' ? [] : uidsOf(before));
      expect(await cluster.evictions(group)).toHaveLength(deletionPolicy === 'Drain' ? 8 : 0);
    }
  });

  it('leaves nodes and machines as they are where that is its policy, and a group of its name takes them over', async () => {
    const group = 'orphaned';
    await populated(group, 2, { deletionPolicy: 'Orphan' });
    const before = [await cluster.nodes(group), await cluster.machines(group), await cluster.pods(group)].map(uidsOf);
    for (const node of await cluster.nodes(group)) {
      const taints = [...(node.spec?.taints ?? []), ...laterTaints(2)];
      await cluster.core.patchNode({ name: nameOf(node), body: { spec: { taints } } }, merge);
    }
    await cluster.deleteGroup(group, 'Foreground');
    await untilGone(group);
    // Nobody would take them off any more.
    const kept = (await cluster.nodes(group)).flatMap(({ spec }) => spec?.taints ?? []);
    expect(kept.map(({ key }) => key).filter((key) => key.startsWith(FILL_LATER))).toEqual([]);
    expect(await holds(group)).toEqual([
      { by: null, owners: [], isKept: false },
      { by: null, owners: [], isKept: false },
    ]);
    await create(group);
    await untilHeld(group, 2);
    await cluster.untilSteady(group);
    const after = [await cluster.nodes(group), await cluster.machines(group), await cluster.pods(group)].map(uidsOf);
    expect(after).toEqual(before);
    expect(await cluster.marked(group)).toEqual([]);
    expect(await cluster.createdNodes(group)).toHaveLength(2);
  });

  it('and made again after somebody took its finalizer off loses nothing either', async () => {
    const group = 'forced';
    await populated(group, 2);
    const before = [await cluster.nodes(group), await cluster.machines(group), await cluster.pods(group)].map(uidsOf);
    await cluster.patchGroup(group, { metadata: { finalizers: null } });
    await cluster.deleteGroup(group, 'Foreground');
    await untilGone(group);
    await create(group);
    await untilHeld(group, 2);
    await cluster.untilSteady(group);
    const after = [await cluster.nodes(group), await cluster.machines(group), await cluster.pods(group)].map(uidsOf);
    expect(after).toEqual(before);
    expect(await cluster.createdNodes(group)).toHaveLength(2);
    const { items: events } = await cluster.core.listNamespacedEvent({ namespace: NAMESPACE });
    expect(events.filter(({ reason }) => reason === 'TakenOver').map(({ involvedObject: { name } }) => name)).toContain(
      group,
    );
  });
});

describe('a machine that an earlier version owned', () => {
  it('is held by the label, and its owner is taken off', async () => {
    const group = 'owned';
    const { metadata } = await populated(group, 1);
    const [machine] = await cluster.machines(group);
    const owner = { apiVersion: API_VERSION, kind: KIND, name: group, uid: metadata.uid, controller: true };
    await cluster.patchMachine(machine?.metadata.name ?? '', {
      labels: { [GROUP_UID_LABEL]: null },
      ownerReferences: [owner],
    });
    await untilHeld(group, 1);
    await cluster.untilSteady(group);
    expect(await cluster.evictions(group)).toEqual([]);
  });
});

describe('a VPSieNode that a person deletes', () => {
  it('is a request to drain its node: the machine goes when the pods have been evicted', async () => {
    const group = 'asked';
    await populated(group, 1);
    const [machine] = await cluster.machines(group);
    const nodes = await cluster.nodes(group);
    const since = Date.now();
    await cluster.deleteMachine(machine?.metadata.name ?? '');
    await cluster.untilNodeGone(nameOf(nodes[0] ?? {}));
    await cluster.untilRunning(group, 4);
    const evictions = await cluster.evictions(group);
    expect(evictions).toHaveLength(4);
    expect(await nodeWrites(nodes, since)).toEqual([
      `patch ${nameOf(nodes[0] ?? {})}`,
      `delete ${nameOf(nodes[0] ?? {})}`,
    ]);
    await eventually('its object is gone too', async () =>
      (await cluster.machines(group)).every(({ metadata }) => metadata.name !== machine?.metadata.name),
    );
  });

  it('waits for a budget of its pods, and none of them is evicted meanwhile', async () => {
    const group = 'held';
    await populated(group, 1);
    await cluster.protect(group, 'none-may-go');
    const [machine] = await cluster.machines(group);
    const [node] = await cluster.nodes(group);
    await cluster.deleteMachine(machine?.metadata.name ?? '');
    await cluster.untilStatus(group, 'told why it waits', ({ facts }) =>
      facts.some((fact) => fact.includes(`${machine?.metadata.name} was deleted`) && fact.includes('none-may-go')),
    );
    expect(await cluster.marked(group)).toEqual([]);
    expect(await cluster.running(group)).toBe(4);
    await cluster.policy.deleteNamespacedPodDisruptionBudget({ namespace: group, name: 'none-may-go' });
    await cluster.untilNodeGone(nameOf(node ?? {}));
    expect(await cluster.evictions(group)).toHaveLength(4);
  });

  it('goes at once, undrained, where an annotation says so', async () => {
    const group = 'at-once';
    await populated(group, 1);
    await cluster.protect(group, 'none-may-go');
    const [machine] = await cluster.machines(group);
    const [node] = await cluster.nodes(group);
    await cluster.patchMachine(machine?.metadata.name ?? '', { annotations: { [DELETE_WITHOUT_DRAIN]: 'true' } });
    await cluster.deleteMachine(machine?.metadata.name ?? '');
    await cluster.untilNodeGone(nameOf(node ?? {}));
    expect(await cluster.evictions(group)).toEqual([]);
  });
});

describe('the definition of VPSieNodes', () => {
  it('that somebody deletes takes no node away that is not drained', async () => {
    const group = 'undefined';
    await populated(group, 2, { budgets: [{ nodes: '1' }] });
    await cluster.protect(group, 'none-may-go');
    const nodes = await cluster.nodes(group);
    const definition = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' } as const;
    const name = 'vpsienodes.autoscaler.vpsie.com';
    await cluster.custom.deleteClusterCustomObject({ ...definition, name });
    await cluster.untilStatus(group, 'told why they wait', ({ facts }) =>
      nodes.every((node) => facts.some((fact) => fact.startsWith(nameOf(node)) && fact.includes('none-may-go'))),
    );
    expect(await cluster.running(group)).toBe(8);
    expect(uidsOf(await cluster.nodes(group))).toEqual(uidsOf(nodes));
    await cluster.policy.deleteNamespacedPodDisruptionBudget({ namespace: group, name: 'none-may-go' });
    for (const node of nodes) await cluster.untilNodeGone(nameOf(node));
    expect(await cluster.evictions(group)).toHaveLength(8);
  });
});
