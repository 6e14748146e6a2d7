import { compareQuantities } from '../../kernel/quantity.ts';
import { exceededKeys, quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { FOUND_IN_GIT } from '../model/decision.ts';
import type { Merged } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import { hold } from './next-step.ts';
import type { Intent, Wait } from '../model/verdict.ts';
import { describe } from '../pull-request/wording.ts';

/** The values are merged (or were in Git already): no new pull request is opened until the cluster shows the values. */
export function decideMerged(observation: QuotaObservation, { decision, overdue }: Merged, now: EpochMs): Intent {
  const { merge } = decision;
  const hard = observation.quota?.hard ?? {};
  if (isSynced(hard, merge.limits)) {
    const detail = `the cluster shows ${describe(merge.limits)}`;
    return { kind: 'synced', phase: 'CoolingDown', reason: 'Synced', detail, decision };
  }
  const missing = Object.entries(merge.limits)
    .filter(
      ([resource]) =>
        !Object.hasOwn(hard, resource) ||
        compareQuantities(quantityIn(hard, resource), quantityIn(merge.limits, resource)) < 0,
    )
    .map(([resource, limit]) => `${resource} is ${hard[resource] ?? 'absent'} and becomes ${limit}`)
    .join(', ');
  const overdueAt = merge.at + observation.timings.syncOverdue;
  const since = `since ${formatInstant(merge.at)}`;
  if (now < overdueAt) {
    const found = merge.by === FOUND_IN_GIT;
    const detail = `${found ? 'Git holds these values already, ' : ''}waiting for the cluster to follow Git ${since}: ${missing}`;
    const wait: Wait = { watch: 'sync', until: overdueAt, quietUntil: overdueAt };
    return hold('AwaitingSync', found ? 'AlreadyInGit' : 'SyncPending', detail, wait);
  }
  const detail = `the cluster has not followed Git ${since}: ${missing}. Look at Argo CD or Flux. Headroom opens nothing new meanwhile`;
  const checkedAt = overdue?.checkedAt ?? null;
  const checkAt = checkedAt === null ? now : checkedAt + observation.timings.holdRetry;
  if (overdue === null || now >= checkAt) {
    const warn = overdue === null;
    return { kind: 'warnSync', phase: 'AwaitingSync', reason: 'SyncOverdue', detail, decision, warn };
  }
  return hold('AwaitingSync', 'SyncOverdue', detail, { watch: 'sync', until: checkAt, quietUntil: checkAt });
}

/** Whether spec.hard is at least the merged limits, compared by value. */
export function isSynced(hard: ResourceList, limits: ResourceList): boolean {
  return (
    Object.keys(limits).every((resource) => Object.hasOwn(hard, resource)) && exceededKeys(limits, hard).length === 0
  );
}
