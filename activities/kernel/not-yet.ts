import { asyncLocalStorage } from '@temporalio/activity';
import type { ApplicationFailure } from '@temporalio/common';
import { type PollPace, pollDelay } from '../../domain/kernel/poll-pace.ts';
import { failure } from './failure.ts';

/**
 * The failure of an activity that waits for something which is not there yet. It is no error: the activity is retried at
 * the pace given, without a line of history, a warning or a failure metric.
 *
 * @param pace counted from the activity's first attempt; a number is the milliseconds until the next one.
 */
export function notYet(message: string, pace: PollPace | number): ApplicationFailure {
  const nextRetryDelayMs = typeof pace === 'number' ? pace : pollDelay(pace, elapsed());
  return failure({ type: 'NotYet', message, nextRetryDelayMs, benign: true });
}

/** Milliseconds since the activity was scheduled, whichever attempt this is. */
function elapsed(): number {
  const firstAsked = asyncLocalStorage.getStore()?.info.scheduledTimestampMs;
  return firstAsked === undefined ? 0 : Date.now() - firstAsked;
}
