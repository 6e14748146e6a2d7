/** Nodes that use little go only where metrics say so. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MetricsApi, startMetricsApi } from '../../kernel/servers/metrics-api.ts';
import type { SupervisedProcess } from '../../kernel/servers/supervised-process.ts';
import { never } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { merge, NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let metrics: MetricsApi;
let starter: SupervisedProcess;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  metrics = await startMetricsApi(plane.plane.adminKubeconfig);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  starter = await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
  await metrics?.stop();
});

/** What nodes use from now on, in percent. It is sampled once a minute, and when the starter starts. */
async function use(percent: number): Promise<void> {
  metrics.setNodeUse(percent);
  await starter.stop();
  starter = await plane.startStarter();
}

/** Leaves four pods of a Deployment: one on each of its three nodes, and a second one on one of them. */
async function leaveFour(namespace: string): Promise<void> {
  const pods = await cluster.pods(namespace);
  const byNode = Object.values(Object.groupBy(pods, ({ spec }) => spec?.nodeName ?? ''));
  const [first, ...others] = byNode.map((own) => own ?? []);
  const kept = [...(first ?? []).slice(0, 2), ...others.flatMap((own) => own.slice(0, 1))];
  for (const { metadata: { name = '' } = {} } of kept) {
    const body = { metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '100' } } };
    await cluster.core.patchNamespacedPod({ namespace, name, body }, merge);
  }
  await cluster.scale(namespace, kept.length);
  await cluster.untilRunning(namespace, 4);
}

async function usedNodes(namespace: string): Promise<number> {
  return new Set((await cluster.pods(namespace)).map(({ spec }) => spec?.nodeName)).size;
}

describe('nodes whose pods would fit on one of them', () => {
  it('stay while nothing is known of what they use, or while they use much, and go where they use little', async () => {
    await cluster.createGroup('pool', { offeringIDs: ['small'] });
    await cluster.createDeployment('web', 12);
    await cluster.untilRunning('web', 12);
    await cluster.untilReady('pool', 3);
    await leaveFour('web');
    expect(await usedNodes('web')).toBe(3);
    const isLess = async (): Promise<boolean> =>
      (await cluster.nodes('pool')).length < 3 || (await cluster.marked('pool')).length > 0;
    await never('a node goes of which nothing is known', isLess, 8_000);
    await use(90);
    await never('a node goes that uses much', isLess, 8_000);
    await use(10);
    await cluster.untilReady('pool', 1);
    await cluster.untilRunning('web', 4);
    expect(await usedNodes('web')).toBe(1);
    expect(await cluster.createdNodes('pool')).toHaveLength(3);
  });
});
