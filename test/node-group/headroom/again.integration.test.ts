import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

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

it('makes new nodes at once for pods that come right after the last nodes went: what was claimed for those counts no longer', async () => {
  await cluster.createGroup('again', { offeringIDs: ['small'] });
  const names: string[] = [];
  for (const namespace of ['again-first', 'again-second']) {
    await cluster.createPods(namespace, 6);
    await eventually('all pods run', async () => (await cluster.running(namespace)) === 6);
    const machines = await cluster.machines('again');
    expect(machines).toHaveLength(2);
    names.push(...machines.map(({ metadata }) => metadata.name));
    await cluster.core.deleteNamespace({ name: namespace });
    let phases: readonly unknown[] = [];
    await eventually(
      () => `all machines are gone: they are ${phases.join(', ')}`,
      async () => {
        phases = (await cluster.machines('again')).map(({ status: is }) => is?.phase);
        return phases.length === 0;
      },
    );
  }
  expect(new Set(names).size).toBe(4);
});
