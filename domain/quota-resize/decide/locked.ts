/** The Lease is held and no pull request is known: it is opened if it is still wanted. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { type Locked, withDecision } from '../model/memory.ts';
import { isHeldByOthers } from '../model/observation.ts';
import { leaseHeldDetail, summary } from './sentences.ts';
import { computeRequirement } from '../sizing/requirement.ts';
import { leavingBatchedQuotas, leavingSentence, withRequirementsOfNow } from './batched-quotas.ts';
import { type LockedDecision, withoutBatchedQuotas } from '../model/decision.ts';
import { approvalHolds, awaitApproval, announceApproval } from './approval.ts';
import { isBeforePullRequest } from './approval-requirement.ts';
import type { Intended } from './next-step.ts';
import { type Pass, passIn } from './pass.ts';
import { closeRejected, rejectionOf } from './pull-request-closed.ts';
import { concerns, demandGone, grownBy, holdDecision } from './unmerged.ts';
import { withoutCounts } from './usage-not-counted.ts';
import { withVerifiedApproval } from './verified-approval.ts';

export function decideLocked(pass: Pass<Locked>, isAdopted: boolean): Intended {
  const { observation, memory, now } = pass;
  const { decision } = memory.state;
  if (observation.policy.mode === 'observe') {
    const detail = `the mode is observe: decision ${decision.id} (${summary(decision)}) is given up before it has a pull request`;
    return [memory, { kind: 'release', phase: 'Detecting', reason: 'ObserverMode', detail, decision, rejection: null }];
  }
  const retryAt = now + observation.timings.holdRetry;
  if (isHeldByOthers(observation.lease, decision.id)) {
    const status = { phase: 'Blocked', reason: 'LeaseHeld', detail: leaseHeldDetail(observation) } as const;
    return [memory, holdDecision(pass, status, { until: retryAt })];
  }
  const rejection = rejectionOf(memory.state);
  // A pull request may exist although none is known: the response to an earlier attempt to open one may have been lost.
  if (rejection !== null) return [memory, closeRejected(observation, decision, rejection)];
  const uncounted = withoutCounts(observation, memory, decision, (phase, reason, detail) =>
    holdDecision(pass, { phase, reason, detail }, { until: retryAt }),
  );
  return uncounted ?? decideWanted(pass, isAdopted);
}

/**
 * Whether the decision is still needed, is approved where the policy requires that first, and has the current values.
 */
function decideWanted(pass: Pass<Locked>, isAdopted: boolean): Intended {
  const { observation, memory } = pass;
  const requirement = computeRequirement(observation, memory.lastChange);
  const { decision: decided } = memory.state;
  if (!concerns(requirement, decided)) {
    const consequence = `decision ${decided.id} (${summary(decided)}) is given up`;
    return demandGone(pass, 'OpeningPullRequest', consequence);
  }
  const decision = withRequirementsOfNow(observation, decided);
  const state: Locked = withVerifiedApproval({ ...withDecision(memory.state, decision), demandGoneSince: null }, pass);
  const settled = passIn(pass, state);
  const current = settled.memory;
  const leaving = leavingBatchedQuotas(observation, decision);
  if (leaving.length > 0) {
    const detail = `the pull request of decision ${decision.id} is not opened yet: ${leavingSentence(leaving)}`;
    const alone = withoutBatchedQuotas(decision, leaving);
    const phase = 'OpeningPullRequest';
    return [current, { kind: 'revise', phase, reason: 'BatchedQuotaLeft', detail, decision: alone, released: leaving }];
  }
  const growth = grownBy(settled, state.decision, requirement);
  const growsAt = growth === null ? null : growsLaterAt(pass, decision, growth);
  const grown = growsAt === null ? growth : null;
  const toApprove = grown ?? state.decision;
  if (
    isBeforePullRequest(toApprove.approvalRequirement) &&
    toApprove.approvalRequirement !== null &&
    !approvalHolds(state, toApprove, observation.policy)
  ) {
    if (grown !== null) {
      const detail = `the demand grew before anybody approved it (${summary(grown)})`;
      return [current, { kind: 'revise', phase: 'AwaitingApproval', reason: 'DemandGrew', detail, decision: grown }];
    }
    const announced = announceApproval(current, toApprove, observation.policy);
    if (announced !== null) return [current, announced];
    return awaitApproval(settled, toApprove, toApprove.approvalRequirement, (phase, reason, detail, until) => {
      if (growth === null || growsAt === null) return holdDecision(pass, { phase, reason, detail }, { until });
      const more = `${detail}. The demand grew meanwhile (${summary(growth)}), which is asked for at ${formatInstant(growsAt)}`;
      return holdDecision(pass, { phase, reason, detail: more }, { until: Math.min(until ?? growsAt, growsAt) });
    });
  }
  const approved = announceApproval(current, toApprove, observation.policy);
  if (approved !== null) return [current, approved];
  if (grown !== null) {
    const why = `the demand grew (${summary(grown)})`;
    return [
      current,
      { kind: 'rebuild', phase: 'OpeningPullRequest', reason: 'DemandGrew', detail: why, decision: grown, why },
    ];
  }
  const reason = isAdopted ? 'Adopted' : decision.evidence.length > 0 ? 'UnmetDemand' : 'ThresholdReached';
  const detail = `opening the pull request of decision ${decision.id}${isAdopted ? ', found in the Lease' : ''} (${summary(decision)})`;
  return [current, { kind: 'open', phase: 'OpeningPullRequest', reason, detail, decision: toApprove }];
}

/**
 * While people are asked, it grows as often as an open pull request does: each time is a write, and other values to approve.
 *
 * @returns the moment, if it may not grow yet.
 */
function growsLaterAt(
  { observation, now, isInForce }: Pick<Pass, 'observation' | 'now' | 'isInForce'>,
  { grownAt }: LockedDecision,
  growth: LockedDecision,
): EpochMs | null {
  if (grownAt === undefined || !isBeforePullRequest(growth.approvalRequirement)) return null;
  const growsAt = grownAt + observation.timings.updateInterval;
  return now < growsAt && isInForce('growth-rests-while-asked') ? growsAt : null;
}
