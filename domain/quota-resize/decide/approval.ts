/** Waiting for a person's yes or no: said once, reminded of, and given up where the policy says so. */
import { equalLists } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant, formatSpan } from '../../kernel/time.ts';
import { approvedValues, decidedLimits, type Gate, type Refusal, type UnmergedDecision } from '../model/decision.ts';
import { isBeforePullRequest } from './approval-requirement.ts';
import { inState, type ResizeMemory, type Unmerged } from '../model/memory.ts';
import { needDigest } from '../sizing/requirement.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Planned } from './next-step.ts';
import type { Plan } from '../model/verdict.ts';
import { linkTo, wholeSummary } from '../pull-request/wording.ts';

/** Whether the approval in hand was given for exactly these limits and this head, or for these limits where they are the question. */
export function approvalHolds({ approval }: Unmerged, decision: UnmergedDecision): boolean {
  if (approval === null || !equalLists(approval.limits, approvedValues(decision))) return false;
  return isBeforePullRequest(decision.gate) || approval.headSha === decision.pullRequest?.headSha;
}

/** How a wait with the decision in hand is made, until a moment at the latest. */
type Waiting = (reason: Gate['reason'], detail: string, until?: EpochMs) => Plan;

/**
 * The gate is shut: people are told once, reminded at the policy's distance, and after its timeout no answer is a no.
 */
export function awaitApproval(
  look: QuotaObservation,
  memory: ResizeMemory<Unmerged>,
  decision: UnmergedDecision,
  gate: Gate,
  now: EpochMs,
  waiting: Waiting,
): Planned {
  const { approvalReminder, approvalTimeout } = look.policy;
  const key = `${decision.id}|${needDigest(decision)}|${decision.pullRequest?.headSha ?? ''}`;
  const { state } = memory;
  const known = state.awaiting?.key === key ? state.awaiting : { key, since: now, remindedAt: now };
  const asking = inState(memory, { ...state, awaiting: known });
  const subject = decision.pullRequest === null ? wholeSummary(decision) : linkTo(decision.pullRequest);
  const detail = `${subject} waits for an approval since ${formatInstant(known.since)}: ${gate.message}; send approve or reject`;

  const about = `approval|${key}`;
  if (!memory.emitted.includes(about)) {
    const event = { type: 'Normal', reason: 'QuotaResizeApprovalNeeded', message: detail } as const;
    return [
      asking,
      { kind: 'say', phase: 'AwaitingApproval', reason: gate.reason, detail, decision, about, comment: null, event },
    ];
  }
  const dueAt = approvalTimeout === null ? Number.POSITIVE_INFINITY : known.since + approvalTimeout;
  if (now >= dueAt) return [asking, giveUp(look, decision, known.since, now)];

  const remindAt = approvalReminder === null ? Number.POSITIVE_INFINITY : known.remindedAt + approvalReminder;
  if (now >= remindAt) {
    const message = `${detail} (still no answer after ${formatSpan(now - known.since)})`;
    const event = { type: 'Warning', reason: 'QuotaResizeApprovalOverdue', message } as const;
    const reminder = `${about}|${now}`;
    return [
      inState(memory, { ...state, awaiting: { ...known, remindedAt: now } }),
      {
        kind: 'say',
        phase: 'AwaitingApproval',
        reason: gate.reason,
        detail,
        decision,
        about: reminder,
        comment: null,
        event,
      },
    ];
  }
  const end = Number.isFinite(dueAt) ? `; without an answer by ${formatInstant(dueAt)} it is given up` : '';
  return [asking, waiting(gate.reason, `${detail}${end}`, Math.min(remindAt, dueAt))];
}

function giveUp(look: QuotaObservation, decision: UnmergedDecision, since: EpochMs, now: EpochMs): Plan {
  const refusal: Refusal = {
    limits: decidedLimits(decision),
    at: now,
    by: 'nobody',
    reason: `no answer since ${formatInstant(since)}`,
  };
  const detail = `nobody approved it since ${formatInstant(since)} (resizer.io/approval-timeout)`;
  const until = formatInstant(now + look.policy.rejectionCooldown);
  const comment = `Closed by Headroom: ${detail}. It is not asked for again before ${until} unless the need grows.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'ApprovalTimedOut', detail, decision, refusal, comment };
}

/** An approval that people have not been told about yet: in an Event, and on the pull request once there is one. */
export function tellApproval(memory: ResizeMemory<Unmerged>, decision: UnmergedDecision): Plan | null {
  const { approval } = memory.state;
  if (approval === null) return null;
  const hasPullRequest = decision.pullRequest !== null;
  const about = `approved|${approval.at}|${hasPullRequest ? 'commented' : 'said'}`;
  if (memory.emitted.includes(about)) return null;
  const why = approval.reason === '' ? '' : `: ${approval.reason}`;
  const words = `approved by ${approval.by} at ${formatInstant(approval.at)}${why}`;
  return {
    kind: 'say',
    phase: hasPullRequest ? 'AwaitingMerge' : 'OpeningPullRequest',
    reason: 'Approved',
    detail: `${wholeSummary(decision)}: ${words}`,
    decision,
    about,
    comment: hasPullRequest ? `Approved in Headroom: ${words}. It holds for these values only.` : null,
    event: { type: 'Normal', reason: 'QuotaResizeApproved', message: `${wholeSummary(decision)}: ${words}` },
  };
}
