import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeGroupChanged } from '../../../workflows/node-group/messages.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

/** Of one scaling, from what woke the workflow until it is steady: the aim of the issue. */
const MOST_EVENTS = 20;

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let worker: Awaited<ReturnType<HeadroomPlane['startWorker']>>;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([
    { id: 'medium', capacity: { cpu: '16', memory: '32Gi', pods: '110' }, pricePerHour: 0.4 },
    { id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 },
  ]);
  worker = await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

describe('a group from zero', () => {
  it('gets the nodes that pods need in one request, and gives them back when the pods are gone', async () => {
    await cluster.createGroup('pool', { offeringIDs: ['medium'] });
    const { length: before } = await untilQuiet('pool');
    await cluster.createPods('pool-pods', 40);
    await cluster.untilRunning('pool-pods', 40);
    await cluster.untilReady('pool', 3);
    const events = (await untilQuiet('pool')).slice(before);
    expect(events[0]?.workflowExecutionSignaledEventAttributes?.signalName).toBe(nodeGroupChanged.name);
    expect(events.length).toBeLessThanOrEqual(MOST_EVENTS);
    expect(await cluster.machines('pool')).toHaveLength(3);
    expect(await cluster.decisions('pool')).toHaveLength(1);
    expect((await cluster.group('pool')).status).toMatchObject({ desiredNodes: 3, currentNodes: 3, readyNodes: 3 });
    await cluster.core.deleteNamespace({ name: 'pool-pods' });
    await cluster.untilEmpty('pool');
    expect(await cluster.createdNodes('pool')).toHaveLength(3);
  });
});

describe('groups that go by price', () => {
  /** A plan without a change comes once a minute, and the clocks of the processes may differ. */
  const overWithinMs = 180_000;

  it('have the node of large pods filled later than others for a minute, whichever worker is there then', async () => {
    const labels = { cost: 'first' };
    await cluster.createGroup('narrow', { offeringIDs: ['small'], expander: 'price', labels });
    await cluster.createGroup('wide', { offeringIDs: ['medium'], expander: 'price', labels });
    for (const group of ['narrow', 'wide']) await untilQuiet(group);
    await cluster.createNamespace('mixed');
    const large = [{ name: 'main', image: 'test/none:1', resources: { requests: { cpu: '14', memory: '20Gi' } } }];
    await Promise.all([
      cluster.createPod('mixed', 'large', { containers: large, nodeSelector: labels }),
      ...[1, 2, 3, 4, 5, 6].map(async (number) =>
        cluster.createPod('mixed', `small-${number}`, { nodeSelector: labels }),
      ),
    ]);
    await cluster.untilRunning('mixed', 7);
    const wishesOf = async (group: string): Promise<readonly string[]> =>
      (await cluster.nodes(group)).flatMap(({ spec }) => spec?.taints ?? []).map(({ key }) => key);
    expect([await cluster.machines('narrow'), await cluster.machines('wide')].map(({ length }) => length)).toEqual([
      1, 1,
    ]);
    const annotations = { 'autoscaler.vpsie.com/fill-later': '1' };
    expect(await cluster.machines('wide')).toMatchObject([{ metadata: { annotations } }]);
    expect(await wishesOf('narrow')).toEqual([]);
    expect(await wishesOf('wide')).toEqual(['autoscaler.vpsie.com/fill-later-1']);
    await worker.kill();
    worker = await plane.startWorker();
    await eventually('no node is filled later', async () => (await wishesOf('wide')).length === 0, overWithinMs);
  }, 300_000);
});

/** Waits until a group is steady, with the types of its nodes known, and its workflow has nothing more to do. */
async function untilQuiet(group: string) {
  await cluster.untilSteady(group);
  const quietMs = 4_000;
  let last = { length: -1, at: 0 };
  await eventually(`nothing more happens to ${group}`, async () => {
    const { length } = await cluster.history(group);
    if (length !== last.length) last = { length, at: Date.now() };
    return Date.now() - last.at >= quietMs;
  });
  return await cluster.history(group);
}
