/**
 * Waiting for a person to approve or reject: people are notified once, reminded, and the decision is given up after the
 * policy's timeout.
 */
import { sentence } from '../../kernel/sentence.ts';
import { equalLists } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant, formatSpan } from '../../kernel/time.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import {
  type Approval,
  approvedPlaces,
  approvedValues,
  decidedLimits,
  equalPlaces,
  type ApprovalRequirement,
  type Rejection,
  type UnmergedDecision,
} from '../model/decision.ts';
import { isBeforePullRequest } from './approval-requirement.ts';
import { inState, type ResizeMemory, type Unmerged } from '../model/memory.ts';
import { NOBODY } from '../model/rejections.ts';
import { requirementDigest } from '../sizing/requirement.ts';
import type { QuotaObservation } from '../model/observation.ts';
import { asksForVerified } from '../policy/guardrail.ts';
import { notProvedOf } from './left-to-people.ts';
import type { Intended, MakeHold } from './next-step.ts';
import { notifyOnce } from './notify-once.ts';
import type { Pass } from './pass.ts';
import type { Intent } from '../model/verdict.ts';
import { approverName, linkTo, wholeSummary } from './sentences.ts';

/** Whether the approval was given for exactly this, by somebody whose approval counts. */
export function approvalHolds({ approval }: Unmerged, decision: UnmergedDecision, policy: ResizePolicy): boolean {
  return approval !== null && isFor(approval, decision) && approvalCounts(approval, policy);
}

/**
 * Whether the approval is for exactly this decision's limits and this head. An approval before the pull request holds
 * for every head that writes these limits to the same places over the same texts.
 */
export function isFor({ limits, headSha, places = {} }: Approval, decision: UnmergedDecision): boolean {
  if (!equalLists(limits, approvedValues(decision))) return false;
  return isBeforePullRequest(decision.approvalRequirement)
    ? equalPlaces(places, approvedPlaces(decision))
    : headSha === decision.pullRequest?.headSha;
}

/** Whether the guardrail takes this approval: it may ask for one that is verified. */
export function approvalCounts({ verified }: Approval, policy: Pick<ResizePolicy, 'guardrail'>): boolean {
  return verified !== undefined || !asksForVerified(policy);
}

const VERIFIED_WAYS = 'Approve it with headroom approve or with a review of the pull request';

/** Why a claimed approval of the decision does not count, a sentence; null where there is none. */
function uncounted({ approval }: Unmerged, decision: UnmergedDecision, policy: ResizePolicy): string | null {
  if (approval === null || approvalCounts(approval, policy) || !isFor(approval, decision)) return null;
  return `it was approved by ${approval.by}, a name that nobody has verified; this guardrail asks for a verified approval`;
}

/**
 * Waits for a person: notifies people once, reminds them at the policy's interval, and treats its timeout as a
 * rejection.
 */
export function awaitApproval(
  { observation, memory, now }: Pass<Unmerged>,
  decision: UnmergedDecision,
  approvalRequirement: ApprovalRequirement,
  waiting: MakeHold,
): Intended {
  const { approvalReminder, approvalTimeout } = observation.policy;
  const places = isBeforePullRequest(approvalRequirement) ? Object.values(approvedPlaces(decision)) : [];
  const key = [decision.id, requirementDigest(decision), decision.pullRequest?.headSha ?? '', ...places].join('|');
  const { state } = memory;
  const about = `approval|${key}`;
  const before = state.awaiting?.key === key ? state.awaiting : null;
  const isTold = before?.isTold === true || memory.emitted.includes(about);
  // A notice may have to wait, as any Event may: nobody can answer before.
  const asked = before !== null && isTold ? before : { key, since: now, remindedAt: now };
  const reminder = `${about}|${asked.remindedAt}`;
  const isReminded = memory.emitted.includes(reminder);
  const existing = { ...asked, ...(isTold ? { isTold } : {}), ...(isReminded ? { remindedAt: now } : {}) };
  const asking = inState(memory, { ...state, awaiting: existing });
  const subject = decision.pullRequest === null ? wholeSummary(decision) : linkTo(decision.pullRequest);
  const notProved = notProvedOf(decision);
  const doubt = notProved === null ? '' : `. What it changes is ${notProved}`;
  const claimed = uncounted(state, decision, observation.policy);
  const claim = claimed === null ? '' : `${sentence(claimed)} `;
  const answer = asksForVerified(observation.policy) ? `${VERIFIED_WAYS}, or send reject` : 'Send approve or reject';
  const detail = `${subject} has waited for an approval since ${formatInstant(existing.since)}: ${approvalRequirement.message}${doubt}. ${claim}${answer}`;

  const status = { phase: 'AwaitingApproval', reason: approvalRequirement.reason, detail } as const;
  if (!isTold) {
    const event = { reason: 'QuotaResizeApprovalNeeded', message: detail } as const;
    return [asking, { kind: 'notify', ...status, decision, about, comment: null, event }];
  }
  const dueAt = approvalTimeout === null ? Number.POSITIVE_INFINITY : existing.since + approvalTimeout;
  if (now >= dueAt) return [asking, giveUp(observation, decision, existing.since, now)];

  const remindAt = approvalReminder === null ? Number.POSITIVE_INFINITY : existing.remindedAt + approvalReminder;
  if (now >= remindAt) {
    const message = `${detail} (still no answer after ${formatSpan(now - existing.since)})`;
    const event = { reason: 'QuotaResizeApprovalOverdue', message } as const;
    return [asking, { kind: 'notify', ...status, decision, about: reminder, comment: null, event }];
  }
  const end = Number.isFinite(dueAt) ? `. Without an answer by ${formatInstant(dueAt)} Headroom gives it up` : '';
  return [asking, waiting(status.phase, status.reason, `${detail}${end}`, Math.min(remindAt, dueAt))];
}

function giveUp(observation: QuotaObservation, decision: UnmergedDecision, since: EpochMs, now: EpochMs): Intent {
  const rejection: Rejection = {
    limits: decidedLimits(decision),
    at: now,
    by: NOBODY,
    reason: `no answer since ${formatInstant(since)}`,
  };
  const detail = `nobody has approved it since ${formatInstant(since)} (resizer.io/approval-timeout)`;
  const until = formatInstant(now + observation.policy.rejectionCooldown);
  const comment = `Closed by Headroom: ${detail}. Headroom does not ask for it again before ${until} unless the demand grows.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'ApprovalTimedOut', detail, decision, rejection, comment };
}

/**
 * Announces an approval that people were not notified of yet, also one that does not count: in an Event, and on the
 * pull request if there is one.
 */
export function announceApproval(
  memory: ResizeMemory<Unmerged>,
  decision: UnmergedDecision,
  policy: ResizePolicy,
): Intent | null {
  const { approval } = memory.state;
  if (approval === null) return null;
  const hasPullRequest = decision.pullRequest !== null;
  const claimed = uncounted(memory.state, decision, policy);
  const { approvalRequirement } = decision;
  if (claimed !== null) {
    if (approvalRequirement === null) return null;
    const about = `claimed|${approval.at}|${hasPullRequest ? 'commented' : 'said'}`;
    const detail = `${wholeSummary(decision)} still waits for an approval: ${claimed}. ${VERIFIED_WAYS}`;
    const status = { phase: 'AwaitingApproval', reason: approvalRequirement.reason, detail } as const;
    const comment = hasPullRequest ? `Not approved yet: ${claimed}.` : null;
    const event = { reason: 'QuotaResizeApprovalNeeded', message: detail } as const;
    return notifyOnce(memory, status, { decision, about, comment, event });
  }
  const verified = approval.verified === undefined ? '' : `|${approval.verified}`;
  const about = `approved|${approval.at}|${hasPullRequest ? 'commented' : 'said'}${verified}`;
  const why = approval.reason === '' ? '' : `: ${approval.reason}`;
  const words = `approved by ${approverName(approval)} at ${formatInstant(approval.at)}${why}`;
  const detail = `${wholeSummary(decision)}: ${words}`;
  const status = {
    phase: hasPullRequest ? 'AwaitingMerge' : 'OpeningPullRequest',
    reason: 'Approved',
    detail,
  } as const;
  const comment = hasPullRequest ? `Approved in Headroom: ${words}. It holds for these values only.` : null;
  return notifyOnce(memory, status, {
    decision,
    about,
    comment,
    event: { reason: 'QuotaResizeApproved', message: detail },
  });
}
