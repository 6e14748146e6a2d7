/** Nodes in whose place others come. */
import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { never } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([
    { id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 },
    { id: 'large', capacity: { cpu: '8', memory: '16Gi', pods: '110' }, pricePerHour: 0.3 },
  ]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

/** After so many milliseconds without being Ready a node is replaced. */
const UNREADY_MS = 1_200_000;

const nameOf = ({ metadata }: V1Node): string => metadata?.name ?? '';

describe('nodes that are not Ready', () => {
  it('are replaced after 20 minutes and not before, one at a time, each when another one is ready, and the others stay', async () => {
    const group = 'broken';
    const budgets = [{ nodes: '1', reasons: ['NotReady'] }];
    await cluster.createGroup(group, { offeringIDs: ['small'], minNodes: 4, budgets, ...ownNodes(group) });
    await cluster.createDeployment(group, 16, onlyOn(group));
    await cluster.untilRunning(group, 16);
    const before = (await cluster.untilReady(group, 4)).map(nameOf);
    const sound = before.slice(0, 2);
    const broken = before.slice(2);
    // Kubernetes writes whole seconds down.
    const dueAt = Math.ceil(Date.now() / 1000) * 1000 + 20_000;
    for (const name of broken) await cluster.silence(name, dueAt - UNREADY_MS);
    await never(
      'a node goes before its time',
      async () => (await cluster.nodes(group)).some(({ spec }) => spec?.unschedulable === true),
      10_000,
    );
    await Promise.all(broken.map(async (name) => await cluster.untilNodeGone(name)));
    await cluster.untilRunning(group, 16);
    const now = (await cluster.untilReady(group, 4)).map(nameOf);
    expect(now).toEqual(expect.arrayContaining(sound));
    expect(await cluster.createdNodes(group)).toHaveLength(6);
    await cluster.untilSteady(group);

    const since = new Date(dueAt).toISOString();
    const began = new Date(dueAt - 20_000).toISOString();
    const writes = (await cluster.writes()).filter(({ objectRef }) => objectRef?.resource === 'nodes');
    const spans: (readonly [began: string, went: string])[] = [];
    for (const name of broken) {
      const own = writes.filter(({ objectRef }) => objectRef?.name === name);
      const patches = own.filter(({ verb }) => verb === 'patch').map(({ requestReceivedTimestamp: at }) => at);
      expect(patches.filter((at) => at > began && at < since)).toEqual([]);
      const deletion = own.find(({ verb }) => verb === 'delete');
      spans.push([patches.find((at) => at >= since) ?? '', deletion?.requestReceivedTimestamp ?? '']);
    }
    const [first = null, next = null] = spans.toSorted(([a], [b]) => a.localeCompare(b));
    expect(first?.[1]).not.toBe('');
    expect((next?.[0] ?? '') >= (first?.[1] ?? '')).toBe(true);

    // Whole seconds: each replacement was ready before the first pod of its node was evicted, and before that node went.
    const came = (await cluster.machines(group))
      .filter(({ status }) => !before.includes(status?.nodeName ?? ''))
      .map(({ status }) => status?.readyAt ?? '')
      .toSorted();
    const evictions = await cluster.evictions(group);
    for (const [index, readyAt] of came.entries()) {
      const [marked, gone] = spans.toSorted(([a], [b]) => a.localeCompare(b))[index] ?? ['', ''];
      const [evicted = ''] = evictions.filter((at) => at > marked).toSorted();
      // As moments: the text of a whole second comes after that of any part of it.
      expect([Date.parse(readyAt) <= Date.parse(evicted), evicted <= gone]).toEqual([true, true]);
    }
    expect(came).toHaveLength(2);
  }, 300_000);
});
