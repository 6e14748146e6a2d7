/** How long a wait may be when something that nobody announces could end it. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ResizeTimings } from '../model/timings.ts';

/**
 * A busy quota is asked to reconcile many times a minute; more looks than one a minute would fill the history and tell
 * nothing new.
 */
const MAX_QUIET_MS = 60_000;

/** The shortest wait before the next pass, so that a timing of next to nothing does not turn waiting into a loop. */
const MIN_RECHECK_MS = 1_000;

/** When to look again at a decision in hand: nothing announces that a need has gone. */
export function recheckAt(timings: ResizeTimings, now: EpochMs): EpochMs {
  return now + Math.max(timings.needGone, MIN_RECHECK_MS);
}

/** Until when pressure is noted and wakes nobody. */
export function quietUntil(timings: ResizeTimings, now: EpochMs): EpochMs {
  return now + Math.min(timings.updateInterval, MAX_QUIET_MS);
}
