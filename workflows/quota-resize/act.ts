import { getExternalWorkflowHandle, log } from '@temporalio/workflow';
import type { PullRequestOutcome, QuotaCandidates } from '../../activities/quota-resize/interface.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
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
import type { Acting } from './acting.ts';
import {
  type ApplyOutcome,
  announce,
  block,
  currentOf,
  emitEvent,
  type DecisionEvent,
  releaseWithEvent,
} from './report.ts';
import { dequeue, merge } from './merge.ts';
import { propose } from './propose.ts';
import { stepsObserve } from './quota-reader.ts';

/**
 * Performs the one act that a verdict asks for. Each step is an idempotent activity, so a crash between two steps loses
 * nothing: the next pass observes the Lease and GitHub as they are and decides to continue.
 */
export async function act(acting: Acting, verdict: Act): Promise<ApplyOutcome> {
  try {
    switch (verdict.kind) {
      case 'recommend':
        return await recommend(acting, verdict);
      case 'propose':
        return await propose(acting, verdict);
      case 'open':
        return await open(acting, verdict);
      case 'rebuild':
        return await rebuild(acting, verdict);
      case 'merge':
        return await merge(acting, verdict);
      case 'dequeue':
        return await dequeue(acting, verdict);
      case 'close':
        return await close(acting, verdict);
      case 'release':
        return await release(acting, verdict);
      case 'mergedByPerson':
        return await mergedByPerson(acting, verdict);
      case 'closedByPerson':
        return await closedByPerson(acting, verdict);
      case 'synced':
        return await synced(acting, verdict);
      case 'forget':
        return await forget(acting, verdict);
      case 'warnSync':
        return await warnSync(acting, verdict);
      case 'revise':
        return await revise(acting, verdict);
      case 'notify':
        return await notify(acting, verdict);
    }
  } catch (error) {
    const refusal = refusedMessage(error);
    if (refusal !== null) return (memory) => applyOutcome.withoutEffect(memory, refusal);
    const rejection = rejectedMessage(error);
    if (rejection === null) throw error;
    return await block(acting, { reason: 'ForgeRejected', message: rejection, key: verdict.blockedKey });
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

async function recommend(acting: Acting, verdict: Extract<Act, { kind: 'recommend' }>): Promise<ApplyOutcome> {
  const at = Date.now();
  acting.quota.found(await announce(acting, verdict.proposal, at, acting.quota.asks()));
  return (memory) => applyOutcome.recommended(memory, verdict.proposal, at);
}

async function open(acting: Acting, verdict: Extract<Act, { kind: 'open' }>): Promise<ApplyOutcome> {
  const { target, seen, quota, pullRequest } = acting;
  const { decision } = verdict;
  const { forgotten } = pullRequest;
  const outcome = await ensuring.ensurePullRequest.executeWithOptions({ summary: brief(summary(decision)) }, [
    {
      target,
      decision,
      policy: seen.observation.policy,
      candidatesByQuota: candidatesByQuota(acting, decision),
      ...(stepsObserve() ? { records: true } : {}),
      ...quota.asks(),
    },
  ]);
  const firstLook = outcome.kind === 'open' || outcome.kind === 'completed' ? outcome.seen : undefined;
  // What happens meanwhile, or before the Lease is written, has it read again.
  if (firstLook !== undefined && forgotten === pullRequest.forgotten) pullRequest.found(decision, firstLook);
  return await opened(acting, verdict, outcome);
}

async function rebuild(acting: Acting, verdict: Extract<Act, { kind: 'rebuild' }>): Promise<ApplyOutcome> {
  const { target, seen } = acting;
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
      candidatesByQuota: candidatesByQuota(acting, decision),
      why,
    },
  ]);
  const apply = await opened(acting, verdict, outcome);
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
  acting: Acting,
  verdict: Extract<Act, { kind: 'open' | 'rebuild' }>,
  outcome: PullRequestOutcome,
): Promise<ApplyOutcome> {
  const { target, quota } = acting;
  const { decision, blockedKey: key } = verdict;
  switch (outcome.kind) {
    case 'open':
    case 'completed': {
      const { pullRequest } = outcome;
      const leftOut = outcome.kind === 'open' ? (outcome.leftOut ?? []) : [];
      const joined = outcome.kind === 'open' ? outcome.joined : undefined;
      const held = { ...withoutBatchedQuotas(decision, leftOut), ...(joined === undefined ? {} : { joined }) };
      await releaseBatchedQuotas(target, decision, leftOut);
      const recorded =
        outcome.recorded ??
        (await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: `pull request #${pullRequest.number}` }, [
          { target, decision: { ...held, pullRequest }, ...quota.asks() },
        ]));
      quota.found(recorded);
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
      const released = await ensuring.ensureLeaseReleased.executeWithOptions({ summary: 'AlreadyInGit' }, [
        { target, decision: inGit, rejection: null, ...quota.asks() },
      ]);
      quota.found(released);
      return (memory) => applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, merge);
    }
    case 'relocated': {
      const { relocation } = outcome;
      const moved: Decision = { ...relocated(decision, relocation), ...approvedAs(null) };
      const noted = await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: 'the place in Git changed' }, [
        { target, decision: moved, ...quota.asks() },
      ]);
      quota.found(noted);
      return (memory) => applyOutcome.relocated(requireState(memory, 'Locked', 'Open'), relocation);
    }
    case 'blocked':
      return await block(acting, { reason: outcome.reason, message: outcome.message, key });
  }
}

async function close(acting: Acting, verdict: Extract<Act, { kind: 'close' }>): Promise<ApplyOutcome> {
  const { target } = acting;
  const { decision, comment, rejection, reason } = verdict;
  const withdrawal = rejection === null ? { withdrawnAt: Date.now() } : {};
  await ensuring.ensurePullRequestClosed.executeWithOptions({ summary: reason }, [{ target, decision, comment }]);
  await releaseWithEvent(acting, { decision, rejection, ...withdrawal }, { reason, event: rejectionOf(verdict) });
  return (memory) => applyOutcome.closed(requireState(memory, 'Locked', 'Open'), rejection, withdrawal.withdrawnAt);
}

/**
 * Releases the Lease without writing to GitHub: there is no pull request yet, the mode is observe, or people took the
 * pull request over.
 */
async function release(acting: Acting, verdict: Extract<Act, { kind: 'release' }>): Promise<ApplyOutcome> {
  const { target } = acting;
  const { decision, rejection, reason, wakes } = verdict;
  const withdrawal = rejection === null ? { withdrawnAt: Date.now() } : {};
  const meanwhile = async () => {
    if (wakes !== undefined) await wake(target, wakes, reason);
  };
  const after = { reason, event: rejectionOf(verdict), meanwhile };
  await releaseWithEvent(acting, { decision, rejection, ...withdrawal }, after);
  return (memory) => applyOutcome.closed(requireState(memory, 'Locked', 'Open'), rejection, withdrawal.withdrawnAt);
}

/** The Event on the quota that says who rejected the change and why; null where nobody did. */
function rejectionOf({
  decision,
  rejection,
  detail,
}: Extract<Act, { kind: 'close' | 'release' }>): DecisionEvent | null {
  if (rejection === null) return null;
  return { reason: 'QuotaResizeRejected', message: `${summary(decision)}: ${detail}`, key: decision.id };
}

async function mergedByPerson(
  acting: Acting,
  verdict: Extract<Act, { kind: 'mergedByPerson' }>,
): Promise<ApplyOutcome> {
  const { decision } = verdict;
  const { merge } = decision;
  const message = `${summary(decision)}: pull request #${decision.pullRequest?.number} was merged by ${merge.by}`;
  await unlockAfterPerson(acting, verdict, { rejection: null, event: 'QuotaResizeMerged', message });
  return (memory) => applyOutcome.merged(requireState(memory, 'Open'), decision, merge);
}

async function closedByPerson(
  acting: Acting,
  verdict: Extract<Act, { kind: 'closedByPerson' }>,
): Promise<ApplyOutcome> {
  const { decision, rejection } = verdict;
  const message = `${summary(decision)}: pull request #${decision.pullRequest.number} was closed by ${rejection.by}, which counts as a rejection`;
  await unlockAfterPerson(acting, verdict, { rejection, event: 'QuotaResizeRejected', message });
  return (memory) => applyOutcome.closed(requireState(memory, 'Open'), rejection);
}

/** What remains to be done when a person has ended the pull request. */
async function unlockAfterPerson(
  acting: Acting,
  { decision, reason, deletesBranch }: Extract<Act, { kind: 'mergedByPerson' | 'closedByPerson' }>,
  {
    rejection,
    event: about,
    message,
  }: { readonly rejection: Rejection | null; readonly event: DecisionEvent['reason']; readonly message: string },
): Promise<void> {
  const { target } = acting;
  const event = { reason: about, message, key: decision.id };
  const meanwhile = async () => {
    if (!deletesBranch) return;
    await ensuring.ensureBranchDeleted.executeWithOptions({ summary: reason }, [{ target, decision }]);
  };
  await releaseWithEvent(acting, { decision, rejection }, { reason, event, meanwhile });
}

async function synced(
  { target, quota }: Acting,
  { decision, reason }: Extract<Act, { kind: 'synced' }>,
): Promise<ApplyOutcome> {
  const at = Date.now();
  const input = { target, decision, at, ...quota.asks() };
  quota.found(await ensuring.ensureLeaseSynced.executeWithOptions({ summary: reason }, [input]));
  return (memory) => applyOutcome.synced(requireState(memory, 'Merged'), at);
}

/** The Lease forgets the decision as after a sync, and says no later change than the merge. */
async function forget(
  { target, quota }: Acting,
  { decision, reason }: Extract<Act, { kind: 'forget' }>,
): Promise<ApplyOutcome> {
  const input = { target, decision, at: decision.merge.at, ...quota.asks() };
  quota.found(await ensuring.ensureLeaseSynced.executeWithOptions({ summary: reason }, [input]));
  return (memory) => applyOutcome.forgotten(requireState(memory, 'Merged'));
}

/**
 * Warns once that the merged limits are not synced, and reads Git again: if a person reverted the change there, there
 * is nothing to wait for.
 */
async function warnSync(acting: Acting, verdict: Extract<Act, { kind: 'warnSync' }>): Promise<ApplyOutcome> {
  const { target, seen } = acting;
  const { decision, warn, detail } = verdict;
  const isWarned = !warn || (await emitEvent(acting, { reason: 'SyncOverdue', message: detail, key: decision.id }));
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
async function revise({ target, quota }: Acting, verdict: Extract<Act, { kind: 'revise' }>): Promise<ApplyOutcome> {
  const { decision, detail, released = [], wakes } = verdict;
  const asks = released.length === 0 ? quota.asks() : {};
  const input = { target, decision, ...asks };
  quota.found(await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(detail) }, [input]));
  await releaseBatchedQuotas(target, decision, released);
  if (wakes !== undefined) await wake(target, wakes, detail);
  return (memory) => applyOutcome.revised(requireState(memory, 'Locked', 'Open'), decision);
}

async function notify(acting: Acting, verdict: Extract<Act, { kind: 'notify' }>): Promise<ApplyOutcome> {
  const { target } = acting;
  const { decision, about, comment, event } = verdict;
  if (decision?.pullRequest && comment !== null) {
    await ensuring.ensureComment.executeWithOptions({ summary: brief(comment) }, [
      { target, decision, about, text: comment },
    ]);
  }
  const isTold = await emitEvent(acting, { ...event, key: about });
  return (memory) => (isTold ? applyOutcome.emitted(memory, about) : applyOutcome.putOff(memory));
}

/** The source candidates of each quota of the decision; the owner's quota comes first. */
function candidatesByQuota({ target, seen }: Acting, decision: Decision): readonly QuotaCandidates[] {
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
