/** When an open pull request takes up a demand that grew, and when that is left to the decision after the merge. */
import type { EpochMs } from '../../kernel/time.ts';
import { approvalHolds } from './approval.ts';
import { leftToPeople } from './left-to-people.ts';
import { mergeReadiness } from './merge-readiness.ts';
import type { OpenPass } from './pass.ts';
import { holdOfOwnMerge } from './unattended-hold.ts';

export type Growth =
  | { readonly kind: 'now' }
  | { readonly kind: 'later'; readonly at: EpochMs }
  /** Another push would only postpone the merge. */
  | { readonly kind: 'afterMerge' };

/**
 * Each push starts the checks anew, so a demand that grows all the time would postpone the merge as long. What is left out
 * of a merge is raised after the cooldown: a merge that Headroom makes by itself is not postponed for longer than that.
 * From then on the pull request is pushed to only when its age has doubled since the last push, so that any checks find
 * the time to pass, and nothing is left out for good where they do not. A pull request that waits for people grows as
 * ever.
 */
export function growthOfOpen(pass: OpenPass): Growth {
  const { observation, memory, now } = pass;
  const { policy, timings } = observation;
  const { decision } = memory.state;
  const { openedAt, pushedAt } = decision.pullRequest;
  // One that was taken over is older than the decision.
  const since = Math.max(openedAt, decision.decidedAt);
  const isPostponed = now >= since + Math.max(policy.cooldown, timings.updateInterval);
  if (isPostponed && now < pushedAt + Math.max(pushedAt - since, timings.updateInterval) && isOnItsWay(pass)) {
    return { kind: 'afterMerge' };
  }
  const at = pushedAt + timings.updateInterval;
  return now < at ? { kind: 'later', at } : { kind: 'now' };
}

/** Whether nothing is missing for Headroom's own merge but checks that have not ended. */
function isOnItsWay({ observation, memory, pullRequest, now, isInForce }: OpenPass): boolean {
  const { policy, timings, mergeHold } = observation;
  const { state } = memory;
  const { decision } = state;
  if (!policy.autoMerge.allowed || holdOfOwnMerge(observation, decision) !== null) return false;
  if (mergeHold !== null && mergeHold.isUnattended !== true) return false;
  if (decision.approvalRequirement !== null && !approvalHolds(state, decision, policy)) return false;
  const base = { name: decision.pullRequest.base, isProtected: pullRequest.baseIsProtected === true };
  if (leftToPeople(decision, base) !== null) return false;
  const readiness = mergeReadiness(pullRequest, decision.pullRequest, now, timings.settle);
  if (readiness.kind === 'ready') return pullRequest.mergeQueue !== true || isInForce('queues-are-entered');
  return (
    readiness.kind === 'wait' && ['ChecksPending', 'NoChecksYet', 'MergeabilityComputing'].includes(readiness.reason)
  );
}
