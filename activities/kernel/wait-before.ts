import { setTimeout as sleep } from 'node:timers/promises';
import { asyncLocalStorage } from '@temporalio/activity';
import { currentAttempt } from './attempt.ts';

/**
 * Waits in the first attempt of an activity, for a workflow that waits for less than a second: the timers of Temporal's server
 * are a second late. It ends at once with the activity's cancellation.
 */
export async function waitBefore(milliseconds = 0): Promise<void> {
  if (milliseconds <= 0 || currentAttempt() > 1) return;
  const signal = asyncLocalStorage.getStore()?.cancellationSignal;
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
}
