import type { EpochMs } from '../../kernel/time.ts';
import { decisionOf, inState, type ResizeMemory } from '../model/memory.ts';
import type { PullRequestObservation, QuotaObservation } from '../model/observation.ts';
import { end, type Planned } from './next-step.ts';
import { rejectionOf, settleClosed } from './pull-request-closed.ts';
import { isObserving } from '../model/episode-observation.ts';
import type { Reason } from '../model/verdict.ts';
import { linkTo } from '../pull-request/wording.ts';

/** Why there is no quota any more that the decision could be about, or null while there is. */
export function goneReason(look: QuotaObservation, memory: ResizeMemory): { reason: Reason; detail: string } | null {
  if (look.namespace !== 'present') {
    return {
      reason: 'NamespaceGone',
      detail: `the namespace is ${look.namespace === 'gone' ? 'deleted' : 'being deleted'}`,
    };
  }
  if (look.quota === null) return { reason: 'QuotaGone', detail: 'the ResourceQuota is deleted' };
  const known = decisionOf(memory)?.quotaUid ?? memory.quotaUid;
  if (known !== null && known !== look.quota.uid) {
    return { reason: 'QuotaReplaced', detail: 'the ResourceQuota was deleted and another one has its name' };
  }
  return null;
}

/** Gives up what is in hand (closing an open pull request with a word) and ends. */
export function abandon(
  look: QuotaObservation,
  memory: ResizeMemory,
  pullRequest: PullRequestObservation | null,
  reason: Reason,
  detail: string,
  now: EpochMs,
): Planned {
  const { state } = memory;
  if (state.kind === 'Idle') return [memory, end(reason, detail)];
  if (state.kind === 'Merged') {
    const { decision } = state;
    return [memory, { kind: 'settle', phase: 'Ended', reason, detail, decision, refusal: null, deletesBranch: false }];
  }
  if (state.kind === 'Open' && pullRequest?.state === 'closed') {
    return [memory, settleClosed(look, inState(memory, state), pullRequest, now)];
  }
  const { decision } = state;
  const refusal = rejectionOf(state);
  const handedOver = reason === 'OptedOut' && pullRequest !== null && !pullRequest.headIsOurs;
  if (isObserving(look, memory) || handedOver) {
    const left = decision.pullRequest === null ? '' : `, ${linkTo(decision.pullRequest)} is left to people`;
    return [memory, { kind: 'release', phase: 'Ended', reason, detail: `${detail}${left}`, decision, refusal }];
  }
  const comment = `Closed by Headroom: ${detail}.`;
  return [memory, { kind: 'close', phase: 'Ended', reason, detail, decision, comment, refusal }];
}
