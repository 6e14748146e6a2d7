import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { InEffect } from '../../domain/lights-out/schedule/in-effect.ts';
import type { ScheduleState } from '../../domain/lights-out/schedule/names.ts';
import type { PackedObservation, ReadyCondition } from '../../domain/lights-out/decide/observation.ts';
import type { ItemGroup } from '../../domain/lights-out/decide/packed.ts';
import type { IdleByNamespace } from '../../domain/lights-out/decide/savings.ts';
import type { ScheduleVersion } from '../../domain/lights-out/decide/schedule-version.ts';
import type { Override } from '../../domain/lights-out/schedule/override.ts';
import type { JoinedWorkloads, Unmarked } from '../../domain/lights-out/workload/unmarked.ts';
import type { ScheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';

/** What an observation needs from the memory of the workflow. */
export interface ObserveScheduleInput {
  readonly target: ScheduleTarget;
  /** Overrides by command; the observation reads those in annotations itself. */
  readonly overrides: readonly Override[];
  /** The state in effect at the last observation; null before the first. */
  readonly inEffect: InEffect | null;
  readonly isApproved: boolean;
  /** Whether a set of workloads is approved, and not whatever is selected. Absent: as its status says. */
  readonly isBound?: boolean;
  /** When everything was last as the schedule wants it; null when it never was. */
  readonly completedAt: EpochMs | null;
  readonly contested: Readonly<Record<string, EpochMs>>;
  /** Namespaces that came into scope in this night, and when. Absent: none. */
  readonly joined?: Readonly<Record<string, EpochMs>>;
  /** The same of single workloads. Absent: none. */
  readonly joinedWorkloads?: readonly JoinedWorkloads[];
  /** What was to be asleep and was not, at the last observation. Absent before that, and for a batch. */
  readonly unmarked?: Unmarked;
  readonly failing: readonly string[];
  /** The newest versions that the workflow itself has written, by resource: no cache may be behind them. */
  readonly atLeast?: Readonly<Record<string, string>>;
}

/** The items to write, and the data for evaluating each of them again. */
export interface Batch {
  readonly target: ScheduleTarget;
  readonly scheduleUid: string;
  /** What of the schedule the plan was made by. Absent in the history of an earlier release. */
  readonly schedule?: ScheduleVersion | null;
  readonly items: readonly ItemGroup[];
  /** The input of the plan, of the contested and the failing workloads only those of the batch. */
  readonly observeInput: ObserveScheduleInput;
  /** UIDs of entries of the memory that the plan found to say nothing any more. Each is looked at again. */
  readonly outdated?: readonly string[];
}

/** An item that is not as planned. */
export interface ItemOutcome {
  /** `workloadName`. */
  readonly workload: string;
  /**
   * `skipped`: by the evaluation at the moment of the write it is to be left alone, or it is gone. `unstarted`: the
   * batch was interrupted before its turn.
   */
  readonly kind: 'skipped' | 'failed' | 'unstarted';
  /** Why it failed or was left alone. */
  readonly detail?: string;
}

export interface BatchOutcome {
  /** The newest resourceVersion that was written, by resource (`deployments`). */
  readonly versions: Readonly<Record<string, string>>;
  /** The schedule is another one than the plan was made by: edited, deleted, woken. Absent: it is not. */
  readonly isScheduleChanged?: true;
  /** What does not run any more by what was written, and with fewer than 0 replicas what runs again. Absent: nothing. */
  readonly idle?: IdleByNamespace;
  /** Every other item of the batch is as planned, whoever changed it. */
  readonly outcomes: readonly ItemOutcome[];
}

/** What somebody has approved. */
export interface ApprovalInput {
  readonly target: ScheduleTarget;
  readonly scheduleUid: string;
  readonly observeInput: ObserveScheduleInput;
  readonly at: EpochMs;
  /** Of the workloads that the person saw; null: whatever is in scope now. */
  readonly digest: string | null;
}

export interface ApprovalOutcome {
  /** `outdated`: other workloads are in scope than the person saw, and nothing was approved. */
  readonly kind: 'approved' | 'outdated';
  /** Of what is in scope now, and how many they are. */
  readonly digest: string;
  readonly workloads: number;
}

/** The wait for the workloads of one priority before the next priority begins. */
export interface ReadinessWait {
  readonly target: ScheduleTarget;
  readonly direction: ScheduleState;
  /** As `packItem` has them. */
  readonly workloads: readonly string[];
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

/** What the starters answer from their caches, beside the workers. */
export type LightsOutCacheActivities = Pick<LightsOutActivities, 'observeSchedule'>;

export interface LightsOutActivities {
  /**
   * Reads the schedule, the selected objects, and the workloads of other schedules; computes the period and the plan.
   */
  observeSchedule(observeInput: ObserveScheduleInput): Promise<PackedObservation>;
  /**
   * Reads each item, evaluates it again, and writes it with one merge patch (and one per autoscaler) bound to the
   * resourceVersion that was read; several items at once. After a conflict it begins anew. A failed item is an outcome
   * and does not stop the others.
   * @throws GloballyPaused, not retried, while Headroom is paused in the cluster.
   */
  ensureScaled(batch: Batch): Promise<BatchOutcome>;
  /**
   * Returns when every workload is ready (Up), has no more pods than planned (Down), or is gone.
   * @throws NotYet, retried, until then.
   */
  awaitScaled(wait: ReadinessWait): Promise<void>;
  /** Keeps the workloads that are in scope now as approved, with those that were approved before. */
  ensureApproved(input: ApprovalInput): Promise<ApprovalOutcome>;
  /**
   * Adds or removes the finalizer. A schedule that is gone or has another UID is left alone; only one that is being deleted loses it.
   * @throws PolicyChanged, not retried, while the schedule has something to wake.
   */
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
