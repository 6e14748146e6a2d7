import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { Decision, Merge } from '../../../domain/quota-resize/model/decision.ts';
import type { PullRequestEnd, PullRequestId } from '../../../domain/quota-resize/policy/recorded-raise.ts';

/** What the forge says of the pull requests that Leases record: nobody else tells whether something was merged. */
export interface PullRequestEnds {
  /** Null: the worker is not configured for the repository, and cannot know. */
  endOf(pullRequest: PullRequestId): Promise<PullRequestEnd | null>;
  /** How the decision's pull request ended. */
  endOfDecision(target: QuotaTarget, decision: Decision): Promise<DecisionEnd>;
}

/** Both are null while the pull request is open, and where nobody knows. */
export interface DecisionEnd {
  readonly merge: Merge | null;
  /** Who closed it without a merge, where that is neither the account that opened it nor Headroom's own by now; `unknown`: the forge names nobody. */
  readonly closedBy: string | null;
}

export const NOT_ENDED: DecisionEnd = { merge: null, closedBy: null };

/** Of a process that has no repository. */
export const noPullRequestEnds: PullRequestEnds = {
  endOf: () => Promise.resolve(null),
  endOfDecision: () => Promise.resolve(NOT_ENDED),
};
