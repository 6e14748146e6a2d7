/** In which order and how far workloads and their autoscalers go down and up, on a real control plane. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEDA_PAUSED, KEDA_PAUSED_REPLICAS } from '../../domain/lights-out/schedule/names.ts';
import type { ScheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';
import { NO_AUTOSCALER } from '../kernel/servers/control-plane.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { templateObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { CustomWorkloads } from './custom-workloads.ts';
import { apply, DOWN, LightsOutCluster, savedStateOf, merge, startLightsOutPlane, UP } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
let custom: CustomWorkloads;
let starter: SupervisedProcess;
beforeAll(async () => {
  // Autoscalers may then be given a minimum of 0.
  const flags = ['--feature-gates=HPAScaleToZero=true'];
  plane = await startLightsOutPlane({
    apiServerFlags: flags,
    controllerManagerFlags: [...flags, NO_AUTOSCALER],
  });
  cluster = new LightsOutCluster(plane);
  custom = new CustomWorkloads(plane.plane.adminKubeconfig);
  await Promise.all([cluster.defineScaledObjects(), custom.define()]);
  [, starter] = await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

/** Which objects of a namespace the worker wrote, in order. */
async function written(namespace: string): Promise<readonly string[]> {
  return (await cluster.writes(namespace)).map(({ objectRef }) => `${objectRef?.resource} ${objectRef?.name}`);
}

/** Whether the worker has read one object of a resource by its name: it does so when it meets another version than it had seen. */
async function isReadAnew(resource: string, namespaces: readonly string[]): Promise<boolean> {
  return (await plane.plane.auditEvents()).some(
    ({ user, verb, objectRef }) =>
      user.username === 'headroom-worker' &&
      verb === 'get' &&
      objectRef?.resource === resource &&
      namespaces.includes(objectRef.namespace ?? ''),
  );
}

// What takes longest comes first, and the others run meanwhile.
describe.concurrent('batches', () => {
  it('go through the namespaces in turn, and status and details say how far they are', async () => {
    const namespaces = ['turn-a', 'turn-b'];
    for (const namespace of namespaces) {
      await cluster.namespace(namespace);
      for (const cronJob of ['one', 'two']) await cluster.cronJob(namespace, cronJob);
      await cluster.deployment(namespace, 'two', 1);
    }
    // More than the ten seconds between two writes of the progress, and long enough to be looked at in the middle of it.
    const limit = { batchSize: 2, delayBetweenBatches: '15s' };
    await cluster.schedule('turns', { ...DOWN, namespaces, downscaleRateLimit: limit });
    const first = await eventually('the first batch is through', async () => {
      const status = await cluster.status('turns');
      return status.progress?.completed === 2 && status;
    });
    expect(first).toMatchObject({ phase: 'ScalingDown', progress: { total: 6, completed: 2, failed: 0 } });
    expect(await cluster.details('turns')).toContain('Progress: 2 of 6 workloads (2 put to sleep)');
    // What others write between two batches is taken as it is then. They do so every second, and until one of them is read
    // anew: a reconcile request may lead to another pass meanwhile, and what it has seen then is no surprise.
    let notedAt = 0;
    const stages: NonNullable<ScheduleStatus['scalingProgress']>[] = [];
    const progress = await eventually('the status says how far it is, and a CronJob is read anew', async () => {
      if (Date.now() - notedAt >= 1_000) {
        notedAt = Date.now();
        const body = { metadata: { annotations: { note: `${notedAt}` } } };
        for (const namespace of namespaces) {
          await cluster.patchDeployment(namespace, 'two', body);
          await cluster.batch.patchNamespacedCronJob({ namespace, name: 'two', body }, merge);
        }
      }
      const { scalingProgress } = (await cluster.readSchedule('turns')).status ?? {};
      if (scalingProgress !== undefined && scalingProgress.completed > 0) stages.push(scalingProgress);
      return (await isReadAnew('cronjobs', namespaces)) && stages[0];
    });
    expect(progress).toMatchObject({ total: 6, failed: 0, inProgress: true });
    await cluster.reaches('turns', 'Down', 'AsScheduled');
    expect((await cluster.readSchedule('turns')).status?.scalingProgress).toBeUndefined();
    const order = (await plane.plane.auditEvents())
      .filter(
        ({ user, verb, objectRef, responseStatus }) =>
          user.username === 'headroom-worker' &&
          verb === 'patch' &&
          namespaces.includes(objectRef?.namespace ?? '') &&
          responseStatus?.code === 200,
      )
      .map(({ objectRef }) => objectRef?.namespace ?? '');
    const batches = [0, 2, 4].map((start) => order.slice(start, start + 2).toSorted());
    expect(batches).toEqual([namespaces, namespaces, namespaces]);
  }, 240_000);

  it('end in the middle when somebody wakes the schedule', async () => {
    const name = 'interrupted';
    await cluster.namespace(name);
    for (const deployment of ['a', 'b', 'c']) await cluster.deployment(name, deployment, 2);
    const limit = { batchSize: 1, delayBetweenBatches: '1h' };
    await cluster.schedule(name, { ...DOWN, namespaces: [name], downscaleRateLimit: limit });
    await eventually('the first sleeps', async () => (await cluster.status(name)).progress?.completed === 1);
    expect(await cluster.replicas(name, 'a')).toBe(0);
    await cluster.command(name, 'wake', { for: '1h' });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    const now = await Promise.all(['a', 'b', 'c'].map((deployment) => cluster.replicas(name, deployment)));
    expect(now).toEqual([2, 2, 2]);
    expect(await written(name)).toEqual(['deployments a', 'deployments a']);
  });

  it('go on when somebody shortens the delay, without waiting for the end of the old one', async () => {
    const name = 'hurried';
    await cluster.namespace(name);
    for (const deployment of ['a', 'b']) await cluster.deployment(name, deployment, 2);
    const limit = { batchSize: 1, delayBetweenBatches: '1h' };
    await cluster.schedule(name, { ...DOWN, namespaces: [name], downscaleRateLimit: limit });
    await eventually('the first sleeps', async () => (await cluster.status(name)).progress?.completed === 1);
    await cluster.patchSchedule(name, { spec: { downscaleRateLimit: { delayBetweenBatches: '1s' } } });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await written(name)).toEqual(['deployments a', 'deployments b']);
  });
});

describe.concurrent('a HorizontalPodAutoscaler', () => {
  it('is not touched where the workload goes to 0, unless it would wake that again', async () => {
    const name = 'hpa-zero';
    await cluster.namespace(name);
    for (const deployment of ['web', 'queue']) await cluster.deployment(name, deployment, 4);
    await cluster.horizontalScaler(name, 'web', 2, 10);
    await cluster.horizontalScaler(name, 'queue', 0, 10);
    await cluster.asleep(name, { namespaces: [name] });
    expect([await cluster.replicas(name, 'web'), await cluster.replicas(name, 'queue')]).toEqual([0, 0]);
    const web = await cluster.readHorizontalScaler(name, 'web');
    expect([web.spec?.minReplicas, savedStateOf(web.metadata?.annotations)]).toEqual([2, {}]);
    const queue = await cluster.readHorizontalScaler(name, 'queue');
    expect(queue.spec).toMatchObject({ minReplicas: 1, maxReplicas: 10 });
    expect(savedStateOf(queue.metadata?.annotations)).toMatchObject({ 'original-bounds': '0-10', 'managed-by': name });

    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect([await cluster.replicas(name, 'web'), await cluster.replicas(name, 'queue')]).toEqual([4, 4]);
    const after = await cluster.readHorizontalScaler(name, 'queue');
    expect([after.spec?.minReplicas, savedStateOf(after.metadata?.annotations)]).toEqual([0, {}]);
    expect((await written(name)).filter((target) => target === 'horizontalpodautoscalers web')).toEqual([]);
  });

  it('keeps a minimum that GitOps gave it in the night, however it applies, and its workload does not stay at 0', async () => {
    const namespace = 'minimum';
    await cluster.namespace(namespace);
    // At rest when the night begins: a metric is to wake them.
    const names = ['untouched', 'on-the-server', 'on-the-client', 'raised'] as const;
    for (const name of names) {
      await cluster.deployment(namespace, name, 0);
      await cluster.horizontalScaler(namespace, name, 0, 10);
    }
    const minimums = async () =>
      await Promise.all(
        names.map(async (name) => (await cluster.readHorizontalScaler(namespace, name)).spec?.minReplicas),
      );
    await cluster.asleep(namespace, { namespaces: [namespace] });
    expect(await minimums()).toEqual([1, 1, 1, 1]);

    const heldAt = Date.now();
    await eventually('the next second', () => Math.floor(Date.now() / 1000) * 1000 > heldAt);
    const fieldManager = 'argocd-controller';
    const give = async (name: (typeof names)[number], body: object, options: typeof merge): Promise<void> => {
      const request = { namespace, name, body, fieldManager, ...(options === apply ? { force: true } : {}) };
      await cluster.autoscaling.patchNamespacedHorizontalPodAutoscaler(request, options);
    };
    const given = (name: string) => {
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
      const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 10 };
      return { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name, namespace }, spec };
    };
    await give('on-the-server', given('on-the-server'), apply);
    // It has 1 already, so that a comparison on the client writes nothing but what was applied.
    const last = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(given('on-the-client')) };
    await give('on-the-client', { metadata: { annotations: last } }, merge);
    await give('raised', { spec: { minReplicas: 3 } }, merge);
    await cluster.command(namespace, 'reconcileNow');
    await cluster.reaches(namespace, 'Down', 'AsScheduled');
    expect(await minimums()).toEqual([1, 1, 1, 3]);

    await cluster.patchSchedule(namespace, { spec: UP });
    await cluster.reaches(namespace, 'Up', 'AsScheduled');
    expect(await minimums()).toEqual([0, 1, 1, 3]);
    const replicas = await Promise.all(names.map(async (name) => await cluster.replicas(namespace, name)));
    expect(replicas).toEqual([0, 1, 1, 3]);
  });

  it('is held at what the schedule keeps, and gets its bounds back exactly', async () => {
    const name = 'hpa-one';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 4);
    await cluster.horizontalScaler(name, 'web', 2, 10);
    await cluster.asleep(name, { namespaces: [name], downscaleReplicas: 1 });
    expect(await cluster.replicas(name, 'web')).toBe(1);
    const held = await cluster.readHorizontalScaler(name, 'web');
    expect(held.spec).toMatchObject({ minReplicas: 1, maxReplicas: 1 });
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(4);
    const after = await cluster.readHorizontalScaler(name, 'web');
    expect(after.spec).toMatchObject({ minReplicas: 2, maxReplicas: 10 });
    expect([savedStateOf(after.metadata?.annotations), savedStateOf(after.metadata?.labels)]).toEqual([{}, {}]);
    // After the workload on the way down, before it on the way up: its bounds take replicas away.
    expect(await written(name)).toEqual([
      'deployments web',
      'horizontalpodautoscalers web',
      'horizontalpodautoscalers web',
      'deployments web',
    ]);
  });
});

describe.concurrent("KEDA's ScaledObject", () => {
  it('is paused before its workload sleeps and resumed after that is awake; one that a person paused stays so', async () => {
    const name = 'keda-held';
    await cluster.namespace(name);
    for (const deployment of ['web', 'held']) await cluster.deployment(name, deployment, 3);
    await cluster.scaledObject(name, 'web');
    await cluster.scaledObject(name, 'held', { [KEDA_PAUSED_REPLICAS]: '3' });
    const paused = async (deployment: string) =>
      (await cluster.readScaledObject(name, deployment)).metadata.annotations?.[KEDA_PAUSED_REPLICAS];
    await cluster.asleep(name, { namespaces: [name] });
    expect([await paused('web'), await paused('held')]).toEqual(['0', '3']);
    expect([await cluster.replicas(name, 'web'), await cluster.replicas(name, 'held')]).toEqual([0, 0]);

    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect([await paused('web'), await paused('held')]).toEqual([undefined, '3']);
    expect([await cluster.replicas(name, 'web'), await cluster.replicas(name, 'held')]).toEqual([3, 3]);
    const { metadata } = await cluster.readScaledObject(name, 'web');
    expect([savedStateOf(metadata.annotations), savedStateOf(metadata.labels)]).toEqual([{}, {}]);
    const writes = await written(name);
    expect(writes.filter((write) => write.endsWith('web'))).toEqual([
      'scaledobjects web',
      'deployments web',
      'deployments web',
      'scaledobjects web',
    ]);
    expect(writes).not.toContain('scaledobjects held');
  });
});

describe.concurrent("Argo's Rollouts and KEDA's ScaledJobs", () => {
  it('sleep like Deployments and CronJobs, and the ScaledJobs start again when the Rollouts are ready', async () => {
    const name = 'custom';
    await cluster.namespace(name);
    await custom.create('Rollout', name, 'site', { replicas: 3 });
    await custom.create('Rollout', name, 'rest', { replicas: 0 });
    await custom.create('ScaledJob', name, 'mails', {});
    await custom.create('ScaledJob', name, 'urgent', {});
    const paused = async (job: string) =>
      (await custom.read('ScaledJob', name, job)).metadata.annotations?.[KEDA_PAUSED];
    const replicas = async () => (await custom.read('Rollout', name, 'site')).spec.replicas;
    await cluster.asleep(name, { namespaces: [name], readinessTimeout: '1h' });
    expect([await replicas(), await paused('mails'), await paused('urgent')]).toEqual([0, 'true', 'true']);
    const { metadata } = await custom.read('Rollout', name, 'site');
    expect(savedStateOf(metadata.annotations)).toMatchObject({ 'original-replicas': '3', 'managed-by': name });
    const workloadStats = { rolloutsManaged: 2, rolloutsScaled: 1, scaledjobsManaged: 2, scaledjobsPaused: 2 };
    await eventually('the status counts them', async () => {
      const { status } = await cluster.readSchedule(name);
      return isDeepStrictEqual({ ...status?.workloadStats, ...workloadStats }, status?.workloadStats);
    });

    await custom.patch('ScaledJob', name, 'urgent', { metadata: { annotations: { [KEDA_PAUSED]: null } } });
    await eventually('what a person resumes in the night is left, and that is said', async () =>
      (await cluster.details(name)).includes(`ScaledJob ${name}/urgent`),
    );
    expect(await paused('urgent')).toBeUndefined();

    await cluster.patchSchedule(name, { spec: UP });
    await eventually('the Rollout is waited for', async () =>
      /^Headroom waits for the .* of priority 0 to be ready/.test((await cluster.status(name)).detail),
    );
    expect([await replicas(), await paused('mails')]).toEqual([3, 'true']);
    await custom.makeReady(name, 'site');
    await cluster.reaches(name, 'Up', 'AsScheduled');
    const site = await custom.read('Rollout', name, 'site');
    expect(savedStateOf(site.metadata.annotations)).toEqual({});
    expect(await paused('mails')).toBeUndefined();
    const writes = await written(name);
    expect(writes.at(-1)).toBe('scaledjobs mails');
    expect(writes.filter((write) => write.startsWith('rollouts'))).toEqual(['rollouts site', 'rollouts site']);
  });

  it('run again after they slept, unless somebody paused them', async () => {
    const name = 'scaled-jobs';
    await cluster.namespace(name);
    await custom.create('ScaledJob', name, 'mails', { annotations: { [KEDA_PAUSED]: 'false' } });
    await custom.create('ScaledJob', name, 'held', { annotations: { [KEDA_PAUSED]: 'true' } });
    await cluster.asleep(name, { namespaces: [name] });
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    const [mails, held] = [await custom.read('ScaledJob', name, 'mails'), await custom.read('ScaledJob', name, 'held')];
    expect([mails.metadata.annotations, mails.metadata.labels]).toEqual([{ [KEDA_PAUSED]: 'false' }, undefined]);
    expect(held.metadata.annotations).toEqual({ [KEDA_PAUSED]: 'true' });
    expect(await written(name)).toEqual(['scaledjobs mails', 'scaledjobs mails']);
  });
});

describe.concurrent('a schedule that keeps one replica', () => {
  it('leaves one of several, one of one and none of none, and restores them', async () => {
    const name = 'keeps';
    const before = { several: 3, one: 1, none: 0 };
    await cluster.namespace(name);
    for (const [deployment, replicas] of Object.entries(before)) await cluster.deployment(name, deployment, replicas);
    const now = async () =>
      await Promise.all(Object.keys(before).map((deployment) => cluster.replicas(name, deployment)));
    await cluster.asleep(name, { namespaces: [name], downscaleReplicas: 1 });
    expect(await now()).toEqual([1, 1, 0]);
    expect(await cluster.savedState(name, 'one')).toEqual({});
    // Fewer are kept from now on, in the middle of the night; what was at 0 before is no business of the schedule.
    await cluster.patchSchedule(name, { spec: { downscaleReplicas: 0 } });
    await eventually('all are at 0', async () => (await now()).every((replicas) => replicas === 0));
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await now()).toEqual([3, 1, 0]);
    expect(await written(name)).not.toContain('deployments none');
  });
});

describe.concurrent('priorities', () => {
  const databases = { priorities: [{ priority: 10, selector: { matchLabels: { role: 'database' } } }] };

  it('put databases to sleep last and wake them first, each waiting for the others', async () => {
    const name = 'ordered';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 1);
    await cluster.statefulSet(name, 'db', 1, { role: 'database' });
    await eventually('the pods are there', async () => {
      return (await cluster.core.listNamespacedPod({ namespace: name })).items.length === 2;
    });
    await cluster.asleep(name, { namespaces: [name], ...databases });
    expect(await written(name)).toEqual(['deployments web', 'statefulsets db']);

    await cluster.patchSchedule(name, { spec: UP });
    await eventually('the database is waited for', async () => {
      const { detail } = await cluster.status(name);
      return detail === 'Headroom waits for the workload of priority 10 to be ready';
    });
    expect((await cluster.readStatefulSet(name, 'db')).spec?.replicas).toBe(1);
    expect(await cluster.replicas(name, 'web')).toBe(0);
    await eventually('the database is ready', async () => {
      await cluster.readyPods(name);
      return (await cluster.readStatefulSet(name, 'db')).status?.readyReplicas === 1;
    });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(1);
    const events = await plane.plane.auditEvents();
    const at = (found: AuditEvent | undefined) => Date.parse(found?.requestReceivedTimestamp ?? '');
    const ready = events.find(
      ({ objectRef }) =>
        objectRef?.namespace === name && objectRef.resource === 'pods' && objectRef.subresource === 'status',
    );
    expect(at((await cluster.writes(name, 'web')).at(-1))).toBeGreaterThan(at(ready));
    expect(await cluster.events(name)).not.toContainEqual(expect.stringMatching(/^ReadinessTimeout/));
  });

  it('go on when one is not ready in time, and say so', async () => {
    const name = 'impatient';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 1);
    await cluster.statefulSet(name, 'db', 1, { role: 'database' });
    await cluster.asleep(name, { namespaces: [name], readinessTimeout: '3s', ...databases });
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(1);
    const sentence = 'The workload of priority 10 was not ready within 3 s. Headroom went on with the next priority.';
    expect(await cluster.events(name)).toContain(`ReadinessTimeout: ${sentence}`);
    expect((await cluster.status(name)).facts).toContain(sentence);
  });
});

describe.concurrent('CronJobs', () => {
  it('wake last, in batches, when what they may need is ready', async () => {
    const name = 'dawn';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 1);
    for (const job of ['a', 'b', 'c']) await cluster.cronJob(name, job);
    const upscaleRateLimit = { batchSize: 2, delayBetweenBatches: '2s' };
    const cronJobs = { catchUp: 'none' };
    await cluster.asleep(name, { namespaces: [name], readinessTimeout: '10m', upscaleRateLimit, cronJobs });
    await cluster.patchSchedule(name, { spec: UP });
    await eventually('the Deployment is waited for', async () => {
      return (await cluster.status(name)).detail === 'Headroom waits for the workload of priority 0 to be ready';
    });
    expect(await Promise.all(['a', 'b', 'c'].map(async (job) => await cluster.suspended(name, job)))).toEqual([
      true,
      true,
      true,
    ]);
    await eventually('the Deployment is ready', async () => {
      await cluster.readyPods(name);
      return (await cluster.readDeployment(name, 'web')).status?.readyReplicas === 1;
    });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    const woken = (await cluster.writes(name)).filter(
      ({ objectRef, requestReceivedTimestamp }) =>
        objectRef?.resource === 'cronjobs' && objectRef.subresource === undefined && requestReceivedTimestamp !== '',
    );
    const times = woken.slice(-3).map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(2_000);
  });

  it('wait for nothing when the schedule is deleted', async () => {
    const name = 'no-dawn';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 1);
    await cluster.cronJob(name, 'job');
    await cluster.asleep(name, { namespaces: [name], readinessTimeout: '10m' });
    await cluster.deleteSchedule(name);
    await eventually('it is gone', async () => await cluster.scheduleIsGone(name));
    expect([await cluster.replicas(name, 'web'), await cluster.suspended(name, 'job')]).toEqual([1, false]);
  });
});

describe('in all of this', () => {
  interface Role {
    readonly kind: string;
    readonly metadata: { readonly name: string };
    readonly rules?: readonly {
      readonly apiGroups: readonly string[];
      readonly resources: readonly string[];
      readonly verbs: readonly string[];
    }[];
  }

  it('no request of worker and starter was forbidden, and every rule of their roles for schedules was needed', async () => {
    // The worker lists workloads only where no starter answers from its caches.
    const name = 'no-starter';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 1);
    await cluster.asleep(name, { namespaces: [name] });
    await starter.stop();
    await cluster.command(name, 'wake', { for: '1h' });
    await eventually('it is awake', async () => (await cluster.replicas(name, 'web')) === 1);
    expect(await cluster.refused()).toEqual([]);
    const objects = (await templateObjects('lights-out/rbac')) as readonly Role[];
    const granted = objects
      .filter(({ kind }) => kind === 'ClusterRole')
      .flatMap(({ metadata, rules = [] }) =>
        rules.flatMap(({ apiGroups, resources, verbs }) =>
          verbs.flatMap((verb) =>
            resources.map((resource) => `${metadata.name}: ${verb} ${resource} ${apiGroups.join()}`),
          ),
        ),
      );
    expect(granted.length).toBeGreaterThan(15);
    const used = new Set((await plane.plane.auditEvents()).flatMap(grantOf));
    expect(granted.filter((rule) => !used.has(rule))).toEqual([]);
  });

  /** A request as the rule that it needs. The base role has some of the same rights, which the API server may name instead. */
  function grantOf({ user, verb, objectRef, responseStatus }: AuditEvent): readonly string[] {
    if (!['headroom-worker', 'headroom-starter'].includes(user.username) || responseStatus?.code === 403) return [];
    const resource = [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/');
    return [`${user.username}-lights-out: ${verb} ${resource} ${objectRef?.apiGroup ?? ''}`];
  }
});
