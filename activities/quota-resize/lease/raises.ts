/**
 * The raises in the Leases of quotas. They are written right before the forge is asked to merge, and only its answer settles
 * them: one whose fate is unknown counts.
 */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import {
  isSamePullRequest,
  pendingIn,
  pendingPullRequests,
  type PullRequestEnd,
  type PullRequestId,
  type RecordedRaise,
  withEnd,
  withoutRequest,
  withRaise,
  withUnexpected,
} from '../../../domain/quota-resize/policy/recorded-raise.ts';
import type { PullRequestEnds } from './ends.ts';
import { withMerge } from './remembered-end.ts';
import type { LeaseStore } from './lease.ts';
import type { StoredLease } from './lease-state.ts';

interface RaiseOptions {
  readonly leases: LeaseStore;
  readonly ends: PullRequestEnds;
}

/** A raise of one quota, about to be merged. */
export interface QuotaRaise {
  readonly target: QuotaTarget;
  readonly raise: Omit<RecordedRaise, 'at' | 'isPending'> & { readonly pullRequest: PullRequestId };
}

/** One that is recorded as pending. */
export interface ExpectedRaise extends QuotaRaise {
  /** When the forge was asked to merge it: no two requests of a pull request have the same. */
  readonly at: EpochMs;
  /** Whether it was pending before, so that the forge may have been asked already. */
  readonly wasPending: boolean;
}

/**
 * Records that the forge is about to be asked to merge a raise.
 *
 * @param isAsChecked whether the decision in the Lease is still the one that was checked.
 * @returns null where the decision is another one, and nothing was written.
 */
export async function expectRaise(
  { leases }: Pick<RaiseOptions, 'leases'>,
  { target, raise }: QuotaRaise,
  isAsChecked: (decision: Decision | null) => boolean,
): Promise<ExpectedRaise | null> {
  let expected: ExpectedRaise | null = null;
  await leases.remember(target, (memory) => {
    expected = null;
    if (!isAsChecked(memory.decision)) return null;
    const before = pendingIn(memory.raises, raise.pullRequest);
    const now = Date.now();
    const at = Math.max(now, before === undefined ? 0 : before.at + 1);
    expected = { target, raise, at, wasPending: before !== undefined };
    return { ...memory, raises: withRaise(memory.raises, { ...raise, at, isPending: true }, now) };
  });
  return expected;
}

/** Forgets a raise that the forge has refused in answer to this request, and that no other request waits for. */
export async function forgetRaise(
  { leases }: Pick<RaiseOptions, 'leases'>,
  { target, raise, at }: ExpectedRaise,
): Promise<void> {
  await leases.remember(target, (memory) => {
    const raises = withoutRequest(memory.raises, raise.pullRequest, at);
    return raises === memory.raises ? null : { ...memory, raises };
  });
}

/** Records how a pull request ended, as the forge says: what was pending is merged, or was never raised. */
export async function recordEnd(
  { leases }: Pick<RaiseOptions, 'leases'>,
  target: QuotaTarget,
  pullRequest: PullRequestId,
  end: End,
): Promise<void> {
  await leases.remember(target, (memory) => withEndOf(memory, pullRequest, end));
}

/**
 * The same for a decision's own quota, whose Lease then records the merge as well. A merge that nobody expected is counted
 * by what the decision says, once.
 */
export async function recordMerge(
  { leases }: Pick<RaiseOptions, 'leases'>,
  { target, raise }: QuotaRaise,
  merge: NonNullable<Decision['merge']>,
): Promise<void> {
  const end = { kind: 'merged', at: merge.at, isOwn: merge.isOwn === true } as const;
  await leases.remember(target, (memory) => {
    const isOfDecision = memory.decision?.id === raise.decision;
    const isNew = isOfDecision && memory.decision?.merge === null;
    const ended = withEndOf(memory, raise.pullRequest, isNew ? { ...end, raise } : end);
    const { decision } = ended;
    return isOfDecision && decision !== null ? { ...ended, decision: withMerge(decision, merge) } : ended;
  });
}

/**
 * Asks the forge about raises of whose merge nothing is known, because whoever asked for it died.
 *
 * @param but the pull request that is to be merged now.
 * @returns the quota's Lease with what it says.
 */
export async function settledLease(
  { leases, ends }: RaiseOptions,
  target: QuotaTarget,
  but: PullRequestId | null = null,
): Promise<StoredLease> {
  const lease = await leases.read(target);
  const unknown = pendingPullRequests(lease.raises).filter((one) => but === null || !isSamePullRequest(one, but));
  for (const pullRequest of unknown) {
    const end = await ends.endOf(pullRequest);
    if (end !== null && end.kind !== 'open') await recordEnd({ leases }, target, pullRequest, end);
  }
  return unknown.length === 0 ? lease : await leases.read(target);
}

/** The same for all quotas that a decision raises, as its Lease has them, before it is released. */
export async function settleDecision(options: RaiseOptions, target: QuotaTarget, id: string): Promise<void> {
  const { decision } = await options.leases.read(target);
  const batchedQuotas = decision?.id === id ? (decision.batchedQuotas ?? []) : [];
  for (const { quota } of batchedQuotas) await settledLease(options, { ...target, quota });
  await settledLease(options, target);
}

/** How a pull request ended, and what its merge is counted as where no raise of it is recorded. */
type End = Exclude<PullRequestEnd, { kind: 'open' }> & { readonly raise?: QuotaRaise['raise'] };

function withEndOf(memory: LeaseMemory, pullRequest: PullRequestId, end: End): LeaseMemory {
  const now = Date.now();
  const ended = withEnd(memory.raises, pullRequest, end, now);
  const isMerged = end.kind === 'merged';
  const isUnexpected = isMerged && end.isOwn && end.raise !== undefined;
  const raises = isUnexpected ? withUnexpected(ended, { ...end.raise, at: end.at }, now) : ended;
  if (raises === memory.raises) return memory;
  // The cooldown begins with the merge, whether or not anybody says so.
  return {
    ...memory,
    raises,
    ...(isMerged ? { lastModified: Math.max(memory.lastModified ?? 0, Math.min(end.at, now)) } : {}),
  };
}
