/** Nodes for workloads that a LightsOutSchedule wakes and puts to sleep, on real servers. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { LightsOutCluster } from '../../lights-out/cluster.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

const MINUTE_MS = 60_000;
const PODS = 4;

let plane: HeadroomPlane;
let nodes: NodeGroupCluster;
let nights: LightsOutCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane({
    values: { config: { lightsOut: { enabled: true } } },
    manifests: [new URL('../../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url)],
    env: { HEADROOM_LIGHTS_OUT: 'true' },
  });
  nodes = new NodeGroupCluster(plane);
  nights = new LightsOutCluster(plane);
  await nodes.defineTypes([{ id: 'small', capacity: { cpu: '1900m', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

it('are ready before the wake, are counted as going before the night, and are given back in it', async () => {
  await nodes.createDeployment('shop', PODS);
  // Far enough for the nodes to come before it on a slow machine; the next night is two minutes later, so that it is foreseen by day.
  const dawn = Math.ceil((Date.now() + 75_000) / MINUTE_MS) * MINUTE_MS;
  const minuteOf = (moment: number): number => new Date(moment).getUTCMinutes();
  const dusk = dawn + 2 * MINUTE_MS;
  await nights.schedule('nights', {
    upscale: `${minuteOf(dawn)} * * * *`,
    downscale: `${minuteOf(dawn - 20 * MINUTE_MS)},${minuteOf(dusk)} * * * *`,
    namespaces: ['shop'],
  });
  await nights.reaches('nights', 'Down', 'AsScheduled');
  expect(await nights.replicas('shop', 'web')).toBe(0);
  await eventually('no pod is left', async () => (await nodes.pods('shop')).length === 0);
  // Only now is there a group: whatever comes, comes for pods that do not exist yet.
  await nodes.createGroup('pool', { offeringIDs: ['small'] });
  const ready = await nodes.untilReady('pool', PODS);
  expect(await nights.replicas('shop', 'web')).toBe(0);
  expect(Date.now()).toBeLessThan(dawn);
  expect(await nodes.machines('pool')).toHaveLength(PODS);

  await nodes.untilRunning('shop', PODS, 3 * MINUTE_MS);
  expect(new Set((await nodes.pods('shop')).map(({ spec }) => spec?.nodeName))).toEqual(
    new Set(ready.map(({ metadata }) => metadata?.name)),
  );
  expect(await nodes.createdNodes('pool')).toHaveLength(PODS);
  await eventually('the group says that its pods go to sleep', async () => {
    // Why a node stays wakes nobody: it is said by whoever looks.
    await nodes.command('pool', 'reconcileNow');
    const { facts } = await nodes.status('pool');
    return facts.some((fact) => fact.includes('goes to sleep by'));
  });
  await nodes.untilEmpty('pool');
  expect(await nights.replicas('shop', 'web')).toBe(0);
  // They went by themselves: none was evicted.
  expect(await nodes.evictions('shop')).toEqual([]);
  expect(await nodes.createdNodes('pool')).toHaveLength(PODS);
}, 600_000);
