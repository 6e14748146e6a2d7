/** A decision in hand: from its Lease to its merge. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { approvalHolds, awaitApproval, tellApproval } from './approval.ts';
import { grownCompanions, leavingCompanions } from './batched-quotas.ts';
import { decidedLimits, type Decision, leaseHolder } from '../model/decision.ts';
import { gateOfDecision, isBeforePullRequest } from './approval-requirement.ts';
import type { ResizeMemory } from '../model/memory.ts';
import { mergeReadiness } from './merge-readiness.ts';
import { computeNeed, mergeChanges, outgrows } from '../sizing/requirement.ts';
import type { MergeHold, PullRequestObservation, QuotaObservation } from '../model/observation.ts';
import { hold, type Planned } from './next-step.ts';
import { closeRejected, closeUnneeded, rejectionOf, settleClosed } from './pull-request-closed.ts';
import { partRefused } from './rejection.ts';
import { withoutCounts } from './usage-not-counted.ts';
import type { Phase, Plan, Proposal, Reason, Wait } from '../model/verdict.ts';
import { lookAgainAt, quietUntil } from './wait.ts';
import { leaseHeldDetail, linkTo, short, summary } from '../pull-request/wording.ts';

/** How often an open pull request is updated before a ready one is merged first and the rest comes in the next episode. */
const MAX_UPDATES = 3;

/** A forge may show the earlier head for a moment after a push. */
const HEAD_LAG_MS = 10_000;

/** The lock is held, and nothing is known to be on the forge yet: the pull request is opened, if it is still wanted. */
export function decideUnopened(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  adopted: boolean,
  now: EpochMs,
): Planned {
  if (look.policy.mode === 'observe') {
    const detail = `the mode is observe: decision ${decision.id} (${summary(decision)}) is given up before it has a pull request`;
    return [memory, { kind: 'release', phase: 'Detecting', reason: 'ObserverMode', detail, decision, refusal: null }];
  }
  if (isLeaseTaken(look, decision)) {
    return [
      memory,
      holdDecision(look, 'Blocked', 'LeaseHeld', leaseHeldDetail(look), now, now + look.timings.holdRetry),
    ];
  }
  const refusal = rejectionOf(memory, decision);
  // Nothing is known to be on the forge, and an attempt whose answer was lost may have come that far all the same.
  if (refusal !== null) return [memory, closeRejected(look, decision, refusal)];
  const uncounted = withoutCounts(look, memory, decision, (phase, reason, detail) =>
    holdDecision(look, phase, reason, detail, now, now + look.timings.holdRetry),
  );
  if (uncounted !== null) return uncounted;
  const need = computeNeed(look, memory.lastChange);
  if (!concerns(need, decision)) {
    const phase = 'OpeningPullRequest';
    return needGone(look, memory, decision, phase, `decision ${decision.id} (${summary(decision)}) is given up`, now);
  }
  // The gate is the policy's as it is now: an annotation that was set or taken off since acts at once.
  const current: ResizeMemory = {
    ...memory,
    decision: { ...decision, gate: gateOfDecision(look.policy, decision) },
    needGoneSince: null,
  };
  const grown = grownBy(look, current, decision, need, now);
  const gated = grown ?? current.decision ?? decision;
  if (isBeforePullRequest(gated.gate) && gated.gate !== null && !approvalHolds(current, gated)) {
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
  const reason = adopted ? 'Adopted' : decision.evidence.length > 0 ? 'UnmetDemand' : 'ThresholdReached';
  const detail = `opening the pull request of decision ${decision.id}${adopted ? ', found in the Lease' : ''} (${summary(decision)})`;
  return [current, { kind: 'open', phase: 'OpeningPullRequest', reason, detail, decision: gated }];
}

/** A pull request of ours exists: is it still wanted, still ours, and may it be merged? */
export function decideOpen(
  look: QuotaObservation,
  memory: ResizeMemory,
  decided: Decision,
  ref: NonNullable<Decision['pullRequest']>,
  pullRequest: PullRequestObservation,
  now: EpochMs,
): Planned {
  const { policy, timings } = look;
  const link = linkTo(ref);
  if (look.lease.holder === null && policy.mode !== 'observe') {
    // Opening finds the pull request as it is and takes the lock; only what holds the lock is remembered in the Lease.
    const detail = `the Lease ${look.lease.name} is unlocked, decision ${decided.id} with ${link} takes it again`;
    return [memory, { kind: 'open', phase: 'OpeningPullRequest', reason: 'Adopted', detail, decision: decided }];
  }
  if (pullRequest.state === 'closed') return [memory, settleClosed(look, memory, decided, pullRequest, now)];

  // The gate is the policy's as it is now: an annotation that was set or taken off since acts at once.
  const decision: Decision = { ...decided, gate: gateOfDecision(policy, decided) };
  const open: ResizeMemory = { ...memory, decision, closing: null };
  const waiting = (phase: Phase, reason: Reason, detail: string, until?: EpochMs): Plan =>
    holdDecision(look, phase, reason, detail, now, until, 'pullRequest');

  if (policy.mode === 'observe') {
    const { rejection } = memory;
    const wish = rejection === null ? 'it is left to people' : `${rejection.by} rejected it, which is left to people`;
    const detail = `the mode is observe, so nothing is written to ${link}: ${wish}, waiting until they merge or close it`;
    return [open, waiting('AwaitingMerge', 'ObserverMode', detail)];
  }
  const rejection = rejectionOf(memory, decision);
  if (rejection !== null) return [open, closeRejected(look, decision, rejection)];
  if (!pullRequest.headIsOurs) {
    const detail = `${link} has commits that are not Headroom's: it is handed over to people, waiting until they merge or close it`;
    return [open, waiting('AwaitingMerge', 'ForeignCommit', detail)];
  }
  if (isLeaseTaken(look, decision)) {
    return [open, waiting('Blocked', 'LeaseHeld', leaseHeldDetail(look), now + timings.holdRetry)];
  }
  const uncounted = withoutCounts(look, open, decision, (phase, reason, detail) =>
    waiting(phase, reason, detail, now + timings.holdRetry),
  );
  if (uncounted !== null) return uncounted;

  const need = computeNeed(look, memory.lastChange);
  if (!concerns(need, decision) && !decision.demandByMessage) {
    return needGone(look, open, decision, 'AwaitingChecks', `${link} is closed`, now);
  }
  const current: ResizeMemory = { ...open, needGoneSince: null };
  const approved = tellApproval(current, decision);
  if (approved !== null) return [current, approved];
  const grown = need === null ? null : grownBy(look, current, decision, need, now);

  if (pullRequest.headSha !== ref.headSha) {
    // Checks and mergeability that were read belong to the other head and prove nothing for ours.
    const shownAt = ref.pushedAt + HEAD_LAG_MS;
    if (now < shownAt) {
      const detail = `the latest commit of ${link} is not shown yet`;
      return [current, waiting('AwaitingChecks', 'MergeabilityComputing', detail, shownAt)];
    }
    const why = `the head ${short(pullRequest.headSha)} is Headroom's and not the recorded one, so it is made sure of`;
    return [current, rebuild('HeadMoved', `${link}: ${why}`, grown ?? decision, why)];
  }
  if (grown !== null) {
    const updateAt = ref.pushedAt + timings.updateInterval;
    const why = `the need grew (${summary(grown)})`;
    if (now < updateAt) {
      const detail = `${why}, ${link} is updated at ${formatInstant(updateAt)}`;
      return [current, waiting('AwaitingChecks', 'UpdateDue', detail, updateAt)];
    }
    return [current, rebuild('NeedGrew', `${link}: ${why}`, grown, why)];
  }

  const readiness = mergeReadiness(pullRequest, ref, now, timings.settle);
  if (readiness.kind === 'rebuild') {
    const { reason, why } = readiness;
    const dueAt = ref.pushedAt + timings.updateInterval;
    if (reason === 'Behind' && pullRequest.checks.pending.length > 0 && now < dueAt) {
      // On a busy base each rebuild would start the checks anew before they ever end.
      const detail = `${link} is behind ${ref.base}; the branch is rebuilt when its checks have ended, or at ${formatInstant(dueAt)}`;
      return [current, waiting('AwaitingChecks', 'Behind', detail, dueAt)];
    }
    return [current, rebuild(reason, `${link}: ${why}; the branch is rebuilt`, decision, why)];
  }
  if (readiness.kind === 'wait') {
    return [current, waiting('AwaitingChecks', readiness.reason, readiness.detail, readiness.until)];
  }
  const { gate } = decision;
  const isGated = gate !== null && !approvalHolds(current, decision);
  // Where a person merges anyway, only an approval that the policy asks for by itself is one more question.
  if (isGated && (policy.autoMerge.allowed || gate.reason === 'ApprovalRequired')) {
    return awaitApproval(look, current, decision, gate, now, (reason, detail, until) =>
      waiting('AwaitingApproval', reason, detail, until),
    );
  }
  if (!policy.autoMerge.allowed) {
    const namespaceOff = policy.autoMerge.reason === 'NamespaceOff';
    const detail = `${link} is ready and waits for a person to merge it: auto-merge is off ${namespaceOff ? 'for this namespace (resizer.io/auto-merge)' : 'globally (--enable-auto-merge)'}`;
    return [current, waiting('AwaitingMerge', namespaceOff ? 'NamespaceAutoMergeOff' : 'AutoMergeOff', detail)];
  }
  const leaving = leavingCompanions(look, decision.companions ?? []);
  if (leaving.length > 0) return [current, withoutCompanions(decision, leaving, link)];
  const { mergeHold } = look;
  if (mergeHold !== null) return held(current, decision, link, mergeHold, waiting);
  const detail = `merging ${link} at ${short(ref.headSha)}`;
  return [current, { kind: 'merge', phase: 'Merging', reason: 'ReadyToMerge', detail, decision }];
}

/** Whether a resource of the decision is still needed. A need for others is no reason to raise these. */
function concerns(need: Proposal | null, decision: Decision): need is Proposal {
  const limits = decidedLimits(decision);
  return need !== null && need.changes.some((change) => Object.hasOwn(limits, change.resource));
}

/** The decision with a need that outgrew it, its own or a companion's, or null where it stays as it is. */
function grownBy(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  need: Proposal,
  now: EpochMs,
): Decision | null {
  if (memory.updates >= MAX_UPDATES) return null;
  // Greater values are not pushed behind the back of whoever agreed to these before there was a pull request: the rest
  // comes with the next decision, and an approval of its own.
  if (decision.pullRequest !== null && isBeforePullRequest(decision.gate)) return null;
  const { wanted } = partRefused(need, look, memory, now);
  const grew = wanted !== null && outgrows(wanted, decidedLimits(decision), look.policy);
  const companions = grownCompanions(look, decision.companions ?? []);
  if (!grew && companions === null) return null;
  const { approvedBy: _, ...unapproved } = decision;
  const own = grew
    ? {
        changes: mergeChanges(decision.changes, wanted.changes),
        evidence: wanted.evidence.length > 0 ? wanted.evidence : decision.evidence,
        demandByMessage: decision.demandByMessage || wanted.demandByMessage,
        ...(wanted.notes.length === 0 ? {} : { notes: wanted.notes }),
        ...(wanted.usageNotes === undefined ? {} : { usageNotes: wanted.usageNotes }),
      }
    : {};
  const grown: Decision = { ...unapproved, ...own, ...(companions === null ? {} : { companions }) };
  return { ...grown, gate: gateOfDecision(look.policy, grown) };
}

/** Nothing needs the decision any more: it waits a while, in case the need comes back, and is then given up. */
function needGone(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  phase: Phase,
  consequence: string,
  now: EpochMs,
): Planned {
  const since = memory.needGoneSince ?? now;
  const closeAt = since + look.timings.needGone;
  const waiting: ResizeMemory = { ...memory, needGoneSince: since };
  const detail = `the need has been gone since ${formatInstant(since)}`;
  if (now < closeAt) {
    const announced = `${detail}, ${consequence} at ${formatInstant(closeAt)} unless it comes back`;
    const watch = decision.pullRequest === null ? undefined : 'pullRequest';
    return [waiting, holdDecision(look, phase, 'NeedGone', announced, now, closeAt, watch)];
  }
  return [waiting, closeUnneeded(decision, detail)];
}

/** The branch without companions that are not to be merged along; what was approved for all of them is approved no more. */
function withoutCompanions(decision: Decision, leaving: readonly string[], link: string): Plan {
  const { approvedBy: _, companions = [], ...alone } = decision;
  const rest = companions.filter(({ quota }) => !leaving.includes(quota));
  const why = `${leaving.map((quota) => `quota ${quota}`).join(' and ')} is not raised along any more: nothing of it is missing now, or its policy changed`;
  const kept: Decision = rest.length === 0 ? alone : { ...alone, companions: rest };
  return { ...rebuild('CompanionLeft', `${link}: ${why}; the branch is rebuilt`, kept, why), released: leaving };
}

function rebuild(reason: Reason, detail: string, decision: Decision, why: string): Extract<Plan, { kind: 'rebuild' }> {
  return { kind: 'rebuild', phase: 'OpeningPullRequest', reason, detail, decision, why };
}

/** Ready, but a freeze or the hour forbids a merge: it is said once for each freeze and opening, and waited for. */
function held(
  memory: ResizeMemory,
  decision: Decision,
  link: string,
  mergeHold: MergeHold,
  waiting: (phase: Phase, reason: Reason, detail: string, until?: EpochMs) => Plan,
): Planned {
  const { reason, until } = mergeHold;
  const detail = `${link} is ready, and merging is held: ${mergeHold.detail}`;
  const about = `held|${reason}|${until ?? 'open'}|${mergeHold.detail}`;
  if (!memory.told.includes(about)) {
    const comment = `Ready, and not merged by Headroom for now: ${mergeHold.detail}.`;
    const event = { type: 'Normal', reason: 'QuotaResizeHeld', message: detail } as const;
    return [memory, { kind: 'say', phase: 'AwaitingMerge', reason, detail, decision, about, comment, event }];
  }
  return [memory, waiting('AwaitingMerge', reason, detail, until ?? undefined)];
}

/** Whether somebody else took the lock from under the decision. An unlocked Lease is taken again. */
function isLeaseTaken({ lease }: QuotaObservation, decision: Decision): boolean {
  return lease.holder !== null && lease.holder !== leaseHolder(decision.id) && !lease.holderIsAbandoned;
}

/** A wait with a decision in hand: it ends by itself, because nothing announces that the need is gone. */
function holdDecision(
  look: QuotaObservation,
  phase: Phase,
  reason: Reason,
  detail: string,
  now: EpochMs,
  atLatest: EpochMs = Number.POSITIVE_INFINITY,
  watch?: Wait['watch'],
): Plan {
  const until = Math.min(atLatest, lookAgainAt(look.timings, now));
  const quiet = Math.min(until, quietUntil(look.timings, now));
  return hold(phase, reason, detail, { until, quietUntil: quiet, ...(watch === undefined ? {} : { watch }) });
}
