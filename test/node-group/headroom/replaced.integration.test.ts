/** Nodes in whose place others come. */
import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, never } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { merge, NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';

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

/** The kubelet of a node says nothing any more since that moment, as far as the API server knows. */
async function silence(name: string, since: number): Promise<void> {
  // Whom kwok does not play, nobody does.
  await cluster.core.patchNode({ name, body: { metadata: { annotations: { 'kwok.x-k8s.io/node': null } } } }, merge);
  await eventually(`${name} is not ready, and stays so`, async () => {
    const { status } = await cluster.core.readNode({ name });
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready?.status !== 'True' && ready?.lastTransitionTime?.getTime() === since) return true;
    const now = { status: 'False', reason: 'KubeletNotReady', lastTransitionTime: new Date(since).toISOString() };
    const conditions = (status?.conditions ?? []).map(({ type, status: is, reason, message }) =>
      type === 'Ready' ? { type, ...now } : { type, status: is, reason, message },
    );
    await cluster.core.patchNodeStatus({ name, body: { status: { conditions } } }, merge);
    return false;
  });
}

describe('nodes that are not Ready', () => {
  it('are replaced after 20 minutes and not before, one at a time within their budget, and the others stay', async () => {
    const group = 'broken';
    const budgets = [{ nodes: '1', reasons: ['NotReady'] }];
    await cluster.createGroup(group, { offeringIDs: ['small'], budgets, ...ownNodes(group) });
    await cluster.createDeployment(group, 12, onlyOn(group));
    await cluster.untilRunning(group, 12);
    const [sound, ...broken] = (await cluster.untilReady(group, 3)).map(nameOf);
    // Kubernetes writes whole seconds down.
    const dueAt = Math.ceil(Date.now() / 1000) * 1000 + 20_000;
    for (const name of broken) await silence(name, dueAt - UNREADY_MS);
    await never(
      'a node goes before its time',
      async () => (await cluster.nodes(group)).some(({ spec }) => spec?.unschedulable === true),
      10_000,
    );
    await Promise.all(broken.map(async (name) => await cluster.untilNodeGone(name)));
    await cluster.untilRunning(group, 12);
    const now = (await cluster.untilReady(group, 3)).map(nameOf);
    expect(now).toContain(sound);
    expect(await cluster.createdNodes(group)).toHaveLength(5);
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
  }, 300_000);
});
