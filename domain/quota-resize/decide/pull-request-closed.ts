/** How a pull request ends other than by our merge. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { decidedLimits, type Rejection, type UnmergedDecision } from '../model/decision.ts';
import type { Open, ResizeMemory, Unmerged } from '../model/memory.ts';
import type { PullRequestObservation, QuotaObservation } from '../model/observation.ts';
import { isObserving } from '../model/episode-observation.ts';
import type { Intent } from '../model/verdict.ts';
import { linkTo } from '../pull-request/wording.ts';

/** A pull request that is no longer open: a person's merge counts as well, a person's close is a rejection. */
export function completeClosed(
  observation: QuotaObservation,
  memory: ResizeMemory<Open>,
  pullRequest: PullRequestObservation,
  now: EpochMs,
): Intent {
  const { decision, closing } = memory.state;
  const { merge, closedBy, number } = pullRequest;
  const link = linkTo(pullRequest);
  const deletesBranch = !isObserving(observation, memory);
  if (merge !== null) {
    const detail = `${link} was merged by ${merge.by}`;
    const merged = { ...decision, merge };
    return {
      kind: 'mergedByPerson',
      phase: 'AwaitingSync',
      reason: 'MergedByHuman',
      detail,
      decision: merged,
      deletesBranch,
    };
  }
  const rejected = rejectionOf(memory.state);
  if (rejected !== null && deletesBranch) return closeRejected(observation, decision, rejected);
  // Headroom itself was about to close it; how far that came is not known here, and doing it again does no harm.
  if (rejected === null && closing !== null && deletesBranch) {
    const { reason, detail } = closing;
    return { ...closeUnneeded(decision, detail), reason };
  }
  const rejection = rejected ?? {
    limits: decidedLimits(decision),
    at: now,
    by: closedBy,
    reason: `pull request #${number} was closed`,
  };
  const detail = `${link} was closed by ${rejection.by}, which counts as a rejection`;
  return {
    kind: 'closedByPerson',
    phase: 'CoolingDown',
    reason: 'ClosedByHuman',
    detail,
    decision,
    rejection,
    deletesBranch,
  };
}

/** An operator's `reject` as the rejection of the decision's values. */
export function rejectionOf({ rejection, decision }: Unmerged): Rejection | null {
  if (rejection === null) return null;
  const { at, by, reason } = rejection;
  return { limits: decidedLimits(decision), at, by, reason };
}

/** Closes what an operator rejected, with who and why. */
export function closeRejected(observation: QuotaObservation, decision: UnmergedDecision, rejection: Rejection): Intent {
  const detail = `rejected by ${rejection.by}${rejection.reason === '' ? '' : `: ${rejection.reason}`}`;
  const until = formatInstant(rejection.at + observation.policy.rejectionCooldown);
  const comment = `Closed by Headroom: ${detail}. It is not asked for again before ${until} unless the need grows.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'Rejected', detail, decision, comment, rejection };
}

/** Closes what nobody needs any more; that is no rejection. */
export function closeUnneeded(decision: UnmergedDecision, detail: string): Intent {
  const comment = `Closed by Headroom: ${detail}, nothing has to be raised any more.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'DemandGone', detail, decision, comment, rejection: null };
}
