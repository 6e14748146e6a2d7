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

/** A pattern that names a minute of each hour, so many minutes from now. */
function cronIn(minutes: number): string {
  return `${new Date(Date.now() + minutes * MINUTE_MS).getUTCMinutes()} * * * *`;
}

it('are ready before the wake, are counted as going before the night, and are given back in it', async () => {
  await nodes.createDeployment('shop', PODS);
  // It sleeps, and wakes within the ten minutes of spec.prewarm.
  await nights.schedule('nights', { downscale: cronIn(-20), upscale: cronIn(9), namespaces: ['shop'] });
  await nights.reaches('nights', 'Down', 'AsScheduled');
  expect(await nights.replicas('shop', 'web')).toBe(0);
  await eventually('no pod is left', async () => (await nodes.pods('shop')).length === 0);
  // Only now is there a group: whatever comes, comes for pods that do not exist yet.
  await nodes.createGroup('pool', { offeringIDs: ['small'] });
  const ready = await nodes.untilReady('pool', PODS);
  expect(await nights.replicas('shop', 'web')).toBe(0);
  expect(await nodes.machines('pool')).toHaveLength(PODS);

  // An edit is a wake that no test has to wait for. The next night is within the hour.
  await nights.patchSchedule('nights', { spec: { upscale: cronIn(-10) } });
  await nodes.untilRunning('shop', PODS);
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

  await nights.patchSchedule('nights', { spec: { downscale: cronIn(-5) } });
  await nodes.untilEmpty('pool');
  expect(await nights.replicas('shop', 'web')).toBe(0);
  // They went by themselves: none was evicted.
  expect(await nodes.evictions('shop')).toEqual([]);
  expect(await nodes.createdNodes('pool')).toHaveLength(PODS);
}, 600_000);
