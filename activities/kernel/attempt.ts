import { asyncLocalStorage, type Info } from '@temporalio/activity';
import type { EpochMs, MonotonicMs } from '../../domain/kernel/time.ts';

const begun = new WeakMap<Info, MonotonicMs>();

/** To be called when an attempt begins. */
export function beginAttempt(): void {
  const info = asyncLocalStorage.getStore()?.info;
  if (info !== undefined && !begun.has(info)) begun.set(info, performance.now());
}

/**
 * A moment that is not later than now, by the clock of Temporal's server: when it gave the attempt away, and what has passed since the
 * attempt began. The clock of this process may be wrong. Null outside of an activity.
 */
export function notLaterThanNow(): EpochMs | null {
  const info = asyncLocalStorage.getStore()?.info;
  if (info === undefined) return null;
  const now = performance.now();
  return info.currentAttemptScheduledTimestampMs + Math.floor(now - (begun.get(info) ?? now));
}

/** Milliseconds from the first attempt of this activity to the present one, both by the clock of Temporal's server. */
export function elapsedAtServer(): number {
  const info = asyncLocalStorage.getStore()?.info;
  return info === undefined ? 0 : info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
}

/** Which attempt of the activity this is, from 1 on. */
export function currentAttempt(): number {
  return asyncLocalStorage.getStore()?.info.attempt ?? 1;
}
