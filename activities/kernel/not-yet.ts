import { asyncLocalStorage } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import { type PollPace, pollDelay } from '../../domain/kernel/poll-pace.ts';
import { failure } from './failure.ts';

/**
 * The failure of an activity that waits for something. It is not an error: the activity is retried at the given pace,
 * without history events, warnings or failure metrics.
 *
 * @param pace relative to the activity's first attempt; a number is the delay in milliseconds before the next attempt.
 */
export function notYet(message: string, pace: PollPace | number): ApplicationFailure {
  const nextRetryDelayMs = typeof pace === 'number' ? pace : pollDelay(pace, elapsed());
  return failure({ type: 'NotYet', message, nextRetryDelayMs, benign: true });
}

/** Milliseconds since the activity was scheduled, over all attempts. */
export function elapsed(): number {
  const firstAsked = asyncLocalStorage.getStore()?.info.scheduledTimestampMs;
  return firstAsked === undefined ? 0 : Date.now() - firstAsked;
}
