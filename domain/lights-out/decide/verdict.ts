import type { EpochMs } from '../../kernel/time.ts';
import type { ReadyCondition } from './observation.ts';
import type { Approving } from '../workload/approved.ts';
import type { PlanItem } from '../workload/evaluation.ts';

/** The phase of a schedule's workflow; the value of the search attribute `HeadroomPhase`. */
export type LightsOutPhase =
  | 'Starting'
  | 'Up'
  | 'Down'
  | 'ScalingUp'
  | 'ScalingDown'
  | 'AwaitingApproval'
  | 'DryRun'
  | 'Suspended'
  | 'Paused'
  | 'Invalid'
  | 'CleaningUp'
  | 'Ended';

/** The reason of a verdict: one word that is the same in details, the condition Ready, logs and tests. */
export type LightsOutReason =
  | 'FirstObservation'
  | 'AsScheduled'
  | 'Scaling'
  | 'ScalingFailed'
  | 'ApprovalNeeded'
  | 'DryRun'
  | 'Suspended'
  | 'Paused'
  | 'GloballyPaused'
  | 'InvalidSchedule'
  | 'ScheduleDeleted'
  | 'ScheduleGone'
  | 'CleanupFailed'
  | 'ReadFailed';

/** An Event to be written. */
export interface LightsOutEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** For one key, one Event is written for as long as its condition holds. */
  readonly key: string;
}

interface VerdictStatus {
  readonly phase: LightsOutPhase;
  readonly reason: LightsOutReason;
  /** One sentence. */
  readonly detail: string;
  /** Further sentences for the details. */
  readonly facts: readonly string[];
  /** Null when there is no schedule to report on. */
  readonly ready: ReadyCondition | null;
  readonly events: readonly LightsOutEvent[];
}

export type LightsOutVerdict = VerdictStatus &
  (
    | { readonly kind: 'end' }
    /** The finalizer is added before the first write and removed after the last. */
    | { readonly kind: 'finalizer'; readonly isPresent: boolean }
    /** Somebody has approved what is in scope, which is kept first. */
    | { readonly kind: 'approve'; readonly approval: Approving }
    | { readonly kind: 'scale'; readonly items: readonly PlanItem[] }
    | { readonly kind: 'wait'; readonly until: EpochMs | null }
  );
