import type { V1Lease } from '@kubernetes/client-node';
import { pino } from 'pino';
import { noPullRequestEnds } from '../../../activities/quota-resize/lease/ends.ts';
import { describe, expect, it } from 'vitest';
import { deleteLease, replaceLease, replaceLeaseHeldSince } from '../../../activities/kubernetes/lease-object.ts';
import { createFileLocks, type FileLocks, type LockOwner } from '../../../activities/quota-resize/lease/file-lock.ts';
import { LeaseStore } from '../../../activities/quota-resize/lease/lease.ts';
import { fileLeaseName, type LockedFile } from '../../../domain/quota-resize/model/lease.ts';
import { type Cluster, SYSTEM_NAMESPACE, targetOf } from './cluster.ts';
import { decisionOf, pullRequestOf } from './lease.ts';

const DAY = 24 * 60 * 60_000;
const nothingOpen = { hasOpenPullRequest: () => Promise.resolve(false) };

function fileAt(path: string): LockedFile {
  return { repository: 'acme/gitops', path };
}

function ownerOf(namespace: string, change: Parameters<typeof decisionOf>[1] = {}): LockOwner {
  return { target: targetOf(namespace), decision: decisionOf(namespace, change) };
}

/** Threshold only, unless so much is denied. */
function demanding(namespace: string, demand: string): LockOwner {
  const changes = [{ resource: 'requests.cpu', from: '2', to: '3', used: '2', demand, reason: 'denied' }];
  return ownerOf(namespace, { changes });
}

/** The Leases of files: who changes a file, and who waits for it. */
export function fileLockTests(cluster: () => Cluster): void {
  const leases = () => ({ kubernetes: cluster().admin, systemNamespace: SYSTEM_NAMESPACE });

  function worker(fileWait = DAY): FileLocks & { readonly store: LeaseStore } {
    const { worker: kubernetes } = cluster();
    const options = { kubernetes, systemNamespace: SYSTEM_NAMESPACE, log: pino({ level: 'silent' }) };
    const store = new LeaseStore({ ...options, abandonedHolder: null, ends: noPullRequestEnds });
    return { ...createFileLocks({ ...options, leases: store, timings: { holdRetry: 300_000, fileWait } }), store };
  }

  /** A worker whose decisions hold their quotas' Leases. */
  async function working(...owners: readonly LockOwner[]): Promise<ReturnType<typeof worker>> {
    const locks = worker();
    for (const { target, decision } of owners)
      await locks.store.acquire(target, { ...decision, pullRequest: null, merge: null });
    return locks;
  }

  async function read(name: string): Promise<V1Lease | undefined> {
    const { items } = await cluster().admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
    return items.find((lease) => lease.metadata?.name === name);
  }

  async function holderOf(file: LockedFile): Promise<string | null | undefined> {
    const lease = await read(fileLeaseName(file));
    return lease === undefined ? undefined : (lease.spec?.holderIdentity ?? null);
  }

  /** As if the lock had been taken half an hour ago: whoever was about to open a pull request then is dead. */
  async function aged(file: LockedFile): Promise<void> {
    const lease = await read(fileLeaseName(file));
    if (lease === undefined) throw new Error(`${file.path} is not locked`);
    const held = { holder: lease.spec?.holderIdentity ?? '', since: Date.now() - 30 * 60_000 };
    await replaceLeaseHeldSince(leases(), lease, held, lease.metadata?.annotations ?? {});
  }

  describe('the Lease of a file', () => {
    it('is locked for one decision, which is found by the Lease of its quota, and released with it', async () => {
      const owner = ownerOf('file-life');
      const locks = await working(owner);
      const files = [fileAt('life-b.yaml'), fileAt('life-a.yaml')];
      expect(await locks.lock(owner, files, nothingOpen)).toMatchObject({ kind: 'locked' });
      expect(await locks.lock(owner, files, nothingOpen), 'again').toMatchObject({ kind: 'locked' });
      await locks.assertLocked(owner, files);
      expect((await read('state-file-life-compute'))?.metadata?.annotations?.['resizer.io/file']).toBe(
        'acme/gitops:life-b.yaml\nacme/gitops:life-a.yaml',
      );
      for (const file of files) expect(await holderOf(file)).toBe('headroom/file-life');
      await locks.store.release(owner.target, owner.decision, { rejection: null });
      for (const file of files) expect(await read(fileLeaseName(file))).toBeUndefined();
    });

    it('is not written again for a pull request that is open', async () => {
      const owner = ownerOf('file-open', { pullRequest: pullRequestOf('open.yaml') });
      const locks = await working(owner);
      const file = fileAt('open.yaml');
      await locks.lock(owner, [file], nothingOpen);
      const before = await read(fileLeaseName(file));
      await locks.lock(owner, [file], nothingOpen);
      expect(await read(fileLeaseName(file))).toEqual(before);
    });

    it('that was taken is free again where another file of the decision is busy', async () => {
      const [first, second] = [ownerOf('file-busy-one'), ownerOf('file-busy-other')];
      const locks = await working(first, second);
      const [free, busy] = [fileAt('a-free.yaml'), fileAt('b-busy.yaml')];
      await locks.lock(first, [busy], nothingOpen);
      expect(await locks.lock(second, [busy, free], nothingOpen)).toMatchObject({
        kind: 'fileBusy',
        path: 'b-busy.yaml',
      });
      expect(await read(fileLeaseName(free))).toBeUndefined();
      expect(await holderOf(busy)).toBe('headroom/file-busy-one');
      // Whoever waited and gives up is in the queue no longer, and takes nothing from its holder.
      await locks.store.release(second.target, second.decision, { rejection: null });
      expect((await read(fileLeaseName(busy)))?.metadata?.annotations).not.toHaveProperty('resizer.io/waiting');
      expect(await holderOf(busy)).toBe('headroom/file-busy-one');
    });

    it('names whoever has it, with the pull request, since when, and who waits with which place', async () => {
      const first = ownerOf('file-one');
      const [second, third] = [ownerOf('file-two'), demanding('file-three', '1')];
      const locks = await working(first, second, third);
      const file = fileAt('shared.yaml');
      await locks.lock(first, [file], nothingOpen);
      const opening = await locks.lock(second, [file], nothingOpen);
      expect(opening).toMatchObject({
        message: expect.stringContaining(
          'shared.yaml is being changed by the pull request that file-one/compute is opening.',
        ),
      });
      await locks.store.update(first.target, { ...first.decision, pullRequest: pullRequestOf('shared.yaml') });
      expect(await locks.lock(third, [file], nothingOpen)).toMatchObject({
        message: expect.stringMatching(
          /^shared\.yaml is being changed by the pull request of file-one\/compute \(\[#7\]\(https:\/\/forge\/pull\/7\), open since 2026-.*\)\. This quota has waited for the file since 20.*, as number 1 of 2; from 20.* on it gets a pull request of its own\.$/,
        ),
      });
      expect(await locks.lock(second, [file], nothingOpen)).toMatchObject({
        message: expect.stringContaining('as number 2 of 2'),
      });
    });

    it('goes to the more urgent of two that wait when it is released, whoever asks first', async () => {
      const first = ownerOf('turn-one');
      const [threshold, denied] = [ownerOf('turn-threshold'), demanding('turn-denied', '1')];
      const locks = await working(first, threshold, denied);
      const file = fileAt('turns.yaml');
      await locks.lock(first, [file], nothingOpen);
      for (const owner of [threshold, denied]) await locks.lock(owner, [file], nothingOpen);
      await locks.store.release(first.target, first.decision, { rejection: null });
      expect(await holderOf(file), 'the queue is kept').toBeNull();
      expect(await locks.lock(threshold, [file], nothingOpen)).toMatchObject({
        kind: 'fileBusy',
        message: expect.stringContaining(
          'turns.yaml is free, and turn-denied/compute (denied workloads, 150 % of a limit) goes first',
        ),
      });
      expect(await locks.lock(denied, [file], nothingOpen)).toMatchObject({ kind: 'locked' });
      await locks.store.release(denied.target, denied.decision, { rejection: null });
      expect(await locks.lock(threshold, [file], nothingOpen)).toMatchObject({ kind: 'locked' });
    });

    it('has one owner when many decisions ask for it at once', async () => {
      const owners = Array.from({ length: 4 }, (_, n) => ownerOf(`file-race-${n}`));
      const locks = await working(...owners);
      const file = fileAt('race.yaml');
      const outcomes = await Promise.all(owners.map(async (owner) => await locks.lock(owner, [file], nothingOpen)));
      expect(outcomes.filter(({ kind }) => kind === 'locked')).toHaveLength(1);
    });

    it('is shared after the longest wait, and stays with the second when the first is done', async () => {
      const [first, second, third] = [ownerOf('day-one'), ownerOf('day-two'), ownerOf('day-three')];
      const { store } = await working(first, second, third);
      const file = fileAt('day.yaml');
      const [patient, impatient] = [worker(), worker(0)];
      await patient.lock(first, [file], nothingOpen);
      expect((await impatient.lock(second, [file], nothingOpen)).kind, 'nobody is overtaken without waiting').toBe(
        'fileBusy',
      );
      expect(await impatient.lock(second, [file], nothingOpen)).toMatchObject({ kind: 'locked' });
      await patient.assertLocked(first, [file]);
      await patient.assertLocked(second, [file]);
      await store.release(first.target, first.decision, { rejection: null });
      expect(await holderOf(file)).toBe('headroom/day-two');
      expect(await patient.lock(third, [file], nothingOpen)).toMatchObject({
        message: expect.stringContaining('day-two/compute'),
      });
    });

    it('that a dead opening left is taken over after ten minutes, and not while it has an open pull request', async () => {
      const [dead, next] = [ownerOf('dead-one'), ownerOf('dead-next')];
      const locks = await working(dead, next);
      const file = fileAt('dead.yaml');
      await locks.lock(dead, [file], nothingOpen);
      expect((await locks.lock(next, [file], nothingOpen)).kind, 'it may be about to open it').toBe('fileBusy');
      await aged(file);
      const asked: LockOwner[] = [];
      const isOpen = (owner: LockOwner): Promise<boolean> => Promise.resolve(asked.push(owner) > 0);
      expect((await locks.lock(next, [file], { hasOpenPullRequest: isOpen })).kind).toBe('fileBusy');
      expect(asked).toMatchObject([{ target: dead.target, decision: { id: 'dead-one' } }]);
      expect(await locks.lock(next, [file], nothingOpen)).toMatchObject({ kind: 'locked' });
      // The dead one was only very slow: it notices right before it opens.
      await expect(locks.assertLocked(dead, [file])).rejects.toMatchObject({ type: 'KubernetesUnavailable' });
      expect((await locks.lock(dead, [file], nothingOpen)).kind).toBe('fileBusy');
    });

    it('left over from an earlier decision of the same quota is taken over', async () => {
      const earlier = ownerOf('file-again');
      const locks = await working(earlier);
      const file = fileAt('again.yaml');
      await locks.lock(earlier, [file], nothingOpen);
      await cluster().admin.coordination.deleteNamespacedLease({
        name: 'state-file-again-compute',
        namespace: SYSTEM_NAMESPACE,
      });
      const later = { ...earlier, decision: decisionOf('again2') };
      await locks.store.acquire(later.target, later.decision);
      expect(await locks.lock(later, [file], nothingOpen)).toMatchObject({ kind: 'locked' });
      expect(await holderOf(file)).toBe('headroom/again2');
      // Whoever had it before does not take it away.
      await locks.store.unlockFiles(earlier.target, { ...earlier.decision, pullRequest: pullRequestOf('again.yaml') });
      expect(await holderOf(file)).toBe('headroom/again2');
    });

    it('is not locked for a decision whose quota somebody else holds', async () => {
      const owner = ownerOf('file-held');
      const locks = await working({ ...owner, decision: decisionOf('other') });
      const file = fileAt('held.yaml');
      await expect(locks.lock(owner, [file], nothingOpen)).rejects.toMatchObject({
        type: 'InvalidInput',
        nonRetryable: true,
      });
      expect(await read(fileLeaseName(file))).toBeUndefined();
    });

    it('is not deleted where it changed since it was read', async () => {
      const metadata = { name: 'file-stale', namespace: SYSTEM_NAMESPACE };
      await cluster().create({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata,
        spec: { holderIdentity: 'headroom/stale1' },
      });
      const stale = await read('file-stale');
      if (stale === undefined) throw new Error('the Lease is not there');
      await replaceLease(leases(), stale, 'headroom/stale2');
      await expect(deleteLease(leases(), stale)).rejects.toMatchObject({ code: 409 });
      const current = await read('file-stale');
      expect(current?.spec?.holderIdentity).toBe('headroom/stale2');
      if (current !== undefined) await deleteLease(leases(), current);
      expect(await read('file-stale')).toBeUndefined();
    });
  });
}
