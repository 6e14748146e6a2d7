/**
 * Holds while the counted usage is unavailable. A raise on unverified numbers costs more than one that is delayed until
 * a starter is back.
 */
import { uncountedDetail } from '../demand/counted-usage.ts';
import type { Decision } from '../model/decision.ts';
import type { ResizeMemory } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Intended, MakeHold } from './next-step.ts';
import { notifyOnce } from './notify-once.ts';

const ABOUT = 'uncounted';

/**
 * Reports once, in a Warning Event on the quota, that the counts are unavailable, and holds. Null when the counts are
 * there or the mode does not ask for them.
 *
 * @param waiting makes the hold with the given detail.
 */
export function withoutCounts(
  observation: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision | null,
  waiting: MakeHold,
): Intended | null {
  const detail = uncountedDetail(observation);
  if (detail === null) return null;
  const status = { phase: 'Blocked', reason: 'UsageNotCounted', detail } as const;
  const event = { reason: status.reason, message: detail } as const;
  const notice = notifyOnce(memory, status, { decision, about: ABOUT, comment: null, event });
  return [memory, notice ?? waiting(status.phase, status.reason, detail)];
}
