import { describe, expect, it, vi } from 'vitest';
import { pino } from 'pino';
import { readPauseConfigMaps } from '../../../activities/kernel/pause.ts';
import { PauseView } from '../../../activities/kernel/pause-view.ts';
import { watchPauses } from '../../../activities/kernel/pause-watch.ts';
import { createPauseActivities } from '../../../activities/kernel/pause-activities.ts';
import type { ResizeEvent } from '../../../activities/quota-resize/interface.ts';
import { quotaPauseSubject } from '../../../domain/kernel/target.ts';
import { BUILT_IN_GUARDRAIL } from '../../../domain/quota-resize/policy/guardrail.ts';
import { defaults } from '../../domain/quota-resize/policy/policies.ts';
import {
  type Cluster,
  kubeConfig,
  namespaceOf,
  patience,
  quotaCounted,
  quotaOf,
  SYSTEM_NAMESPACE,
  targetOf,
  timings,
  WORKER,
} from './cluster.ts';

/** An Event of a quota, where it does not matter which. */
const anEvent = { type: 'Normal', reason: 'PolicyInvalid', message: 'm', key: 'k' } as const;

const change = {
  resource: 'requests.cpu',
  from: '2',
  to: '3600m',
  used: '2',
  demand: '1',
  reason: 'All of it is used.',
};

/** Observing a quota, its Events, the sync and the global pause. */
export function quotaTests(cluster: () => Cluster): void {
  async function setUp(namespace: string, annotations: Record<string, string> = {}): Promise<string> {
    await cluster().create(
      namespaceOf(namespace, annotations),
      quotaOf(namespace, { 'requests.cpu': '2000m', pods: '4' }),
    );
    await quotaCounted(cluster(), namespace);
    const quota = await cluster().admin.core.readNamespacedResourceQuota({ name: 'compute', namespace });
    return quota.metadata?.uid ?? '';
  }

  async function setHard(namespace: string, hard: Record<string, string>): Promise<void> {
    const quota = await cluster().admin.core.readNamespacedResourceQuota({ name: 'compute', namespace });
    quota.spec = { hard };
    await cluster().admin.core.replaceNamespacedResourceQuota({ name: 'compute', namespace, body: quota });
  }

  async function eventsOf(namespace: string) {
    return (await cluster().admin.core.listNamespacedEvent({ namespace })).items;
  }

  describe('an observation of a quota', () => {
    it('leaves out what cannot be read, and warns of it where it counts in a total', async () => {
      await setUp('unreadable', { 'resizer.io/cpu-min': '3' });
      await setHard('unreadable', { 'requests.cpu': '2', 'count/jobs.batch': '1e1002' });
      await cluster().create(quotaOf('unreadable', { 'requests.cpu': '1e1002' }, 'other'));
      const guardrails = [{ ...BUILT_IN_GUARDRAIL, totals: { cpu: '100' } }];
      const seen = await cluster()
        .activities({ policyDefaults: { ...defaults, guardrails } })
        .observeQuota({ target: targetOf('unreadable') });
      expect(seen.quota?.hard).toEqual({ 'requests.cpu': '2' });
      expect(seen.warnings).toMatchObject([{ key: 'requests.cpu "1e1002" of quota unreadable/other' }]);
      // Guardrails of other tests hold for all namespaces.
      await cluster().admin.core.deleteNamespacedResourceQuota({ namespace: 'unreadable', name: 'other' });
    });

    it('has canonical limits, the policy of its annotations, and its warnings', async () => {
      const uid = await setUp('look', { 'resizer.io/threshold': '90%', 'resizer.io/increment': 'plenty' });
      const seen = await cluster()
        .activities()
        .observeQuota({ target: targetOf('look') });
      expect(seen).toMatchObject({
        namespace: 'present',
        quota: { uid, hard: { 'requests.cpu': '2', pods: '4' }, used: { 'requests.cpu': '0', pods: '0' } },
        policy: { enabled: true, mode: 'observe', threshold: '90', increment: '20' },
        pause: null,
        demand: [],
      });
      expect(seen.warnings.map((warning) => warning.key)).toEqual(['resizer.io/increment']);
      const { syncPoll, ...resizeTimings } = timings;
      expect(seen.timings).toEqual(resizeTimings);
      expect(syncPoll).toBe(15_000);
    });

    it('sees a quota that is gone, and a namespace that is being deleted or gone', async () => {
      const { admin } = cluster();
      const { observeQuota } = cluster().activities();
      await setUp('look-gone');
      expect(await observeQuota({ target: targetOf('look-gone', 'other') })).toMatchObject({
        namespace: 'present',
        quota: null,
      });
      expect(await observeQuota({ target: targetOf('look-never') })).toMatchObject({ namespace: 'gone', quota: null });
      const namespace = await admin.core.readNamespace({ name: 'look-gone' });
      // A finalizer of somebody else keeps it terminating.
      await cluster().create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'stays', namespace: 'look-gone', finalizers: ['example.com/stay'] },
      });
      await admin.core.deleteNamespace({ name: namespace.metadata?.name ?? '' });
      expect(await observeQuota({ target: targetOf('look-gone') })).toMatchObject({
        namespace: 'terminating',
        demand: [],
      });
    });
  });

  describe('an Event on a quota', () => {
    it('is one, however often it is written, and names the quota by its UID', async () => {
      const quotaUid = await setUp('event');
      const { ensureQuotaEvent } = cluster().activities();
      const input = { target: targetOf('event'), quotaUid, type: 'Warning', reason: 'FileNotFound', key: 'k' } as const;
      await ensureQuotaEvent({ ...input, message: 'x'.repeat(2000) });
      await ensureQuotaEvent({ ...input, message: 'again' });
      await ensureQuotaEvent({ ...input, message: 'another', key: 'other' });
      const events = await eventsOf('event');
      expect(new Set(events.map((event) => event.message))).toEqual(new Set(['Another.', `X${'x'.repeat(1022)}…`]));
      expect(events).toHaveLength(2);
      expect(events[0]).toMatchObject({
        type: 'Warning',
        reason: 'FileNotFound',
        source: { component: 'headroom' },
        reportingComponent: 'headroom',
        involvedObject: { kind: 'ResourceQuota', name: 'compute', namespace: 'event', uid: quotaUid },
      });
    });

    it('is one of ten Warnings of a reason in an hour, among which what is there already does not count', async () => {
      const quotaUid = await setUp('many-events');
      const { ensureQuotaEvent, lines } = cluster().activities();
      const target = targetOf('many-events');
      const write = async (reason: ResizeEvent['reason'], type: ResizeEvent['type'], key: string): Promise<unknown> =>
        await ensureQuotaEvent({ target, quotaUid, type, reason, key, message: `it is ${key}` });
      for (let count = 0; count < 12; count += 1) {
        await write('PolicyInvalid', 'Warning', 'the same');
        await write('PolicyInvalid', 'Warning', `other ${count}`);
        await write('QuotaResizeApproved', 'Normal', `yes ${count}`);
      }
      await write('SyncOverdue', 'Warning', 'late');
      const reasons = (await eventsOf('many-events')).map(({ reason }) => reason);
      const times = (wanted: string): number => reasons.filter((reason) => reason === wanted).length;
      expect([times('PolicyInvalid'), times('QuotaResizeApproved'), times('SyncOverdue')]).toEqual([10, 12, 1]);
      expect(await write('SyncOverdue', 'Warning', 'later'), 'there is room').toBe('told');
      expect(await write('PolicyInvalid', 'Warning', 'another'), 'it is to be said later').toBe('putOff');
      expect(lines.at(-1)).toMatchObject({
        reason: 'PolicyInvalid',
        msg: expect.stringContaining('not written') as string,
      });
    });

    it('of a namespace that is deleted is logged and no error', async () => {
      const activities = cluster().activities();
      const input = { quotaUid: 'u', type: 'Normal', reason: 'QuotaResizeMerged', message: 'm', key: 'k' } as const;
      await activities.ensureQuotaEvent({ target: targetOf('look-gone'), ...input });
      await activities.ensureQuotaEvent({ target: targetOf('look-never'), ...input });
      expect(activities.lines.map((line) => line['namespace'])).toEqual(['look-gone', 'look-never']);
    });
  });

  describe('a recommendation', () => {
    it('is an Event, a log line and a note in the Lease, each once', async () => {
      const quotaUid = await setUp('recommend');
      const target = targetOf('recommend');
      const activities = cluster().activities();
      const at = 1_795_000_000_000;
      const input = { target, quotaUid, changes: [change], evidence: ['web misses 2'], mode: 'observe', at } as const;
      await activities.ensureRecommendation(input);
      await activities.ensureRecommendation(input);
      expect(await eventsOf('recommend')).toMatchObject([
        {
          type: 'Warning',
          reason: 'QuotaResizeRecommended',
          message: 'requests.cpu should be raised from 2 to 3600m. All of it is used.',
        },
      ]);
      expect(activities.lines).toMatchObject([
        {
          msg: 'QuotaResizeRecommended',
          namespace: 'recommend',
          quota: 'compute',
          cluster: 'test',
          mode: 'observe',
          changes: [change],
          evidence: ['web misses 2'],
        },
      ]);
      const { lease } = await activities.observeQuota({ target });
      expect(lease).toMatchObject({ holder: null, lastRecommendation: { limits: { 'requests.cpu': '3600m' }, at } });
    });

    it('says after the values what the policy changed, in the Event and in the log', async () => {
      const quotaUid = await setUp('noted');
      const activities = cluster().activities();
      const notes = ['pods is raised only to its maximum of 11 pods.'];
      await activities.ensureRecommendation({
        target: targetOf('noted'),
        quotaUid,
        changes: [change],
        evidence: [],
        notes,
        mode: 'propose',
        at: 1,
      });
      expect(await eventsOf('noted')).toMatchObject([
        { message: `requests.cpu should be raised from 2 to 3600m. All of it is used. ${notes[0]}` },
      ]);
      expect(activities.lines).toMatchObject([{ msg: 'QuotaResizeRecommended', notes }]);
    });

    it('that goes on to a pull request leaves no note in the Lease', async () => {
      const quotaUid = await setUp('propose');
      const target = targetOf('propose');
      const activities = cluster().activities();
      await activities.ensureRecommendation({
        target,
        quotaUid,
        changes: [change],
        evidence: [],
        mode: 'propose',
        at: 1,
      });
      expect(await eventsOf('propose')).toHaveLength(1);
      expect((await activities.observeQuota({ target })).lease.lastRecommendation).toBeNull();
    });
  });

  describe('the sync of a quota', () => {
    it('is awaited until spec.hard holds at least the limits by value', async () => {
      const quotaUid = await setUp('sync');
      const { awaitSync } = cluster().activities();
      const input = { target: targetOf('sync'), quotaUid, limits: { 'requests.cpu': '3' } };
      await expect(awaitSync(input)).rejects.toMatchObject({
        type: 'NotYet',
        nonRetryable: false,
        category: 'BENIGN',
        nextRetryDelay: 15_000,
        message: 'sync/compute has not followed Git yet: requests.cpu 2, 3 wanted',
      });
      await setHard('sync', { 'requests.cpu': '3000m' });
      await expect(awaitSync(input)).resolves.toBeUndefined();
      await expect(awaitSync({ ...input, limits: { pods: '1' } })).rejects.toMatchObject({ type: 'NotYet' });
    });

    it('is over when the quota is gone or another object', async () => {
      await setUp('sync-gone');
      const { awaitSync } = cluster().activities();
      const limits = { 'requests.cpu': '3' };
      await expect(awaitSync({ target: targetOf('sync-gone'), quotaUid: 'another', limits })).resolves.toBeUndefined();
      await expect(
        awaitSync({ target: targetOf('sync-gone', 'none'), quotaUid: 'x', limits }),
      ).resolves.toBeUndefined();
    });
  });

  describe('the global pause', () => {
    it('stops every write, is seen, and is over when the ConfigMap is gone or says so', async () => {
      const { admin, create } = cluster();
      const quotaUid = await setUp('paused');
      const target = targetOf('paused');
      const activities = cluster().activities();
      const data = { by: 'jane', reason: 'incident 7' };
      await create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'headroom-pause', namespace: SYSTEM_NAMESPACE },
        data,
      });
      const decision = {
        id: 'paused',
        quotaUid,
        decidedAt: 1,
        changes: [change],
        evidence: [],
        demandByMessage: false,
        approvalRequirement: null,
        pullRequest: null,
        merge: null,
      };
      const subject = quotaPauseSubject('quota-resize', target);
      const pausing = createPauseActivities({
        kubernetes: cluster().admin,
        systemNamespace: SYSTEM_NAMESPACE,
      });
      const awaitResume = async () => await pausing.awaitResume({ subject });
      const writes = [
        () =>
          activities.ensureRecommendation({
            target,
            quotaUid,
            changes: [change],
            evidence: [],
            mode: 'observe',
            at: 1,
          }),
        () => activities.ensureQuotaEvent({ target, quotaUid, ...anEvent }),
        () => activities.ensureLeaseAcquired({ target, decision }),
        () => activities.ensureLeaseUpdated({ target, decision }),
        () => activities.ensureLeaseReleased({ target, decision, rejection: null }),
        () => activities.ensureLeaseSynced({ target, decision, at: 1 }),
      ];
      for (const write of writes) {
        await expect(write()).rejects.toMatchObject({
          type: 'GloballyPaused',
          nonRetryable: true,
          message: expect.stringMatching(/paused in this cluster by jane since \S+: incident 7/),
        });
      }
      expect(await eventsOf('paused')).toEqual([]);
      const seen = await activities.observeQuota({ target });
      expect(seen.pause).toMatchObject({ ...data, scope: 'everything' });
      await expect(awaitResume()).rejects.toMatchObject({
        type: 'NotYet',
        category: 'BENIGN',
      });

      const name = 'headroom-pause';
      const body = { metadata: { name, namespace: SYSTEM_NAMESPACE }, data: { ...data, paused: 'false' } };
      await admin.core.replaceNamespacedConfigMap({ name, namespace: SYSTEM_NAMESPACE, body });
      await expect(awaitResume()).resolves.toBeUndefined();
      await admin.core.deleteNamespacedConfigMap({ name, namespace: SYSTEM_NAMESPACE });
      await expect(awaitResume()).resolves.toBeUndefined();
      await activities.ensureQuotaEvent({ target, quotaUid, ...anEvent });
      expect(await eventsOf('paused')).toHaveLength(1);
    });

    it('that is kept for one quota is seen by the watch, and ends with it', async () => {
      const quotaUid = await setUp('kept');
      const target = targetOf('kept');
      const { plane, worker: kubernetes } = cluster();
      const systemNamespace = SYSTEM_NAMESPACE;
      const over = new AbortController();
      let reads = 0;
      const view = new PauseView(async () => {
        reads += 1;
        return await readPauseConfigMaps({ kubernetes, systemNamespace });
      });
      watchPauses(view, {
        kubeConfig: kubeConfig(plane.kubeconfigFor(WORKER)),
        systemNamespace,
        signal: over.signal,
        log: pino({ enabled: false }),
      });
      const isCached = async (): Promise<boolean> => {
        await view.read();
        const before = reads;
        await view.read();
        return reads === before;
      };
      await vi.waitFor(async () => expect(await isCached()).toBe(true), patience);
      const pausing = createPauseActivities({ kubernetes, systemNamespace });
      const activities = cluster().activities({ pauses: view });
      const write = async () => await activities.ensureQuotaEvent({ target, quotaUid, ...anEvent });
      const scope = { kind: 'target', controller: 'quota-resize', name: 'kept/compute' } as const;
      try {
        await pausing.ensurePauseKept({ scope, pause: { by: 'jane', reason: 'incident 7', at: Date.now() } });
        await vi.waitFor(async () => {
          await expect(write()).rejects.toMatchObject({
            type: 'Paused',
            nonRetryable: true,
            details: [{ by: 'jane', reason: 'incident 7', scope: 'target' }],
          });
        }, patience);
        await pausing.ensurePauseKept({ scope, pause: null });
        await vi.waitFor(write, patience);
      } finally {
        over.abort();
      }
    });
  });
}
