import type { ResizeMemory } from './memory.ts';
import type { PullRequestObservation, QuotaObservation } from './observation.ts';

/** The observation of one pass: the cluster, and the decision's pull request if it has one. */
export interface Seen {
  readonly observation: QuotaObservation;
  readonly pullRequest: PullRequestObservation | null;
}

/**
 * Whether nothing may be written to the forge. When the namespace or the quota is gone, its annotations cannot be read,
 * so the last known mode holds.
 */
export function isObserving(observation: QuotaObservation, memory: ResizeMemory): boolean {
  const isThere = observation.namespace !== 'gone' && observation.quota !== null;
  return (isThere ? observation.policy.mode : (memory.mode ?? observation.policy.mode)) === 'observe';
}
