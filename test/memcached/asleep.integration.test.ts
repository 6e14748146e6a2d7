/** Memcacheds that a schedule of Headroom's own puts to sleep: two controllers, one Deployment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quickAutoscaler } from './autoscaler.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from '../lights-out/cluster.ts';
import { type MetricsApi, startMetricsApi } from '../kernel/servers/metrics-api.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { MemcachedCluster } from './cluster.ts';
import { type Kubelet, startKubelet } from './kubelet/kubelet.ts';
import { memcachedPlaneOptions, untilMemcachedsAreServed } from './plane.ts';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
let nights: LightsOutCluster;
let metrics: MetricsApi;
const kubelets: Kubelet[] = [];
beforeAll(async () => {
  plane = await startLightsOutPlane({ ...memcachedPlaneOptions(), controllerManagerFlags: quickAutoscaler });
  await untilMemcachedsAreServed(plane);
  cluster = new MemcachedCluster(plane);
  nights = new LightsOutCluster(plane);
  metrics = await startMetricsApi(plane.plane.adminKubeconfig);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await Promise.all(kubelets.map(async (kubelet) => await kubelet.stop()));
  await metrics?.stop();
  await plane?.stop();
});

const requests = { resources: { requests: { cpu: '100m' } } };
const autoscaling = { enabled: true, minReplicas: 2, maxReplicas: 5 };

/** Without the list of servers, which follows the pods. */
async function specified(name: string): Promise<readonly string[]> {
  return (await cluster.writes(name)).filter((write) => write !== 'patch configmaps');
}

describe.concurrent('a Memcached that is put to sleep', () => {
  it.each([
    ['asleep-counted', { replicas: 2 }, ''],
    ['asleep-scaled', { ...requests, autoscaling }, ' (HPA-managed)'],
  ])(
    '%s is said to be asleep without an alarm, is left alone until it wakes, and has its pods then',
    async (name, spec, by) => {
      metrics.setLoad(name, 100);
      kubelets.push(await startKubelet(plane.plane.adminKubeconfig, name));
      await cluster.create(name, spec);
      const awake = `Available=True Available: 2/2 replicas are ready${by}`;
      await cluster.untilCondition(name, awake);
      await cluster.ended(name);

      await nights.schedule(name, { ...DOWN, namespaces: [name] });
      const asleep = `Asleep: asleep by the schedule ${name}, until it wakes`;
      await cluster.untilCondition(name, `Ready=False ${asleep}`);
      await cluster.ended(name);
      await cluster.untilCondition(name, `Available=False ${asleep}`);
      await cluster.untilCondition(name, `Degraded=False ${asleep}`);
      await cluster.untilCondition(name, 'Progressing=False ProgressingComplete: All 0 replicas are updated');
      expect((await cluster.read(name)).status?.notes).toContain(
        `the Deployment is asleep by the schedule ${name}, which has its replicas until it wakes`,
      );
      const before = await specified(name);
      await cluster.edit(name, { service: { annotations: { team: 'a' } } });
      await eventually('the Service has the annotation', async () => {
        const { metadata } = await cluster.core.readNamespacedService({ namespace: name, name });
        return metadata?.annotations?.['team'] === 'a';
      });
      await cluster.ended(name);
      expect((await cluster.deployment(name)).spec?.replicas).toBe(0);
      expect((await specified(name)).slice(before.length)).toEqual(['patch services']);

      await nights.patchSchedule(name, { spec: UP });
      await cluster.untilCondition(name, awake);
      await cluster.ended(name);
      await eventually('nothing is noted', async () => (await cluster.read(name)).status?.notes === undefined);
    },
  );
});

it('worker and starter were refused nothing', async () => {
  expect(await cluster.refused()).toEqual([]);
});
