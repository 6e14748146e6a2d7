/** What of the quotas is not done yet, from their Leases and what the cluster shows: open pull requests, and demand that no limit serves. */
import { exceededKeys, maskList, readableList, type ResourceList, subtractLists } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { QuotaTarget } from '../kernel/target.ts';
import type { Decision, PullRequestRef } from './model/decision.ts';
import type { QuotaLease } from './model/lease.ts';

type QuotaName = Pick<QuotaTarget, 'namespace' | 'quota'>;

/** What the Lease of a quota says of work that is not done. */
export interface LeaseBacklog extends QuotaName {
  /** The pull request of the decision that holds the Lease, until it is merged. */
  readonly pullRequest: PullRequestRef | null;
  /** The limits that were decided, or were recommended last, and since when. */
  readonly wanted: { readonly limits: ResourceList; readonly since: EpochMs; readonly isDecided: boolean } | null;
}

export function backlogOfLease({ target, memory, decision }: QuotaLease): LeaseBacklog {
  return { ...target, pullRequest: openPullRequest(decision), wanted: wantedBy(decision, memory.lastRecommendation) };
}

function openPullRequest(decision: Decision | null): PullRequestRef | null {
  return decision === null || decision.merge !== null ? null : decision.pullRequest;
}

function wantedBy(
  decision: Decision | null,
  recommended: { readonly limits: ResourceList; readonly at: EpochMs } | null,
): LeaseBacklog['wanted'] {
  if (decision !== null) {
    const limits = Object.fromEntries(decision.changes.map(({ resource, to }) => [resource, to]));
    return { limits: decision.merge?.limits ?? limits, since: decision.decidedAt, isDecided: true };
  }
  return recommended === null ? null : { limits: recommended.limits, since: recommended.at, isDecided: false };
}

/** A quota as the cluster shows it. */
export interface SeenQuota extends QuotaName {
  readonly hard: ResourceList;
  /** Since when it has been seen over a threshold; null while it is not. */
  readonly overSince: EpochMs | null;
  /** Whether something of its namespace was denied lately. */
  readonly isDenied: boolean;
}

/** A quota that needs more than its limits in the cluster are. */
export interface UnservedQuota extends QuotaName {
  readonly since: EpochMs;
  /** By how much each limit is below what was decided or recommended; empty where neither is there yet. */
  readonly missing: ResourceList;
}

/**
 * Null for a quota that needs nothing. A decision counts until the cluster shows its limits. A recommendation counts while there is
 * something that it is for: nobody takes it back when the need is gone.
 */
export function unservedQuota(
  { namespace, quota, hard, overSince, isDenied }: SeenQuota,
  wanted: LeaseBacklog['wanted'],
): UnservedQuota | null {
  const isWanted = wanted !== null && (wanted.isDecided || overSince !== null || isDenied);
  const missing = isWanted ? missingIn(readableList(hard), readableList(wanted.limits)) : {};
  const since = Object.keys(missing).length > 0 ? earliest(wanted?.since ?? null, overSince) : overSince;
  return since === null ? null : { namespace, quota, since, missing };
}

/** A limit that the quota no longer has is not missing. */
function missingIn(hard: ResourceList, limits: ResourceList): ResourceList {
  const below = exceededKeys(limits, hard);
  return subtractLists(maskList(limits, below), maskList(hard, below));
}

function earliest(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
