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
  /** By command; those of annotations are read by the observation itself. */
  readonly overrides: readonly Override[];
  /** What was in effect at the last observation; null before the first. */
  readonly inEffect: InEffect | null;
  readonly isApproved: boolean;
  /** The last moment at which everything was as the schedule wants it; null where there was none yet. */
  readonly completedAt: EpochMs | null;
  readonly contested: Readonly<Record<string, EpochMs>>;
  readonly failing: readonly string[];
}

/** What is to be written, and what a second try needs to know to decide again. */
export interface Batch {
  readonly target: ScheduleTarget;
  readonly scheduleUid: string;
  readonly items: readonly PlanItem[];
  /** What the plan was made with: a workload that changed since is evaluated again with the same. */
  readonly observeInput: ObserveScheduleInput;
}

export interface ItemOutcome {
  /** `workloadName`. */
  readonly workload: string;
  /** `done`: it is as the plan wants it, whoever wrote it. `skipped`: evaluated again, it is to be left, or is gone. */
  readonly kind: 'done' | 'skipped' | 'failed';
  /** What failed, or why it was left. */
  readonly detail?: string;
}

export interface BatchOutcome {
  readonly outcomes: readonly ItemOutcome[];
}

/** Whether the workloads of one priority are as far as those of the next may begin. */
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
  /** The same key is the same Event, however often it is written. */
  readonly key: string;
}

export interface ScheduleStatusWrite {
  readonly target: ScheduleTarget;
  readonly scheduleUid: string;
  readonly observedGeneration: number;
  readonly ready: ReadyCondition;
  /** Every field is written as it is here; one that is absent goes. `conditions` and `observedGeneration` are the activity's. */
  readonly status: Omit<ScheduleStatus, 'conditions' | 'observedGeneration'>;
}

export interface LightsOutActivities {
  /** Reads the schedule, what it selects, and what other schedules own; computes the period and the plan. */
  observeSchedule(observeInput: ObserveScheduleInput): Promise<LightsOutObservation>;
  /**
   * Writes each item, several at once: one merge patch each (and one for each autoscaler), bound to the version that was
   * seen. On a conflict the workload is read and evaluated again. One that fails is an outcome and holds up no other.
   * @throws GloballyPaused, not retried, while Headroom is paused in the cluster.
   */
  ensureScaled(batch: Batch): Promise<BatchOutcome>;
  /**
   * Returns when every workload is ready (Up) or has no more pods than it is to have (Down), or is gone.
   * @throws NotYet, retried, until then.
   */
  awaitScaled(wait: ReadinessWait): Promise<void>;
  /** Puts the finalizer on, or takes it off. One that is gone, or another by UID, is left. */
  ensureFinalizer(input: {
    readonly target: ScheduleTarget;
    readonly scheduleUid: string;
    readonly isPresent: boolean;
  }): Promise<void>;
  /** Writes the status where it differs. */
  ensureScheduleStatus(write: ScheduleStatusWrite): Promise<void>;
  /** Writes an Event on the schedule, in the namespace default. */
  ensureScheduleEvent(event: ScheduleEvent): Promise<void>;
}
