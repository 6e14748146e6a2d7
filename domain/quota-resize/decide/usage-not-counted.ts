/**
 * What to do while the counted numbers are not to be had: nothing. A raise that nobody checked costs more than one that
 * comes when a starter is back.
 */
import { uncountedDetail } from '../demand/counted-usage.ts';
import type { Decision } from '../model/decision.ts';
import type { ResizeMemory } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Intended } from './next-step.ts';
import type { Intent } from '../model/verdict.ts';

const ABOUT = 'uncounted';

/**
 * Tells people once, in a Warning Event on the quota, and waits from then on. Null when the numbers are there, or nobody
 * asks for them.
 *
 * @param waiting the wait with the detail that it is given.
 */
export function withoutCounts(
  observation: QuotaObservation,
  memory: ResizeMemory,
  decision: Decision | null,
  waiting: (phase: 'Blocked', reason: 'UsageNotCounted', detail: string) => Intent,
): Intended | null {
  const detail = uncountedDetail(observation);
  if (detail === null) return null;
  const phase = 'Blocked';
  const reason = 'UsageNotCounted';
  if (memory.emitted.includes(ABOUT)) return [memory, waiting(phase, reason, detail)];
  const event = { reason, message: detail } as const;
  return [memory, { kind: 'notify', phase, reason, detail, decision, about: ABOUT, comment: null, event }];
}
