import type { EpochMs } from '../../kernel/time.ts';
import type { ReadyCondition } from './observation.ts';
import type { PlanItem } from '../workload/evaluation.ts';

/** Where the workflow of a schedule stands; the value of the search attribute `HeadroomPhase`. */
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

/** Why a verdict is what it is: one word that is the same in details, the condition Ready, logs and tests. */
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

/** An Event that is due. */
export interface LightsOutEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Of the same key one Event is written, for as long as it stays true. */
  readonly key: string;
}

interface VerdictStatus {
  readonly phase: LightsOutPhase;
  readonly reason: LightsOutReason;
  /** One sentence. */
  readonly detail: string;
  /** Further sentences for the details. */
  readonly facts: readonly string[];
  /** Null where there is no schedule to say it on. */
  readonly ready: ReadyCondition | null;
  readonly events: readonly LightsOutEvent[];
}

export type LightsOutVerdict = VerdictStatus &
  (
    | { readonly kind: 'end' }
    /** The finalizer goes on before the first write, and off after the last. */
    | { readonly kind: 'finalizer'; readonly isPresent: boolean }
    | { readonly kind: 'scale'; readonly items: readonly PlanItem[] }
    | { readonly kind: 'wait'; readonly until: EpochMs | null }
  );
