/** How an episode continues when its pull request was closed or merged by somebody else. */
import { formatInstant } from '../../kernel/time.ts';
import { decidedLimits, type Rejection, type UnmergedDecision } from '../model/decision.ts';
import type { Unmerged } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { OpenPass } from './pass.ts';
import { isObserving } from '../model/episode-observation.ts';
import type { Intent } from '../model/verdict.ts';
import { linkTo } from './sentences.ts';

/**
 * The pull request is not open any more: a merge by a person counts like Headroom's, a close by a person is a
 * rejection. So does a close by Headroom's own account of which this run knows nothing: an earlier one may have carried out
 * a person's no, or a person has used the account.
 */
export function completeClosed({ observation, memory, pullRequest, now }: OpenPass): Intent {
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
      reason: merge.isOwn ? 'SyncPending' : 'MergedByHuman',
      detail,
      decision: merged,
      deletesBranch,
    };
  }
  const rejected = rejectionOf(memory.state);
  if (rejected !== null && deletesBranch) return closeRejected(observation, decision, rejected);
  // Headroom itself was about to close the pull request. How many of the steps were done is unknown, and repeating them
  // is harmless.
  if (rejected === null && closing !== null && deletesBranch) {
    const { reason, detail, rejection = null } = closing;
    return {
      kind: 'close',
      phase: 'CoolingDown',
      reason,
      detail,
      decision,
      comment: closeComment(detail),
      rejection,
    };
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

/** An operator's `reject` as a rejection of the decision's values; null when there was none. */
export function rejectionOf({ rejection, decision }: Unmerged): Rejection | null {
  if (rejection === null) return null;
  const { at, by, reason } = rejection;
  return { limits: decidedLimits(decision), at, by, reason };
}

/** Closes the pull request after an operator's `reject`, naming the operator and the reason. */
export function closeRejected(observation: QuotaObservation, decision: UnmergedDecision, rejection: Rejection): Intent {
  const detail = `rejected by ${rejection.by}${rejection.reason === '' ? '' : `: ${rejection.reason}`}`;
  const until = formatInstant(rejection.at + observation.policy.rejectionCooldown);
  const comment = `Closed by Headroom: ${detail}. Headroom does not ask for it again before ${until} unless the demand grows.`;
  return { kind: 'close', phase: 'CoolingDown', reason: 'Rejected', detail, decision, comment, rejection };
}

function closeComment(detail: string): string {
  return `Closed by Headroom: ${detail}.`;
}

/** Closes a decision that nothing needs any more, or not that much; this is no rejection of its values. */
export function closeUnneeded(decision: UnmergedDecision, detail: string): Intent {
  const comment = closeComment(detail);
  return {
    kind: 'close',
    phase: 'CoolingDown',
    reason: 'DemandGone',
    detail,
    decision,
    comment,
    rejection: null,
  };
}
