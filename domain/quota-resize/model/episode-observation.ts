import type { ResizeMemory } from './memory.ts';
import type { PullRequestObservation, QuotaObservation } from './observation.ts';

/** What one look saw: the cluster, and the decision's pull request when it has one. */
export interface Seen {
  readonly quota: QuotaObservation;
  readonly pullRequest: PullRequestObservation | null;
}

/**
 * Whether nothing may be written to the forge. The annotations of a namespace or a quota that is gone cannot be read any
 * more, so what they said last holds.
 */
export function isObserving(observation: QuotaObservation, memory: ResizeMemory): boolean {
  const isThere = observation.namespace !== 'gone' && observation.quota !== null;
  return (isThere ? observation.policy.mode : (memory.mode ?? observation.policy.mode)) === 'observe';
}
