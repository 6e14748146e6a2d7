import { describe, expect, it } from 'vitest';
import { FINALIZER, MANAGED_BY, ORIGINAL_REPLICAS, WAKE_UNTIL } from '../../../domain/lights-out/schedule/names.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { packItems } from '../../../domain/lights-out/decide/packed.ts';
import {
  type Cluster,
  observeInputOf,
  MERGE_PATCH,
  MORNING,
  namespaceOf,
  NIGHT,
  planOf,
  scaled,
  SCHEDULES,
  targetOf,
  workloadOf,
} from './cluster.ts';

/** The schedule as an object: how it is read, and what is written on it. */
export function scheduleTests(cluster: () => Cluster): void {
  async function change(name: string, body: object): Promise<void> {
    await cluster().admin.custom.patchClusterCustomObject({ ...SCHEDULES, name, body }, MERGE_PATCH);
  }

  async function remove(name: string): Promise<void> {
    await cluster().admin.custom.deleteClusterCustomObject({ ...SCHEDULES, name });
  }

  describe('a schedule', () => {
    it('is seen with its period, its next transitions in its own zone, and its annotations', async () => {
      const { at, schedule } = cluster();
      const until = formatInstant(NIGHT + 3_600_000);
      const annotations = { [WAKE_UNTIL]: until, 'lightsout.techsupport.mk/sleep-until': 'tonight' };
      const uid = await schedule('seen', { namespaces: ['nowhere'], timezone: 'Europe/Berlin' }, { annotations });
      const seen = await at(NIGHT).observeSchedule(observeInputOf('seen'));
      // 22 o'clock UTC is the evening in Berlin, whose day begins at 5 or 4 o'clock UTC.
      expect(seen).toMatchObject({
        at: NIGHT,
        schedule: { uid, isDeleting: false, hasFinalizer: false, problems: [], status: {} },
        period: { state: 'Down', exception: null, next: { state: 'Up' } },
        local: {
          nextUpscale: expect.stringMatching(/ 06:00 \+0[12]:00$/),
          nextDownscale: expect.stringMatching(/ 20:00 /),
        },
        pause: null,
        timings: { retryMin: 15_000 },
      });
      expect(seen.schedule?.overrides).toMatchObject([
        { kind: 'wake', namespace: null, until: Date.parse(until), by: 'annotation' },
      ]);
      expect(planOf(seen).notes).toMatchObject([
        { workload: 'LightsOutSchedule seen', reason: 'BadAnnotation', detail: expect.stringContaining('"tonight"') },
      ]);
    });

    it('that the API server lets in and nobody can follow has its problems and no plan, and keeps what it put to sleep', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'invalid';
      const web = workloadOf('Deployment', ns, 'web', 2);
      await create([namespaceOf(ns), web]);
      await schedule(ns, { namespaces: [ns] }, { finalizers: [FINALIZER] });
      await scaled(at(NIGHT), observeInputOf(ns));
      await change(ns, { spec: { timezone: 'Mars/Phobos' } });
      const seen = await at(MORNING).observeSchedule(observeInputOf(ns));
      expect(seen).toMatchObject({ period: null, plan: null, schedule: { spec: null, hasFinalizer: true } });
      expect(seen.schedule?.problems).toMatchObject([{ field: 'spec.timezone' }]);

      // Another one that selects the same does not take over what the invalid one put to sleep.
      await schedule(`${ns}-other`, { namespaces: [ns] });
      const other = planOf(await at(MORNING).observeSchedule(observeInputOf(`${ns}-other`)));
      expect(other).toMatchObject({ items: [], notes: [{ reason: 'OwnedByOther' }] });

      await remove(ns);
      const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns));
      expect(outcomes).toEqual([]);
      expect((await read(web)).spec.replicas).toBe(2);
    });

    it('that is idle leaves workloads to a younger one; one that is not idle keeps them', async () => {
      const { admin, at, create, schedule } = cluster();
      const [idle, busy] = ['of-idle', 'of-busy'];
      await create([idle, busy].flatMap((ns) => [namespaceOf(ns), workloadOf('Deployment', ns, 'web', 2)]));
      await schedule('suspended', { namespaces: [idle], suspend: true });
      await schedule('dry', { namespaces: [idle], dryRun: true });
      await schedule('unapproved', { namespaces: [idle], requireApproval: true });
      await schedule('a-busy', { namespaces: [busy] });
      await schedule('z-young', { namespaces: [idle, busy] });
      const left = [{ workload: `Deployment ${busy}/web`, reason: 'OwnedByOther' }];
      const young = planOf(await at(NIGHT).observeSchedule(observeInputOf('z-young')));
      expect(young.items.map(({ workload }) => workload.namespace)).toEqual([idle]);
      expect(young.notes).toMatchObject(left);

      const body = { status: { approved: { by: 'jane', at: formatInstant(NIGHT) } } };
      await admin.custom.patchClusterCustomObjectStatus({ ...SCHEDULES, name: 'unapproved', body }, MERGE_PATCH);
      const approved = planOf(await at(NIGHT).observeSchedule(observeInputOf('z-young')));
      expect(approved.items).toEqual([]);
      expect(approved.notes).toHaveLength(2);
    });

    it('that is deleted restores everything it put to sleep, wherever that is now, and then goes', async () => {
      const { at, change: write, create, read, readSchedule, schedule } = cluster();
      const [kept, left, foreign] = ['deleted-kept', 'deleted-left', 'deleted-foreign'];
      const objects = [kept, left].map((ns) => workloadOf('Deployment', ns, 'web', 2)) as [object, object];
      const others = workloadOf('Deployment', foreign, 'web', 2);
      await create([...[kept, left, foreign].map((ns) => namespaceOf(ns, { sleeps: 'yes' })), ...objects, others]);
      const scheduleUid = await schedule('deleted', {
        namespaceSelector: { matchLabels: { sleeps: 'yes' } },
        excludeNamespaces: [foreign],
      });
      await schedule('another', { namespaces: [foreign] });
      const activities = at(NIGHT);
      const target = targetOf('deleted');
      await activities.ensureFinalizer({ target, scheduleUid, isPresent: true });
      await scaled(activities, observeInputOf('deleted'));
      await scaled(activities, observeInputOf('another'));
      await write(
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: left } },
        { metadata: { labels: { sleeps: null } } },
      );
      await remove('deleted');

      const seen = await activities.observeSchedule(observeInputOf('deleted'));
      expect(seen.schedule).toMatchObject({ isDeleting: true, hasFinalizer: true });
      const { items } = planOf(seen);
      expect(items.map(({ reason }) => reason)).toEqual(['ScheduleDeleted', 'ScheduleDeleted']);
      await activities.ensureScaled({
        target,
        scheduleUid,
        items: packItems(items),
        observeInput: observeInputOf('deleted'),
      });
      expect((await Promise.all(objects.map(read))).map(({ spec }) => spec.replicas)).toEqual([2, 2]);
      expect((await read(others)).metadata?.annotations).toMatchObject({
        [MANAGED_BY]: 'another',
        [ORIGINAL_REPLICAS]: '2',
      });
      await activities.ensureFinalizer({ target, scheduleUid, isPresent: false });
      expect(await readSchedule('deleted')).toBeNull();
      // Of one that is gone, there is nothing left to do, and nothing to write on.
      expect(await activities.observeSchedule(observeInputOf('deleted'))).toMatchObject({
        schedule: null,
        period: null,
        plan: { total: 0 },
      });
      await activities.ensureFinalizer({ target, scheduleUid, isPresent: true });
      await activities.ensureScheduleStatus({ target, scheduleUid, observedGeneration: 1, ready, status: {} });
    });

    it('that is gone without its finalizer restores everything all the same', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'vanished';
      const web = workloadOf('Deployment', ns, 'web', 2);
      await create([namespaceOf(ns), web]);
      await schedule(ns, { namespaces: [ns] });
      await scaled(at(NIGHT), observeInputOf(ns));
      await remove(ns);
      const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns));
      expect(outcomes).toEqual([]);
      expect((await read(web)).spec.replicas).toBe(2);
    });

    it('keeps the finalizers of others, and one of the same name that is another by UID is left', async () => {
      const { at, readSchedule, schedule } = cluster();
      const finalizers = ['example.com/other'];
      const scheduleUid = await schedule('finalized', { namespaces: ['nowhere'] }, { finalizers });
      const activities = at();
      const target = targetOf('finalized');
      const found = async () => (await readSchedule('finalized'))?.metadata?.finalizers;
      await activities.ensureFinalizer({ target, scheduleUid: 'of-another', isPresent: true });
      expect(await found()).toEqual(finalizers);
      for (const expected of [
        [...finalizers, FINALIZER],
        [...finalizers, FINALIZER],
      ]) {
        await activities.ensureFinalizer({ target, scheduleUid, isPresent: true });
        expect(await found()).toEqual(expected);
      }
      await remove('finalized');
      await activities.ensureFinalizer({ target, scheduleUid, isPresent: false });
      expect(await found()).toEqual(finalizers);
      // What is being deleted takes no finalizer any more, which is no error.
      await activities.ensureFinalizer({ target, scheduleUid, isPresent: true });
      await change('finalized', { metadata: { finalizers: null } });
    });
  });

  const ready = { status: 'True', reason: 'ReconcileSucceeded', message: 'as scheduled' } as const;

  describe('the status of a schedule', () => {
    it('is written where it differs, with what is gone taken away, and the conditions of others left', async () => {
      const { admin, at, readSchedule, schedule } = cluster();
      const scheduleUid = await schedule('status', { namespaces: ['nowhere'] });
      const target = targetOf('status');
      const foreign = {
        type: 'Audited',
        status: 'True',
        reason: 'Seen',
        message: 'by a person',
        lastTransitionTime: formatInstant(NIGHT),
      };
      const body = { status: { conditions: [foreign] } };
      await admin.custom.patchClusterCustomObjectStatus({ ...SCHEDULES, name: 'status', body }, MERGE_PATCH);
      const status = {
        state: 'Down',
        nextUpscaleTime: formatInstant(MORNING),
        workloadStats: { deploymentsManaged: 3, cronjobsManaged: 1 },
        scalingProgress: { total: 3, completed: 1, failed: 0, inProgress: true },
        savedReplicaHours: '1.5',
      } as const;
      const write = { target, scheduleUid, observedGeneration: 1, ready, status };
      await at(NIGHT).ensureScheduleStatus(write);
      const first = await readSchedule('status');
      const condition = { type: 'Ready', ...ready, observedGeneration: 1, lastTransitionTime: formatInstant(NIGHT) };
      expect(first?.['status']).toEqual({ ...status, observedGeneration: 1, conditions: [foreign, condition] });

      // The same again is no write; another message at another time is no other transition.
      await at(MORNING).ensureScheduleStatus(write);
      expect((await readSchedule('status'))?.metadata?.resourceVersion).toBe(first?.metadata?.resourceVersion);
      const { scalingProgress: _over, ...rest } = status;
      const message = 'all are asleep';
      await at(MORNING).ensureScheduleStatus({
        ...write,
        ready: { ...ready, message },
        status: { ...rest, workloadStats: { deploymentsManaged: 2 } },
      });
      expect((await readSchedule('status'))?.['status']).toEqual({
        ...rest,
        workloadStats: { deploymentsManaged: 2 },
        observedGeneration: 1,
        conditions: [foreign, { ...condition, message }],
      });
      await at(MORNING).ensureScheduleStatus({
        ...write,
        ready: { status: 'False', reason: 'ReconcileFailed', message },
      });
      expect((await readSchedule('status'))?.['status'].conditions[1]).toMatchObject({
        status: 'False',
        lastTransitionTime: formatInstant(MORNING),
      });
      const { metadata } = (await readSchedule('status')) ?? {};
      await at(NIGHT).ensureScheduleStatus({ ...write, scheduleUid: 'of-another' });
      expect((await readSchedule('status'))?.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    });
  });

  describe('an Event of a schedule', () => {
    it('is in the namespace default, once for each key', async () => {
      const { admin, at, schedule } = cluster();
      const scheduleUid = await schedule('told', { namespaces: ['nowhere'] });
      const event = {
        target: targetOf('told'),
        scheduleUid,
        type: 'Normal',
        reason: 'ScaledDown',
        message: '3 workloads',
        key: 'a',
      } as const;
      for (const key of ['a', 'a', 'b']) await at().ensureScheduleEvent({ ...event, key });
      const fieldSelector = 'involvedObject.kind=LightsOutSchedule,involvedObject.name=told';
      const { items } = await admin.core.listNamespacedEvent({ namespace: 'default', fieldSelector });
      expect(items).toHaveLength(2);
      expect(items[0]).toMatchObject({
        reason: 'ScaledDown',
        message: '3 workloads.',
        involvedObject: { uid: scheduleUid },
      });
    });
  });

  describe('while Headroom is paused in the cluster', () => {
    it('no workload, finalizer or Event is written, and the status says so', async () => {
      const { at, create, paused, read, readSchedule, schedule } = cluster();
      const ns = 'paused';
      const web = workloadOf('Deployment', ns, 'web', 2);
      await create([namespaceOf(ns), web]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      const target = targetOf(ns);
      const activities = at(NIGHT);
      await paused(async () => {
        const seen = await activities.observeSchedule(observeInputOf(ns));
        expect(seen.pause).toMatchObject({ scope: 'everything', by: 'jane', reason: 'incident 7' });
        const { items } = planOf(seen);
        expect(items).toHaveLength(1);
        const refused = {
          type: 'GloballyPaused',
          nonRetryable: true,
          message: expect.stringContaining('for the schedule paused'),
        };
        const batch = { target, scheduleUid, items: packItems(items), observeInput: observeInputOf(ns) };
        await expect(activities.ensureScaled(batch)).rejects.toMatchObject(refused);
        await expect(activities.ensureFinalizer({ target, scheduleUid, isPresent: true })).rejects.toMatchObject(
          refused,
        );
        const event = { target, scheduleUid, type: 'Normal', reason: 'ScaledDown', message: '', key: 'a' } as const;
        await expect(activities.ensureScheduleEvent(event)).rejects.toMatchObject(refused);
        await activities.ensureScheduleStatus({
          target,
          scheduleUid,
          observedGeneration: 1,
          ready: { status: 'Unknown', reason: 'GloballyPaused', message: 'paused' },
          status: {},
        });
      });
      expect((await readSchedule(ns))?.['status'].conditions).toMatchObject([{ reason: 'GloballyPaused' }]);
      expect((await readSchedule(ns))?.metadata?.finalizers).toBeUndefined();
      expect((await read(web)).spec.replicas).toBe(2);
      expect((await scaled(activities, observeInputOf(ns))).outcomes).toEqual([]);
    });
  });
}
