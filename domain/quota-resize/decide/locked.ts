/** The lock is held, and nothing is known to be on the forge yet: the pull request is opened, if it is still wanted. */
import type { EpochMs } from '../../kernel/time.ts';
import { inState, type Locked, type ResizeMemory, withDecision } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import { leaseHeldDetail, summary } from '../pull-request/wording.ts';
import { computeNeed } from '../sizing/requirement.ts';
import { approvalHolds, awaitApproval, tellApproval } from './approval.ts';
import { gateOfDecision, isBeforePullRequest } from './approval-requirement.ts';
import type { Planned } from './next-step.ts';
import { closeRejected, rejectionOf } from './pull-request-closed.ts';
import { concerns, demandGone, grownBy, holdDecision, isLeaseTaken } from './unmerged.ts';
import { withoutCounts } from './usage-not-counted.ts';

export function decideLocked(
  look: QuotaObservation,
  memory: ResizeMemory<Locked>,
  isAdopted: boolean,
  now: EpochMs,
): Planned {
  const { decision } = memory.state;
  if (look.policy.mode === 'observe') {
    const detail = `the mode is observe: decision ${decision.id} (${summary(decision)}) is given up before it has a pull request`;
    return [memory, { kind: 'release', phase: 'Detecting', reason: 'ObserverMode', detail, decision, refusal: null }];
  }
  const retryAt = now + look.timings.holdRetry;
  if (isLeaseTaken(look, decision)) {
    return [memory, holdDecision(look, 'Blocked', 'LeaseHeld', leaseHeldDetail(look), now, retryAt)];
  }
  const rejection = rejectionOf(memory.state);
  // Nothing is known to be on the forge, and an attempt whose answer was lost may have come that far all the same.
  if (rejection !== null) return [memory, closeRejected(look, decision, rejection)];
  const uncounted = withoutCounts(look, memory, decision, (phase, reason, detail) =>
    holdDecision(look, phase, reason, detail, now, retryAt),
  );
  return uncounted ?? decideWanted(look, memory, isAdopted, now);
}

/** Whether it is still needed, approved where the policy wants that first, and has the values that are needed now. */
function decideWanted(look: QuotaObservation, memory: ResizeMemory<Locked>, isAdopted: boolean, now: EpochMs): Planned {
  const need = computeNeed(look, memory.lastChange);
  const { decision: decided } = memory.state;
  if (!concerns(need, decided)) {
    const consequence = `decision ${decided.id} (${summary(decided)}) is given up`;
    return demandGone(look, memory, 'OpeningPullRequest', consequence, now);
  }
  // The gate is the policy's as it is now: an annotation that was set or taken off since acts at once.
  const decision = { ...decided, gate: gateOfDecision(look.policy, decided) };
  const state: Locked = { ...withDecision(memory.state, decision), demandGoneSince: null };
  const current = inState(memory, state);
  const grown = grownBy(look, current, decision, need, now);
  const gated = grown ?? decision;
  if (isBeforePullRequest(gated.gate) && gated.gate !== null && !approvalHolds(state, gated)) {
    if (grown !== null) {
      const detail = `the need grew before anybody approved it (${summary(grown)})`;
      return [current, { kind: 'revise', phase: 'AwaitingApproval', reason: 'NeedGrew', detail, decision: grown }];
    }
    return awaitApproval(look, current, gated, gated.gate, now, (reason, detail, until) =>
      holdDecision(look, 'AwaitingApproval', reason, detail, now, until),
    );
  }
  const approved = tellApproval(current, gated);
  if (approved !== null) return [current, approved];
  if (grown !== null) {
    const why = `the need grew (${summary(grown)})`;
    return [
      current,
      { kind: 'rebuild', phase: 'OpeningPullRequest', reason: 'NeedGrew', detail: why, decision: grown, why },
    ];
  }
  const reason = isAdopted ? 'Adopted' : decision.evidence.length > 0 ? 'UnmetDemand' : 'ThresholdReached';
  const detail = `opening the pull request of decision ${decision.id}${isAdopted ? ', found in the Lease' : ''} (${summary(decision)})`;
  return [current, { kind: 'open', phase: 'OpeningPullRequest', reason, detail, decision: gated }];
}
