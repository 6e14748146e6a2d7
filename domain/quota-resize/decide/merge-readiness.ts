import type { EpochMs } from '../../kernel/time.ts';
import type { PullRequestRef } from '../model/decision.ts';
import type { PullRequestObservation } from '../model/observation.ts';
import type { Reason } from '../model/verdict.ts';

/** Whether GitHub's state of an open pull request with our head allows a merge, and what it waits for otherwise. */
export type MergeReadiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'wait'; readonly reason: Reason; readonly detail: string; readonly until?: EpochMs }
  | { readonly kind: 'rebuild'; readonly reason: 'Conflict' | 'Behind'; readonly why: string };

/**
 * Reads `mergeable` and `mergeable_state` as GitHub documents them. `clean` right after a push proves nothing, because
 * checks may not have appeared yet: it counts when the base requires checks, when one finished on this head, or when it
 * has stood for `settle` milliseconds since the push.
 */
export function mergeReadiness(
  pullRequest: PullRequestObservation,
  ref: PullRequestRef,
  now: EpochMs,
  settle: number,
): MergeReadiness {
  const { checks } = pullRequest;
  if (pullRequest.draft || pullRequest.mergeableState === 'draft') {
    return {
      kind: 'wait',
      reason: 'Draft',
      detail: `pull request #${ref.number} is a draft, waiting until it is ready for review`,
    };
  }
  if (pullRequest.mergeable === null || pullRequest.mergeableState === 'unknown') {
    return {
      kind: 'wait',
      reason: 'MergeabilityComputing',
      detail: `GitHub still computes whether pull request #${ref.number} can be merged`,
    };
  }
  if (!pullRequest.mergeable || pullRequest.mergeableState === 'dirty') {
    return { kind: 'rebuild', reason: 'Conflict', why: `${ref.base} changed the same lines, so the branch conflicted` };
  }
  if (pullRequest.mergeableState === 'behind') {
    return { kind: 'rebuild', reason: 'Behind', why: `${ref.base} moved on and must be contained before a merge` };
  }
  if (checks.failing.length > 0) {
    return {
      kind: 'wait',
      reason: 'ChecksFailing',
      detail: `pull request #${ref.number} waits for a failing check to pass: ${checks.failing.join(', ')}`,
    };
  }
  if (checks.pending.length > 0) {
    return {
      kind: 'wait',
      reason: 'ChecksPending',
      detail: `pull request #${ref.number} waits for checks: ${checks.pending.join(', ')}`,
    };
  }
  switch (pullRequest.mergeableState) {
    case 'clean':
    case 'has_hooks': {
      if (checks.total > 0 || pullRequest.hasRequiredChecks) return { kind: 'ready' };
      const settled = ref.pushedAt + settle;
      if (now >= settled) return { kind: 'ready' };
      return {
        kind: 'wait',
        reason: 'NoChecksYet',
        detail: `pull request #${ref.number} is clean but no check has appeared yet`,
        until: settled,
      };
    }
    case 'blocked':
      // The queue is the block, or hides another one: the act finds the queue before it merges, and says so.
      if (pullRequest.mergeQueue === true) return { kind: 'ready' };
      return {
        kind: 'wait',
        reason: 'ReviewRequired',
        detail: `pull request #${ref.number} is blocked by a rule of ${ref.base}: a review or a required check that has not started`,
      };
    default:
      return {
        kind: 'wait',
        reason: 'ChecksPending',
        detail: `pull request #${ref.number} is ${pullRequest.mergeableState}, waiting until it is clean`,
      };
  }
}
