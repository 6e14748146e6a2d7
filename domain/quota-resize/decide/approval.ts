/**
 * Waiting for a person to approve or reject: people are notified once, reminded, and the decision is given up after the
 * policy's timeout.
 */
import { equalLists } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant, formatSpan } from '../../kernel/time.ts';
import {
  approvedValues,
  decidedLimits,
  type ApprovalRequirement,
  type Rejection,
  type UnmergedDecision,
} from '../model/decision.ts';
import { isBeforePullRequest } from './approval-requirement.ts';
import { inState, type ResizeMemory, type Unmerged } from '../model/memory.ts';
import { requirementDigest } from '../sizing/requirement.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Intended } from './next-step.ts';
import type { Pass } from './pass.ts';
import type { Intent } from '../model/verdict.ts';
import { linkTo, wholeSummary } from '../pull-request/wording.ts';

/**
 * Whether the approval was given for exactly these limits and this head; for an approval before the pull request, only
 * the limits count.
 */
export function approvalHolds({ approval }: Unmerged, decision: UnmergedDecision): boolean {
  if (approval === null || !equalLists(approval.limits, approvedValues(decision))) return false;
  return isBeforePullRequest(decision.approvalRequirement) || approval.headSha === decision.pullRequest?.headSha;
}

/** Makes a hold for a decision, with the latest moment of its end. */
type Waiting = (reason: ApprovalRequirement['reason'], detail: string, until?: EpochMs) => Intent;

/**
 * Waits for a person: notifies people once, reminds them at the policy's interval, and treats its timeout as a
 * rejection.
 */
export function awaitApproval(
  { observation, memory, now }: Pass<Unmerged>,
  decision: UnmergedDecision,
  approvalRequirement: ApprovalRequirement,
  waiting: Waiting,
): Intended {
  const { approvalReminder, approvalTimeout } = observation.policy;
  const key = `${decision.id}|${requirementDigest(decision)}|${decision.pullRequest?.headSha ?? ''}`;
  const { state } = memory;
  const existing = state.awaiting?.key === key ? state.awaiting : { key, since: now, remindedAt: now };
  const asking = inState(memory, { ...state, awaiting: existing });
  const subject = decision.pullRequest === null ? wholeSummary(decision) : linkTo(decision.pullRequest);
  const detail = `${subject} has waited for an approval since ${formatInstant(existing.since)}: ${approvalRequirement.message}. Send approve or reject`;

  const about = `approval|${key}`;
  if (!memory.emitted.includes(about)) {
    const event = { reason: 'QuotaResizeApprovalNeeded', message: detail } as const;
    return [
      asking,
      {
        kind: 'notify',
        phase: 'AwaitingApproval',
        reason: approvalRequirement.reason,
        detail,
        decision,
        about,
        comment: null,
        event,
      },
    ];
  }
  const dueAt = approvalTimeout === null ? Number.POSITIVE_INFINITY : existing.since + approvalTimeout;
  if (now >= dueAt) return [asking, giveUp(observation, decision, existing.since, now)];

  const remindAt = approvalReminder === null ? Number.POSITIVE_INFINITY : existing.remindedAt + approvalReminder;
  if (now >= remindAt) {
    const message = `${detail} (still no answer after ${formatSpan(now - existing.since)})`;
    const event = { reason: 'QuotaResizeApprovalOverdue', message } as const;
    const reminder = `${about}|${now}`;
    return [
      inState(memory, { ...state, awaiting: { ...existing, remindedAt: now } }),
      {
        kind: 'notify',
        phase: 'AwaitingApproval',
        reason: approvalRequirement.reason,
        detail,
        decision,
        about: reminder,
        comment: null,
        event,
      },
    ];
  }
  const end = Number.isFinite(dueAt) ? `. Without an answer by ${formatInstant(dueAt)} Headroom gives it up` : '';
  return [asking, waiting(approvalRequirement.reason, `${detail}${end}`, Math.min(remindAt, dueAt))];
}

function giveUp(observation: QuotaObservation, decision: UnmergedDecision, since: EpochMs, now: EpochMs): Intent {
  const rejection: Rejection = {
    limits: decidedLimits(decision),
    at: now,
    by: 'nobody',
    reason: `no answer since ${formatInstant(since)}`,
  };
  const detail = `nobody has approved it since ${formatInstant(since)} (resizer.io/approval-timeout)`;
  const until = formatInstant(now + observation.policy.rejectionCooldown);
  const comment = `Closed by Headroom: ${detail}. It is not asked for again before ${until} unless the demand grows.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'ApprovalTimedOut', detail, decision, rejection, comment };
}

/** Announces an approval that people were not notified of yet: in an Event, and on the pull request if there is one. */
export function announceApproval(memory: ResizeMemory<Unmerged>, decision: UnmergedDecision): Intent | null {
  const { approval } = memory.state;
  if (approval === null) return null;
  const hasPullRequest = decision.pullRequest !== null;
  const about = `approved|${approval.at}|${hasPullRequest ? 'commented' : 'said'}`;
  if (memory.emitted.includes(about)) return null;
  const why = approval.reason === '' ? '' : `: ${approval.reason}`;
  const words = `approved by ${approval.by} at ${formatInstant(approval.at)}${why}`;
  return {
    kind: 'notify',
    phase: hasPullRequest ? 'AwaitingMerge' : 'OpeningPullRequest',
    reason: 'Approved',
    detail: `${wholeSummary(decision)}: ${words}`,
    decision,
    about,
    comment: hasPullRequest ? `Approved in Headroom: ${words}. It holds for these values only.` : null,
    event: { reason: 'QuotaResizeApproved', message: `${wholeSummary(decision)}: ${words}` },
  };
}
