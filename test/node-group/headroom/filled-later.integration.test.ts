import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

const FRESH = /^node\.kubernetes\.io\//;
/** After the minute a plan without a change follows within another one, and the clocks of processes may differ by some seconds. */
const OVER_WITHIN_MS = 180_000;

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

it('the node that large pods need is filled later than others for a minute, whichever worker is there then', async () => {
  await cluster.createGroup('narrow', { offeringIDs: ['small'], expander: 'price' });
  await cluster.createGroup('wide', { offeringIDs: ['medium'], expander: 'price' });
  for (const group of ['narrow', 'wide']) await cluster.untilSteady(group);
  await cluster.createNamespace('mixed');
  const large = [{ name: 'main', image: 'test/none:1', resources: { requests: { cpu: '14', memory: '20Gi' } } }];
  await Promise.all([
    cluster.createPod('mixed', 'large', { containers: large }),
    ...[1, 2, 3, 4, 5, 6].map(async (number) => cluster.createPod('mixed', `small-${number}`)),
  ]);
  await cluster.untilRunning('mixed', 7);
  expect(await taintsOf('narrow')).toEqual([]);
  expect(await taintsOf('wide')).toEqual(['autoscaler.vpsie.com/fill-later-1']);
  await worker.kill();
  worker = await plane.startWorker();
  await eventually('no node is filled later', async () => (await taintsOf('wide')).length === 0, OVER_WITHIN_MS);
}, 300_000);

/** The taints of the group's only node, once it is ready and has the labels of its group. */
async function taintsOf(group: string): Promise<readonly string[]> {
  const nodes = await cluster.untilReady(group, 1);
  return nodes.flatMap(({ spec }) => spec?.taints ?? []).flatMap(({ key }) => (FRESH.test(key) ? [] : [key]));
}
