import { describe, expect, it } from 'vitest';
import type { V1Lease } from '@kubernetes/client-node';
import { noPullRequestEnds } from '../../../activities/quota-resize/lease/ends.ts';
import { type Decision, FOUND_IN_GIT } from '../../../domain/quota-resize/model/decision.ts';
import { type Cluster, SYSTEM_NAMESPACE, targetOf } from './cluster.ts';

const labels = { 'app.kubernetes.io/managed-by': 'namespace-resizer' };

/** A Lease takes no decision for older than some minutes. */
const DECIDED_AT = Date.now();

export function decisionOf(id: string, change: Partial<Decision> = {}): Decision {
  return {
    id,
    quotaUid: 'uid',
    decidedAt: DECIDED_AT,
    changes: [{ resource: 'requests.cpu', from: '2', to: '3', used: '2', demand: '0', reason: 'full' }],
    evidence: ['full'],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest: null,
    merge: null,
    ...change,
  };
}

export function pullRequestOf(path: string): NonNullable<Decision['pullRequest']> {
  return {
    number: 7,
    url: 'https://forge/pull/7',
    repository: 'acme/gitops',
    branch: 'headroom/7',
    base: 'main',
    path,
    headSha: 'f'.repeat(40),
    openedAt: 1_795_000_001_000,
    pushedAt: 1_795_000_001_000,
  };
}

/** The Leases of quotas: their locks and their memory. */
export function leaseTests(cluster: () => Cluster): void {
  async function read(name: string): Promise<V1Lease | undefined> {
    const { items } = await cluster().admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
    return items.find((lease) => lease.metadata?.name === name);
  }

  async function write(
    name: string,
    holderIdentity: string | undefined,
    annotations: Record<string, string> = {},
  ): Promise<void> {
    const metadata = { name, namespace: SYSTEM_NAMESPACE, labels, annotations };
    const spec = holderIdentity === undefined ? {} : { holderIdentity };
    await cluster().create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  }

  describe('the Lease of a quota', () => {
    it('lives from lock to merge to sync, and writes nothing twice', async () => {
      const mergedAt = 1_795_000_100_000;
      const merge = { sha: 'abc', at: mergedAt, by: 'headroom', limits: { 'requests.cpu': '3' } };
      let isMerged = false;
      const activities = cluster().activities({
        ends: {
          ...noPullRequestEnds,
          endOfDecision: () => Promise.resolve({ merge: isMerged ? merge : null, closedBy: null }),
        },
      });
      const target = targetOf('lease-life');
      const decision = decisionOf('life');

      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'acquired',
        batchedQuotas: [],
      });
      const locked = await read('state-lease-life-compute');
      expect(locked?.spec?.holderIdentity).toBe('headroom/life');
      expect(locked?.spec?.acquireTime).toBeDefined();
      expect(locked?.metadata?.labels).toEqual(labels);
      expect(locked?.metadata?.annotations).toMatchObject({
        'resizer.io/target-cluster': 'test',
        'resizer.io/target-namespace': 'lease-life',
        'resizer.io/target-quota': 'compute',
      });
      expect(locked?.metadata?.annotations, 'a file is locked with a pull request').not.toHaveProperty(
        'resizer.io/file',
      );

      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'acquired',
        batchedQuotas: [],
      });
      expect((await read('state-lease-life-compute'))?.metadata?.resourceVersion).toBe(
        locked?.metadata?.resourceVersion,
      );

      const opened = decisionOf('life', { pullRequest: pullRequestOf('life.yaml') });
      await activities.ensureLeaseUpdated({ target, decision: opened });
      const { lease: whileOpen } = await activities.observeQuota({ target });
      expect(whileOpen).toMatchObject({ name: 'state-lease-life-compute', holder: 'headroom/life', decision: opened });
      // A run that was reset asks with the decision as it first was.
      await activities.ensureLeaseAcquired({ target, decision });
      expect((await activities.observeQuota({ target })).lease.decision).toEqual(opened);

      const merged = { ...opened, merge };
      await activities.ensureLeaseSynced({ target, decision: merged, at: mergedAt });
      expect((await activities.observeQuota({ target })).lease, 'nobody but the forge says so').toEqual(whileOpen);
      isMerged = true;
      await activities.ensureLeaseReleased({ target, decision: merged, rejection: null });
      await activities.ensureLeaseReleased({ target, decision: merged, rejection: null });
      const { lease: afterMerge } = await activities.observeQuota({ target });
      expect(afterMerge).toMatchObject({ holder: null, lastModified: mergedAt, decision: merged });

      await activities.ensureLeaseSynced({ target, decision: merged, at: mergedAt + 60_000 });
      const { lease: afterSync } = await activities.observeQuota({ target });
      expect(afterSync).toMatchObject({ holder: null, lastModified: mergedAt + 60_000, decision: null });
      expect((await read('state-lease-life-compute'))?.metadata?.annotations?.['resizer.io/last-modified']).toBe(
        new Date(mergedAt + 60_000).toISOString(),
      );
    });

    it('remembers a rejection once, and forgets the decision', async () => {
      const activities = cluster().activities();
      const target = targetOf('lease-refusal');
      const decision = decisionOf('refused');
      const rejection = { limits: { 'requests.cpu': '3' }, at: 1_795_000_200_000, by: 'jane', reason: 'too much' };
      await activities.ensureLeaseAcquired({ target, decision });
      await activities.ensureLeaseReleased({ target, decision, rejection });
      await activities.ensureLeaseReleased({ target, decision, rejection });
      const { lease } = await activities.observeQuota({ target });
      expect(lease).toMatchObject({ holder: null, lastModified: null, rejections: [rejection], decision: null });
    });

    it('that nobody has is no error to sync or to release', async () => {
      const activities = cluster().activities();
      const target = targetOf('lease-none');
      await activities.ensureLeaseSynced({ target, decision: decisionOf('none'), at: 1 });
      await activities.ensureLeaseReleased({ target, decision: decisionOf('none'), rejection: null });
      expect((await activities.observeQuota({ target })).lease).toEqual({
        name: 'state-lease-none-compute',
        holder: null,
        carriedBy: null,
        holderIsAbandoned: false,
        lastModified: null,
        lastRecommendation: null,
        rejections: [],
        decision: null,
      });
    });

    it('with the name of another quota gets a hash, and both keep their own memory', async () => {
      const activities = cluster().activities();
      const [own, other] = [targetOf('hash-a', 'compute'), targetOf('hash', 'a-compute')];
      const acquire = (target: typeof own, id: string) =>
        activities.ensureLeaseAcquired({
          target,
          decision: decisionOf(id),
        });
      expect(await acquire(own, 'one')).toEqual({ kind: 'acquired', batchedQuotas: [] });
      expect(await acquire(other, 'other')).toEqual({ kind: 'acquired', batchedQuotas: [] });
      const [first, second] = [
        await activities.observeQuota({ target: own }),
        await activities.observeQuota({ target: other }),
      ];
      expect(first.lease).toMatchObject({ name: 'state-hash-a-compute', holder: 'headroom/one' });
      expect(second.lease.holder).toBe('headroom/other');
      expect(second.lease.name).toMatch(/^state-hash-a-compute-[0-9a-f]{16}$/);
    });

    it('is written for a quota whose name is as long as names may be', async () => {
      const activities = cluster().activities();
      const target = targetOf('lease-long', `${'q'.repeat(200)}.${'r'.repeat(52)}`);
      expect(await activities.ensureLeaseAcquired({ target, decision: decisionOf('long') })).toEqual({
        kind: 'acquired',
        batchedQuotas: [],
      });
      expect((await activities.observeQuota({ target })).lease.holder).toBe('headroom/long');
    });

    it('of a foreign holder is respected', async () => {
      const activities = cluster().activities();
      const target = targetOf('lease-foreign');
      await write('state-lease-foreign-compute', 'somebody');
      const before = await read('state-lease-foreign-compute');
      const decision = decisionOf('foreign');
      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'held',
        by: 'somebody',
      });
      await activities.ensureLeaseReleased({ target, decision, rejection: null });
      await expect(activities.ensureLeaseUpdated({ target, decision })).rejects.toMatchObject({
        type: 'InvalidInput',
        nonRetryable: true,
        message: expect.stringContaining('is held by somebody'),
      });
      expect(await read('state-lease-foreign-compute')).toEqual(before);
    });

    it('of another tool without the label is not touched', async () => {
      const activities = cluster().activities();
      await cluster().create({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'state-lease-unlabelled-compute', namespace: SYSTEM_NAMESPACE },
        spec: { holderIdentity: 'leader' },
      });
      const target = targetOf('lease-unlabelled');
      await activities.ensureLeaseAcquired({
        target,
        decision: decisionOf('beside'),
      });
      expect((await read('state-lease-unlabelled-compute'))?.spec?.holderIdentity).toBe('leader');
      expect((await activities.observeQuota({ target })).lease.name).toMatch(
        /^state-lease-unlabelled-compute-[0-9a-f]{16}$/,
      );
    });

    it("of the earlier tool is adopted with its memory, and taken over only once its holder's pull request is closed", async () => {
      const target = targetOf('lease-legacy');
      const closed = new Set<number>();
      const activities = cluster().activities({ abandonedHolder: (number) => Promise.resolve(closed.has(number)) });
      await write('state-lease-legacy-compute', 'pr-12', { 'resizer.io/last-modified': '2026-11-01T12:00:00+02:00' });
      const decision = decisionOf('legacy');
      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'held',
        by: 'pr-12',
      });
      expect((await activities.observeQuota({ target })).lease.holderIsAbandoned).toBe(false);
      closed.add(12);
      expect((await activities.observeQuota({ target })).lease.holderIsAbandoned).toBe(true);
      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'acquired',
        batchedQuotas: [],
      });
      expect((await activities.observeQuota({ target })).lease).toMatchObject({
        name: 'state-lease-legacy-compute',
        holder: 'headroom/legacy',
        lastModified: Date.UTC(2026, 10, 1, 10),
      });
    });

    it('is respected while GitHub cannot say whether the pull request of its holder is closed', async () => {
      const target = targetOf('lease-unsure');
      const activities = cluster().activities({ abandonedHolder: () => Promise.reject(new Error('GitHub is away')) });
      await write('state-lease-unsure-compute', 'pr-13');
      expect((await activities.observeQuota({ target })).lease).toMatchObject({
        holder: 'pr-13',
        holderIsAbandoned: false,
      });
      expect(activities.lines).toMatchObject([{ holder: 'pr-13', error: 'Error: GitHub is away' }]);
    });

    it('with a decision that cannot be read keeps it, and counts as held by whoever wrote it', async () => {
      const target = targetOf('lease-corrupt');
      const annotations = {
        'resizer.io/target-namespace': 'lease-corrupt',
        'resizer.io/target-quota': 'compute',
        'resizer.io/decision': '{"v":99}',
      };
      await write('state-lease-corrupt-compute', undefined, annotations);
      const activities = cluster().activities();
      const observed = (await activities.observeQuota({ target })).lease;
      expect(observed).toMatchObject({ decision: null, hasUnreadDecision: true });
      expect(activities.lines[0]?.['msg']).toContain('resizer.io/decision');

      const decision = decisionOf('corrupt');
      const held = { kind: 'held', by: 'a decision that this release cannot read' };
      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual(held);
      await expect(activities.ensureLeaseUpdated({ target, decision })).rejects.toMatchObject({ type: 'InvalidInput' });
      await activities.ensureLeaseReleased({ target, decision, rejection: null });
      await activities.ensureLeaseSynced({ target, decision, at: 1_795_000_000_000 });
      const lease = await read('state-lease-corrupt-compute');
      expect(lease?.spec?.holderIdentity).toBeUndefined();
      expect(lease?.metadata?.annotations).toMatchObject({
        'resizer.io/decision': '{"v":99}',
        'resizer.io/last-modified': '2026-11-18T11:06:40.000Z',
      });
      const owner = { ...target, quota: 'other' };
      const batchedQuotas = [
        { quota: 'compute', quotaUid: 'u-2', changes: [], approvalRequirement: null, candidates: [] },
      ];
      expect(
        await activities.ensureLeaseAcquired({
          target: owner,
          decision: decisionOf('owner', { batchedQuotas }),
        }),
      ).toEqual({ kind: 'acquired', batchedQuotas: [] });
    });

    it('with a decision of its own holder that cannot be read is written anew by that one', async () => {
      const target = targetOf('lease-slip');
      await write('state-lease-slip-compute', 'headroom/slip', {
        'resizer.io/target-namespace': 'lease-slip',
        'resizer.io/target-quota': 'compute',
        'resizer.io/decision': '{"v":2,',
      });
      const activities = cluster().activities();
      const decision = decisionOf('slip', { pullRequest: pullRequestOf('slip.yaml') });
      await activities.ensureLeaseUpdated({ target, decision });
      expect((await activities.observeQuota({ target })).lease).toMatchObject({ holder: 'headroom/slip', decision });
    });

    it('that was unlocked or deleted under an open decision is taken again', async () => {
      const { admin } = cluster();
      const activities = cluster().activities();
      const target = targetOf('lease-lost');
      const decision = decisionOf('lost', { pullRequest: pullRequestOf('lost.yaml') });
      await activities.ensureLeaseAcquired({ target, decision });
      await admin.coordination.deleteNamespacedLease({ name: 'state-lease-lost-compute', namespace: SYSTEM_NAMESPACE });
      await activities.ensureLeaseUpdated({ target, decision });
      expect((await activities.observeQuota({ target })).lease).toMatchObject({ holder: 'headroom/lost', decision });
      await activities.ensureLeaseReleased({ target, decision, rejection: null });
    });

    it('has one owner when many decisions ask for it at once', async () => {
      const target = targetOf('lease-race');
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          cluster()
            .activities()
            .ensureLeaseAcquired({
              target,
              decision: decisionOf(`race${n}`),
            }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome.kind === 'acquired')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome.kind === 'held')).toHaveLength(7);
      const { items } = await cluster().admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
      const created = items.filter(
        (lease) => lease.metadata?.annotations?.['resizer.io/target-namespace'] === 'lease-race',
      );
      expect(created).toHaveLength(1);
    });
  });

  describe('the Leases of batched quotas', () => {
    const batchedQuota = (quota: string) => ({
      quota,
      quotaUid: `uid-${quota}`,
      changes: [{ resource: 'pods', from: '4', to: '6', used: '4', demand: '2', reason: 'more' }],
      approvalRequirement: null,
      candidates: [{ from: 'template', path: 'namespaces/x', learntFrom: 'the path template' } as const],
    });

    it('are locked with the decision, say whose it is, and remember its merge', async () => {
      const merge = { sha: 'abc', at: 1_795_000_100_000, by: 'headroom', limits: { 'requests.cpu': '3' } };
      const activities = cluster().activities({
        ends: { ...noPullRequestEnds, endOfDecision: () => Promise.resolve({ merge, closedBy: null }) },
      });
      const target = targetOf('lease-together');
      const second = { ...target, quota: 'objects' };
      const decision = decisionOf('together', { batchedQuotas: [batchedQuota('objects')] });
      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'acquired',
        batchedQuotas: ['objects'],
      });
      const { lease: carried } = await activities.observeQuota({ target: second });
      expect(carried).toMatchObject({ holder: 'headroom/together', carriedBy: 'compute', decision: null });
      const { lease: own } = await activities.observeQuota({ target });
      expect(own).toMatchObject({ holder: 'headroom/together', carriedBy: null, decision });

      await activities.ensureLeaseReleased({ target, decision, rejection: null });
      const { lease: after } = await activities.observeQuota({ target: second });
      expect(after).toMatchObject({ holder: null, carriedBy: null, lastModified: merge.at, decision: null });
    });

    it('remember a rejection with their own values', async () => {
      const activities = cluster().activities();
      const target = targetOf('lease-no');
      const decision = decisionOf('no', { batchedQuotas: [batchedQuota('objects')] });
      await activities.ensureLeaseAcquired({ target, decision });
      const rejection = { limits: { 'requests.cpu': '3' }, at: 1_795_000_200_000, by: 'jane', reason: 'too much' };
      await activities.ensureLeaseReleased({ target, decision, rejection });
      const { lease } = await activities.observeQuota({ target: { ...target, quota: 'objects' } });
      expect(lease).toMatchObject({ holder: null, rejections: [{ ...rejection, limits: { pods: '6' } }] });
    });

    it('in other hands are left out, and the decision is written down without them', async () => {
      const activities = cluster().activities();
      const target = targetOf('lease-left-out');
      await write('state-lease-left-out-objects', 'somebody');
      const decision = decisionOf('leftout', { batchedQuotas: [batchedQuota('claims'), batchedQuota('objects')] });
      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'acquired',
        batchedQuotas: ['claims'],
      });
      const { lease } = await activities.observeQuota({ target });
      expect(lease.decision?.batchedQuotas?.map(({ quota }) => quota)).toEqual(['claims']);
      expect((await read('state-lease-left-out-objects'))?.spec?.holderIdentity).toBe('somebody');
    });

    it('that await the sync of a merge of their own are left out, and their decision stays', async () => {
      const activities = cluster().activities();
      const target = targetOf('lease-syncing');
      const objects = { ...target, quota: 'objects' };
      const merge = { sha: 'abc', at: 1_795_000_100_000, by: FOUND_IN_GIT, limits: { 'requests.cpu': '3' } };
      const merged = decisionOf('syncing1', { merge });
      await activities.ensureLeaseAcquired({ target: objects, decision: decisionOf('syncing1') });
      await activities.ensureLeaseReleased({ target: objects, decision: merged, rejection: null });
      const decision = decisionOf('syncing2', { batchedQuotas: [batchedQuota('objects')] });
      expect(await activities.ensureLeaseAcquired({ target, decision })).toEqual({
        kind: 'acquired',
        batchedQuotas: [],
      });
      const { lease } = await activities.observeQuota({ target: objects });
      expect(lease).toMatchObject({ holder: null, carriedBy: null, decision: merged });
    });
  });
}
