import { compareQuantities } from '../kernel/quantity.ts';
import { equalLists, exceededKeys, quantityIn, type ResourceList } from '../kernel/resource-list.ts';
import { type EpochMs, formatInstant, formatSpan } from '../kernel/time.ts';
import { type Decision, decidedLimits, leaseHolder, type Refusal } from './decision.ts';
import type { ResizeMemory } from './memory.ts';
import { mergeReadiness } from './merge-readiness.ts';
import { computeNeed, coveredBy, mergeChanges, gateOf, needDigest, outgrows } from './need.ts';
import type { PullRequestObservation, QuotaObservation } from './observation.ts';
import type { Phase, Proposal, Reason, Verdict, Wait } from './verdict.ts';

/** How often an open pull request is updated before a ready one is merged first and the rest comes in the next episode. */
const MAX_UPDATES = 3;

/** What one look saw: the cluster, and the decision's pull request when it has one. */
export interface Seen {
  readonly quota: QuotaObservation;
  readonly pullRequest: PullRequestObservation | null;
}

/**
 * The whole state machine of a resize episode: a ladder of guards, each with a named reason. Pure; `now` is the workflow's
 * time.
 *
 * @returns the memory to carry on with, and the one thing to do or to wait for.
 */
export function decide(seen: Seen, memory: ResizeMemory, now: EpochMs): readonly [ResizeMemory, Verdict] {
  const remembered = recall(seen.quota, memory);
  const { quota: look } = seen;

  if (remembered.paused !== null) {
    return [remembered, hold('Paused', 'Paused', pausedDetail(remembered.paused), {})];
  }
  if (look.globalPause !== null) {
    const { by, reason } = look.globalPause;
    const detail = `all of Headroom is paused in this cluster by ${by}${reason === '' ? '' : `: ${reason}`} (ConfigMap headroom-pause)`;
    return [remembered, hold('Paused', 'GloballyPaused', detail, { watch: 'globalPause' })];
  }

  const gone = goneReason(look, remembered);
  if (gone !== null) return leave(remembered, seen.pullRequest, gone.reason, gone.detail, now);
  if (!look.policy.enabled) {
    const detail = 'the namespace opted out (resizer.io/enabled is "false")';
    return leave(remembered, seen.pullRequest, 'OptedOut', detail, now);
  }

  const { decision } = remembered;
  if (decision?.merge) return [remembered, awaitSync(look, remembered, decision, decision.merge, now)];
  if (decision?.pullRequest && seen.pullRequest) {
    return decideOpen(look, remembered, decision, seen.pullRequest, now);
  }
  if (decision !== null) {
    if (remembered.blocked !== null && now < remembered.blocked.at + look.timings.holdRetry) {
      return [remembered, blockedVerdict(look, remembered.blocked, now)];
    }
    const detail = `opening the pull request of decision ${decision.id}`;
    return [remembered, { kind: 'open', phase: 'OpeningPullRequest', reason: openReason(decision), detail, decision }];
  }
  return decideIdle(look, remembered, now);
}

/** Takes from the Lease what this run does not know yet: it may be the first after a Terminate, a Reset or a crash. */
function recall(look: QuotaObservation, memory: ResizeMemory): ResizeMemory {
  const uid = memory.quotaUid ?? look.quota?.uid ?? null;
  const { lease } = look;
  const held = lease.decision;
  // A merged decision stays in the Lease until the cluster followed; an open one only counts while it holds the lock.
  const adoptable =
    memory.decision === null && held !== null && (held.merge !== null || lease.holder === leaseHolder(held.id));
  return {
    ...memory,
    quotaUid: uid,
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
  memory: ResizeMemory,
  pullRequest: PullRequestObservation | null,
  reason: Reason,
  detail: string,
  now: EpochMs,
): readonly [ResizeMemory, Verdict] {
  const { decision } = memory;
  if (decision === null) return [memory, end(reason, detail)];
  if (decision.merge !== null)
    return [memory, { kind: 'settle', phase: 'Ended', reason, detail, decision, refusal: null }];
  if (pullRequest !== null && pullRequest.state === 'closed') {
    return [memory, settleClosed(memory, decision, pullRequest, now)];
  }
  const comment = `Closed by Headroom: ${detail}.`;
  return [memory, { kind: 'close', phase: 'Ended', reason, detail, decision, comment, refusal: null }];
}

/** No decision in hand: is there a need, and may it be acted on? */
function decideIdle(look: QuotaObservation, memory: ResizeMemory, now: EpochMs): readonly [ResizeMemory, Verdict] {
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

  const refusal = standingRefusal(look, memory, need, now);
  if (refusal !== null) {
    const until = refusal.at + timings.rejectionCooldown;
    const detail = `${summary(need)} was refused by ${refusal.by} on ${formatInstant(refusal.at)}${refusal.reason === '' ? '' : ` (${refusal.reason})`}; not asked again before ${formatInstant(until)} unless the need grows`;
    return [memory, hold('CoolingDown', 'Refused', detail, { until, quietUntil: now + timings.holdRetry })];
  }
  const digest = needDigest(need);
  const settled = settleNeed(memory, digest, now);
  const stableAt = settled.since + timings.demandSettle;
  // A rollout that never stands still must not hold the decision back for ever.
  const latestAt = settled.firstSeen + 5 * timings.demandSettle;
  const settledMemory = { ...memory, need: settled };
  if (now < stableAt && now < latestAt) {
    const detail = `${summary(need)}: looking again in ${formatSpan(Math.min(stableAt, latestAt) - now)}, so that a rollout in full swing is seen whole`;
    return [settledMemory, hold('Detecting', 'DemandSettling', detail, { until: Math.min(stableAt, latestAt) })];
  }

  if (observing) {
    if (isRepeat(memory, need, now, timings.recommendationRepeat)) {
      return [settledMemory, end('AlreadyRecommended', `${summary(need)} is recommended already`)];
    }
    const reason = need.unmetDemand ? 'UnmetDemand' : 'ThresholdReached';
    return [settledMemory, { kind: 'recommend', phase: 'Recommending', reason, detail: summary(need), proposal: need }];
  }

  const key = blockedKey(look, need);
  if (memory.blocked !== null && memory.blocked.key === key && now < memory.blocked.at + timings.holdRetry) {
    return [settledMemory, blockedVerdict(look, memory.blocked, now)];
  }
  const { lease } = look;
  if (lease.holder !== null && !lease.holderIsAbandoned) {
    const until = now + timings.holdRetry;
    const detail = `the Lease ${lease.name} is held by ${lease.holder}; waiting until it is released`;
    return [settledMemory, hold('Blocked', 'LeaseHeld', detail, { until, quietUntil: until })];
  }
  const reason = need.unmetDemand ? 'UnmetDemand' : 'ThresholdReached';
  const announce = !isRepeat(memory, need, now, timings.recommendationRepeat);
  return [
    settledMemory,
    {
      kind: 'propose',
      phase: 'OpeningPullRequest',
      reason,
      detail: summary(need),
      proposal: need,
      announce,
      blockedKey: key,
    },
  ];
}

/** A pull request of ours exists: is it still wanted, still ours, and may it be merged? */
function decideOpen(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  pullRequest: PullRequestObservation,
  now: EpochMs,
): readonly [ResizeMemory, Verdict] {
  const ref = decision.pullRequest;
  if (ref === null) throw new Error(`decision ${decision.id} has no pull request`);
  const { policy, timings } = look;
  const link = `pull request [#${ref.number}](${ref.url})`;

  if (pullRequest.state === 'closed') return [memory, settleClosed(memory, decision, pullRequest, now)];
  if (memory.rejection !== null) {
    const { by, reason, at } = memory.rejection;
    const refusal: Refusal = { limits: decidedLimits(decision), at, by, reason };
    const detail = `rejected by ${by}${reason === '' ? '' : `: ${reason}`}`;
    const comment = `Closed by Headroom: ${detail}. It is not asked for again before ${formatInstant(at + timings.rejectionCooldown)} unless the need grows.`;
    return [memory, { kind: 'close', phase: 'CoolingDown', reason: 'Rejected', detail, decision, comment, refusal }];
  }
  if (!pullRequest.headIsOurs) {
    const detail = `${link} has commits that are not Headroom's: it is handed over to people, waiting until they merge or close it`;
    return [memory, hold('AwaitingMerge', 'ForeignCommit', detail, { watch: 'pullRequest' })];
  }
  if (policy.mode === 'observe') {
    const detail = `the mode is observe, ${link} is left to people, waiting until they merge or close it`;
    return [memory, hold('AwaitingMerge', 'ObserverMode', detail, { watch: 'pullRequest' })];
  }

  const need = computeNeed(look, memory.lastChange);
  if (need === null && !decision.demandByMessage) {
    const since = memory.needGoneSince ?? now;
    const closeAt = since + timings.needGone;
    const waiting = { ...memory, needGoneSince: since };
    if (now < closeAt) {
      const detail = `the need has been gone since ${formatInstant(since)}, ${link} is closed at ${formatInstant(closeAt)} unless it comes back`;
      return [waiting, hold('AwaitingChecks', 'NeedGone', detail, { watch: 'pullRequest', until: closeAt })];
    }
    const detail = `the need has been gone since ${formatInstant(since)}`;
    const comment = `Closed by Headroom: ${detail}, nothing has to be raised any more.`;
    return [
      waiting,
      { kind: 'close', phase: 'CoolingDown', reason: 'NeedGone', detail, decision, comment, refusal: null },
    ];
  }
  const current: ResizeMemory = { ...memory, needGoneSince: null };

  const readiness = mergeReadiness(pullRequest, ref, now, timings.settle);
  if (need !== null && memory.updates < MAX_UPDATES && outgrows(need, decidedLimits(decision), policy)) {
    const updateAt = ref.pushedAt + timings.updateInterval;
    const changes = mergeChanges(decision.changes, need.changes);
    const grown = `the need grew (${summary({ ...need, changes })})`;
    if (now < updateAt) {
      const detail = `${grown}, ${link} is updated at ${formatInstant(updateAt)}`;
      return [current, hold('AwaitingChecks', 'UpdateDue', detail, { watch: 'pullRequest', until: updateAt })];
    }
    const updated: Decision = {
      ...decision,
      changes,
      evidence: need.evidence,
      demandByMessage: decision.demandByMessage || need.demandByMessage,
      gate: gateOf(policy, changes),
    };
    return [
      { ...current, decision: updated, updates: memory.updates + 1 },
      {
        kind: 'rebuild',
        phase: 'OpeningPullRequest',
        reason: 'NeedGrew',
        detail: grown,
        decision: updated,
        why: grown,
      },
    ];
  }
  if (readiness.kind === 'rebuild') {
    const detail = `${link}: ${readiness.why}; the branch is rebuilt`;
    return [
      current,
      { kind: 'rebuild', phase: 'OpeningPullRequest', reason: readiness.reason, detail, decision, why: readiness.why },
    ];
  }
  if (readiness.kind === 'wait') {
    const { reason, detail, until } = readiness;
    const wait: Wait = until === undefined ? { watch: 'pullRequest' } : { watch: 'pullRequest', until };
    return [current, hold('AwaitingChecks', reason, detail, wait)];
  }
  if (!policy.autoMerge.allowed) {
    const namespaceOff = policy.autoMerge.reason === 'NamespaceOff';
    const detail = `${link} is ready and waits for a person to merge it: auto-merge is off ${namespaceOff ? 'for this namespace (resizer.io/auto-merge)' : 'globally (--enable-auto-merge)'}`;
    const reason = namespaceOff ? 'NamespaceAutoMergeOff' : 'AutoMergeOff';
    return [current, hold('AwaitingMerge', reason, detail, { watch: 'pullRequest' })];
  }
  if (decision.gate !== null && !approvalHolds(current, decision)) {
    const detail = `${link} waits for an approval: ${decision.gate.message}; send approve or reject`;
    return [current, hold('AwaitingApproval', decision.gate.reason, detail, { watch: 'pullRequest' })];
  }
  if (current.blocked !== null && now < current.blocked.at + timings.holdRetry) {
    return [current, blockedVerdict(look, current.blocked, now, 'pullRequest')];
  }
  return [
    { ...current, blocked: null },
    {
      kind: 'merge',
      phase: 'Merging',
      reason: 'ReadyToMerge',
      detail: `merging ${link} at ${ref.headSha.slice(0, 12)}`,
      decision,
    },
  ];
}

/** A pull request that is no longer open: a person's merge counts as well, a person's close is a refusal. */
function settleClosed(
  memory: ResizeMemory,
  decision: Decision,
  pullRequest: PullRequestObservation,
  now: EpochMs,
): Verdict {
  const { merge, closedBy, number, url } = pullRequest;
  if (merge !== null) {
    const merged: Decision = { ...decision, merge };
    const detail = `pull request [#${number}](${url}) was merged by ${merge.by}`;
    return { kind: 'settle', phase: 'AwaitingSync', reason: 'MergedByHuman', detail, decision: merged, refusal: null };
  }
  const by = memory.rejection?.by ?? closedBy;
  const refusal: Refusal = {
    limits: decidedLimits(decision),
    at: now,
    by,
    reason: `pull request #${number} was closed`,
  };
  const detail = `pull request [#${number}](${url}) was closed by ${by}: that is a refusal`;
  return { kind: 'settle', phase: 'CoolingDown', reason: 'ClosedByHuman', detail, decision, refusal };
}

/** Merged (or in Git already): nothing new is opened until the cluster shows what the file says. */
function awaitSync(
  look: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision,
  merge: NonNullable<Decision['merge']>,
  now: EpochMs,
): Verdict {
  const hard = look.quota?.hard ?? {};
  if (isSynced(hard, merge.limits)) {
    const detail = `the cluster shows ${describe(merge.limits)}`;
    return { kind: 'settle', phase: 'CoolingDown', reason: 'Synced', detail, decision, refusal: null };
  }
  const missing = Object.entries(merge.limits)
    .filter(([resource]) => compareQuantities(quantityIn(hard, resource), quantityIn(merge.limits, resource)) < 0)
    .map(([resource, limit]) => `${resource} is ${hard[resource] ?? 'absent'} and becomes ${limit}`)
    .join(', ');
  const overdueAt = merge.at + look.timings.syncOverdue;
  const since = `since ${formatInstant(merge.at)}`;
  if (now < overdueAt) {
    const detail = `waiting for the cluster to follow Git ${since}: ${missing}`;
    return hold('AwaitingSync', 'SyncPending', detail, { watch: 'sync', until: overdueAt });
  }
  const detail = `the cluster has not followed Git ${since}: ${missing}; look at Argo CD or Flux. Nothing new is opened meanwhile`;
  const checkAt = (memory.syncCheckedAt ?? 0) + look.timings.holdRetry;
  if (memory.syncWarnedAt === null || now >= checkAt) {
    const warn = memory.syncWarnedAt === null;
    return { kind: 'warnSync', phase: 'AwaitingSync', reason: 'SyncOverdue', detail, decision, warn };
  }
  return hold('AwaitingSync', 'SyncOverdue', detail, { watch: 'sync', until: checkAt });
}

/** Whether spec.hard holds at least what the merged file says, by value. */
export function isSynced(hard: ResourceList, limits: ResourceList): boolean {
  return (
    Object.keys(limits).every((resource) => Object.hasOwn(hard, resource)) && exceededKeys(limits, hard).length === 0
  );
}

/** Whether the approval in hand was given for exactly these limits and this head. */
export function approvalHolds(memory: ResizeMemory, decision: Decision): boolean {
  const { approval } = memory;
  return (
    approval !== null &&
    approval.headSha === decision.pullRequest?.headSha &&
    equalLists(approval.limits, decidedLimits(decision))
  );
}

/** What a blocked decision was blocked for: the values and the place it looked in. */
function blockedKey(look: QuotaObservation, need: Pick<Proposal, 'changes'>): string {
  return `${look.policy.gitPath ?? ''}|${needDigest(need)}`;
}

function cooldownEnd(look: QuotaObservation, memory: ResizeMemory, observing: boolean): EpochMs | null {
  const starts = [memory.lastChange, observing ? (memory.lastRecommendation?.at ?? null) : null];
  const last = starts.reduce<EpochMs | null>((a, b) => latest(a, b), null);
  if (last === null) return null;
  if (memory.cooldownSkippedAt !== null && memory.cooldownSkippedAt >= last) return null;
  return last + look.policy.cooldownMinutes * 60_000;
}

/** The refusal that still covers this need, if any. */
function standingRefusal(look: QuotaObservation, memory: ResizeMemory, need: Proposal, now: EpochMs): Refusal | null {
  return (
    memory.refusals.find(
      (refusal) =>
        now < refusal.at + look.timings.rejectionCooldown &&
        (coveredBy(need.changes, refusal.limits) || !outgrowsRefusal(need, refusal, look)),
    ) ?? null
  );
}

/** A refusal is outgrown by a value at least one increment greater; a person's no is not outvoted by any missing pod. */
function outgrowsRefusal(need: Proposal, refusal: Refusal, look: QuotaObservation): boolean {
  const byThreshold = { ...need, changes: need.changes.map((change) => ({ ...change, demand: '0' })) };
  return outgrows(byThreshold, refusal.limits, look.policy);
}

function isRepeat(memory: ResizeMemory, need: Proposal, now: EpochMs, repeat: number): boolean {
  const last = memory.lastRecommendation;
  if (last === null || now >= last.at + repeat) return false;
  return equalLists(last.limits, decidedLimits(need));
}

function settleNeed(memory: ResizeMemory, digest: string, now: EpochMs): NonNullable<ResizeMemory['need']> {
  if (memory.need === null) return { digest, since: now, firstSeen: now };
  return memory.need.digest === digest ? memory.need : { ...memory.need, digest, since: now };
}

function blockedVerdict(
  look: QuotaObservation,
  blocked: NonNullable<ResizeMemory['blocked']>,
  now: EpochMs,
  watch?: Wait['watch'],
): Verdict {
  const until = blocked.at + look.timings.holdRetry;
  const detail = `${blocked.message} Tried again at ${formatInstant(until)}.`;
  return hold('Blocked', blocked.reason, detail, {
    until,
    quietUntil: until,
    ...(watch === undefined ? {} : { watch }),
  });
}

function openReason(decision: Decision): Reason {
  return decision.evidence.length > 0 ? 'UnmetDemand' : 'ThresholdReached';
}

function hold(phase: Phase, reason: Reason, detail: string, wait: Wait): Verdict {
  return { kind: 'hold', phase, reason, detail, wait };
}

function end(reason: Reason, detail: string): Verdict {
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
