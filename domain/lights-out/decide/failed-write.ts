/** A write that failed as a whole, and not for one workload: what people read of it, and who has to move. */
import { sentence } from '../../kernel/sentence.ts';
import type { ReadyCondition } from './observation.ts';
import { FAILED_WRITES } from './sentences.ts';
import type { LightsOutEvent, LightsOutReason } from './verdict.ts';

export type FailedWrite = keyof typeof FAILED_WRITES;

export interface FailedWriteReport {
  readonly reason: LightsOutReason;
  readonly detail: string;
  readonly ready: ReadyCondition;
  readonly event: LightsOutEvent;
}

/** @param why what the API server answers: it names the policy or the right, and so who has to move. */
export function failedWriteReport(what: FailedWrite, why: string, isDeleting: boolean): FailedWriteReport {
  const detail = `${FAILED_WRITES[what]}: ${why}`;
  const key = `${what} ${why}`;
  return isDeleting
    ? {
        reason: 'CleanupFailed',
        detail,
        ready: { status: 'False', reason: 'CleanupFailed', message: sentence(detail) },
        event: {
          type: 'Warning',
          reason: 'CleanupPartialFailure',
          message: detail,
          key: `CleanupPartialFailure ${key}`,
        },
      }
    : {
        reason: 'ScalingFailed',
        detail,
        ready: { status: 'False', reason: 'ReconcileFailed', message: sentence(detail) },
        event: { type: 'Warning', reason: 'ScalingFailed', message: detail, key: `ScalingFailed ${key}` },
      };
}
