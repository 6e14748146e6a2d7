import type { EpochMs } from '../../kernel/time.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { ClusterPlan } from '../model/plan.ts';

/**
 * When time alone changes a plan: a node has been unneeded for long enough, a window ends, or a group may ask for machines again.
 *
 * @param groups that it was made for.
 * @returns a moment after that of the plan, which may be over by now: a plan takes a while, and what has changed meanwhile is only in the
 *   next one. Null where no clock changes it.
 */
export function nextMoment(
  { at, kept }: Pick<ClusterPlan, 'at' | 'kept'>,
  groups: readonly Pick<NodeGroup, 'backoff' | 'lastScaleUp' | 'scaleUp'>[],
): EpochMs | null {
  const ends = [
    ...kept.map(({ until }) => until),
    ...groups.map(({ backoff }) => backoff?.until ?? null),
    ...groups.map(({ lastScaleUp, scaleUp }) => (lastScaleUp === null ? null : lastScaleUp + scaleUp.cooldownMs)),
  ];
  return ends.reduce(
    (soonest, end) => (end !== null && end > at && (soonest === null || end < soonest) ? end : soonest),
    null,
  );
}
