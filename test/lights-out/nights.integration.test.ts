/** Whole nights on a real control plane, with worker and starter as processes of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GROUP } from '../../domain/lights-out/schedule/names.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, merge, startLightsOutPlane, UP } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
beforeAll(async () => {
  plane = await startLightsOutPlane();
  cluster = new LightsOutCluster(plane);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

/** The writes of the worker to a workload that took effect, by what they were. */
async function writesTo(namespace: string, name: string): Promise<readonly string[]> {
  const events = await plane.plane.auditEvents();
  return events
    .filter(({ user, objectRef, verb, responseStatus }) => {
      const isWrite = ['create', 'update', 'patch', 'delete'].includes(verb) && (responseStatus?.code ?? 0) < 300;
      return (
        user.username === 'headroom-worker' && isWrite && objectRef?.namespace === namespace && objectRef.name === name
      );
    })
    .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);
}

describe.concurrent('a night', () => {
  it('puts Deployments, StatefulSets and CronJobs to sleep in one write each, and wakes them exactly as they were', async () => {
    await cluster.namespace('night', { env: 'dev' });
    await cluster.deployment('night', 'web', 3, { labels: { tier: 'front' }, annotations: { note: 'kept' } });
    await cluster.statefulSet('night', 'db', 2);
    await cluster.cronJob('night', 'report');
    await cluster.deployment('night', 'idle', 0);
    await cluster.cronJob('night', 'off', true);
    const before = await Promise.all([
      cluster.readDeployment('night', 'web'),
      cluster.readStatefulSet('night', 'db'),
      cluster.readCronJob('night', 'report'),
    ]);
    await cluster.schedule('night', { ...DOWN, namespaceSelector: { matchLabels: { env: 'dev' } } });
    await cluster.reaches('night', 'Down', 'AsScheduled');
    const asleep = await cluster.readDeployment('night', 'web');
    expect(asleep.spec?.replicas).toBe(0);
    expect(asleep.metadata?.annotations).toMatchObject({
      note: 'kept',
      [`${GROUP}/original-replicas`]: '3',
      [`${GROUP}/managed-by`]: 'night',
    });
    expect(asleep.metadata?.labels).toEqual({
      tier: 'front',
      [`${GROUP}/managed-by`]: 'night',
      // kubectl rollout undo takes annotations away, and leaves labels.
      [`${GROUP}/original-replicas`]: '3',
    });
    expect((await cluster.readStatefulSet('night', 'db')).spec?.replicas).toBe(0);
    expect(await cluster.suspended('night', 'report')).toBe(true);
    const { spec, status, metadata } = await cluster.readSchedule('night');
    expect(spec.timezone).toBe('UTC');
    expect(metadata.finalizers).toEqual([`${GROUP}/cleanup`]);
    expect(status).toMatchObject({
      state: 'Down',
      observedGeneration: 1,
      namespaces: ['night'],
      workloadStats: { deploymentsScaled: 1, statefulsetsScaled: 1, cronjobsSuspended: 1 },
      lastDownscaleTime: expect.stringMatching(/Z$/),
      nextUpscaleTime: expect.stringMatching(/-01-01T00:00:00Z$/),
    });
    expect(status?.scalingProgress).toBeUndefined();
    expect(await cluster.ready('night')).toMatch(
      /^True ReconcileSucceeded: The schedule is asleep, and 3 workloads are asleep/,
    );

    await cluster.patchSchedule('night', { spec: UP });
    await cluster.reaches('night', 'Up', 'AsScheduled');
    const after = await Promise.all([
      cluster.readDeployment('night', 'web'),
      cluster.readStatefulSet('night', 'db'),
      cluster.readCronJob('night', 'report'),
    ]);
    for (const [index, object] of after.entries()) {
      const { spec: specBefore, metadata: old } = before[index] ?? {};
      expect(object.spec).toEqual(specBefore);
      expect(object.metadata?.labels).toEqual(old?.labels);
      const own = (annotations: Record<string, string> = {}) =>
        Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('deployment.kubernetes.io/')));
      expect(own(object.metadata?.annotations)).toEqual(own(old?.annotations));
    }
    expect(await writesTo('night', 'web')).toEqual(['patch deployments', 'patch deployments']);
    expect(await writesTo('night', 'db')).toEqual(['patch statefulsets', 'patch statefulsets']);
    expect(await writesTo('night', 'report')).toEqual(['patch cronjobs', 'patch cronjobs']);
    expect(await writesTo('night', 'idle')).toEqual([]);
    expect(await writesTo('night', 'off')).toEqual([]);
    expect(await cluster.events('night')).toEqual(
      expect.arrayContaining([
        'ScaledDown: Headroom put 3 workloads in 1 namespace to sleep.',
        'ScaledUp: Headroom woke 3 workloads in 1 namespace.',
      ]),
    );
  });

  it('leaves a StatefulSet up whose volumes would go with its pods, until its annotation lets them', async () => {
    await cluster.namespace('volumes');
    await cluster.statefulSet(
      'volumes',
      'db',
      3,
      {},
      {
        podManagementPolicy: 'Parallel',
        persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    );
    await cluster.deployment('volumes', 'web', 2);
    const claims = async (): Promise<readonly string[]> => {
      const { items } = await cluster.core.listNamespacedPersistentVolumeClaim({ namespace: 'volumes' });
      return items.map(({ metadata }) => metadata?.name ?? '').toSorted();
    };
    const all = ['data-db-0', 'data-db-1', 'data-db-2'];
    await eventually('its claims are there', async () => (await claims()).length === all.length);

    await cluster.asleep('volumes', { namespaces: ['volumes'], downscaleReplicas: 1 });
    await cluster.eventMatching('volumes', /^DeletesVolumes: StatefulSet volumes\/db: it stays up: /);
    expect((await cluster.status('volumes')).facts.join('\n')).toContain('StatefulSet volumes/db: it stays up: ');
    const counted = await eventually(
      'the status has it',
      async () => (await cluster.readSchedule('volumes')).status?.scope?.leftAlone,
    );
    expect(counted).toContainEqual({ reason: 'DeletesVolumes', workloads: 1 });
    expect(await cluster.replicas('volumes', 'web')).toBe(1);
    expect((await cluster.readStatefulSet('volumes', 'db')).spec?.replicas).toBe(3);
    expect(await writesTo('volumes', 'db')).toEqual([]);
    expect(await claims()).toEqual(all);

    // The danger is a real one: Kubernetes deletes them once it may sleep.
    const annotations = { [`${GROUP}/deletes-volumes`]: 'true' };
    const body = { metadata: { annotations } };
    await cluster.apps.patchNamespacedStatefulSet({ namespace: 'volumes', name: 'db', body }, merge);
    await eventually('two claims are gone', async () => (await claims()).length === 1);
    expect((await cluster.readStatefulSet('volumes', 'db')).spec?.replicas).toBe(1);
  });

  it('leaves a Deployment up whose annotations lack one byte of room for its marks, until somebody shortens them', async () => {
    await cluster.namespace('full');
    const revision = 'deployment.kubernetes.io/revision';
    const marks = { 'original-replicas': '2', 'managed-by': 'full', 'down-since': '2026-11-27T18:00:00Z' };
    const marked = Object.entries(marks).map(([key, value]) => `${GROUP}/${key}${value}`);
    // Of the 256 KiB, 2,200 bytes are for what the controllers of Deployments add in ReplicaSets.
    const room = 262_144 - 2200 - [...marked, `${revision}1`, 'long'].join('').length;
    await cluster.deployment('full', 'web', 2, { annotations: { long: 'x'.repeat(room + 1) } });
    await cluster.deployment('full', 'api', 1);
    await eventually('its controller has written its revision', async () => {
      return (await cluster.readDeployment('full', 'web')).metadata?.annotations?.[revision] !== undefined;
    });
    const { items: replicaSets } = await cluster.apps.listNamespacedReplicaSet({ namespace: 'full' });
    // As of a Deployment that was often rolled back: the most that its controller lets it become.
    const history = { metadata: { annotations: { [`${revision}-history`]: '1,'.repeat(1000) } } };
    for (const { metadata } of replicaSets) {
      await cluster.apps.patchNamespacedReplicaSet(
        { namespace: 'full', name: metadata?.name ?? '', body: history },
        merge,
      );
    }

    await cluster.asleep('full', { namespaces: ['full'] });
    await cluster.eventMatching('full', /^AnnotationsFull: Deployment full\/web: it stays up: its annotations /);
    expect((await cluster.status('full')).facts.join('\n')).toContain(
      'Deployment full/web: it stays up: its annotations',
    );
    const counted = await eventually(
      'the status has it',
      async () => (await cluster.readSchedule('full')).status?.scope?.leftAlone,
    );
    expect(counted).toContainEqual({ reason: 'AnnotationsFull', workloads: 1 });
    expect([await cluster.replicas('full', 'api'), await cluster.replicas('full', 'web')]).toEqual([0, 2]);
    expect(await writesTo('full', 'web')).toEqual([]);

    const body = { metadata: { annotations: { long: 'x'.repeat(room) } } };
    await cluster.apps.patchNamespacedDeployment({ namespace: 'full', name: 'web', body }, merge);
    await eventually('it sleeps, and its controller follows', async () => {
      const { items } = await cluster.apps.listNamespacedReplicaSet({ namespace: 'full' });
      return items.length === 2 && items.every(({ spec }) => spec?.replicas === 0);
    });
    await cluster.patchSchedule('full', { spec: UP });
    await cluster.reaches('full', 'Up', 'AsScheduled');
    expect(await cluster.replicas('full', 'web')).toBe(2);
  });

  it('is left when the schedule is deleted: everything is awake before it goes', async () => {
    await cluster.namespace('gone', { asleep: 'yes' });
    await cluster.deployment('gone', 'web', 2);
    await cluster.schedule('gone', { ...DOWN, namespaceSelector: { matchLabels: { asleep: 'yes' } } });
    await cluster.reaches('gone', 'Down', 'AsScheduled');
    await cluster.deleteSchedule('gone');
    await eventually('the schedule is gone', async () => await cluster.scheduleIsGone('gone'));
    expect(await cluster.replicas('gone', 'web')).toBe(2);
    await cluster.eventMatching('gone', /^CleanupComplete: /);
    await eventually(
      'its workflow has ended',
      async () => (await cluster.handle('gone').describe()).status.name === 'COMPLETED',
    );
  });
});
