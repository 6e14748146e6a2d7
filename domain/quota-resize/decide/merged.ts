import { compareQuantities } from '../../kernel/quantity.ts';
import { exceededKeys, quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { awaitedLimits, decidedLimits, FOUND_IN_GIT, type MergedDecision } from '../model/decision.ts';
import type { Merged } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import { hold } from './next-step.ts';
import type { AwaitedSync, Intent, StatusFields, Wait } from '../model/verdict.ts';
import { describe } from './sentences.ts';

/**
 * The values are merged (or were in Git already): no new pull request is opened until the cluster shows the values, also
 * those of the quotas that were raised along, or is late with these.
 */
export function decideMerged(observation: QuotaObservation, { decision, overdue }: Merged, now: EpochMs): Intent {
  const { merge } = decision;
  const limits = awaitedLimits(decision);
  const hard = observation.quota?.hard ?? {};
  const isOwnSynced = isSynced(hard, limits);
  const lagging = laggingQuotas(observation, decision);
  const [syncOf] = isOwnSynced ? lagging : [];
  // A batched quota that is late was said of, and is no trouble of this one.
  if (isOwnSynced && (syncOf === undefined || overdue !== null))
    return { kind: 'synced', ...syncedStatus(decision), decision };
  const missing = [
    ...missingIn(hard, limits),
    ...lagging.map((other) => `quota ${other.quota}: ${missingIn(other.hard, other.limits).join(', ')}`),
  ].join(', ');
  const watch: Wait = {
    watch: 'sync',
    ...(syncOf === undefined
      ? {}
      : { syncOf: { quota: syncOf.quota, quotaUid: syncOf.quotaUid, limits: syncOf.limits } }),
  };
  const overdueAt = merge.at + observation.timings.syncOverdue;
  const since = `since ${formatInstant(merge.at)}`;
  if (now < overdueAt) {
    const found = merge.by === FOUND_IN_GIT;
    const detail = `${found ? 'Git holds these values already, ' : ''}waiting for the cluster to follow Git ${since}: ${missing}`;
    const wait: Wait = { ...watch, until: overdueAt, quietUntil: overdueAt };
    return hold('AwaitingSync', found ? 'AlreadyInGit' : 'SyncPending', detail, wait);
  }
  const consequence = isOwnSynced ? '' : '. Headroom opens nothing new meanwhile';
  const detail = `the cluster has not followed Git ${since}: ${missing}. Look at Argo CD or Flux${consequence}`;
  const checkedAt = overdue?.checkedAt ?? null;
  const checkAt = checkedAt === null ? now : checkedAt + observation.timings.holdRetry;
  if (overdue === null || now >= checkAt) {
    const warn = overdue === null || overdue.warnedAt === null;
    const { syncOf: late } = watch;
    const status = { phase: 'AwaitingSync', reason: 'SyncOverdue', detail } as const;
    return { kind: 'warnSync', ...status, decision, warn, ...(late === undefined ? {} : { syncOf: late }) };
  }
  return hold('AwaitingSync', 'SyncOverdue', detail, { ...watch, until: checkAt, quietUntil: checkAt });
}

/** What people are shown of a decision whose limits the cluster has. */
export function syncedStatus(decision: MergedDecision): StatusFields {
  return { phase: 'CoolingDown', reason: 'Synced', detail: `the cluster shows ${describe(awaitedLimits(decision))}` };
}

/** Whether whoever sees this has nothing to decide: the quota is managed, and the cluster shows all that was merged. */
export function hasFollowed({ namespace, quota, pause, policy }: QuotaObservation, decision: MergedDecision): boolean {
  if (pause !== null || namespace !== 'present' || !policy.enabled) return false;
  if (quota === null || quota.uid !== decision.quotaUid || (decision.batchedQuotas ?? []).length > 0) return false;
  return isSynced(quota.hard, awaitedLimits(decision));
}

interface LaggingQuota extends AwaitedSync {
  readonly hard: ResourceList;
}

/**
 * The batched quotas that do not have what was merged. What other people merged may be other values, which are not read
 * for them: they are not waited for then.
 */
function laggingQuotas(
  { batched = [] }: QuotaObservation,
  { batchedQuotas = [], merge }: MergedDecision,
): LaggingQuota[] {
  if (merge.isOwn !== true) return [];
  return batchedQuotas.flatMap(({ quota, quotaUid, changes }) => {
    const now = batched.find((seen) => seen.quota === quota && seen.uid === quotaUid);
    const limits = decidedLimits({ changes });
    return now === undefined || isSynced(now.hard, limits) ? [] : [{ quota, quotaUid, limits, hard: now.hard }];
  });
}

/** Each limit that is not there yet, as a clause. */
function missingIn(hard: ResourceList, limits: ResourceList): string[] {
  return Object.entries(limits)
    .filter(
      ([resource]) =>
        !Object.hasOwn(hard, resource) ||
        compareQuantities(quantityIn(hard, resource), quantityIn(limits, resource)) < 0,
    )
    .map(([resource, limit]) => `${resource} is ${hard[resource] ?? 'absent'} and becomes ${limit}`);
}

/** Whether spec.hard is at least the merged limits, compared by value. */
export function isSynced(hard: ResourceList, limits: ResourceList): boolean {
  return (
    Object.keys(limits).every((resource) => Object.hasOwn(hard, resource)) && exceededKeys(limits, hard).length === 0
  );
}
