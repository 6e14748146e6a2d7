import { getExternalWorkflowHandle, log } from '@temporalio/workflow';
import type { PullRequestOutcome, QuotaCandidates } from '../../activities/quota-resize/interface.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/decide/sentences.ts';
import {
  awaitedLimits,
  approvedAs,
  type Decision,
  type DecisionRef,
  FOUND_IN_GIT,
  relocated,
  type Rejection,
  withoutBatchedQuotas,
} from '../../domain/quota-resize/model/decision.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import type { Act } from '../../domain/quota-resize/model/verdict.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { failedActivity, isCancelled } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';
import { pullRequestChanged } from './messages.ts';
import { type ApplyOutcome, announce, block, currentOf, emitEvent } from './report.ts';
import { dequeue, merge } from './merge.ts';
import { propose } from './propose.ts';
import type { PullRequestReader } from './pull-request-reader.ts';
import type { SourceReader } from './source-reader.ts';

/** What is read of the forge besides, and kept from pass to pass. */
interface Readers {
  readonly sources: SourceReader;
  readonly pullRequest: PullRequestReader;
}

/**
 * Performs the one act that a verdict asks for. Each step is an idempotent activity, so a crash between two steps loses
 * nothing: the next pass observes the Lease and GitHub as they are and decides to continue.
 */
export async function act(target: QuotaTarget, verdict: Act, seen: Seen, readers: Readers): Promise<ApplyOutcome> {
  try {
    switch (verdict.kind) {
      case 'recommend':
        return await recommend(target, verdict, seen);
      case 'propose':
        return await propose(target, verdict, seen, readers.sources);
      case 'open':
        return await open(target, verdict, seen, readers);
      case 'rebuild':
        return await rebuild(target, verdict, seen);
      case 'merge':
        return await merge(target, verdict, seen);
      case 'dequeue':
        return await dequeue(target, verdict);
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
    const refusal = refusedMessage(error);
    if (refusal !== null) return (memory) => applyOutcome.withoutEffect(memory, refusal);
    const rejection = rejectedMessage(error);
    if (rejection === null) throw error;
    return await block(target, seen, { reason: 'ForgeRejected', message: rejection, key: verdict.blockedKey });
  }
}

/** Whether an activity did not write because of a pause, or because the policy has changed since the decision. */
export function isForbiddenNow(error: unknown): boolean {
  const type = failedActivity(error)?.type;
  return type === 'GloballyPaused' || type === 'Paused' || type === 'PolicyChanged';
}

/** Why an activity has not done what its decision says, which people are to read: another pass may decide the same again. */
function refusedMessage(error: unknown): string | null {
  const failed = failedActivity(error);
  return failed?.type === 'PolicyChanged' ? failed.message : null;
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

async function open(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'open' }>,
  seen: Seen,
  readers: Readers,
): Promise<ApplyOutcome> {
  const { decision } = verdict;
  const { forgotten } = readers.pullRequest;
  const outcome = await ensuring.ensurePullRequest.executeWithOptions({ summary: brief(summary(decision)) }, [
    { target, decision, policy: seen.observation.policy, candidatesByQuota: candidatesByQuota(target, decision, seen) },
  ]);
  const firstLook = outcome.kind === 'open' || outcome.kind === 'completed' ? outcome.seen : undefined;
  // What happens meanwhile, or before the Lease is written, has it read again.
  if (firstLook !== undefined && forgotten === readers.pullRequest.forgotten)
    readers.pullRequest.found(decision, firstLook);
  return await opened(target, verdict, outcome, seen);
}

async function rebuild(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'rebuild' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, why } = verdict;
  // The Lease gets the new limits before GitHub does, as with the first commit. It names no head commit: if this run
  // dies now, the next run cannot know whether the branch has the old or the new commit and has to check.
  const { pullRequest } = decision;
  const noted: Decision =
    pullRequest === null ? decision : { ...decision, pullRequest: { ...pullRequest, headSha: '' } };
  await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(why) }, [{ target, decision: noted }]);
  await releaseBatchedQuotas(target, decision, verdict.released);
  const outcome = await ensuring.ensurePullRequestRebuilt.executeWithOptions({ summary: brief(why) }, [
    {
      target,
      decision,
      policy: seen.observation.policy,
      candidatesByQuota: candidatesByQuota(target, decision, seen),
      why,
    },
  ]);
  const apply = await opened(target, verdict, outcome, seen);
  // Each of them finds its commit, or that it has none.
  for (const joined of decision.joined ?? []) await wake(target, joined, why);
  return apply;
}

/**
 * Has the episode of another quota, with which this one shares a pull request, look at it again. One that cannot be reached
 * does so by itself, later.
 */
async function wake(target: QuotaTarget, { namespace, quota }: DecisionRef, why: string): Promise<void> {
  const cause = `${targetName(target)}: ${why}`;
  try {
    const other = getExternalWorkflowHandle(quotaResizeId({ ...target, namespace, quota }));
    await other.signal(pullRequestChanged, { cause, delivery: '' });
  } catch (error) {
    if (isCancelled(error)) throw error;
    log.info('the episode of another quota could not be woken; it looks again by itself', { namespace, quota });
  }
}

/** What the pull request does not raise is not ours to hold: those quotas have their own episodes. */
async function releaseBatchedQuotas(
  target: QuotaTarget,
  decision: Decision,
  quotas: readonly string[] = [],
): Promise<void> {
  if (quotas.length === 0) return;
  await ensuring.ensureBatchedQuotasReleased.executeWithOptions({ summary: quotas.join(', ') }, [
    { target, decision, quotas },
  ]);
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
      const joined = outcome.kind === 'open' ? outcome.joined : undefined;
      const held = { ...withoutBatchedQuotas(decision, leftOut), ...(joined === undefined ? {} : { joined }) };
      await releaseBatchedQuotas(target, decision, leftOut);
      await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: `pull request #${pullRequest.number}` }, [
        { target, decision: { ...held, pullRequest } },
      ]);
      return (memory) => applyOutcome.opened(requireState(memory, 'Locked', 'Open'), held, pullRequest);
    }
    case 'alreadyInGit': {
      const merge = { sha: outcome.sha, at: Date.now(), by: FOUND_IN_GIT, limits: outcome.limits };
      const inGit = { ...decision, merge };
      // Git already has the values, so an open pull request with the same change is useless.
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
    case 'relocated': {
      const { relocation } = outcome;
      const moved: Decision = { ...relocated(decision, relocation), ...approvedAs(null) };
      await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: 'the place in Git changed' }, [
        { target, decision: moved },
      ]);
      return (memory) => applyOutcome.relocated(requireState(memory, 'Locked', 'Open'), relocation);
    }
    case 'blocked':
      return await block(target, seen, { reason: outcome.reason, message: outcome.message, key });
  }
}

async function close(target: QuotaTarget, verdict: Extract<Act, { kind: 'close' }>, seen: Seen): Promise<ApplyOutcome> {
  const { decision, comment, rejection, reason } = verdict;
  const withdrawal = rejection === null ? { withdrawnAt: Date.now() } : {};
  await ensuring.ensurePullRequestClosed.executeWithOptions({ summary: reason }, [{ target, decision, comment }]);
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [
    { target, decision, rejection, ...withdrawal },
  ]);
  await emitRejection(target, verdict, seen);
  return (memory) => applyOutcome.closed(requireState(memory, 'Locked', 'Open'), rejection, withdrawal.withdrawnAt);
}

/**
 * Releases the Lease without writing to GitHub: there is no pull request yet, the mode is observe, or people took the
 * pull request over.
 */
async function release(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'release' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, rejection, reason, wakes } = verdict;
  const withdrawal = rejection === null ? { withdrawnAt: Date.now() } : {};
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [
    { target, decision, rejection, ...withdrawal },
  ]);
  if (wakes !== undefined) await wake(target, wakes, reason);
  await emitRejection(target, verdict, seen);
  return (memory) => applyOutcome.closed(requireState(memory, 'Locked', 'Open'), rejection, withdrawal.withdrawnAt);
}

/** Writes an Event on the quota that says who rejected the change and why. */
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
 * Warns once that the merged limits are not synced, and reads Git again: if a person reverted the change there, there
 * is nothing to wait for.
 */
async function warnSync(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'warnSync' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, warn, detail } = verdict;
  const isWarned =
    !warn || (await emitEvent(target, seen, { reason: 'SyncOverdue', message: detail, key: decision.id }));
  const limits = awaitedLimits(decision);
  // Git holds the merged limits by now, so these and not those in force tell one mapping of a values file from another.
  const current = { ...currentOf(seen).current, ...limits };
  const source = await observing.observeSource.executeWithOptions({ summary: 'SyncOverdue' }, [
    { target, limits, candidates: seen.observation.candidates, current },
  ]);
  const inGit = source.kind === 'found' ? source.limits : null;
  return (memory) => applyOutcome.syncChecked(requireState(memory, 'Merged'), inGit, Date.now(), { isWarned });
}

/**
 * Changes the decision without its commit: before it has a pull request, or in what the gate reads. The Lease is written
 * first, so that no later run opens a pull request with the old limits.
 */
async function revise(target: QuotaTarget, verdict: Extract<Act, { kind: 'revise' }>): Promise<ApplyOutcome> {
  const { decision, detail, released, wakes } = verdict;
  await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(detail) }, [{ target, decision }]);
  await releaseBatchedQuotas(target, decision, released);
  if (wakes !== undefined) await wake(target, wakes, detail);
  return (memory) => applyOutcome.revised(requireState(memory, 'Locked', 'Open'), decision);
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
  const isTold = await emitEvent(target, seen, { ...event, key: about });
  return (memory) => (isTold ? applyOutcome.emitted(memory, about) : applyOutcome.putOff(memory));
}

/** The source candidates of each quota of the decision; the owner's quota comes first. */
function candidatesByQuota(target: QuotaTarget, decision: Decision, seen: Seen): readonly QuotaCandidates[] {
  const batchedQuotas = (decision.batchedQuotas ?? []).map(({ quota, candidates }): QuotaCandidates => {
    const otherQuota = seen.observation.otherQuotas.find(({ name }) => name === quota);
    return { quota, candidates, ...(otherQuota === undefined ? {} : { current: otherQuota.quota.hard }) };
  });
  return [{ quota: target.quota, candidates: seen.observation.candidates, ...currentOf(seen) }, ...batchedQuotas];
}

/** The message of a failure that no retry can help, or null when the error is another one. */
export function rejectedMessage(error: unknown): string | null {
  const failed = failedActivity(error);
  return failed?.type === 'ForgeRejected' || failed?.type === 'InvalidInput' ? failed.message : null;
}
