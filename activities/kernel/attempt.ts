import { asyncLocalStorage } from '@temporalio/activity';

/** Which attempt of the activity this is, from 1 on. */
export function currentAttempt(): number {
  return asyncLocalStorage.getStore()?.info.attempt ?? 1;
}
