import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { uuid4 } from '@temporalio/workflow';
import type { PullRequestOutcome } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as absorb from '../../domain/quota-resize/absorb.ts';
import type { Seen } from '../../domain/quota-resize/seen.ts';
import { summary } from '../../domain/quota-resize/wording.ts';
import { type Decision, decidedLimits, FOUND_IN_GIT } from '../../domain/quota-resize/decision.ts';
import { type BlockedReason, blockedReasons, type ResizeMemory } from '../../domain/quota-resize/memory.ts';
import { asWritten, coveredBy } from '../../domain/quota-resize/need.ts';
import type { Verdict } from '../../domain/quota-resize/verdict.ts';
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
        return await close(target, verdict);
      case 'release':
        return await release(target, verdict);
      case 'settle':
        return await settle(target, verdict, seen);
      case 'warnSync':
        return await warnSync(target, verdict, seen);
    }
  } catch (error) {
    const refusal = refusedMessage(error);
    if (refusal === null) throw error;
    return await block(target, seen, { reason: 'GitHubRefused', message: refusal, key: verdict.blockedKey });
  }
}

/** Whether an activity did not write because the global pause is set. */
export function isPausedFailure(error: unknown): boolean {
  return failureType(error) === 'GloballyPaused';
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

  const { policy } = seen.quota;
  const limits = decidedLimits(verdict.proposal);
  const source = await observing.observeSource.executeWithOptions({ summary: brief(summary(verdict.proposal)) }, [
    { target, limits, gitPath: policy.gitPath ?? null },
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
    gate: proposal.gate,
    pullRequest: null,
    merge: null,
  };
  if (coveredBy(proposal.changes, source.limits)) {
    const inGit = { sha: source.baseSha, at: Date.now(), by: FOUND_IN_GIT, limits: source.limits };
    return (memory) => absorb.merged(told(memory), decision, inGit);
  }
  const file = { repository: source.repository, path: source.path };
  const lease = await ensuring.ensureLeaseAcquired.executeWithOptions({ summary: `decision ${decision.id}` }, [
    { target, decision, file },
  ]);
  switch (lease.kind) {
    case 'acquired':
      return (memory) => absorb.acquired(told(memory), decision);
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
  const gitPath = seen.quota.policy.gitPath ?? null;
  const outcome = await ensuring.ensurePullRequest.executeWithOptions({ summary: brief(summary(decision)) }, [
    { target, decision, gitPath },
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
  const gitPath = seen.quota.policy.gitPath ?? null;
  const outcome = await ensuring.ensurePullRequestRebuilt.executeWithOptions({ summary: brief(why) }, [
    { target, decision, gitPath, why },
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
      await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: `pull request #${pullRequest.number}` }, [
        { target, decision: { ...decision, pullRequest } },
      ]);
      return (memory) => absorb.opened(memory, decision, pullRequest);
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

async function close(target: QuotaTarget, verdict: Extract<Act, { kind: 'close' }>): Promise<Absorb> {
  const { decision, comment, refusal, reason } = verdict;
  await ensuring.ensurePullRequestClosed.executeWithOptions({ summary: reason }, [{ target, decision, comment }]);
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, refusal }]);
  return (memory) => absorb.closed(memory, refusal);
}

/** Unlocks without a word on GitHub: the mode is observe, or people took the pull request over. */
async function release(target: QuotaTarget, verdict: Extract<Act, { kind: 'release' }>): Promise<Absorb> {
  const { decision, refusal, reason } = verdict;
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, refusal }]);
  return (memory) => absorb.closed(memory, refusal);
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
    { target, limits: decision.merge?.limits ?? {}, gitPath: seen.quota.policy.gitPath ?? null },
  ]);
  const limits = source.kind === 'found' ? source.limits : null;
  return (memory) => absorb.syncChecked(memory, limits, Date.now());
}

async function announce(
  target: QuotaTarget,
  proposal: Extract<Act, { kind: 'propose' }>['proposal'],
  seen: Seen,
  at: number,
): Promise<void> {
  const { quota, policy } = seen.quota;
  if (quota === null) return;
  await ensuring.ensureRecommendation.executeWithOptions({ summary: brief(summary(proposal)) }, [
    { target, quotaUid: quota.uid, changes: proposal.changes, evidence: proposal.evidence, mode: policy.mode, at },
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
  return blockedReasons.find((known) => known === reason) ?? 'GitHubRefused';
}

/** The message of a failure that no retry can help, or null when the error is another one. */
export function refusedMessage(error: unknown): string | null {
  const type = failureType(error);
  if (type !== 'GitHubRefused' && type !== 'InvalidInput') return null;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

function failureType(error: unknown): string | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure ? (cause.type ?? null) : null;
}
