import { compareQuantities } from '../kernel/quantity.ts';
import { equalLists, exceededKeys, quantityIn, type ResourceList } from '../kernel/resource-list.ts';
import { type EpochMs, formatInstant, formatSpan } from '../kernel/time.ts';
import { attempt } from './attempt.ts';
import { type Decision, decidedLimits, FOUND_IN_GIT, leaseHolder, type Refusal } from './decision.ts';
import type { ResizeMemory } from './memory.ts';
import { mergeReadiness } from './merge-readiness.ts';
import { computeNeed, gateOf, mergeChanges, needDigest, outgrows } from './need.ts';
import type { PullRequestObservation, QuotaObservation } from './observation.ts';
import { partRefused } from './refusal.ts';
import type { Phase, Plan, Proposal, Reason, Verdict, Wait } from './verdict.ts';
import { lookAgainAt, quietUntil } from './wait.ts';

/** How often an open pull request is updated before a ready one is merged first and the rest comes in the next episode. */
const MAX_UPDATES = 3;

/** GitHub may show the head before for a moment after a push. */
const HEAD_LAG_MS = 10_000;

const MINUTE_MS = 60_000;

/** What one look saw: the cluster, and the decision's pull request when it has one. */
export interface Seen {
  readonly quota: QuotaObservation;
  readonly pullRequest: PullRequestObservation | null;
}

type Planned = readonly [ResizeMemory, Plan];

/**
 * The whole state machine of a resize episode: a ladder of guards, each with a named reason. Pure; `now` is the workflow's
 * time.
 *
 * @returns the memory to carry on with, and the one thing to do or to wait for.
 */
export function decide(seen: Seen, memory: ResizeMemory, now: EpochMs): readonly [ResizeMemory, Verdict] {
  const [remembered, plan] = climb(seen, recall(seen.quota, memory), memory.decision === null, now);
  return attempt(seen.quota, seen.pullRequest, remembered, plan, now);
}

/** @param adopted whether a decision in the memory is one that this run did not take itself. */
function climb(seen: Seen, memory: ResizeMemory, adopted: boolean, now: EpochMs): Planned {
  const { quota: look } = seen;
  if (memory.paused !== null) {
    return [memory, hold('Paused', 'Paused', pausedDetail(memory.paused), { quietUntil: Number.POSITIVE_INFINITY })];
  }
  if (look.globalPause !== null) {
    const { by, reason } = look.globalPause;
    const detail = `all of Headroom is paused in this cluster by ${by}${reason === '' ? '' : `: ${reason}`} (ConfigMap headroom-pause)`;
    const wait: Wait = { watch: 'globalPause', quietUntil: Number.POSITIVE_INFINITY };
    return [memory, hold('Paused', 'GloballyPaused', detail, wait)];
  }

  const gone = goneReason(look, memory);
  if (gone !== null) return leave(look, memory, seen.pullRequest, gone.reason, gone.detail, now);
  if (!look.policy.enabled) {
    const detail = 'the namespace opted out (resizer.io/enabled is "false")';
    return leave(look, memory, seen.pullRequest, 'OptedOut', detail, now);
  }

  const { decision } = memory;
  if (decision === null) return decideIdle(look, memory, now);
  if (decision.merge !== null) return [memory, awaitSync(look, memory, decision, decision.merge, now)];
  if (decision.pullRequest !== null && seen.pullRequest !== null) {
    return decideOpen(look, memory, decision, decision.pullRequest, seen.pullRequest, now);
  }
  return decideUnopened(look, memory, decision, adopted, now);
}

/** Takes from the Lease what this run does not know yet: it may be the first after a Terminate, a Reset or a crash. */
function recall(look: QuotaObservation, memory: ResizeMemory): ResizeMemory {
  const { lease } = look;
  const held = lease.decision;
  // A merged decision stays in the Lease until the cluster followed. An open one counts while nobody else holds the lock:
  // garbage collection unlocks the Lease of a run that is gone, and its pull request is still there.
  const adoptable =
    memory.decision === null &&
    held !== null &&
    held.id !== memory.finished &&
    (held.merge !== null || lease.holder === null || lease.holder === leaseHolder(held.id));
  return {
    ...memory,
    quotaUid: memory.quotaUid ?? look.quota?.uid ?? null,
    mode: look.namespace !== 'gone' && look.quota !== null ? look.policy.mode : memory.mode,
    decision: adoptable ? held : memory.decision,
    lastChange: latest(memory.lastChange, lease.lastModified),
    lastRecommendation: newest(memory.lastRecommendation, lease.lastRecommendation),
    refusals: unionRefusals(memory.refusals, lease.refusals),
  };
}

function goneReason(look: QuotaObservation, memory: ResizeMemory): { reason: Reason; detail: string } | null {
  if (look.namespace !== 'present') {
    return {
      reason: 'NamespaceGone',
      detail: `the namespace is ${look.namespace === 'gone' ? 'deleted' : 'being deleted'}`,
    };
  }
  if (look.quota === null) return { reason: 'QuotaGone', detail: 'the ResourceQuota is deleted' };
  const known = memory.decision?.quotaUid ?? memory.quotaUid;
  if (known !== null && known !== look.quota.uid) {
    return { reason: 'QuotaReplaced', detail: 'the ResourceQuota was deleted and another one has its name' };
  }
  return null;
}

/** Gives up what is in hand (closing an open pull request with a word) and ends. */
function leave(
  look: QuotaObservation,
  memory: ResizeMemory,
  pullRequest: PullRequestObservation | null,
  reason: Reason,
  detail: string,
  now: EpochMs,
): Planned {
  const { decision } = memory;
  if (decision === null) return [memory, end(reason, detail)];
  if (decision.merge !== null) {
    return [memory, { kind: 'settle', phase: 'Ended', reason, detail, decision, refusal: null, deletesBranch: false }];
  }
  if (pullRequest?.state === 'closed') return [memory, settleClosed(look, memory, decision, pullRequest, now)];
  const refusal = rejectionOf(memory, decision);
  const handedOver = reason === 'OptedOut' && pullRequest !== null && !pullRequest.headIsOurs;
  if (isObserving(look, memory) || handedOver) {
    const left = decision.pullRequest === null ? '' : `, ${linkTo(decision.pullRequest)} is left to people`;
    return [memory, { kind: 'release', phase: 'Ended', reason, detail: `${detail}${left}`, decision, refusal }];
  }
  const comment = `Closed by Headroom: ${detail}.`;
  return [memory, { kind: 'close', phase: 'Ended', reason, detail, decision, comment, refusal }];
}

/**
 * Whether nothing may be written to GitHub. The annotations of a namespace or a quota that is gone cannot be read any
 * more, so what they said last holds.
 */
function isObserving(look: QuotaObservation, memory: ResizeMemory): boolean {
  const isThere = look.namespace !== 'gone' && look.quota !== null;
  return (isThere ? look.policy.mode : (memory.mode ?? look.policy.mode)) === 'observe';
}

/** No decision in hand: is there a need, and may it be acted on? */
function decideIdle(look: QuotaObservation, memory: ResizeMemory, now: EpochMs): Planned {
  const { policy, timings } = look;
  const observing = policy.mode === 'observe';
  const need = computeNeed(look, memory.lastChange);

  const restUntil = cooldownEnd(look, memory, observing);
  if (restUntil !== null && now < restUntil) {
    const pressure = need === null ? '' : `; pressure in this time holds (${summary(need)})`;
    const detail = `cooling down until ${formatInstant(restUntil)}${pressure}`;
    return [memory, hold('CoolingDown', 'CoolingDown', detail, { until: restUntil, quietUntil: restUntil })];
  }
  if (need === null) {
    return [
      { ...memory, need: null, blocked: null },
      end('BelowThreshold', 'every resource is below its threshold and nothing refused is missing'),
    ];
  }

  const { wanted, refusal } = partRefused(need, look, memory, now);
  if (wanted === null) return [memory, refusedHold(look, need, refusal, now)];
  const settled = settleNeed(memory, needDigest(wanted), now);
  const stableAt = settled.since + timings.demandSettle;
  // A rollout that never stands still must not hold the decision back for ever.
  const latestAt = settled.firstSeen + 5 * timings.demandSettle;
  if (now < stableAt && now < latestAt) {
    const until = Math.min(stableAt, latestAt);
    const detail = `${summary(wanted)}: looking again in ${formatSpan(until - now)}, so that a rollout in full swing is seen whole`;
    return [{ ...memory, need: settled }, hold('Detecting', 'DemandSettling', detail, { until, quietUntil: until })];
  }

  // From here on another need is a new one, and waits until it stands still in its turn.
  const settledMemory = { ...memory, need: { ...settled, firstSeen: now } };
  const reason = needReason(wanted);
  if (observing) {
    const repeatAt = repeatFrom(look, memory, wanted);
    if (now < repeatAt) {
      // It rests instead of ending: under lasting pressure every hint would only start it again.
      const cooldown = policy.cooldownMinutes * MINUTE_MS;
      const until = Math.min(repeatAt, now + Math.max(cooldown, timings.holdRetry));
      const quiet = Math.min(until, Math.max(now + cooldown, quietUntil(timings, now)));
      const detail = `${summary(wanted)} is recommended already, and is said again at ${formatInstant(repeatAt)} unless the need changes`;
      return [settledMemory, hold('CoolingDown', 'AlreadyRecommended', detail, { until, quietUntil: quiet })];
    }
    return [
      settledMemory,
      { kind: 'recommend', phase: 'Recommending', reason, detail: summary(wanted), proposal: wanted },
    ];
  }
  const { lease } = look;
  if (lease.holder !== null && !lease.holderIsAbandoned) {
    const until = now + timings.holdRetry;
    return [settledMemory, hold('Blocked', 'LeaseHeld', leaseHeldDetail(look), { until, quietUntil: until })];
  }
  const announce = now >= repeatFrom(look, memory, wanted);
  return [
    settledMemory,
    { kind: 'propose', phase: 'OpeningPullRequest', reason, detail: summary(wanted), proposal: wanted, announce },
  ];
}

/** The lock is held, and nothing is known to be on GitHub yet: the pull request is opened, if it is still wanted. */
function decideUnopened(
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
  const need = computeNeed(look, memory.lastChange);
  if (!concerns(need, decision)) {
    const phase = 'OpeningPullRequest';
    return needGone(look, memory, decision, phase, `decision ${decision.id} (${summary(decision)}) is given up`, now);
  }
  const current: ResizeMemory = { ...memory, needGoneSince: null };
  const grown = grownBy(look, current, decision, need, now);
  if (grown !== null) {
    const why = `the need grew (${summary(grown)})`;
    return [
      current,
      { kind: 'rebuild', phase: 'OpeningPullRequest', reason: 'NeedGrew', detail: why, decision: grown, why },
    ];
  }
  const reason = adopted ? 'Adopted' : decision.evidence.length > 0 ? 'UnmetDemand' : 'ThresholdReached';
  const detail = `opening the pull request of decision ${decision.id}${adopted ? ', found in the Lease' : ''} (${summary(decision)})`;
  return [current, { kind: 'open', phase: 'OpeningPullRequest', reason, detail, decision }];
}

/** A pull request of ours exists: is it still wanted, still ours, and may it be merged? */
function decideOpen(
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
  const decision: Decision = { ...decided, gate: gateOf(policy, decided.changes) };
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

  const need = computeNeed(look, memory.lastChange);
  if (!concerns(need, decision) && !decision.demandByMessage) {
    return needGone(look, open, decision, 'AwaitingChecks', `${link} is closed`, now);
  }
  const current: ResizeMemory = { ...open, needGoneSince: null };
  const grown = need === null ? null : grownBy(look, current, decision, need, now);

  if (pullRequest.headSha !== ref.headSha) {
    // Checks and mergeability that were read belong to the other head and prove nothing for ours.
    const shownAt = ref.pushedAt + HEAD_LAG_MS;
    if (now < shownAt) {
      const detail = `GitHub does not show the latest commit of ${link} yet`;
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
  if (!policy.autoMerge.allowed) {
    const namespaceOff = policy.autoMerge.reason === 'NamespaceOff';
    const detail = `${link} is ready and waits for a person to merge it: auto-merge is off ${namespaceOff ? 'for this namespace (resizer.io/auto-merge)' : 'globally (--enable-auto-merge)'}`;
    return [current, waiting('AwaitingMerge', namespaceOff ? 'NamespaceAutoMergeOff' : 'AutoMergeOff', detail)];
  }
  if (decision.gate !== null && !approvalHolds(current, decision)) {
    const detail = `${link} waits for an approval: ${decision.gate.message}; send approve or reject`;
    return [current, waiting('AwaitingApproval', decision.gate.reason, detail)];
  }
  const detail = `merging ${link} at ${short(ref.headSha)}`;
  return [current, { kind: 'merge', phase: 'Merging', reason: 'ReadyToMerge', detail, decision }];
}

/** Whether a resource of the decision is still needed. A need for others is no reason to raise these. */
function concerns(need: Proposal | null, decision: Decision): need is Proposal {
  const limits = decidedLimits(decision);
  return need !== null && need.changes.some((change) => Object.hasOwn(limits, change.resource));
}

/** The decision with a need that outgrew it, or null where it stays as it is. */
function grownBy(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  need: Proposal,
  now: EpochMs,
): Decision | null {
  const { wanted } = partRefused(need, look, memory, now);
  if (wanted === null || memory.updates >= MAX_UPDATES) return null;
  if (!outgrows(wanted, decidedLimits(decision), look.policy)) return null;
  const changes = mergeChanges(decision.changes, wanted.changes);
  return {
    ...decision,
    changes,
    evidence: wanted.evidence.length > 0 ? wanted.evidence : decision.evidence,
    demandByMessage: decision.demandByMessage || wanted.demandByMessage,
    gate: gateOf(look.policy, changes),
  };
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

/** A pull request that is no longer open: a person's merge counts as well, a person's close is a refusal. */
function settleClosed(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  pullRequest: PullRequestObservation,
  now: EpochMs,
): Plan {
  const { merge, closedBy, number } = pullRequest;
  const link = linkTo(pullRequest);
  const deletesBranch = !isObserving(look, memory);
  if (merge !== null) {
    const merged: Decision = { ...decision, merge };
    const detail = `${link} was merged by ${merge.by}`;
    const reason = 'MergedByHuman';
    return { kind: 'settle', phase: 'AwaitingSync', reason, detail, decision: merged, refusal: null, deletesBranch };
  }
  const rejection = rejectionOf(memory, decision);
  if (rejection !== null && deletesBranch) return closeRejected(look, decision, rejection);
  // Headroom itself was about to close it; how far that came is not known here, and doing it again does no harm.
  if (rejection === null && memory.closing !== null && deletesBranch) {
    const { reason, detail } = memory.closing;
    return { ...closeUnneeded(decision, detail), reason };
  }
  const refusal = rejection ?? {
    limits: decidedLimits(decision),
    at: now,
    by: closedBy,
    reason: `pull request #${number} was closed`,
  };
  const detail = `${link} was closed by ${refusal.by}: that is a refusal`;
  return { kind: 'settle', phase: 'CoolingDown', reason: 'ClosedByHuman', detail, decision, refusal, deletesBranch };
}

/** An operator's `reject` as the refusal of the decision's values. */
function rejectionOf(memory: ResizeMemory, decision: Decision): Refusal | null {
  if (memory.rejection === null) return null;
  const { at, by, reason } = memory.rejection;
  return { limits: decidedLimits(decision), at, by, reason };
}

function closeRejected(look: QuotaObservation, decision: Decision, refusal: Refusal): Plan {
  const detail = `rejected by ${refusal.by}${refusal.reason === '' ? '' : `: ${refusal.reason}`}`;
  const until = formatInstant(refusal.at + look.timings.rejectionCooldown);
  const comment = `Closed by Headroom: ${detail}. It is not asked for again before ${until} unless the need grows.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'Rejected', detail, decision, comment, refusal };
}

function closeUnneeded(decision: Decision, detail: string): Plan {
  const comment = `Closed by Headroom: ${detail}, nothing has to be raised any more.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'NeedGone', detail, decision, comment, refusal: null };
}

function rebuild(reason: Reason, detail: string, decision: Decision, why: string): Plan {
  return { kind: 'rebuild', phase: 'OpeningPullRequest', reason, detail, decision, why };
}

/** Merged (or in Git already): nothing new is opened until the cluster shows what the file says. */
function awaitSync(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  merge: NonNullable<Decision['merge']>,
  now: EpochMs,
): Plan {
  const hard = look.quota?.hard ?? {};
  if (isSynced(hard, merge.limits)) {
    const detail = `the cluster shows ${describe(merge.limits)}`;
    const synced = { kind: 'settle', phase: 'CoolingDown', reason: 'Synced' } as const;
    return { ...synced, detail, decision, refusal: null, deletesBranch: false };
  }
  const missing = Object.entries(merge.limits)
    .filter(
      ([resource]) =>
        !Object.hasOwn(hard, resource) ||
        compareQuantities(quantityIn(hard, resource), quantityIn(merge.limits, resource)) < 0,
    )
    .map(([resource, limit]) => `${resource} is ${hard[resource] ?? 'absent'} and becomes ${limit}`)
    .join(', ');
  const overdueAt = merge.at + look.timings.syncOverdue;
  const since = `since ${formatInstant(merge.at)}`;
  if (now < overdueAt) {
    const found = merge.by === FOUND_IN_GIT;
    const detail = `${found ? 'Git holds these values already, ' : ''}waiting for the cluster to follow Git ${since}: ${missing}`;
    const wait: Wait = { watch: 'sync', until: overdueAt, quietUntil: overdueAt };
    return hold('AwaitingSync', found ? 'AlreadyInGit' : 'SyncPending', detail, wait);
  }
  const detail = `the cluster has not followed Git ${since}: ${missing}; look at Argo CD or Flux. Nothing new is opened meanwhile`;
  const checkAt = memory.syncCheckedAt === null ? now : memory.syncCheckedAt + look.timings.holdRetry;
  if (memory.syncWarnedAt === null || now >= checkAt) {
    const warn = memory.syncWarnedAt === null;
    return { kind: 'warnSync', phase: 'AwaitingSync', reason: 'SyncOverdue', detail, decision, warn };
  }
  return hold('AwaitingSync', 'SyncOverdue', detail, { watch: 'sync', until: checkAt, quietUntil: checkAt });
}

/** Whether spec.hard holds at least what the merged file says, by value. */
export function isSynced(hard: ResourceList, limits: ResourceList): boolean {
  return (
    Object.keys(limits).every((resource) => Object.hasOwn(hard, resource)) && exceededKeys(limits, hard).length === 0
  );
}

/** Whether the approval in hand was given for exactly these limits and this head. */
function approvalHolds(memory: ResizeMemory, decision: Decision): boolean {
  const { approval } = memory;
  return (
    approval !== null &&
    approval.headSha === decision.pullRequest?.headSha &&
    equalLists(approval.limits, decidedLimits(decision))
  );
}

function cooldownEnd(look: QuotaObservation, memory: ResizeMemory, observing: boolean): EpochMs | null {
  const starts = [memory.lastChange, observing ? (memory.lastRecommendation?.at ?? null) : null];
  const last = starts.reduce<EpochMs | null>((a, b) => latest(a, b), null);
  if (last === null) return null;
  if (memory.cooldownSkippedAt !== null && memory.cooldownSkippedAt >= last) return null;
  return last + look.policy.cooldownMinutes * MINUTE_MS;
}

/** What people refused holds, until the need is greater by an increment. */
function refusedHold(look: QuotaObservation, need: Proposal, refusal: Refusal | null, now: EpochMs): Plan {
  if (refusal === null)
    throw new Error(`nothing is left of the need (${summary(need)}) and no refusal stands against it`);
  const until = refusal.at + look.timings.rejectionCooldown;
  const why = refusal.reason === '' ? '' : ` (${refusal.reason})`;
  const detail = `${summary(need)} was refused by ${refusal.by} at ${formatInstant(refusal.at)}${why}; not asked for again before ${formatInstant(until)} unless the need grows`;
  return hold('CoolingDown', 'Refused', detail, { until, quietUntil: Math.min(until, now + look.timings.holdRetry) });
}

/** From when on this need may be recommended (again): one recommendation for each changed value and cooldown. */
function repeatFrom(look: QuotaObservation, memory: ResizeMemory, need: Proposal): EpochMs {
  const last = memory.lastRecommendation;
  if (last === null || !equalLists(last.limits, decidedLimits(need))) return 0;
  return last.at + Math.max(look.timings.recommendationRepeat, look.policy.cooldownMinutes * MINUTE_MS);
}

function settleNeed(memory: ResizeMemory, digest: string, now: EpochMs): NonNullable<ResizeMemory['need']> {
  if (memory.need === null) return { digest, since: now, firstSeen: now };
  return memory.need.digest === digest ? memory.need : { ...memory.need, digest, since: now };
}

function needReason(need: Proposal): Reason {
  return need.unmetDemand ? 'UnmetDemand' : 'ThresholdReached';
}

/** Whether somebody else took the lock from under the decision. An unlocked Lease is taken again. */
function isLeaseTaken({ lease }: QuotaObservation, decision: Decision): boolean {
  return lease.holder !== null && lease.holder !== leaseHolder(decision.id) && !lease.holderIsAbandoned;
}

function leaseHeldDetail({ lease }: QuotaObservation): string {
  return `the Lease ${lease.name} is held by ${lease.holder}; waiting until it is released`;
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

function hold(phase: Phase, reason: Reason, detail: string, wait: Wait): Plan {
  return { kind: 'hold', phase, reason, detail, wait };
}

function end(reason: Reason, detail: string): Plan {
  return { kind: 'end', phase: 'Ended', reason, detail };
}

function pausedDetail(paused: NonNullable<ResizeMemory['paused']>): string {
  const why = paused.reason === '' ? '' : `: ${paused.reason}`;
  return `paused by ${paused.by} since ${formatInstant(paused.at)}${why}; send resume to go on`;
}

/** `requests.cpu 2 → 3600m, pods 4 → 5` */
export function summary(proposal: Pick<Proposal, 'changes'>): string {
  return proposal.changes.map((change) => `${change.resource} ${change.from} → ${change.to}`).join(', ');
}

/** `pull request [#7](https://…)`, Markdown. */
function linkTo({ number, url }: { readonly number: number; readonly url: string }): string {
  return `pull request [#${number}](${url})`;
}

function short(sha: string): string {
  return sha.slice(0, 12);
}

function describe(limits: ResourceList): string {
  return Object.entries(limits)
    .map(([resource, limit]) => `${resource} ${limit}`)
    .join(', ');
}

function latest(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  if (a === null) return b;
  return b === null ? a : Math.max(a, b);
}

function newest(
  a: ResizeMemory['lastRecommendation'],
  b: ResizeMemory['lastRecommendation'],
): ResizeMemory['lastRecommendation'] {
  if (a === null) return b;
  return b === null || a.at >= b.at ? a : b;
}

function unionRefusals(a: readonly Refusal[], b: readonly Refusal[]): readonly Refusal[] {
  const known = new Set(a.map((refusal) => refusal.at));
  return [...a, ...b.filter((refusal) => !known.has(refusal.at))];
}
