/** A pull request exists: is its head still Headroom's, is it still wanted, and may it be merged? */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { type OpenDecision, withoutBatchedQuotas } from '../model/decision.ts';
import { type Open, type ResizeMemory, withDecision } from '../model/memory.ts';
import { isHeldByOthers, type MergeHold, type QuotaObservation } from '../model/observation.ts';
import type { Phase, Intent, Reason } from '../model/verdict.ts';
import { leaseHeldDetail, linkTo, short, summary } from '../pull-request/wording.ts';
import { computeRequirement } from '../sizing/requirement.ts';
import { approvalHolds, awaitApproval, announceApproval } from './approval.ts';
import { approvalRequirementOfDecision } from './approval-requirement.ts';
import { forbiddenBatchedQuotas, leavingBatchedQuotas, leavingSentence } from './batched-quotas.ts';
import { mergeReadiness } from './merge-readiness.ts';
import type { Intended } from './next-step.ts';
import { type OpenPass, passIn } from './pass.ts';
import { closeRejected, rejectionOf, completeClosed } from './pull-request-closed.ts';
import { concerns, demandGone, grownBy, holdDecision } from './unmerged.ts';
import { withoutCounts } from './usage-not-counted.ts';

/** A forge may show the previous head for a moment after a push. */
const HEAD_LAG_MS = 10_000;

/** Makes a hold for the pull request, with the latest moment of its end. */
type Waiting = (phase: Phase, reason: Reason, detail: string, until?: EpochMs) => Intent;

export function decideOpen(pass: OpenPass): Intended {
  const { observation, memory, pullRequest, now } = pass;
  const { policy, timings } = observation;
  const { decision: decided, rejection: rejected } = memory.state;
  const link = linkTo(decided.pullRequest);
  if (
    observation.lease.holder === null &&
    !isHeldByOthers(observation.lease, decided.id) &&
    policy.mode !== 'observe'
  ) {
    // The open act finds the existing pull request and acquires the Lease again: only a decision that holds the Lease
    // is stored in it.
    const detail = `the Lease ${observation.lease.name} is unlocked, decision ${decided.id} with ${link} takes it again`;
    return [memory, { kind: 'open', phase: 'OpeningPullRequest', reason: 'Adopted', detail, decision: decided }];
  }
  if (pullRequest.state === 'closed') return [memory, completeClosed(pass)];

  // The approval requirement follows the current policy, so that a changed annotation takes effect at once.
  const decision: OpenDecision = { ...decided, approvalRequirement: approvalRequirementOfDecision(policy, decided) };
  const settled = passIn(pass, { ...withDecision(memory.state, decision), closing: null });
  const open = settled.memory;
  const waiting: Waiting = (phase, reason, detail, until) =>
    holdDecision(pass, { phase, reason, detail }, { until, watch: 'pullRequest' });

  if (policy.mode === 'observe') {
    const wish = rejected === null ? 'it is left to people' : `${rejected.by} rejected it, which is left to people`;
    const detail = `the mode is observe, so nothing is written to ${link}: ${wish}, waiting until they merge or close it`;
    return [open, waiting('AwaitingMerge', 'ObserverMode', detail)];
  }
  const rejection = rejectionOf(open.state);
  if (rejection !== null) return [open, closeRejected(observation, decision, rejection)];
  if (!pullRequest.headIsOurs) {
    const detail = `${link} has commits of somebody else, so it belongs to people now. Headroom waits until they merge or close it`;
    return [open, waiting('AwaitingMerge', 'ForeignCommit', detail)];
  }
  if (isHeldByOthers(observation.lease, decision.id)) {
    return [open, waiting('Blocked', 'LeaseHeld', leaseHeldDetail(observation), now + timings.holdRetry)];
  }
  const uncounted = withoutCounts(observation, open, decision, (phase, reason, detail) =>
    waiting(phase, reason, detail, now + timings.holdRetry),
  );
  return uncounted ?? decideWanted(settled, waiting);
}

/** Whether the decision is still needed and has the current values. */
function decideWanted(pass: OpenPass, waiting: Waiting): Intended {
  const { observation, memory, pullRequest, now } = pass;
  const { decision } = memory.state;
  const { pullRequest: ref } = decision;
  const link = linkTo(ref);
  const requirement = computeRequirement(observation, memory.lastChange);
  if (!concerns(requirement, decision) && !decision.demandByMessage) {
    return demandGone(pass, 'AwaitingChecks', `${link} is closed`);
  }
  const settled = passIn(pass, { ...memory.state, demandGoneSince: null });
  const current = settled.memory;
  const approved = announceApproval(current, decision);
  if (approved !== null) return [current, approved];
  const forbidden = forbiddenBatchedQuotas(observation, decision);
  if (forbidden.length > 0) return [current, rebuildWithout(observation, decision, forbidden)];
  const grown = requirement === null ? null : grownBy(settled, decision, requirement);

  if (pullRequest.headSha !== ref.headSha) {
    // The checks and the mergeability belong to the other head and prove nothing about Headroom's.
    const shownAt = ref.pushedAt + HEAD_LAG_MS;
    if (now < shownAt) {
      const detail = `the latest commit of ${link} is not shown yet`;
      return [current, waiting('AwaitingChecks', 'MergeabilityComputing', detail, shownAt)];
    }
    const why = `the head ${short(pullRequest.headSha)} is a commit of Headroom that was not recorded, so Headroom checks it`;
    return [current, rebuild(observation, grown ?? decision, { reason: 'HeadMoved', detail: `${link}: ${why}`, why })];
  }
  if (grown !== null) {
    const updateAt = ref.pushedAt + observation.timings.updateInterval;
    const why = `the demand grew (${summary(grown)})`;
    if (now < updateAt) {
      const detail = `${why}, ${link} is updated at ${formatInstant(updateAt)}`;
      return [current, waiting('AwaitingChecks', 'UpdateDue', detail, updateAt)];
    }
    return [current, rebuild(observation, grown, { reason: 'DemandGrew', detail: `${link}: ${why}`, why })];
  }
  const unready = untilReady(settled, waiting);
  return unready === null ? decideMerge(settled, waiting) : [current, unready];
}

/** What still has to happen on the forge before a merge; null when the pull request is ready. */
function untilReady({ observation, memory, pullRequest, now }: OpenPass, waiting: Waiting): Intent | null {
  const { timings } = observation;
  const { decision } = memory.state;
  const { pullRequest: ref } = decision;
  const link = linkTo(ref);
  const readiness = mergeReadiness(pullRequest, ref, now, timings.settle);
  if (readiness.kind === 'ready') return null;
  if (readiness.kind === 'wait') return waiting('AwaitingChecks', readiness.reason, readiness.detail, readiness.until);
  const { reason, why } = readiness;
  const dueAt = ref.pushedAt + timings.updateInterval;
  if (reason === 'Behind' && pullRequest.checks.pending.length > 0 && now < dueAt) {
    // On a busy base branch every rebuild would restart the checks before they end.
    const detail = `${link} is behind ${ref.base}. Headroom rebuilds the branch when its checks have ended, or at ${formatInstant(dueAt)}`;
    return waiting('AwaitingChecks', 'Behind', detail, dueAt);
  }
  return rebuild(observation, decision, { reason, detail: `${link}: ${why}. Headroom rebuilds the branch`, why });
}

/** The pull request is ready: do people and the policy allow the merge now? */
function decideMerge(pass: OpenPass, waiting: Waiting): Intended {
  const { observation, memory } = pass;
  const { policy } = observation;
  const { state } = memory;
  const { decision } = state;
  const { approvalRequirement, pullRequest } = decision;
  const link = linkTo(pullRequest);
  // First of all: people who merge by hand, or approve, do so for what is in it.
  const leaving = leavingBatchedQuotas(observation, decision);
  if (leaving.length > 0) return [memory, rebuildWithout(observation, decision, leaving)];
  const needsApproval = approvalRequirement !== null && !approvalHolds(state, decision);
  // Where a person merges anyway, a separate approval is required only if the policy asks for it explicitly.
  if (needsApproval && (policy.autoMerge.allowed || approvalRequirement.reason === 'ApprovalRequired')) {
    return awaitApproval(pass, decision, approvalRequirement, (reason, detail, until) =>
      waiting('AwaitingApproval', reason, detail, until),
    );
  }
  if (!policy.autoMerge.allowed) {
    const namespaceOff = policy.autoMerge.reason === 'NamespaceOff';
    const detail = `${link} is ready and waits for a person to merge it: auto-merge is off ${namespaceOff ? 'for this namespace (resizer.io/auto-merge)' : 'globally (--enable-auto-merge)'}`;
    return [memory, waiting('AwaitingMerge', namespaceOff ? 'NamespaceAutoMergeOff' : 'AutoMergeOff', detail)];
  }
  const { mergeHold } = observation;
  if (mergeHold !== null) return held(memory, mergeHold, waiting);
  const detail = `merging ${link} at ${short(pullRequest.headSha)}`;
  return [memory, { kind: 'merge', phase: 'Merging', reason: 'ReadyToMerge', detail, decision }];
}

/** Rebuilds the branch without the batched quotas that must not be raised any more. */
function rebuildWithout(observation: QuotaObservation, decision: OpenDecision, leaving: readonly string[]): Intent {
  const why = leavingSentence(leaving);
  const detail = `${linkTo(decision.pullRequest)}: ${why}. Headroom rebuilds the branch`;
  return rebuild(observation, decision, { reason: 'BatchedQuotaLeft', detail, why });
}

/** Whatever it is rebuilt for, it is so without the quotas that are not to be raised along by now. */
function rebuild(
  observation: QuotaObservation,
  decision: OpenDecision,
  { reason, detail, why }: { readonly reason: Reason; readonly detail: string; readonly why: string },
): Intent {
  const released = leavingBatchedQuotas(observation, decision);
  return {
    kind: 'rebuild',
    phase: 'OpeningPullRequest',
    reason,
    detail,
    why,
    // What was approved for all of them is approved no more.
    ...(released.length === 0
      ? { decision }
      : { decision: { ...withoutBatchedQuotas(decision, released), approvedBy: undefined }, released }),
  };
}

/**
 * The pull request is ready, but a freeze or a closed merge window forbids the merge: this is reported once for each
 * freeze and each window.
 */
function held(memory: ResizeMemory<Open>, mergeHold: MergeHold, waiting: Waiting): Intended {
  const { decision } = memory.state;
  const link = linkTo(decision.pullRequest);
  const { reason, until } = mergeHold;
  const detail = `${link} is ready. Headroom does not merge it now: ${mergeHold.detail}`;
  const about = `held|${reason}|${until ?? 'open'}|${mergeHold.detail}`;
  if (!memory.emitted.includes(about)) {
    const comment = `Ready, and not merged by Headroom for now: ${mergeHold.detail}.`;
    const event = { reason: 'QuotaResizeHeld', message: detail } as const;
    return [memory, { kind: 'notify', phase: 'AwaitingMerge', reason, detail, decision, about, comment, event }];
  }
  return [memory, waiting('AwaitingMerge', reason, detail, until ?? undefined)];
}
