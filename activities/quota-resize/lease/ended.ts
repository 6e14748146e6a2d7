/** What a quota's Lease remembers of a decision. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import {
  type Decision,
  FOUND_IN_GIT,
  leaseHolder,
  type Merge,
  type Rejection,
} from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import type { PullRequestEnds } from './ends.ts';

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
  const unmerged = withMerge(decision, null);
  if (recorded?.id !== decision.id) return unmerged;
  return withMerge({ ...unmerged, pullRequest: decision.pullRequest ?? recorded.pullRequest }, recorded.merge);
}

/** The decision with the merge that its Lease records, whatever else is said of one: only the forge tells of a merge. */
export function withRecordedMerge(decision: Decision, recorded: Decision | null): Decision {
  return withMerge(decision, recorded?.id === decision.id ? recorded.merge : null);
}

export function withMerge(decision: Decision, merge: Merge | null): Decision {
  if (merge !== null) return { ...decision, merge };
  const { pullRequest } = decision;
  return pullRequest === null ? { ...decision, pullRequest, merge } : { ...decision, pullRequest, merge };
}

/** The merge of a decision, as its Lease has it or the forge tells. */
export async function mergeOfRecorded(
  ends: PullRequestEnds,
  target: QuotaTarget,
  { recorded, claimed }: { readonly recorded: Decision; readonly claimed: Decision },
): Promise<Merge | null> {
  return recorded.merge ?? (await ends.mergeOf(target, recorded)) ?? foundInGit(claimed.merge);
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
