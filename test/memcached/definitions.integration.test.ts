/** Definitions that come late, or go, and a webhook that is away: on servers of its own, because objects go with their definition. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { GROUP, PLURAL } from '../../domain/memcached/api/names.ts';
import { freePort } from '../kernel/servers/free-port.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type HeadroomPlane, startHeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { MemcachedCluster } from './cluster.ts';
import { defineMemcacheds, MONITORS, removeDefinition, serveMonitors } from './definitions.ts';
import { memcachedPlaneOptions, untilMemcachedsAreServed } from './plane.ts';
import { longOnly } from '../kernel/long.ts';

/** Milliseconds for what waits for the garbage collector, which asks every half a minute which kinds there are. */
const COLLECTED_MS = 150_000;
/** Milliseconds for a test with several such waits, each of which has a limit of its own. */
const LONG_MS = 400_000;

/** The namespaces about whose objects the API server asks the webhooks. */
const ADMITTED = ['unasked-new', 'unasked-invalid', 'unasked-edited', 'unasked-scaled'] as const;

const invalid = { memcached: { maxMemoryMB: 64 }, resources: { limits: { memory: '64Mi' } } } satisfies WrittenSpec;
const WHY =
  'spec.resources.limits.memory: Invalid value: "64Mi": memory limit must be at least 96Mi (maxMemoryMB=64Mi + 32Mi overhead)';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
let worker: SupervisedProcess;
let starter: SupervisedProcess;
beforeAll(async () => {
  const port = await freePort();
  const { values, env } = memcachedPlaneOptions({
    env: { HEADROOM_MEMCACHED_WEBHOOK_ADDRESS: `127.0.0.1:${port}`, 'memcached.webhookHost': '127.0.0.1' },
  });
  plane = await startHeadroomPlane({ ownServers: true, ...(values && { values }), ...(env && { env }) });
  cluster = new MemcachedCluster(plane);
  await cluster.askBefore(ADMITTED, `https://127.0.0.1:${port}`);
  [worker, starter] = await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

/** Until both processes answer that they are ready; neither has ended. */
async function untilBothAreReady(): Promise<void> {
  for (const process of [worker, starter]) {
    const address = /"health":"([^"]+)"/.exec(await readFile(process.logFile, 'utf8'))?.[1] ?? '';
    let report: unknown;
    await eventually(
      () => `the ${process.name} is ready: ${JSON.stringify(report)}`,
      async () => {
        const answer = await fetch(`${address}/readyz`);
        report = await answer.json();
        return answer.status === 200;
      },
    );
    expect(process.exit()).toBeUndefined();
  }
}

async function untilCollected(name: string): Promise<void> {
  await eventually(
    `the Deployment of ${name} is collected`,
    async () => {
      const { items } = await cluster.apps.listNamespacedDeployment({ namespace: name });
      return items.length === 0;
    },
    COLLECTED_MS,
  );
}

async function untilNoted(name: string, beginning: string, isThere: boolean): Promise<void> {
  await eventually(
    `the note "${beginning}" of ${name} is ${isThere ? 'there' : 'gone'}`,
    async () => ((await cluster.read(name)).status?.notes ?? []).some((note) => note.startsWith(beginning)) === isThere,
    100_000,
  );
}

describe('the definition of Memcacheds', () => {
  it('may come after worker and starter: both are ready without it, and Memcacheds are run from then on', async () => {
    await untilBothAreReady();
    await defineMemcacheds(plane.plane.adminKubeconfig);
    await untilMemcachedsAreServed(plane);
    await cluster.create('defined-late', { replicas: 1 });
    await cluster.settled('defined-late', 1);
    await untilBothAreReady();
  });
});

describe('while the webhook is away', () => {
  it(
    'what people write is stored, and treated by the same defaults and rules when the starter is back',
    async () => {
      const [fresh, contradictory, edited, scaled] = ADMITTED;
      const resources = { requests: { cpu: '100m' } };
      await cluster.create(edited, { replicas: 1 });
      await cluster.create(scaled, { replicas: 3, resources });
      await Promise.all([cluster.settled(edited, 1), cluster.settled(scaled, 3)]);
      await cluster.core.createNamespace({ body: { metadata: { name: contradictory } } });
      await eventually('the starter is asked', async () =>
        cluster.createIn(contradictory, invalid, 'All').then(
          () => false,
          (error: unknown) => String(error).includes(' is invalid: '),
        ),
      );
      const [before, autoscaling] = [await cluster.writes(edited), { enabled: true, minReplicas: 2, maxReplicas: 5 }];

      await starter.kill();
      await cluster.create(fresh, {});
      // As the definition has it; all else is the webhook's to fill in.
      expect((await cluster.read(fresh)).spec).toEqual({ image: 'memcached:1.6' });
      await cluster.createIn(contradictory, invalid);
      await cluster.edit(edited, invalid);
      await cluster.edit(scaled, { autoscaling });
      starter = await plane.startStarter();

      await cluster.settled(fresh, 1);
      const { spec } = await cluster.deployment(fresh);
      expect(spec?.template.spec?.containers).toMatchObject([
        { image: 'memcached:1.6', args: ['-m', '64', '-c', '1024', '-t', '4', '-I', '1m'] },
      ]);
      for (const name of [contradictory, edited]) {
        await cluster.untilCondition(name, `Degraded=True Invalid: ${WHY}`);
        await cluster.reaches(name, 'Blocked', 'Invalid');
      }
      expect(await cluster.writes(contradictory)).toEqual([]);
      expect(await cluster.writes(edited)).toEqual(before);
      await untilNoted(scaled, 'spec.replicas is ignored', true);
      await cluster.untilCondition(scaled, 'Available=True Available: 3/3 replicas are ready (HPA-managed)');
      const scaler = await cluster.autoscaling.readNamespacedHorizontalPodAutoscaler({
        namespace: scaled,
        name: scaled,
      });
      expect(scaler.spec).toMatchObject({ minReplicas: 2, maxReplicas: 5 });
      expect((await cluster.deployment(scaled)).spec?.replicas).toBe(3);

      await eventually('the starter is asked again', async () =>
        cluster.edit(scaled, { autoscaling: { maxReplicas: 6 } }).then(
          () => false,
          (error: unknown) => String(error).includes(' is invalid: spec.replicas: '),
        ),
      );
      await cluster.edit(scaled, { replicas: null });
      await untilNoted(scaled, 'spec.replicas is ignored', false);
      await cluster.edit(contradictory, { resources: { limits: { memory: '96Mi' } } });
      await cluster.settled(contradictory, 1);
    },
    LONG_MS,
  );
});

describe('the definition of ServiceMonitors', () => {
  it('that is removed is noted and no failure, and when it is back, the monitor is made again', {
    ...longOnly,
    timeout: LONG_MS,
  }, async () => {
    const name = 'monitor-removed';
    const NOTE = 'no ServiceMonitor is made';
    const monitor = async (): Promise<unknown> =>
      await cluster.custom.getNamespacedCustomObject({ ...MONITORS, namespace: name, name });
    await serveMonitors(plane.plane.adminKubeconfig);
    await cluster.create(name, { monitoring: { enabled: true, serviceMonitor: {} } });
    await cluster.ready(name, 1);
    // The starter asks once a minute.
    await eventually('it has a monitor', monitor, 100_000);
    await cluster.settled(name, 1);
    await untilNoted(name, NOTE, false);

    await removeDefinition(plane.plane.adminKubeconfig, MONITORS);
    await untilNoted(name, NOTE, true);
    await cluster.ended(name);
    await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 1 replicas are ready');
    await untilBothAreReady();

    await serveMonitors(plane.plane.adminKubeconfig);
    await eventually('it has a monitor again', monitor, 100_000);
    await untilNoted(name, NOTE, false);
    await cluster.ended(name);
  });
});

describe('the definition of Memcacheds', () => {
  it(
    'that is removed takes its objects with it and ends their episodes, and when it is back, Memcacheds are run again',
    async () => {
      const [settled, rolling, blocked] = ['removed-settled', 'removed-rolling', 'removed-blocked'] as const;
      await Promise.all([
        cluster.create(settled, { replicas: 1 }),
        cluster.create(rolling, { replicas: 2 }),
        cluster.create(blocked, invalid),
      ]);
      await cluster.settled(settled, 1);
      await cluster.reaches(rolling, 'RollingOut', 'RolloutInProgress');
      await cluster.reaches(blocked, 'Blocked', 'Invalid');
      // The garbage collector knows the kind from now on.
      await cluster.create('removed-before', { replicas: 0 });
      await eventually('it has a Deployment', async () => await cluster.deployment('removed-before'));
      await cluster.delete('removed-before');
      await untilCollected('removed-before');

      await removeDefinition(plane.plane.adminKubeconfig, { plural: PLURAL, group: GROUP });
      for (const name of [rolling, blocked]) {
        await cluster.ended(name);
        expect((await cluster.handle(name).result()) as object).toMatchObject({ reason: 'MemcachedGone' });
      }
      await expect(cluster.read(settled)).rejects.toThrow('404');
      await untilBothAreReady();
      for (const name of [settled, rolling]) {
        await untilCollected(name);
        expect((await cluster.writes(name)).filter((write) => write.startsWith('delete'))).toEqual([]);
      }

      await defineMemcacheds(plane.plane.adminKubeconfig);
      await untilMemcachedsAreServed(plane);
      await cluster.createIn(rolling, { replicas: 1 });
      await cluster.settled(rolling, 1);
      await untilBothAreReady();
    },
    LONG_MS,
  );
});

it('worker and starter were refused nothing', async () => {
  expect(await cluster.refused()).toEqual([]);
});
