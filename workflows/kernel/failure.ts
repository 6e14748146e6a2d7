import { ActivityFailure, ApplicationFailure, RetryState, TimeoutFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import { type FailureType, failureTypes } from '../../domain/kernel/failures.ts';

/** An activity failure that is final: either a retry cannot help, or the retries ran out of time. */
export interface FailedActivity {
  /** What the activity failed with, or that it got no answer in time; `Other`: nothing that an activity throws by itself. */
  readonly type: FailureType | 'TimedOut' | 'Other';
  /** A sentence for people. */
  readonly message: string;
  /** The details of the `ApplicationFailure`; JSON. */
  readonly details: readonly unknown[];
}

/**
 * Whether an error results from a cancellation. An activity attempt may fail before the worker hears of the
 * cancellation; the error is then that of the attempt, the activity is not retried, and only `retryState` tells that it
 * was cancelled.
 */
export function isCancelled(error: unknown): boolean {
  return (
    isCancellation(error) || (error instanceof ActivityFailure && error.retryState === RetryState.CANCEL_REQUESTED)
  );
}

/** The failure of an activity; null for every other error, such as the cancellation of a scope or of the workflow. */
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
