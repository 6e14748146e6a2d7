import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { InEffect } from '../../domain/lights-out/schedule/in-effect.ts';
import type { ScheduleState } from '../../domain/lights-out/schedule/names.ts';
import type { LightsOutObservation, ReadyCondition } from '../../domain/lights-out/decide/observation.ts';
import type { Override } from '../../domain/lights-out/schedule/override.ts';
import type { PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import type { ScheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';

/** What an observation needs from the memory of the workflow. */
export interface ObserveScheduleInput {
  readonly target: ScheduleTarget;
  /** Overrides by command; the observation reads those in annotations itself. */
  readonly overrides: readonly Override[];
  /** The state in effect at the last observation; null before the first. */
  readonly inEffect: InEffect | null;
  readonly isApproved: boolean;
  /** When everything was last as the schedule wants it; null when it never was. */
  readonly completedAt: EpochMs | null;
  readonly contested: Readonly<Record<string, EpochMs>>;
  readonly failing: readonly string[];
}

/** The items to write, and the data for evaluating a changed workload again. */
export interface Batch {
  readonly target: ScheduleTarget;
  readonly scheduleUid: string;
  readonly items: readonly PlanItem[];
  /** The input of the plan: a workload that changed since is evaluated again with the same input. */
  readonly observeInput: ObserveScheduleInput;
}

export interface ItemOutcome {
  /** `workloadName`. */
  readonly workload: string;
  /**
   * `done`: the workload is as planned, whoever changed it. `skipped`: after a new evaluation it is to be left alone,
   * or it is gone.
   */
  readonly kind: 'done' | 'skipped' | 'failed';
  /** Why it failed or was left alone. */
  readonly detail?: string;
}

export interface BatchOutcome {
  readonly outcomes: readonly ItemOutcome[];
}

/** The wait for the workloads of one priority before the next priority begins. */
export interface ReadinessWait {
  readonly target: ScheduleTarget;
  readonly direction: ScheduleState;
  readonly items: readonly Pick<PlanItem, 'workload' | 'to'>[];
}

export interface ScheduleEvent {
  readonly target: ScheduleTarget;
  readonly scheduleUid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Writes with the same key give one Event. */
  readonly key: string;
}

export interface ScheduleStatusWrite {
  readonly target: ScheduleTarget;
  readonly scheduleUid: string;
  readonly observedGeneration: number;
  readonly ready: ReadyCondition;
  /**
   * Every given field is written and absent fields are removed; the activity sets `conditions` and
   * `observedGeneration`.
   */
  readonly status: Omit<ScheduleStatus, 'conditions' | 'observedGeneration'>;
}

export interface LightsOutActivities {
  /**
   * Reads the schedule, the selected objects, and the workloads of other schedules; computes the period and the plan.
   */
  observeSchedule(observeInput: ObserveScheduleInput): Promise<LightsOutObservation>;
  /**
   * Writes the items, several at once, each with one merge patch (and one per autoscaler) bound to the observed
   * resourceVersion. After a conflict the workload is read and evaluated again. A failed item is an outcome and does
   * not stop the others.
   * @throws GloballyPaused, not retried, while Headroom is paused in the cluster.
   */
  ensureScaled(batch: Batch): Promise<BatchOutcome>;
  /**
   * Returns when every workload is ready (Up), has no more pods than planned (Down), or is gone.
   * @throws NotYet, retried, until then.
   */
  awaitScaled(wait: ReadinessWait): Promise<void>;
  /** Adds or removes the finalizer. A schedule that is gone or has another UID is left alone. */
  ensureFinalizer(input: {
    readonly target: ScheduleTarget;
    readonly scheduleUid: string;
    readonly isPresent: boolean;
  }): Promise<void>;
  /** Writes the status if it differs. */
  ensureScheduleStatus(write: ScheduleStatusWrite): Promise<void>;
  /** Writes an Event on the schedule, in the namespace `default`. */
  ensureScheduleEvent(event: ScheduleEvent): Promise<void>;
}
