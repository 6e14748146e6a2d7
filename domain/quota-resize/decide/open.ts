/** A pull request exists: is its head still Headroom's, is it still wanted, and may it be merged? */
import { formatInstant } from '../../kernel/time.ts';
import { approvedAs, type OpenDecision, withoutBatchedQuotas } from '../model/decision.ts';
import { inState, type Open, type ResizeMemory, withDecision } from '../model/memory.ts';
import { isHeldByOthers, type MergeHold, type QuotaObservation } from '../model/observation.ts';
import type { Intent, Reason } from '../model/verdict.ts';
import { leaseHeldDetail, linkTo, short, summary } from './sentences.ts';
import { computeRequirement } from '../sizing/requirement.ts';
import { approvalCounts, approvalHolds, awaitApproval, announceApproval } from './approval.ts';
import { leave, namesOf, sharingChange, standApart, unreadyClause } from './joined.ts';
import {
  forbiddenBatchedQuotas,
  leavingBatchedQuotas,
  leavingSentence,
  withRequirementsOfNow,
} from './batched-quotas.ts';
import { newestRequest, requestedChanges } from './change-requests.ts';
import { growthOfOpen } from './growth.ts';
import { type LeftToPeople, leftToPeople } from './left-to-people.ts';
import { type OutOfQueue, outOfQueue } from './merge-queue.ts';
import { mergeReadiness } from './merge-readiness.ts';
import type { Intended, MakeHold } from './next-step.ts';
import { notifyOnce } from './notify-once.ts';
import { type OpenPass, passIn } from './pass.ts';
import { closeRejected, closeUnneeded, rejectionOf, completeClosed } from './pull-request-closed.ts';
import { countedSkip, holdOfOwnMerge, withSkip } from './unattended-hold.ts';
import { concerns, demandGone, grownBy, holdDecision } from './unmerged.ts';
import { withVerifiedApproval } from './verified-approval.ts';
import { withoutCounts } from './usage-not-counted.ts';

/** A forge may show the previous head for a moment after a push. */
const HEAD_LAG_MS = 10_000;

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
  const { joinedTo } = decided.pullRequest;
  if (joinedTo !== undefined && pullRequest.isWithoutOwn === true) {
    return [memory, leave(decided, 'does not raise this quota any more')];
  }
  if (pullRequest.state === 'closed') {
    const isOfOwner = joinedTo !== undefined && pullRequest.merge === null && pullRequest.isClosedByOwn === true;
    return [memory, isOfOwner && rejected === null ? leave(decided, 'is closed') : completeClosed(pass)];
  }

  const decision = withRequirementsOfNow(observation, decided);
  const settled = passIn(pass, withVerifiedApproval({ ...withDecision(memory.state, decision), closing: null }, pass));
  const open = settled.memory;
  const waiting: MakeHold = (phase, reason, detail, until) =>
    holdDecision(pass, { phase, reason, detail }, { until, watch: 'pullRequest' });

  if (joinedTo !== undefined && (observation.sharing?.kind !== 'joined' || !observation.sharing.isJoined)) {
    if (rejected === null && policy.mode !== 'observe')
      return [open, leave(decision, 'does not raise this quota any more')];
  }
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
function decideWanted(pass: OpenPass, waiting: MakeHold): Intended {
  const { observation, memory, pullRequest, now } = pass;
  const { decision } = memory.state;
  const { pullRequest: ref } = decision;
  const link = linkTo(ref);
  const requirement = computeRequirement(observation, memory.lastChange);
  if (!concerns(requirement, decision)) {
    const consequence = ref.joinedTo === undefined ? `${link} is closed` : `${link} goes on without this quota`;
    return demandGone(pass, 'AwaitingChecks', consequence);
  }
  const isEndless = holdOfOwnMerge(observation, decision)?.until === null;
  const demandGoneSince = isEndless ? memory.state.demandGoneSince : null;
  const settled = passIn(pass, { ...memory.state, demandGoneSince });
  const current = settled.memory;
  const approved = announceApproval(current, decision, observation.policy);
  if (approved !== null) return [current, approved];
  const forbidden = forbiddenBatchedQuotas(observation, decision);
  if (forbidden.length > 0) return [current, rebuildWithout(observation, decision, forbidden)];
  const grown = requirement === null ? null : grownBy(settled, decision, requirement);
  const isJoined = ref.joinedTo !== undefined;

  if (pullRequest.headSha !== ref.headSha) {
    // The checks and the mergeability belong to the other head and prove nothing about Headroom's.
    const shownAt = ref.pushedAt + HEAD_LAG_MS;
    if (now < shownAt) {
      const detail = `the latest commit of ${link} is not shown yet`;
      return [current, waiting('AwaitingChecks', 'MergeabilityComputing', detail, shownAt)];
    }
    const why = `the head ${short(pullRequest.headSha)} is a commit of Headroom that was not recorded, so Headroom checks it`;
    if (isJoined) {
      const moved = { phase: 'OpeningPullRequest', reason: 'HeadMoved', detail: `${link}: ${why}` } as const;
      return [current, { kind: 'open', ...moved, decision }];
    }
    return [current, rebuild(observation, grown ?? decision, { reason: 'HeadMoved', detail: `${link}: ${why}`, why })];
  }
  const growth = growthOfOpen(settled);
  if (grown !== null && growth.kind !== 'afterMerge') {
    const why = `the demand grew (${summary(grown)})`;
    if (growth.kind === 'later') {
      const detail = `${why}, ${link} is updated at ${formatInstant(growth.at)}`;
      return [current, waiting('AwaitingChecks', 'UpdateDue', detail, growth.at)];
    }
    if (isJoined) return [current, grownInShared(grown, why)];
    return [current, rebuild(observation, grown, { reason: 'DemandGrew', detail: `${link}: ${why}`, why })];
  }
  if (isJoined) return decideMerge(settled, waiting);
  // Nobody waits for a rest that is not his own. A merge that growth does not postpone any more is not postponed by others either.
  const change =
    holdOfOwnMerge(observation, decision) === null
      ? sharingChange(observation, decision, { isOpen: growth.kind !== 'afterMerge' })
      : sharingChange({}, decision, { isOpen: false });
  const changeAt = change === null || change.isUrgent ? now : ref.pushedAt + observation.timings.updateInterval;
  if (change !== null && now >= changeAt) {
    const { why, joined, isUrgent } = change;
    const reason = isUrgent ? 'BatchedQuotaLeft' : 'RaisedWithOtherQuota';
    return [current, rebuild(observation, { ...decision, joined }, { reason, detail: `${link}: ${why}`, why })];
  }
  const waitingFor: MakeHold =
    change === null
      ? waiting
      : (phase, reason, detail, until) => waiting(phase, reason, detail, Math.min(until ?? changeAt, changeAt));
  const unready = untilReady(settled, waitingFor);
  if (unready === null) return decideMerge(settled, waitingFor);
  return [current, leftToAutoMerge(settled, waitingFor) ?? unready];
}

/**
 * What the base branch asks for is missing, and nothing else is in the way of the merge: the forge's own auto-merge, where the
 * platform prefers it. Null where the forge would not take it, or something else is missing.
 */
function leftToAutoMerge(pass: OpenPass, waiting: MakeHold): Intent | null {
  const { observation, pullRequest } = pass;
  if (observation.policy.autoMerge.byForge !== true || pullRequest.autoMergeIsAllowed !== true) return null;
  const { mergeability, mergeQueue, queueEntry, checks, changesRequested } = pullRequest;
  if (mergeability !== 'blocked' || mergeQueue === true || queueEntry !== undefined) return null;
  if (checks.failing.length > 0 || changesRequested !== undefined) return null;
  const [, intent] = decideMerge(pass, waiting, { enablesAutoMerge: true });
  if (intent.kind !== 'merge') return null;
  const detail = `enabling GitHub's auto-merge of ${linkTo(intent.decision.pullRequest)} at ${short(pullRequest.headSha)}`;
  return { ...intent, detail, enablesAutoMerge: true };
}

/** The owner of the pull request writes the greater limits when it sees them in the Lease. */
function grownInShared(grown: OpenDecision, why: string): Intent {
  const { joinedTo } = grown.pullRequest;
  const detail = `${linkTo(grown.pullRequest)}: ${why}`;
  return {
    kind: 'revise',
    phase: 'OpeningPullRequest',
    reason: 'DemandGrew',
    detail,
    decision: { ...grown, readyAt: undefined },
    ...(joinedTo === undefined ? {} : { wakes: joinedTo }),
  };
}

/** What still has to happen on the forge before a merge; null when the pull request is ready. */
function untilReady(pass: OpenPass, waiting: MakeHold): Intent | null {
  const { observation, memory, pullRequest, now } = pass;
  const { timings } = observation;
  const { decision } = memory.state;
  const { pullRequest: ref } = decision;
  const link = linkTo(ref);
  const readiness = mergeReadiness(pullRequest, ref, now, timings.settle);
  if (readiness.kind === 'ready') return null;
  if (readiness.kind === 'wait' && readiness.reason === 'ChangesRequested')
    return changesRequested(pass, readiness.detail, waiting);
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

/** Somebody requests changes: where Headroom would merge, people are told once for each request. */
function changesRequested({ observation, memory, pullRequest }: OpenPass, detail: string, waiting: MakeHold): Intent {
  const status = { phase: 'AwaitingMerge', reason: 'ChangesRequested', detail } as const;
  const { changesRequested: requests } = pullRequest;
  const about = `changes|${newestRequest(requests)}`;
  const { decision } = memory.state;
  const comment = `Not merged by Headroom: ${requestedChanges(requests)}.`;
  const event = { reason: 'QuotaResizeHeld', message: detail } as const;
  const notice = observation.policy.autoMerge.allowed
    ? notifyOnce(memory, status, { decision, about, comment, event })
    : null;
  return notice ?? waiting(status.phase, status.reason, detail);
}

/** The pull request is ready, or as good as ready: do people and the policy allow the merge now? */
function decideMerge(pass: OpenPass, waiting: MakeHold, { enablesAutoMerge = false } = {}): Intended {
  const { observation, memory } = pass;
  const { policy } = observation;
  const { state } = memory;
  const { decision } = state;
  const { approvalRequirement, pullRequest } = decision;
  const link = linkTo(pullRequest);
  // Before anything waits for people: whoever approves the pull request, or merges it by hand, does so for all quotas in it.
  const leaving = leavingBatchedQuotas(observation, decision);
  if (leaving.length > 0) return [memory, rebuildWithout(observation, decision, leaving)];
  const needsApproval = approvalRequirement !== null && !approvalHolds(state, decision, policy);
  // Where a person merges anyway, a separate approval is required only if the policy asks for it explicitly.
  if (needsApproval && (policy.autoMerge.allowed || approvalRequirement.reason === 'ApprovalRequired')) {
    return awaitApproval(pass, decision, approvalRequirement, waiting);
  }
  if (!policy.autoMerge.allowed) {
    const namespaceOff = policy.autoMerge.reason === 'NamespaceOff';
    const detail = `${link} is ready and waits for a person to merge it: auto-merge is off ${namespaceOff ? 'for this namespace (resizer.io/auto-merge)' : 'globally (--enable-auto-merge)'}`;
    return [memory, waiting('AwaitingMerge', namespaceOff ? 'NamespaceAutoMergeOff' : 'AutoMergeOff', detail)];
  }
  const approval = state.approval !== null && approvalCounts(state.approval, policy) ? state.approval : null;
  const approved: OpenDecision = { ...decision, ...approvedAs(approval), approval: approval ?? undefined };
  const { mergeHold } = observation;
  const ownHold = holdOfOwnMerge(observation, decision);
  if (ownHold !== null) {
    const skipped = withSkip(decision, memory);
    if (skipped !== decision && countedSkip(skipped, policy) !== null) {
      const detail = `${link} no longer waits for a cooldown that was skipped`;
      return [memory, { kind: 'revise', phase: 'AwaitingMerge', reason: 'ReadyToMerge', detail, decision: skipped }];
    }
    const isShared = pullRequest.joinedTo !== undefined && decision.isApart !== true;
    if (isShared) return [memory, standApart(decision, ownHold.detail)];
    return ownHold.until === null ? moreThanNeeded(pass, ownHold, waiting) : held(memory, ownHold, waiting);
  }
  if (pullRequest.joinedTo !== undefined) return [memory, letMerge(approved, decision, waiting)];
  const base = { name: pullRequest.base, isProtected: pass.pullRequest.baseIsProtected === true };
  const left = leftToPeople(decision, base);
  if (left !== null) return personMerges(memory, left, waiting);
  if (mergeHold !== null && mergeHold.isUnattended !== true) return held(memory, mergeHold, waiting);
  const others = unreadyClause(observation, decision);
  if (others !== null)
    return [memory, waiting('AwaitingMerge', 'RaisedWithOtherQuota', `${link} is ready, but ${others}`)];
  const entersEvery = observation.timings.updateInterval;
  const out = outOfQueue(pass.pullRequest, decision, pass.now, { enablesAutoMerge, entersEvery });
  if (out !== null) return removedFromQueue(memory, out, waiting);
  const detail = `merging ${link} at ${short(pullRequest.headSha)}`;
  return [memory, { kind: 'merge', phase: 'Merging', reason: 'ReadyToMerge', detail, decision: approved }];
}

/**
 * A pull request is never made smaller: people may merge it for a while, or more may be needed again. Then it is closed, so that
 * what is needed can be proposed.
 */
function moreThanNeeded({ observation, memory, now }: OpenPass, mergeHold: MergeHold, waiting: MakeHold): Intended {
  const { state } = memory;
  const demandGoneSince = state.demandGoneSince ?? now;
  const until = demandGoneSince + observation.timings.needGone;
  if (now >= until) return [memory, closeUnneeded(state.decision, mergeHold.detail)];
  const detail = `${mergeHold.detail}. It is closed at ${formatInstant(until)} unless that changes`;
  return held(inState(memory, { ...state, demandGoneSince }), { ...mergeHold, detail, until }, waiting);
}

/** The decision is stored as ready for the owner of the pull request, who merges it. */
function letMerge(approved: OpenDecision, stored: OpenDecision, waiting: MakeHold): Intent {
  const { headSha, joinedTo } = approved.pullRequest;
  const owner = joinedTo === undefined ? '' : namesOf([joinedTo]);
  const link = linkTo(approved.pullRequest);
  if (stored.readyAt === headSha && stored.approval?.at === approved.approval?.at) {
    return waiting(
      'AwaitingMerge',
      'RaisedWithOtherQuota',
      `${link} is merged for ${owner}, with which this quota shares it`,
    );
  }
  return {
    kind: 'revise',
    phase: 'AwaitingMerge',
    reason: 'ReadyToMerge',
    detail: `${link} may be merged for this quota`,
    decision: { ...approved, readyAt: headSha },
    ...(joinedTo === undefined ? {} : { wakes: joinedTo }),
  };
}

/** People are told once each time that the forge does not merge it any more, unless Headroom did that and said then why. */
function removedFromQueue(
  memory: ResizeMemory<Open>,
  { removal, why, until }: OutOfQueue,
  waiting: MakeHold,
): Intended {
  const { decision } = memory.state;
  const link = linkTo(decision.pullRequest);
  const status =
    removal.autoMerge === true
      ? ({ phase: 'AwaitingMerge', reason: 'AutoMergeDisabled', detail: `${link} is ready: ${why}` } as const)
      : ({
          phase: 'AwaitingMerge',
          reason: 'RemovedFromQueue',
          detail: `${link} is ready, and out of the merge queue: ${why}`,
        } as const);
  const { detail } = status;
  const about = `removed|${removal.at}`;
  const event = { reason: 'QuotaResizeHeld', message: detail } as const;
  const notice =
    removal.isOwn === true
      ? null
      : notifyOnce(memory, status, { decision, about, comment: `Not merged: ${why}.`, event });
  return [memory, notice ?? waiting(status.phase, status.reason, detail, until)];
}

/** Rebuilds the branch without the batched quotas that must not be raised any more. */
function rebuildWithout(observation: QuotaObservation, decision: OpenDecision, leaving: readonly string[]): Intent {
  const why = leavingSentence(leaving);
  const detail = `${linkTo(decision.pullRequest)}: ${why}. Headroom rebuilds the branch`;
  return rebuild(observation, decision, { reason: 'BatchedQuotaLeft', detail, why });
}

/** Every rebuild leaves out the quotas of the batch that may not be raised with this one any more. */
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
      : { decision: { ...withoutBatchedQuotas(decision, released), ...approvedAs(null) }, released }),
  };
}

/** The pull request is ready, and nobody but a person may merge it: people are told once. */
function personMerges(memory: ResizeMemory<Open>, { reason, why }: LeftToPeople, waiting: MakeHold): Intended {
  const { decision } = memory.state;
  const detail = `${linkTo(decision.pullRequest)} is ready and waits for a person to merge it: ${why}`;
  const status = { phase: 'AwaitingMerge', reason, detail } as const;
  const about = `people|${reason}|${why}`;
  const comment = `Ready, and left to a person to merge: ${why}.`;
  const event = { reason: 'QuotaResizeHeld', message: detail } as const;
  const notice = notifyOnce(memory, status, { decision, about, comment, event });
  return [memory, notice ?? waiting(status.phase, reason, detail)];
}

/**
 * The pull request is ready, but a freeze or a closed merge window forbids the merge: this is reported once for each
 * freeze and each window.
 */
function held(memory: ResizeMemory<Open>, mergeHold: MergeHold, waiting: MakeHold): Intended {
  const { decision } = memory.state;
  const link = linkTo(decision.pullRequest);
  const { reason, until } = mergeHold;
  const detail = `${link} is ready. Headroom does not merge it now: ${mergeHold.detail}`;
  // How much is needed may be another amount at each look.
  const what = mergeHold.isUnattended === true ? '' : `|${mergeHold.detail}`;
  const about = `held|${reason}|${until ?? 'open'}${what}`;
  const status = { phase: 'AwaitingMerge', reason, detail } as const;
  const comment = `Ready, and not merged by Headroom for now: ${mergeHold.detail}.`;
  const event = { reason: 'QuotaResizeHeld', message: detail } as const;
  const notice = notifyOnce(memory, status, { decision, about, comment, event });
  return [memory, notice ?? waiting(status.phase, reason, detail, until ?? undefined)];
}
