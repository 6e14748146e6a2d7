import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { uuid4 } from '@temporalio/workflow';
import type { LeaseOutcome, PullRequestOutcome, QuotaHints } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as absorb from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/pull-request/wording.ts';
import {
  type Companion,
  type Decision,
  decidedLimits,
  FOUND_IN_GIT,
} from '../../domain/quota-resize/model/decision.ts';
import { type BlockedReason, blockedReasons, type ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import { gateOfDecision } from '../../domain/quota-resize/decide/approval-requirement.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import { asWritten, coveredBy } from '../../domain/quota-resize/sizing/requirement.ts';
import type { SourceObservation } from '../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../domain/quota-resize/model/verdict.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';

type Act = Exclude<Verdict, { kind: 'hold' } | { kind: 'end' }>;
/** What an act leaves in the memory, applied to the memory as it is when the act is over. */
type Absorb = (memory: ResizeMemory) => ResizeMemory;

/**
 * Does the one thing that a verdict asks for. Each step is an idempotent activity, so dying between two of them loses
 * nothing: the next look finds the Lease and GitHub as they were left, and decides to go on.
 */
export async function act(target: QuotaTarget, verdict: Act, seen: Seen): Promise<Absorb> {
  try {
    switch (verdict.kind) {
      case 'recommend':
        return await recommend(target, verdict, seen);
      case 'propose':
        return await propose(target, verdict, seen);
      case 'open':
        return await open(target, verdict, seen);
      case 'rebuild':
        return await rebuild(target, verdict, seen);
      case 'merge':
        return await merge(target, verdict, seen);
      case 'close':
        return await close(target, verdict, seen);
      case 'release':
        return await release(target, verdict, seen);
      case 'settle':
        return await settle(target, verdict, seen);
      case 'warnSync':
        return await warnSync(target, verdict, seen);
      case 'revise':
        return await revise(target, verdict);
      case 'say':
        return await say(target, verdict, seen);
    }
  } catch (error) {
    const refusal = refusedMessage(error);
    if (refusal === null) throw error;
    return await block(target, seen, { reason: 'ForgeRejected', message: refusal, key: verdict.blockedKey });
  }
}

/** Whether an activity did not write because it is not allowed now: by the global pause, or by another policy than before. */
export function isForbiddenNow(error: unknown): boolean {
  const type = failureType(error);
  return type === 'GloballyPaused' || type === 'PolicyChanged';
}

async function recommend(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'recommend' }>,
  seen: Seen,
): Promise<Absorb> {
  const at = Date.now();
  await announce(target, verdict.proposal, seen, at);
  return (memory) => absorb.recommended(memory, verdict.proposal, at);
}

/** Places the need in Git and takes the lock: everything that can fail for a reason fails before GitHub is written to. */
async function propose(target: QuotaTarget, verdict: Extract<Act, { kind: 'propose' }>, seen: Seen): Promise<Absorb> {
  const at = Date.now();
  if (verdict.announce) await announce(target, verdict.proposal, seen, at);
  const told: Absorb = (memory) => (verdict.announce ? absorb.recommended(memory, verdict.proposal, at) : memory);

  const { policy, hints } = seen.quota;
  const limits = decidedLimits(verdict.proposal);
  const source = await observing.observeSource.executeWithOptions({ summary: brief(summary(verdict.proposal)) }, [
    { target, limits, hints, ...currentOf(seen) },
  ]);
  if (source.kind === 'blocked') {
    const blocked = await block(target, seen, {
      reason: source.reason,
      message: source.message,
      key: verdict.blockedKey,
    });
    return (memory) => blocked(told(memory));
  }
  const proposal = asWritten(verdict.proposal, source.limits, policy);
  const decision: Decision = {
    id: uuid4().slice(0, 8),
    quotaUid: seen.quota.quota?.uid ?? '',
    decidedAt: Date.now(),
    changes: proposal.changes,
    evidence: proposal.evidence,
    demandByMessage: proposal.demandByMessage,
    ...(proposal.notes.length === 0 ? {} : { notes: proposal.notes }),
    ...(proposal.usageNotes === undefined ? {} : { usageNotes: proposal.usageNotes }),
    gate: proposal.gate,
    source: { repository: source.repository, base: source.base, how: source.how },
    pullRequest: null,
    merge: null,
  };
  if (coveredBy(proposal.changes, source.limits)) {
    const inGit = { sha: source.baseSha, at: Date.now(), by: FOUND_IN_GIT, limits: source.limits };
    return (memory) => absorb.merged(told(memory), decision, inGit);
  }
  let placed = await placeCompanions(target, verdict, source, seen);
  for (;;) {
    const paths = [...new Set([source.paths, ...placed.map((one) => one.paths)].flat())];
    const files = paths.map((path) => ({ repository: source.repository, path }));
    const together = placed.length === 0 ? decision : withCompanions(decision, placed.map(companionOf), policy);
    const lease = await ensuring.ensureLeaseAcquired.executeWithOptions({ summary: `decision ${decision.id}` }, [
      { target, decision: together, files },
    ]);
    // A companion's file in somebody else's hands is no reason for this quota to wait.
    const others = placed.filter(({ paths: theirs }) => lease.kind !== 'fileBusy' || !theirs.includes(lease.path));
    if (lease.kind === 'fileBusy' && !source.paths.includes(lease.path) && others.length < placed.length) {
      placed = others;
      continue;
    }
    return locked(verdict, lease, together, told);
  }
}

/** A companion with the files that raise it. */
interface PlacedCompanion extends Companion {
  readonly paths: readonly string[];
}

function companionOf(placed: PlacedCompanion): Companion {
  const { paths: _, ...companion } = placed;
  return companion;
}

function withoutCompanions(decision: Decision, quotas: readonly string[]): Decision {
  const left = (decision.companions ?? []).filter(({ quota }) => !quotas.includes(quota));
  const { companions: _, ...alone } = decision;
  return left.length === 0 ? alone : { ...alone, companions: left };
}

function withCompanions(decision: Decision, companions: readonly Companion[], policy: ResizePolicy): Decision {
  const together = { ...decision, companions };
  return { ...together, gate: gateOfDecision(policy, together) };
}

/** The companions that can be raised by a pull request to the same branch; the others have their own episodes. */
async function placeCompanions(
  target: QuotaTarget,
  { companions, proposal }: Extract<Act, { kind: 'propose' }>,
  own: Extract<SourceObservation, { kind: 'found' }>,
  seen: Seen,
): Promise<readonly PlacedCompanion[]> {
  const placed: PlacedCompanion[] = [];
  for (const companion of companions) {
    const { quota, changes, hints } = companion;
    const sibling = seen.quota.siblings.find(({ name }) => name === quota);
    if (sibling === undefined) continue;
    const source = await observing.observeSource.executeWithOptions(
      { summary: brief(`${quota}: ${summary(companion)}`) },
      [{ target: { ...target, quota }, limits: decidedLimits(companion), hints, current: sibling.quota.hard }],
    );
    if (source.kind === 'blocked' || source.repository !== own.repository || source.base !== own.base) continue;
    if (coveredBy(changes, source.limits)) continue;
    const written = asWritten({ ...proposal, changes }, source.limits, sibling.policy);
    placed.push({ ...companion, changes: written.changes, gate: written.gate, paths: source.paths });
  }
  return placed;
}

function locked(
  verdict: Extract<Act, { kind: 'propose' }>,
  lease: LeaseOutcome,
  decision: Decision,
  told: Absorb,
): Absorb {
  switch (lease.kind) {
    case 'acquired': {
      const others = (decision.companions ?? []).map(({ quota }) => quota);
      const held = withoutCompanions(
        decision,
        others.filter((quota) => !lease.companions.includes(quota)),
      );
      return (memory) => absorb.acquired(told(memory), held);
    }
    case 'held': {
      const message = `The Lease of this quota is held by ${lease.by}.`;
      return (memory) =>
        absorb.blocked(told(memory), { reason: 'LeaseHeld', message, key: verdict.blockedKey }, Date.now());
    }
    case 'fileBusy': {
      const message = `${lease.path} is being changed by the pull request of ${lease.by}, one at a time.`;
      return (memory) =>
        absorb.blocked(told(memory), { reason: 'FileBusy', message, key: verdict.blockedKey }, Date.now());
    }
  }
}

async function open(target: QuotaTarget, verdict: Extract<Act, { kind: 'open' }>, seen: Seen): Promise<Absorb> {
  const { decision } = verdict;
  const outcome = await ensuring.ensurePullRequest.executeWithOptions({ summary: brief(summary(decision)) }, [
    { target, decision, policy: seen.quota.policy, places: placesOf(target, decision, seen) },
  ]);
  return await opened(target, verdict, outcome, seen);
}

async function rebuild(target: QuotaTarget, verdict: Extract<Act, { kind: 'rebuild' }>, seen: Seen): Promise<Absorb> {
  const { decision, why } = verdict;
  // The new limits are in the Lease before they are on GitHub, as for the first commit. Without a head: a run that finds
  // them there cannot know which of the two heads it is, and makes sure of it.
  const { pullRequest } = decision;
  const noted: Decision =
    pullRequest === null ? decision : { ...decision, pullRequest: { ...pullRequest, headSha: '' } };
  await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(why) }, [{ target, decision: noted }]);
  const { released = [] } = verdict;
  if (released.length > 0) {
    await ensuring.ensureCompanionsReleased.executeWithOptions({ summary: released.join(', ') }, [
      { target, decision, quotas: released },
    ]);
  }
  const outcome = await ensuring.ensurePullRequestRebuilt.executeWithOptions({ summary: brief(why) }, [
    { target, decision, policy: seen.quota.policy, places: placesOf(target, decision, seen), why },
  ]);
  return await opened(target, verdict, outcome, seen);
}

async function opened(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'open' | 'rebuild' }>,
  outcome: PullRequestOutcome,
  seen: Seen,
): Promise<Absorb> {
  const { decision, blockedKey: key } = verdict;
  switch (outcome.kind) {
    case 'open':
    case 'settled': {
      const { pullRequest } = outcome;
      const leftOut = outcome.kind === 'open' ? (outcome.leftOut ?? []) : [];
      const held = withoutCompanions(decision, leftOut);
      if (leftOut.length > 0) {
        // What the pull request does not raise is not ours to hold: those quotas have their own episodes.
        await ensuring.ensureCompanionsReleased.executeWithOptions({ summary: leftOut.join(', ') }, [
          { target, decision, quotas: leftOut },
        ]);
      }
      await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: `pull request #${pullRequest.number}` }, [
        { target, decision: { ...held, pullRequest } },
      ]);
      return (memory) => absorb.opened(memory, held, pullRequest);
    }
    case 'alreadyInGit': {
      const merge = { sha: outcome.sha, at: Date.now(), by: FOUND_IN_GIT, limits: outcome.limits };
      const inGit = { ...decision, merge };
      // An open pull request that Git has overtaken is of no use any more.
      if (decision.pullRequest !== null) {
        const comment = `Closed by Headroom: ${decision.pullRequest.base} holds these values already.`;
        await ensuring.ensurePullRequestClosed.executeWithOptions({ summary: 'AlreadyInGit' }, [
          { target, decision, comment },
        ]);
      }
      await ensuring.ensureLeaseReleased.executeWithOptions({ summary: 'AlreadyInGit' }, [
        { target, decision: inGit, refusal: null },
      ]);
      return (memory) => absorb.merged(memory, decision, merge);
    }
    case 'blocked':
      return await block(target, seen, { reason: blockedReason(outcome.reason), message: outcome.message, key });
  }
}

async function merge(target: QuotaTarget, verdict: Extract<Act, { kind: 'merge' }>, seen: Seen): Promise<Absorb> {
  const { decision, blockedKey: key } = verdict;
  const number = decision.pullRequest?.number;
  const outcome = await ensuring.ensureMerged.executeWithOptions({ summary: `pull request #${number}` }, [
    { target, decision },
  ]);
  switch (outcome.kind) {
    case 'merged': {
      const { sha, at, by, limits } = outcome;
      const merged: Decision = { ...decision, merge: { sha, at, by, limits } };
      await ensuring.ensureLeaseReleased.executeWithOptions({ summary: `pull request #${number} is merged` }, [
        { target, decision: merged, refusal: null },
      ]);
      await tell(
        target,
        seen,
        'Normal',
        'QuotaResizeMerged',
        `${summary(decision)}: pull request #${number} is merged`,
        decision.id,
      );
      return (memory) => absorb.merged(memory, decision, { sha, at, by, limits });
    }
    case 'moved':
      return (memory) => memory;
    case 'blocked':
      return await block(target, seen, { reason: outcome.reason, message: outcome.message, key });
  }
}

async function close(target: QuotaTarget, verdict: Extract<Act, { kind: 'close' }>, seen: Seen): Promise<Absorb> {
  const { decision, comment, refusal, reason } = verdict;
  await ensuring.ensurePullRequestClosed.executeWithOptions({ summary: reason }, [{ target, decision, comment }]);
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, refusal }]);
  await tellRefusal(target, verdict, seen);
  return (memory) => absorb.closed(memory, refusal);
}

/** Unlocks without a word on GitHub: there is nothing yet, the mode is observe, or people took the pull request over. */
async function release(target: QuotaTarget, verdict: Extract<Act, { kind: 'release' }>, seen: Seen): Promise<Absorb> {
  const { decision, refusal, reason } = verdict;
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, refusal }]);
  await tellRefusal(target, verdict, seen);
  return (memory) => absorb.closed(memory, refusal);
}

/** Who said no, and why, on the quota itself. */
async function tellRefusal(
  target: QuotaTarget,
  { decision, refusal, detail }: Extract<Act, { kind: 'close' | 'release' }>,
  seen: Seen,
): Promise<void> {
  if (refusal === null) return;
  await tell(target, seen, 'Normal', 'QuotaResizeRefused', `${summary(decision)}: ${detail}`, decision.id);
}

async function settle(target: QuotaTarget, verdict: Extract<Act, { kind: 'settle' }>, seen: Seen): Promise<Absorb> {
  const { decision, refusal, reason, deletesBranch } = verdict;
  const at = Date.now();
  if (reason !== 'MergedByHuman' && decision.merge !== null) {
    await ensuring.ensureLeaseSynced.executeWithOptions({ summary: reason }, [{ target, decision, at }]);
    return (memory) => absorb.synced(memory, at);
  }
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, refusal }]);
  if (deletesBranch) {
    await ensuring.ensureBranchDeleted.executeWithOptions({ summary: reason }, [{ target, decision }]);
  }
  const number = decision.pullRequest?.number;
  const { merge } = decision;
  if (merge !== null) {
    const message = `${summary(decision)}: pull request #${number} was merged by ${merge.by}`;
    await tell(target, seen, 'Normal', 'QuotaResizeMerged', message, decision.id);
    return (memory) => absorb.merged(memory, decision, merge);
  }
  const message = `${summary(decision)}: pull request #${number} was closed by ${refusal?.by ?? 'unknown'}, which is a refusal`;
  await tell(target, seen, 'Normal', 'QuotaResizeRefused', message, decision.id);
  return (memory) => absorb.closed(memory, refusal);
}

/** Warns once, and reads Git again: a person may have taken the change back there, and then there is nothing to wait for. */
async function warnSync(target: QuotaTarget, verdict: Extract<Act, { kind: 'warnSync' }>, seen: Seen): Promise<Absorb> {
  const { decision, warn, detail } = verdict;
  if (warn) await tell(target, seen, 'Warning', 'SyncOverdue', detail, decision.id);
  const source = await observing.observeSource.executeWithOptions({ summary: 'SyncOverdue' }, [
    { target, limits: decision.merge?.limits ?? {}, hints: seen.quota.hints, ...currentOf(seen) },
  ]);
  const limits = source.kind === 'found' ? source.limits : null;
  return (memory) => absorb.syncChecked(memory, limits, Date.now());
}

/** The limits that are decided before anything is on GitHub: in the Lease first, so that no run opens the earlier ones. */
async function revise(target: QuotaTarget, verdict: Extract<Act, { kind: 'revise' }>): Promise<Absorb> {
  const { decision, detail } = verdict;
  await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(detail) }, [{ target, decision }]);
  return (memory) => absorb.revised(memory, decision);
}

async function say(target: QuotaTarget, verdict: Extract<Act, { kind: 'say' }>, seen: Seen): Promise<Absorb> {
  const { decision, about, comment, event } = verdict;
  if (decision?.pullRequest && comment !== null) {
    await ensuring.ensureComment.executeWithOptions({ summary: brief(comment) }, [
      { target, decision, about, text: comment },
    ]);
  }
  await tell(target, seen, event.type, event.reason, event.message, about);
  return (memory) => absorb.said(memory, about);
}

/** Where each quota of the decision is looked for: its own first. */
function placesOf(target: QuotaTarget, decision: Decision, seen: Seen): readonly QuotaHints[] {
  const companions = (decision.companions ?? []).map(({ quota, hints }): QuotaHints => {
    const sibling = seen.quota.siblings.find(({ name }) => name === quota);
    return { quota, hints, ...(sibling === undefined ? {} : { current: sibling.quota.hard }) };
  });
  return [{ quota: target.quota, hints: seen.quota.hints, ...currentOf(seen) }, ...companions];
}

/** The limits in force, where they can be seen: they tell two mappings of one values file apart. */
function currentOf({ quota: { quota } }: Seen): { readonly current?: ResourceList } {
  return quota === null ? {} : { current: quota.hard };
}

async function announce(
  target: QuotaTarget,
  proposal: Extract<Act, { kind: 'propose' }>['proposal'],
  seen: Seen,
  at: number,
): Promise<void> {
  const { quota, policy } = seen.quota;
  if (quota === null) return;
  const notes = [...proposal.notes, ...(proposal.usageNotes ?? [])];
  await ensuring.ensureRecommendation.executeWithOptions({ summary: brief(summary(proposal)) }, [
    {
      target,
      quotaUid: quota.uid,
      changes: proposal.changes,
      evidence: proposal.evidence,
      ...(notes.length === 0 ? {} : { notes }),
      mode: policy.mode,
      at,
    },
  ]);
}

/** Shows on the quota why the decision cannot move, and remembers it until it is tried again. */
async function block(
  target: QuotaTarget,
  seen: Seen,
  blocked: { readonly reason: BlockedReason; readonly message: string; readonly key: string },
): Promise<Absorb> {
  await tell(target, seen, 'Warning', blocked.reason, blocked.message, blocked.key);
  const at = Date.now();
  return (memory) => absorb.blocked(memory, blocked, at);
}

async function tell(
  target: QuotaTarget,
  seen: Seen,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  key: string,
): Promise<void> {
  const uid = seen.quota.quota?.uid;
  if (uid === undefined) return;
  await ensuring.ensureQuotaEvent.executeWithOptions({ summary: brief(`${reason}: ${message}`) }, [
    { target, quotaUid: uid, type, reason, message, key },
  ]);
}

function blockedReason(reason: string): BlockedReason {
  return blockedReasons.find((known) => known === reason) ?? 'ForgeRejected';
}

/** The message of a failure that no retry can help, or null when the error is another one. */
export function refusedMessage(error: unknown): string | null {
  const type = failureType(error);
  if (type !== 'ForgeRejected' && type !== 'InvalidInput') return null;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

function failureType(error: unknown): string | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? (cause.type ?? null) : null;
}
