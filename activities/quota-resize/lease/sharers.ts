/** The other quotas that share the files of a decision: they joined its pull request, or wait for its files. */
import { isSameQuota, type QuotaTarget } from '../../../domain/kernel/target.ts';
import { type Decision, leaseHolder } from '../../../domain/quota-resize/model/decision.ts';
import { fileLeaseName, fileLockOf } from '../../../domain/quota-resize/model/lease.ts';
import { acquiredAt, type LeaseNamespace, readLease } from '../../kubernetes/lease-object.ts';
import type { LeaseStore } from './lease.ts';

/** A quota that has joined the pull request of a decision, or waits for one of its files; with the decision that joined. */
export interface Sharer extends Pick<QuotaTarget, 'namespace' | 'quota'> {
  readonly holder: string | null;
}

/** Those that joined the pull request of a decision, and then those that wait for its files, the most urgent first. */
export async function sharersOf(
  options: LeaseNamespace & { readonly leases: Pick<LeaseStore, 'lockedFiles'> },
  target: QuotaTarget,
  decision: Decision,
): Promise<readonly Sharer[]> {
  const ours = leaseHolder(decision.id);
  const joined: Sharer[] = [];
  const waiting: Sharer[] = [];
  for (const file of await options.leases.lockedFiles(target, decision)) {
    const lease = await readLease(options, fileLeaseName(file));
    const lock = lease === null ? null : fileLockOf(lease, file, acquiredAt(lease));
    if (lock === null || !lock.holders.some(({ holder }) => holder === ours)) continue;
    joined.push(...lock.holders.filter(({ joins }) => joins === ours));
    waiting.push(
      ...lock.queue.filter(({ until }) => until > Date.now()).map((waiter) => ({ ...waiter, holder: null })),
    );
  }
  const isFirst = (sharer: Sharer, index: number, all: readonly Sharer[]): boolean =>
    all.findIndex((other) => isSameQuota(other, sharer)) === index;
  return [...joined, ...waiting].filter(isFirst);
}
