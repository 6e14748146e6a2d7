import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import { type FailureType, failureTypes } from '../../domain/kernel/failures.ts';

/** Why an activity failed for good: what no retry can help, or what did not get through for as long as it was tried. */
export interface FailedActivity {
  /** What the activity failed with, or that it got no answer in time; `Other`: nothing that an activity throws by itself. */
  readonly type: FailureType | 'TimedOut' | 'Other';
  /** For people. */
  readonly message: string;
  /** What the activity gave along, JSON. */
  readonly details: readonly unknown[];
}

/**
 * Whether an error is the end of something that was cancelled. An activity that is asked to end, and whose attempt fails
 * before it hears of that, ends with what the attempt failed with: it is not tried again, and only `retryState` says why.
 */
export function isCancelled(error: unknown): boolean {
  return (
    isCancellation(error) || (error instanceof ActivityFailure && error.retryState === RetryState.CANCEL_REQUESTED)
  );
}

/** What an activity failed with; null for every other error, such as the cancellation of a scope or of the workflow. */
export function failedActivity(error: unknown): FailedActivity | null {
  if (isCancelled(error) || !(error instanceof ActivityFailure)) return null;
  const { cause } = error;
  if (cause instanceof TimeoutFailure) {
    const last = cause.cause instanceof Error ? cause.cause.message : cause.message;
    return { type: 'TimedOut', message: `no attempt succeeded in time: ${last}`, details: [] };
  }
  if (cause instanceof ApplicationFailure) {
    return { type: typeOf(cause), message: cause.message, details: cause.details ?? [] };
  }
  return { type: 'Other', message: cause?.message ?? error.message, details: [] };
}

function typeOf({ type }: ApplicationFailure): FailureType | 'Other' {
  return type !== undefined && type !== null && isFailureType(type) ? type : 'Other';
}

function isFailureType(type: string): type is FailureType {
  return Object.hasOwn(failureTypes, type);
}
