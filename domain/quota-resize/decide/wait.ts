/** How long a hold may last when no reconcile request announces its end. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ResizeTimings } from '../model/timings.ts';

/**
 * A busy quota causes many reconcile requests a minute; more than one pass a minute would fill the history without new
 * information.
 */
const MAX_QUIET_MS = 60_000;

/** The shortest time between two passes, so that a tiny configured interval does not become a busy loop. */
const MIN_RECHECK_MS = 1_000;

/** When to reconcile again while a decision is held: no reconcile request announces that demand is gone. */
export function recheckAt(timings: ResizeTimings, now: EpochMs): EpochMs {
  return now + Math.max(timings.needGone, MIN_RECHECK_MS);
}

/** Until when reconcile requests for pressure are only noted and do not end the wait. */
export function quietUntil(timings: ResizeTimings, now: EpochMs): EpochMs {
  return now + Math.min(timings.updateInterval, MAX_QUIET_MS);
}
