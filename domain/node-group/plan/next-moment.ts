import type { EpochMs } from '../../kernel/time.ts';
import type { ClusterPlan } from '../model/plan.ts';

/**
 * When time alone changes a plan: a node has been unneeded for long enough, or a window ends.
 *
 * @returns a moment after that of the plan, which may be over by now: a plan takes a while, and what has changed meanwhile is only in the
 *   next one. Null where no clock changes it.
 */
export function nextMoment({ at, kept }: Pick<ClusterPlan, 'at' | 'kept'>): EpochMs | null {
  return kept.reduce<EpochMs | null>(
    (soonest, { until }) => (until !== null && until > at && (soonest === null || until < soonest) ? until : soonest),
    null,
  );
}
