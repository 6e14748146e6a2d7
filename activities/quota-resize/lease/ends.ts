import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { Decision, Merge } from '../../../domain/quota-resize/model/decision.ts';
import type { PullRequestEnd, PullRequestId } from '../../../domain/quota-resize/policy/recorded-raise.ts';

/** What the forge says of the pull requests that Leases record: nobody else tells whether something was merged. */
export interface PullRequestEnds {
  /** Null: the worker is not configured for the repository, and cannot know. */
  endOf(pullRequest: PullRequestId): Promise<PullRequestEnd | null>;
  /** The merge of the decision's pull request; null where it is not merged, or nobody knows. */
  mergeOf(target: QuotaTarget, decision: Decision): Promise<Merge | null>;
}

/** Of a process that has no repository. */
export const noPullRequestEnds: PullRequestEnds = {
  endOf: () => Promise.resolve(null),
  mergeOf: () => Promise.resolve(null),
};
