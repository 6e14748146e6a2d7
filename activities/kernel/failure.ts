import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { FailureType } from '../../domain/kernel/failures.ts';

export interface FailureOptions {
  readonly type: FailureType;
  readonly message: string;
  readonly nonRetryable?: boolean;
  /** Milliseconds; the activity's retry policy decides when absent. */
  readonly nextRetryDelayMs?: number | undefined;
  /** Not an error: the worker neither counts nor logs it as one. */
  readonly benign?: boolean;
  readonly cause?: Error;
  /** JSON, for the workflow. */
  readonly details?: readonly unknown[];
}

/** A failure with a type of this product's closed set; retryable unless `nonRetryable`. */
export function failure(options: FailureOptions): ApplicationFailure {
  const { type, message, nonRetryable = false, nextRetryDelayMs, benign = false, cause, details } = options;
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable,
    ...(nextRetryDelayMs === undefined ? {} : { nextRetryDelay: Math.ceil(nextRetryDelayMs) }),
    ...(benign ? { category: ApplicationFailureCategory.BENIGN } : {}),
    ...(cause === undefined ? {} : { cause }),
    ...(details === undefined ? {} : { details: [...details] }),
  });
}
