import { decisionOf, type ResizeMemory } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import { end, type Intended } from './next-step.ts';
import { type Pass, passIn } from './pass.ts';
import { rejectionOf, completeClosed } from './pull-request-closed.ts';
import { isObserving } from '../model/episode-observation.ts';
import type { StatusFields } from '../model/verdict.ts';
import { linkTo } from './sentences.ts';

type Why = Pick<StatusFields, 'reason' | 'detail'>;

/** Why the episode has no quota any more: the namespace or the quota was deleted, or replaced; null while it exists. */
export function goneReason(observation: QuotaObservation, memory: ResizeMemory): Why | null {
  if (observation.namespace !== 'present') {
    return {
      reason: 'NamespaceGone',
      detail: `the namespace is ${observation.namespace === 'gone' ? 'deleted' : 'being deleted'}`,
    };
  }
  if (observation.quota === null) return { reason: 'QuotaGone', detail: 'the ResourceQuota is deleted' };
  const existing = decisionOf(memory)?.quotaUid ?? memory.quotaUid;
  if (existing !== null && existing !== observation.quota.uid) {
    return { reason: 'QuotaReplaced', detail: 'the ResourceQuota was deleted and a new one has its name' };
  }
  return null;
}

/** Gives up the current decision, closing an open pull request with a comment, and ends the episode. */
export function abandon(pass: Pass, { reason, detail }: Why): Intended {
  const { observation, memory, pullRequest } = pass;
  const { state } = memory;
  if (state.kind === 'Idle') return [memory, end(reason, detail)];
  if (state.kind === 'Merged') {
    return [memory, { kind: 'forget', phase: 'Ended', reason, detail, decision: state.decision }];
  }
  if (state.kind === 'Open' && pullRequest?.state === 'closed') {
    return [memory, completeClosed({ ...passIn(pass, state), pullRequest })];
  }
  const { decision } = state;
  const rejection = rejectionOf(state);
  const handedOver = reason === 'OptedOut' && pullRequest !== null && !pullRequest.headIsOurs;
  if (isObserving(observation, memory) || handedOver) {
    const left = decision.pullRequest === null ? '' : `, ${linkTo(decision.pullRequest)} is left to people`;
    return [memory, { kind: 'release', phase: 'Ended', reason, detail: `${detail}${left}`, decision, rejection }];
  }
  const comment = `Closed by Headroom: ${detail}.`;
  return [memory, { kind: 'close', phase: 'Ended', reason, detail, decision, comment, rejection }];
}
