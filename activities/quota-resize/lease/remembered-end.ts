/** What a quota's Lease remembers of a decision. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import { exceededKeys } from '../../../domain/kernel/resource-list.ts';
import { type EpochMs, MINUTE_MS } from '../../../domain/kernel/time.ts';
import {
  approvedValues,
  type Decision,
  decidedLimits,
  FOUND_IN_GIT,
  leaseHolder,
  type Merge,
  type Rejection,
} from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import { isSamePullRequest } from '../../../domain/quota-resize/policy/recorded-raise.ts';
import type { DecisionEnd, PullRequestEnds } from './ends.ts';

/** Why a decision ended without a merge, as far as its Lease remembers it. */
export interface Ending {
  readonly rejection: Rejection | null;
  /** When it was given up without a rejection. */
  readonly withdrawnAt?: EpochMs | undefined;
}

/** What a quota's Lease stores after a decision has ended: the time of a merge or a withdrawal, or the rejection. */
export function memoryAfter(
  memory: LeaseMemory,
  merge: Pick<Merge, 'at'> | null,
  { rejection, withdrawnAt }: Ending,
): LeaseMemory {
  const now = Date.now();
  return {
    ...memory,
    ...(withdrawnAt === undefined
      ? {}
      : { lastWithdrawal: Math.max(memory.lastWithdrawal ?? 0, Math.min(withdrawnAt, now)) }),
    lastModified: merge === null ? memory.lastModified : Math.max(memory.lastModified ?? 0, merge.at),
    rejections:
      rejection === null
        ? memory.rejections
        : [...memory.rejections, { ...rejection, at: Math.min(rejection.at, now) }],
  };
}

/** A run that was reset sends the original decision again; the progress that was stored since is kept. */
export function withProgress(decision: Decision, recorded: Decision | null): Decision {
  const unmerged = withMerge(withTimes(decision, recorded), null);
  if (recorded?.id !== decision.id) return unmerged;
  return withMerge({ ...unmerged, pullRequest: decision.pullRequest ?? recorded.pullRequest }, recorded.merge);
}

/** The decision with the merge that its Lease records, whatever else is said of one: only the forge tells of a merge. */
export function withRecordedMerge(decision: Decision, recorded: Decision | null): Decision {
  const dated = withTimes(decision, recorded);
  if (recorded?.id !== decision.id) return withMerge(dated, null);
  // Only a decision that joined another's pull request leaves it.
  const left = recorded.pullRequest?.joinedTo !== undefined;
  return withMerge(
    { ...dated, pullRequest: dated.pullRequest ?? (left ? null : recorded.pullRequest) },
    recorded.merge,
  );
}

/** The memory with the rejection of the decision whose place another one takes, if a person closed its pull request. */
export async function withEndOfLast(
  ends: PullRequestEnds,
  target: QuotaTarget,
  memory: LeaseMemory,
  next: Decision,
): Promise<LeaseMemory> {
  const { decision: last, rejections } = memory;
  if (!replacesPullRequest(next, last)) return memory;
  const { closedBy } = await ends.endOfDecision(target, last);
  return closedBy === null ? memory : { ...memory, rejections: [...rejections, closedRejection(last, closedBy)] };
}

/** Whether a decision is about to take the place of one with another pull request, which nobody asks for any more then. */
function replacesPullRequest(decision: Decision, recorded: Decision | null): recorded is Decision {
  const [before, after] = [recorded?.pullRequest ?? null, decision.pullRequest];
  if (before === null || before.joinedTo !== undefined || recorded?.merge !== null) return false;
  return after === null || !isSamePullRequest(before, after);
}

/** How long before it is stored something may have happened, in milliseconds: who says that it was earlier may want more than is his. */
const TOLD_WITHIN_MS = 10 * MINUTE_MS;

/**
 * The decision as its Lease dates it: when it was stored first, and when it was stored with greater limits last. Totals are
 * given away in this order, in which nobody gets ahead of what was stored ten minutes before.
 */
export function withTimes<D extends Decision>(decision: D, recorded: Decision | null): D {
  const now = Date.now();
  const { grownAt: _, ...facts } = decision;
  const dated = (decidedAt: EpochMs, grownAt?: EpochMs): D =>
    ({ ...facts, decidedAt, ...(grownAt === undefined ? {} : { grownAt }) }) as D;
  if (recorded?.id !== decision.id) {
    return dated(Math.max(now - TOLD_WITHIN_MS, Math.min(decision.decidedAt, now)));
  }
  const [before, after] = [approvedValues(recorded), approvedValues(decision)];
  const isGrown =
    Object.keys(after).some((key) => !Object.hasOwn(before, key)) || exceededKeys(after, before).length > 0;
  return dated(recorded.decidedAt, isGrown ? now : recorded.grownAt);
}

export function withMerge(decision: Decision, merge: Merge | null): Decision {
  if (merge !== null) return { ...decision, merge };
  const { pullRequest } = decision;
  return pullRequest === null ? { ...decision, pullRequest, merge } : { ...decision, pullRequest, merge };
}

/** How a decision ended, as its Lease has it or the forge tells. */
export async function endOfRecorded(
  ends: PullRequestEnds,
  target: QuotaTarget,
  { recorded, claimed }: { readonly recorded: Decision; readonly claimed: Decision },
): Promise<DecisionEnd> {
  if (recorded.merge !== null) return { merge: recorded.merge, closedBy: null };
  const { merge, closedBy } = await ends.endOfDecision(target, recorded);
  return { merge: merge ?? foundInGit(claimed.merge), closedBy };
}

/**
 * The end with the rejection that is remembered: whoever closed the pull request rejected what the Lease says was in it, whether
 * or not anybody tells. What is told alone is of the recorded values too.
 */
export function withRejectionOf(recorded: Decision | null, { closedBy }: DecisionEnd, given: Ending): Ending {
  const { rejection } = given;
  if (recorded === null) return given;
  const limits = decidedLimits(recorded);
  if (closedBy === null) return rejection === null ? given : { ...given, rejection: { ...rejection, limits } };
  return { ...given, rejection: closedRejection(recorded, closedBy, rejection) };
}

/** A person's rejection by closing the pull request. @param told what is said of it. */
function closedRejection(recorded: Decision, by: string, told: Rejection | null = null): Rejection {
  const now = Date.now();
  return {
    limits: decidedLimits(recorded),
    at: Math.max(now - TOLD_WITHIN_MS, Math.min(told?.at ?? now, now)),
    by,
    reason: told?.reason ?? `pull request #${recorded.pullRequest?.number} was closed`,
    verified: 'forge',
  };
}

/** That the values were in Git already is believed: nothing was merged, so nothing is counted from it. */
function foundInGit(merge: Merge | null): Merge | null {
  return merge?.by === FOUND_IN_GIT ? { ...merge, at: Math.min(merge.at, Date.now()) } : null;
}

/**
 * A decision whose merge is recorded, and which still holds its Lease, is to be released yet: whoever finds it asks the forge
 * what became of its pull request, as if nothing were recorded.
 */
export function asUnreleased(decision: Decision | null, holder: string | null): Decision | null {
  const isUnreleased = decision !== null && decision.pullRequest !== null && holder === leaseHolder(decision.id);
  return isUnreleased ? withMerge(decision, null) : decision;
}
