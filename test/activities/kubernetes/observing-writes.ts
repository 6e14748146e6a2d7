import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import type { ResizeEvent } from '../../../activities/quota-resize/interface.ts';
import { noPullRequestEnds } from '../../../activities/quota-resize/lease/ends.ts';
import { type Cluster, namespaceOf, quotaCounted, quotaOf, targetOf } from './cluster.ts';
import { decisionOf, pullRequestOf } from './lease.ts';

/** Writes that observe the quota afterwards, for the next pass of its episode. */
export function observingWritesTests(cluster: () => Cluster): void {
  async function setUp(namespace: string): Promise<string> {
    await cluster().create(namespaceOf(namespace), quotaOf(namespace, { 'requests.cpu': '2' }));
    await quotaCounted(cluster(), namespace);
    const quota = await cluster().admin.core.readNamespacedResourceQuota({ name: 'compute', namespace });
    return quota.metadata?.uid ?? '';
  }

  async function eventsOf(namespace: string): Promise<readonly (string | undefined)[]> {
    return (await cluster().admin.core.listNamespacedEvent({ namespace })).items.map(({ message }) => message);
  }

  function eventOf(namespace: string, quotaUid: string): ResizeEvent {
    const message = 'Pull request #7 is merged.';
    return { target: targetOf(namespace), quotaUid, type: 'Normal', reason: 'QuotaResizeMerged', message, key: 'done' };
  }

  describe('a write that observes', () => {
    it('sees all that it wrote, and an Event is written with the release', async () => {
      const quotaUid = await setUp('seen-after');
      const target = targetOf('seen-after');
      const merge = { sha: 'abc', at: Date.now(), by: 'headroom', limits: { 'requests.cpu': '3' } };
      const ends = { ...noPullRequestEnds, endOfDecision: () => Promise.resolve({ merge, closedBy: null }) };
      const activities = cluster().activities({ ends });
      const decision = decisionOf('after');
      await activities.ensureLeaseAcquired({ target, decision });

      const opened = decisionOf('after', { pullRequest: pullRequestOf('after.yaml') });
      expect(await activities.ensureLeaseUpdated({ target, decision: opened })).toEqual({});
      const updated = await activities.ensureLeaseUpdated({ target, decision: opened, observes: true });
      expect(updated?.observation).toEqual(await activities.observeQuota({ target }));
      expect(updated?.observation).toMatchObject({ quota: { uid: quotaUid }, lease: { decision: opened } });

      const release = {
        target,
        decision: { ...opened, merge },
        rejection: null,
        event: eventOf('seen-after', quotaUid),
      };
      const released = await activities.ensureLeaseReleased({ ...release, observes: true });
      expect(released).toMatchObject({
        event: 'told',
        observation: { lease: { holder: null, decision: { merge } } },
      });
      // Whoever dies before its end is known does it once more.
      expect(await activities.ensureLeaseReleased(release)).toEqual({ event: 'told' });
      expect(await eventsOf('seen-after')).toEqual([release.event.message]);

      const sync = { target, decision: { ...opened, merge }, at: Date.now(), observes: true } as const;
      const synced = await activities.ensureLeaseSynced(sync);
      expect(synced?.observation?.lease).toMatchObject({ holder: null, decision: null });
      const told = await activities.ensureQuotaEvent({ ...eventOf('seen-after', quotaUid), observes: true });
      expect(told).toMatchObject({ event: 'told', observation: { quota: { uid: quotaUid } } });
    });

    it('records a sync once the cluster shows what was merged, and sees that', async () => {
      const quotaUid = await setUp('synced-after');
      const target = targetOf('synced-after');
      const limits = { 'requests.cpu': '3' };
      const merge = { sha: 'abc', at: Date.now(), by: 'headroom', limits };
      const ends = { ...noPullRequestEnds, endOfDecision: () => Promise.resolve({ merge, closedBy: null }) };
      const activities = cluster().activities({ ends });
      const open = decisionOf('followed', { quotaUid, pullRequest: pullRequestOf('followed.yaml') });
      await activities.ensureLeaseAcquired({ target, decision: open });
      const decision = { ...open, merge };
      await activities.ensureLeaseReleased({ target, decision, rejection: null });
      const ask = { target, decision, at: Date.now() };
      expect(await activities.ensureSyncRecorded(ask)).toMatchObject({
        recordedAt: null,
        observation: { quota: { uid: quotaUid }, lease: { decision: { merge } } },
      });
      await cluster().admin.core.patchNamespacedResourceQuota(
        { namespace: 'synced-after', name: target.quota, body: { spec: { hard: limits } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
      const again = new MockActivityEnvironment({ attempt: 2 });
      expect(await again.run(async () => await activities.ensureSyncRecorded(ask))).toMatchObject({
        recordedAt: null,
      });
      expect(await activities.ensureSyncRecorded(ask)).toMatchObject({
        recordedAt: ask.at,
        observation: { quota: { hard: limits }, lease: { decision: null, lastModified: ask.at } },
      });
    });

    it('is done where nothing can be observed, and says so to whoever waits', async () => {
      const quotaUid = await setUp('unseen-after');
      const { worker } = cluster();
      const core: typeof worker.core = Object.create(worker.core, {
        readNamespace: { value: () => Promise.reject(new Error('the API server is away')) },
      });
      const { lines, ensureQuotaEvent } = cluster().activities({ kubernetes: { ...worker, core } });
      const event = eventOf('unseen-after', quotaUid);
      expect(await ensureQuotaEvent({ ...event, observes: true })).toEqual({ event: 'told' });
      expect(lines.map(({ msg }) => msg)).toContain('the quota was not observed after a step');
      expect(await eventsOf('unseen-after')).toEqual([event.message]);
    });
  });
}
