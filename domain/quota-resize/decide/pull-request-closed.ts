/** How a pull request ends other than by our merge. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { decidedLimits, type Refusal, type UnmergedDecision } from '../model/decision.ts';
import type { Open, ResizeMemory, Unmerged } from '../model/memory.ts';
import type { PullRequestObservation, QuotaObservation } from '../model/observation.ts';
import { isObserving } from '../model/episode-observation.ts';
import type { Plan } from '../model/verdict.ts';
import { linkTo } from '../pull-request/wording.ts';

/** A pull request that is no longer open: a person's merge counts as well, a person's close is a refusal. */
export function settleClosed(
  look: QuotaObservation,
  memory: ResizeMemory<Open>,
  pullRequest: PullRequestObservation,
  now: EpochMs,
): Plan {
  const { decision, closing } = memory.state;
  const { merge, closedBy, number } = pullRequest;
  const link = linkTo(pullRequest);
  const deletesBranch = !isObserving(look, memory);
  if (merge !== null) {
    const merged = { ...decision, merge };
    const detail = `${link} was merged by ${merge.by}`;
    const reason = 'MergedByHuman';
    return { kind: 'settle', phase: 'AwaitingSync', reason, detail, decision: merged, refusal: null, deletesBranch };
  }
  const rejection = rejectionOf(memory.state);
  if (rejection !== null && deletesBranch) return closeRejected(look, decision, rejection);
  // Headroom itself was about to close it; how far that came is not known here, and doing it again does no harm.
  if (rejection === null && closing !== null && deletesBranch) {
    const { reason, detail } = closing;
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
export function rejectionOf({ rejection, decision }: Unmerged): Refusal | null {
  if (rejection === null) return null;
  const { at, by, reason } = rejection;
  return { limits: decidedLimits(decision), at, by, reason };
}

/** Closes what an operator rejected, with who and why. */
export function closeRejected(look: QuotaObservation, decision: UnmergedDecision, refusal: Refusal): Plan {
  const detail = `rejected by ${refusal.by}${refusal.reason === '' ? '' : `: ${refusal.reason}`}`;
  const until = formatInstant(refusal.at + look.policy.rejectionCooldown);
  const comment = `Closed by Headroom: ${detail}. It is not asked for again before ${until} unless the need grows.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'Rejected', detail, decision, comment, refusal };
}

/** Closes what nobody needs any more; that is no refusal. */
export function closeUnneeded(decision: UnmergedDecision, detail: string): Plan {
  const comment = `Closed by Headroom: ${detail}, nothing has to be raised any more.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'NeedGone', detail, decision, comment, refusal: null };
}
