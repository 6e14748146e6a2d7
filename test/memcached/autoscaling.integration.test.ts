/** Memcacheds with Kubernetes' own autoscaler, which goes by an aggregated API that the test serves, and with pods that are processes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { type MetricsApi, startMetricsApi } from '../kernel/servers/metrics-api.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { quickAutoscaler } from './autoscaler.ts';
import { MemcachedCluster, merge, startMemcachedPlane } from './cluster.ts';
import { MONITORS, serveMonitors } from './definitions.ts';
import { type Kubelet, startKubelet } from './kubelet/kubelet.ts';
import { longOnly } from '../kernel/long.ts';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
let metrics: MetricsApi;
const kubelets: Kubelet[] = [];
beforeAll(async () => {
  plane = await startMemcachedPlane({ controllerManagerFlags: quickAutoscaler });
  cluster = new MemcachedCluster(plane);
  metrics = await startMetricsApi(plane.plane.adminKubeconfig);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await Promise.all(kubelets.map(async (kubelet) => await kubelet.stop()));
  await metrics?.stop();
  await plane?.stop();
});

async function create(name: string, spec: WrittenSpec): Promise<void> {
  kubelets.push(await startKubelet(plane.plane.adminKubeconfig, name));
  await cluster.create(name, spec);
}

/** What Headroom wrote of what has a say in the number of pods. */
async function scalingWrites(name: string): Promise<readonly string[]> {
  const writes = await cluster.writes(name);
  return writes.filter((write) => /deployments|horizontalpodautoscalers/.test(write));
}

const requests = { resources: { requests: { cpu: '100m' } } };
/** By 80 % of the requested CPU. Down as soon as there is less load, one pod each time. */
const scaled = {
  enabled: true,
  minReplicas: 2,
  maxReplicas: 5,
  behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  scaleDownOnePodEvery: '2s',
} satisfies WrittenSpec['autoscaling'];

const WORKS =
  'Autoscaling=True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)';
const managed = (pods: number): string => `Available=True Available: ${pods}/${pods} replicas are ready (HPA-managed)`;

describe.concurrent('a Memcached', () => {
  it('with an autoscaler has more pods under load, fewer one by one without it, and no other writer of their number', async () => {
    const name = 'loaded';
    metrics.setLoad(name, 100);
    // An exporter without requests would leave the autoscaler without a word about the pods.
    await create(name, { ...requests, monitoring: { enabled: true }, autoscaling: scaled });
    await cluster.untilCondition(name, managed(2));
    await cluster.untilCondition(name, WORKS);
    const before = await scalingWrites(name);
    const { counts, stop } = await cluster.watchReplicas(name);

    metrics.setLoad(name, 400);
    await cluster.untilCondition(name, managed(5));
    await cluster.ended(name);
    expect((await cluster.read(name)).status).toMatchObject({
      readyReplicas: 5,
      serverList: [`${name}.${name}:11211`],
    });

    // At once: what was added in the same span of time does not go faster for it.
    metrics.setLoad(name, 40);
    await cluster.untilCondition(name, managed(2));
    await cluster.ended(name);

    metrics.setLoad(name, null);
    await eventually('the autoscaler sees nothing, and says so', async () =>
      (await cluster.conditions(name)).some((condition) =>
        condition.startsWith(
          'Autoscaling=False FailedGetResourceMetric: the HPA was unable to compute the replica count',
        ),
      ),
    );
    metrics.setLoad(name, 40);
    await cluster.untilCondition(name, WORKS);

    await eventually('the last count was seen', () => counts.length === 5);
    expect(counts).toEqual([2, 5, 4, 3, 2]);
    expect(await scalingWrites(name)).toEqual(before);
    stop();
  });

  it(
    'gets an autoscaler with the pods that it has, and loses them one by one when the autoscaler goes',
    longOnly,
    async () => {
      const name = 'handed-over';
      const named = { namespace: name, name };
      metrics.setLoad(name, 240);
      await create(name, { ...requests, replicas: 3 });
      await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 3 replicas are ready');
      const { counts, stop } = await cluster.watchReplicas(name);
      await cluster.edit(name, { replicas: null, autoscaling: scaled });
      await cluster.untilCondition(name, WORKS);
      await cluster.untilCondition(name, managed(3));
      metrics.setLoad(name, 400);
      await cluster.untilCondition(name, managed(5));
      const bounds = async () =>
        (await cluster.autoscaling.readNamespacedHorizontalPodAutoscaler(named)).spec?.maxReplicas;
      await cluster.autoscaling.patchNamespacedHorizontalPodAutoscaler(
        { ...named, body: { spec: { maxReplicas: 9 } } },
        merge,
      );
      await eventually('its bounds are as specified again', async () => (await bounds()) === 5);

      await cluster.edit(name, { autoscaling: { enabled: false } });
      await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 1 replicas are ready');
      await cluster.ended(name);
      await eventually('the last count was seen', () => counts.at(-1) === 1);
      expect(counts).toEqual([3, 5, 4, 3, 2, 1]);
      await eventually('nothing is noted', async () => (await cluster.read(name)).status?.notes === undefined);

      await cluster.edit(name, { autoscaling: { enabled: true } });
      await cluster.untilCondition(name, managed(5));
      expect(counts.slice(6).every((count, at, all) => count > (all[at - 1] ?? 1))).toBe(true);
      stop();
    },
  );

  it("with somebody else's autoscaler says so, and leaves the count to it until that is gone", async () => {
    const name = 'scaled-by-other';
    metrics.setLoad(name, 240);
    await create(name, { ...requests, replicas: 3 });
    await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 3 replicas are ready');
    await cluster.ended(name);
    const { counts, stop } = await cluster.watchReplicas(name);
    const before = await scalingWrites(name);
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
    await cluster.autoscaling.createNamespacedHorizontalPodAutoscaler({
      namespace: name,
      body: { metadata: { name }, spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 5 } },
    });
    metrics.setLoad(name, 400);
    await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 5 replicas are ready');
    await eventually('it is named', async () =>
      (await cluster.conditions(name)).some((condition) =>
        condition.startsWith(`Degraded=True Conflict: HorizontalPodAutoscaler ${name}/${name} scales these pods`),
      ),
    );
    expect(await scalingWrites(name)).toEqual(before);

    await cluster.autoscaling.deleteNamespacedHorizontalPodAutoscaler({ namespace: name, name });
    await cluster.edit(name, { replicas: 4 });
    await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 4 replicas are ready');
    await cluster.ended(name);
    await eventually('the last count was seen', () => counts.at(-1) === 4);
    expect(counts).toEqual([3, 5, 4]);
    stop();
  });

  it('with a monitor gets it when the cluster serves ServiceMonitors at last', longOnly, async () => {
    const name = 'monitored';
    await create(name, { monitoring: { enabled: true, serviceMonitor: { interval: '15s' } } });
    await eventually('the status says that there is none', async () =>
      (await cluster.read(name)).status?.notes?.some((note) => note.startsWith('no ServiceMonitor is made')),
    );
    await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 1 replicas are ready');
    await cluster.ended(name);
    await serveMonitors(plane.plane.adminKubeconfig);
    // The starter asks once a minute.
    const monitor = await eventually(
      'it is made',
      async () => await cluster.custom.getNamespacedCustomObject({ ...MONITORS, namespace: name, name }),
      100_000,
    );
    expect(monitor).toMatchObject({ spec: { endpoints: [{ port: 'metrics', interval: '15s' }] } });
    await eventually('the note is gone', async () => (await cluster.read(name)).status?.notes === undefined);
  });
});

it('worker and starter were refused nothing', async () => {
  expect(await cluster.refused()).toEqual([]);
});
