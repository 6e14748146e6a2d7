import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([
    { id: 'medium', capacity: { cpu: '16', memory: '32Gi', pods: '110' }, pricePerHour: 0.4 },
    { id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 },
  ]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

describe('a group from zero', () => {
  it('gets the nodes that pods need in one request, and gives them back when the pods are gone', async () => {
    await cluster.createGroup('pool', { offeringIDs: ['medium'] });
    await cluster.createPods('pool-pods', 40);
    await eventually('all pods run', async () => (await cluster.running('pool-pods')) === 40, 120_000);
    expect(await cluster.machines('pool')).toHaveLength(3);
    expect(await cluster.nodes('pool')).toHaveLength(3);
    await cluster.core.deleteNamespace({ name: 'pool-pods' });
    await eventually('all nodes are gone', async () => (await cluster.nodes('pool')).length === 0, 120_000);
    await eventually('all machines are gone', async () => (await cluster.machines('pool')).length === 0);
  });
});
