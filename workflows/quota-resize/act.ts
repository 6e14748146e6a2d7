import type { PullRequestOutcome, QuotaHints } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as absorb from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/pull-request/wording.ts';
import { type Decision, FOUND_IN_GIT } from '../../domain/quota-resize/model/decision.ts';
import { type BlockedReason, blockedReasons, requireState } from '../../domain/quota-resize/model/memory.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';

import { type Absorb, type Act, announce, block, currentOf, tell } from './report.ts';
import { propose, withoutCompanions } from './propose.ts';

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
    const refusal = rejectedMessage(error);
    if (refusal === null) throw error;
    return await block(target, seen, { reason: 'ForgeRejected', message: refusal, key: verdict.blockedKey });
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
): Promise<Absorb> {
  const at = Date.now();
  await announce(target, verdict.proposal, seen, at);
  return (memory) => absorb.recommended(memory, verdict.proposal, at);
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
      return (memory) => absorb.opened(requireState(memory, 'Locked', 'Open'), held, pullRequest);
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
      return (memory) => absorb.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, merge);
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
      return (memory) =>
        absorb.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, { sha, at, by, limits });
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
  return (memory) => absorb.closed(requireState(memory, 'Locked', 'Open'), refusal);
}

/** Unlocks without a word on GitHub: there is nothing yet, the mode is observe, or people took the pull request over. */
async function release(target: QuotaTarget, verdict: Extract<Act, { kind: 'release' }>, seen: Seen): Promise<Absorb> {
  const { decision, refusal, reason } = verdict;
  await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [{ target, decision, refusal }]);
  await tellRefusal(target, verdict, seen);
  return (memory) => absorb.closed(requireState(memory, 'Locked', 'Open'), refusal);
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
    return (memory) => absorb.synced(requireState(memory, 'Merged'), at);
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
    return (memory) => absorb.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, merge);
  }
  const message = `${summary(decision)}: pull request #${number} was closed by ${refusal?.by ?? 'unknown'}, which is a refusal`;
  await tell(target, seen, 'Normal', 'QuotaResizeRefused', message, decision.id);
  return (memory) => absorb.closed(requireState(memory, 'Locked', 'Open'), refusal);
}

/** Warns once, and reads Git again: a person may have taken the change back there, and then there is nothing to wait for. */
async function warnSync(target: QuotaTarget, verdict: Extract<Act, { kind: 'warnSync' }>, seen: Seen): Promise<Absorb> {
  const { decision, warn, detail } = verdict;
  if (warn) await tell(target, seen, 'Warning', 'SyncOverdue', detail, decision.id);
  const source = await observing.observeSource.executeWithOptions({ summary: 'SyncOverdue' }, [
    { target, limits: decision.merge?.limits ?? {}, hints: seen.quota.hints, ...currentOf(seen) },
  ]);
  const limits = source.kind === 'found' ? source.limits : null;
  return (memory) => absorb.syncChecked(requireState(memory, 'Merged'), limits, Date.now());
}

/** The limits that are decided before anything is on GitHub: in the Lease first, so that no run opens the earlier ones. */
async function revise(target: QuotaTarget, verdict: Extract<Act, { kind: 'revise' }>): Promise<Absorb> {
  const { decision, detail } = verdict;
  await ensuring.ensureLeaseUpdated.executeWithOptions({ summary: brief(detail) }, [{ target, decision }]);
  return (memory) => absorb.revised(requireState(memory, 'Locked'), decision);
}

async function say(target: QuotaTarget, verdict: Extract<Act, { kind: 'say' }>, seen: Seen): Promise<Absorb> {
  const { decision, about, comment, event } = verdict;
  if (decision?.pullRequest && comment !== null) {
    await ensuring.ensureComment.executeWithOptions({ summary: brief(comment) }, [
      { target, decision, about, text: comment },
    ]);
  }
  await tell(target, seen, event.type, event.reason, event.message, about);
  return (memory) => absorb.emitted(memory, about);
}

/** Where each quota of the decision is looked for: its own first. */
function placesOf(target: QuotaTarget, decision: Decision, seen: Seen): readonly QuotaHints[] {
  const companions = (decision.companions ?? []).map(({ quota, hints }): QuotaHints => {
    const sibling = seen.quota.siblings.find(({ name }) => name === quota);
    return { quota, hints, ...(sibling === undefined ? {} : { current: sibling.quota.hard }) };
  });
  return [{ quota: target.quota, hints: seen.quota.hints, ...currentOf(seen) }, ...companions];
}

function blockedReason(reason: string): BlockedReason {
  return blockedReasons.find((known) => known === reason) ?? 'ForgeRejected';
}

/** The message of a failure that no retry can help, or null when the error is another one. */
export function rejectedMessage(error: unknown): string | null {
  const failed = failedActivity(error);
  return failed?.type === 'ForgeRejected' || failed?.type === 'InvalidInput' ? failed.message : null;
}
