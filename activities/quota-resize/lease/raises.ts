/**
 * The raises in the Leases of quotas. They are written right before the forge is asked to merge, and only its answer settles
 * them: one whose fate is unknown counts.
 */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { Decision, OpenDecision } from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import {
  isPendingIn,
  isSamePullRequest,
  pendingPullRequests,
  type PullRequestEnd,
  type PullRequestId,
  type RecordedRaise,
  withEnd,
  withRaise,
} from '../../../domain/quota-resize/policy/recorded-raise.ts';
import type { PullRequestEnds } from './ends.ts';
import { withMerge } from './ended.ts';
import type { LeaseStore } from './lease.ts';

interface RaiseOptions {
  readonly leases: LeaseStore;
  readonly ends: PullRequestEnds;
}

/** A raise of one quota, about to be merged. */
export interface QuotaRaise {
  readonly target: QuotaTarget;
  readonly raise: Omit<RecordedRaise, 'at' | 'isPending'> & { readonly pullRequest: PullRequestId };
}

/**
 * Records that the forge is about to be asked to merge a raise.
 *
 * @param isAsChecked whether the decision in the Lease is still the one that was checked.
 * @returns whether the pull request was pending before, so that the forge may have been asked already; null where the
 *   decision is another one, and nothing was written.
 */
export async function expectRaise(
  { leases }: Pick<RaiseOptions, 'leases'>,
  { target, raise }: QuotaRaise,
  isAsChecked: (decision: Decision | null) => boolean = () => true,
): Promise<boolean | null> {
  let wasPending: boolean | null = null;
  await leases.remember(target, (memory) => {
    wasPending = isAsChecked(memory.decision) ? isPendingIn(memory.raises, raise.pullRequest) : null;
    if (wasPending === null) return null;
    const at = Date.now();
    return { ...memory, raises: withRaise(memory.raises, { ...raise, at, isPending: true }, at) };
  });
  return wasPending;
}

/** Records how a pull request ended, as the forge says: what was pending is merged, or was never raised. */
export async function recordEnd(
  { leases }: Pick<RaiseOptions, 'leases'>,
  target: QuotaTarget,
  pullRequest: PullRequestId,
  end: Exclude<PullRequestEnd, { kind: 'open' }>,
): Promise<void> {
  await leases.remember(target, (memory) => withEndOf(memory, pullRequest, end));
}

/** The same for a decision's own quota, whose Lease then records the merge as well. */
export async function recordMerge(
  { leases }: Pick<RaiseOptions, 'leases'>,
  target: QuotaTarget,
  { id, pullRequest }: Pick<OpenDecision, 'id' | 'pullRequest'>,
  merge: NonNullable<Decision['merge']>,
): Promise<void> {
  const end = { kind: 'merged', at: merge.at, isOwn: merge.isOwn === true } as const;
  await leases.remember(target, (memory) => {
    const ended = withEndOf(memory, pullRequest, end);
    const { decision } = ended;
    return decision?.id === id ? { ...ended, decision: withMerge(decision, merge) } : ended;
  });
}

/**
 * Asks the forge about raises of whose merge nothing is known, because whoever asked for it died.
 *
 * @param but the pull request that is to be merged now.
 * @returns the raises with what it says.
 */
export async function settledRaises(
  { leases, ends }: RaiseOptions,
  target: QuotaTarget,
  but: PullRequestId | null = null,
): Promise<readonly RecordedRaise[]> {
  const { raises } = await leases.read(target);
  const unknown = pendingPullRequests(raises).filter((one) => but === null || !isSamePullRequest(one, but));
  for (const pullRequest of unknown) {
    const end = await ends.endOf(pullRequest);
    if (end !== null && end.kind !== 'open') await recordEnd({ leases }, target, pullRequest, end);
  }
  return unknown.length === 0 ? raises : (await leases.read(target)).raises;
}

function withEndOf(
  memory: LeaseMemory,
  pullRequest: PullRequestId,
  end: Exclude<PullRequestEnd, { kind: 'open' }>,
): LeaseMemory {
  const now = Date.now();
  const raises = withEnd(memory.raises, pullRequest, end, now);
  if (raises === memory.raises) return memory;
  const isMerged = end.kind === 'merged';
  // The cooldown begins with the merge, whether or not anybody says so.
  return {
    ...memory,
    raises,
    ...(isMerged ? { lastModified: Math.max(memory.lastModified ?? 0, Math.min(end.at, now)) } : {}),
  };
}
