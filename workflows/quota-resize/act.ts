import type { PullRequestOutcome, QuotaCandidates } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/pull-request/wording.ts';
import {
  type Decision,
  FOUND_IN_GIT,
  type Rejection,
  withoutBatchedQuotas,
} from '../../domain/quota-resize/model/decision.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import type { Act } from '../../domain/quota-resize/model/verdict.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';

import { type ApplyOutcome, announce, block, currentOf, emitEvent } from './report.ts';
import { propose } from './propose.ts';

/**
 * Does the one thing that a verdict asks for. Each step is an idempotent activity, so dying between two of them loses
 * nothing: the next pass finds the Lease and GitHub as they were left, and decides to go on.
 */
export async function act(target: QuotaTarget, verdict: Act, seen: Seen): Promise<ApplyOutcome> {
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
      case 'mergedByPerson':
        return await mergedByPerson(target, verdict, seen);
      case 'closedByPerson':
        return await closedByPerson(target, verdict, seen);
      case 'synced':
        return await synced(target, verdict);
      case 'forget':
        return await forget(target, verdict);
      case 'warnSync':
        return await warnSync(target, verdict, seen);
      case 'revise':
        return await revise(target, verdict);
      case 'notify':
        return await notify(target, verdict, seen);
    }
  } catch (error) {
    const rejection = rejectedMessage(error);
    if (rejection === null) throw error;
    return await block(target, seen, { reason: 'ForgeRejected', message: rejection, key: verdict.blockedKey });
  }
}

/** Whether an activity did not write because it is not allowed now: by a pause, or by another policy than before. */
export function isForbiddenNow(error: unknown): boolean {
  const type = failedActivity(error)?.type;
  return type === 'GloballyPaused' || type === 'Paused' || type === 'PolicyChanged';
}

async function recommend(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'recommend' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const at = Date.now();
  await announce(target, verdict.proposal, seen, at);
  return (memory) => applyOutcome.recommended(memory, verdict.proposal, at);
}

async function open(target: QuotaTarget, verdict: Extract<Act, { kind: 'open' }>, seen: Seen): Promise<ApplyOutcome> {
  const { decision } = verdict;
  const outcome = await ensuring.ensurePullRequest.executeWithOptions({ summary: brief(summary(decision)) }, [
    { target, decision, policy: seen.quota.policy, candidatesByQuota: candidatesByQuota(target, decision, seen) },
  ]);
  return await opened(target, verdict, outcome, seen);
}

async function rebuild(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'rebuild' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, why } = verdict;
  // The new limits are in the Lease before they are on GitHub, as for the first commit. Without a head: a run that
  // finds them there cannot know which of the two heads it is, and makes sure of it.
  const { pullRequest } = decision;
  const noted: Decision =
    pullRequest === null ? decision : { ...decision, pullRequest: { ...pullRequest, headSha: '' } };
  await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(why) }, [{ target, decision: noted }]);
  const { released = [] } = verdict;
  if (released.length > 0) {
    await ensuring.ensureBatchedQuotasReleased.executeWithOptions({ summary: released.join(', ') }, [
      { target, decision, quotas: released },
    ]);
  }
  const outcome = await ensuring.ensurePullRequestRebuilt.executeWithOptions({ summary: brief(why) }, [
    { target, decision, policy: seen.quota.policy, candidatesByQuota: candidatesByQuota(target, decision, seen), why },
  ]);
  return await opened(target, verdict, outcome, seen);
}

async function opened(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'open' | 'rebuild' }>,
  outcome: PullRequestOutcome,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, blockedKey: key } = verdict;
  switch (outcome.kind) {
    case 'open':
    case 'completed': {
      const { pullRequest } = outcome;
      const leftOut = outcome.kind === 'open' ? (outcome.leftOut ?? []) : [];
      const held = withoutBatchedQuotas(decision, leftOut);
      if (leftOut.length > 0) {
        // What the pull request does not raise is not ours to hold: those quotas have their own episodes.
        await ensuring.ensureBatchedQuotasReleased.executeWithOptions({ summary: leftOut.join(', ') }, [
          { target, decision, quotas: leftOut },
        ]);
      }
      await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: `pull request #${pullRequest.number}` }, [
        { target, decision: { ...held, pullRequest } },
      ]);
      return (memory) => applyOutcome.opened(requireState(memory, 'Locked', 'Open'), held, pullRequest);
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
        { target, decision: inGit, rejection: null },
      ]);
      return (memory) => applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, merge);
    }
    case 'blocked':
      return await block(target, seen, { reason: outcome.reason, message: outcome.message, key });
  }
}

async function merge(target: QuotaTarget, verdict: Extract<Act, { kind: 'merge' }>, seen: Seen): Promise<ApplyOutcome> {
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
        { target, decision: merged, rejection: null },
      ]);
      const message = `${summary(decision)}: pull request #${number} is merged`;
      await emitEvent(target, seen, { reason: 'QuotaResizeMerged', message, key: decision.id });
      return (memory) =>
        applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, { sha, at, by, limits });
    }
    case 'moved':
      return (memory) => memory;
    case 'blocked':
      return await block(target, seen, { reason: outcome.reason, message: outcome.message, key });
  }
}

async function close(target: QuotaTarget, verdict: Extract<Act, { kind: 'close' }>, seen: Seen): Promise<ApplyOutcome> {
  const { decision, comment, rejection, reason } = verdict;
  await ensuring.ensurePullRequestClosed.executeWithOptions({ summary: reason }, [{ target, decision, comment }]);
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, rejection }]);
  await emitRejection(target, verdict, seen);
  return (memory) => applyOutcome.closed(requireState(memory, 'Locked', 'Open'), rejection);
}

/**
 * Unlocks without a word on GitHub: there is nothing yet, the mode is observe, or people took the pull request over.
 */
async function release(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'release' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, rejection, reason } = verdict;
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, rejection }]);
  await emitRejection(target, verdict, seen);
  return (memory) => applyOutcome.closed(requireState(memory, 'Locked', 'Open'), rejection);
}

/** Who said no, and why, on the quota itself. */
async function emitRejection(
  target: QuotaTarget,
  { decision, rejection, detail }: Extract<Act, { kind: 'close' | 'release' }>,
  seen: Seen,
): Promise<void> {
  if (rejection === null) return;
  const message = `${summary(decision)}: ${detail}`;
  await emitEvent(target, seen, { reason: 'QuotaResizeRejected', message, key: decision.id });
}

async function mergedByPerson(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'mergedByPerson' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision } = verdict;
  const { merge } = decision;
  await unlockAfterPerson(target, verdict, null);
  const message = `${summary(decision)}: pull request #${decision.pullRequest?.number} was merged by ${merge.by}`;
  await emitEvent(target, seen, { reason: 'QuotaResizeMerged', message, key: decision.id });
  return (memory) => applyOutcome.merged(requireState(memory, 'Open'), decision, merge);
}

async function closedByPerson(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'closedByPerson' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, rejection } = verdict;
  await unlockAfterPerson(target, verdict, rejection);
  const message = `${summary(decision)}: pull request #${decision.pullRequest.number} was closed by ${rejection.by}, which counts as a rejection`;
  await emitEvent(target, seen, { reason: 'QuotaResizeRejected', message, key: decision.id });
  return (memory) => applyOutcome.closed(requireState(memory, 'Open'), rejection);
}

/** What remains to be done when a person has ended the pull request. */
async function unlockAfterPerson(
  target: QuotaTarget,
  { decision, reason, deletesBranch }: Extract<Act, { kind: 'mergedByPerson' | 'closedByPerson' }>,
  rejection: Rejection | null,
): Promise<void> {
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, rejection }]);
  if (!deletesBranch) return;
  await ensuring.ensureBranchDeleted.executeWithOptions({ summary: reason }, [{ target, decision }]);
}

async function synced(
  target: QuotaTarget,
  { decision, reason }: Extract<Act, { kind: 'synced' }>,
): Promise<ApplyOutcome> {
  const at = Date.now();
  await ensuring.ensureLeaseSynced.executeWithOptions({ summary: reason }, [{ target, decision, at }]);
  return (memory) => applyOutcome.synced(requireState(memory, 'Merged'), at);
}

/** The Lease forgets the decision as after a sync, and says no later change than the merge. */
async function forget(
  target: QuotaTarget,
  { decision, reason }: Extract<Act, { kind: 'forget' }>,
): Promise<ApplyOutcome> {
  const { at } = decision.merge;
  await ensuring.ensureLeaseSynced.executeWithOptions({ summary: reason }, [{ target, decision, at }]);
  return (memory) => applyOutcome.forgotten(requireState(memory, 'Merged'));
}

/**
 * Warns once, and reads Git again: a person may have taken the change back there, and then there is nothing to wait
 * for.
 */
async function warnSync(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'warnSync' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, warn, detail } = verdict;
  if (warn) await emitEvent(target, seen, { reason: 'SyncOverdue', message: detail, key: decision.id });
  const source = await observing.observeSource.executeWithOptions({ summary: 'SyncOverdue' }, [
    { target, limits: decision.merge?.limits ?? {}, candidates: seen.quota.candidates, ...currentOf(seen) },
  ]);
  const limits = source.kind === 'found' ? source.limits : null;
  return (memory) => applyOutcome.syncChecked(requireState(memory, 'Merged'), limits, Date.now());
}

/**
 * The limits that are decided before anything is on GitHub: in the Lease first, so that no run opens the earlier ones.
 */
async function revise(target: QuotaTarget, verdict: Extract<Act, { kind: 'revise' }>): Promise<ApplyOutcome> {
  const { decision, detail } = verdict;
  await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(detail) }, [{ target, decision }]);
  return (memory) => applyOutcome.revised(requireState(memory, 'Locked'), decision);
}

async function notify(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'notify' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, about, comment, event } = verdict;
  if (decision?.pullRequest && comment !== null) {
    await ensuring.ensureComment.executeWithOptions({ summary: brief(comment) }, [
      { target, decision, about, text: comment },
    ]);
  }
  await emitEvent(target, seen, { ...event, key: about });
  return (memory) => applyOutcome.emitted(memory, about);
}

/** Where each quota of the decision is looked for: its own first. */
function candidatesByQuota(target: QuotaTarget, decision: Decision, seen: Seen): readonly QuotaCandidates[] {
  const batchedQuotas = (decision.batchedQuotas ?? []).map(({ quota, candidates }): QuotaCandidates => {
    const otherQuota = seen.quota.otherQuotas.find(({ name }) => name === quota);
    return { quota, candidates, ...(otherQuota === undefined ? {} : { current: otherQuota.quota.hard }) };
  });
  return [{ quota: target.quota, candidates: seen.quota.candidates, ...currentOf(seen) }, ...batchedQuotas];
}

/** The message of a failure that no retry can help, or null when the error is another one. */
export function rejectedMessage(error: unknown): string | null {
  const failed = failedActivity(error);
  return failed?.type === 'ForgeRejected' || failed?.type === 'InvalidInput' ? failed.message : null;
}
