import type { Pause } from '../../kernel/pause.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { InEffect } from '../schedule/in-effect.ts';
import type { Override } from '../schedule/override.ts';
import type { Period } from '../schedule/period.ts';
import type { Plan } from './plan.ts';
import type { Condition, ScheduleSpec, ScheduleStatus } from '../schedule/schedule.ts';
import type { ScheduleProblem } from '../schedule/schedule-problem.ts';

/** Durations that the worker's configuration sets, in milliseconds. */
export interface LightsOutTimings {
  /** After the first failure of a workload; twice as long each time. */
  readonly retryMin: number;
  readonly retryMax: number;
  /** How long a workload that GitOps scaled up again is left alone after it was put to sleep again; twice as long each time. */
  readonly contestedMin: number;
  readonly contestedMax: number;
}

/** A schedule as it was found. */
export interface SeenSchedule {
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly createdAt: EpochMs;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** Null where it is invalid: `problems` says why. */
  readonly spec: ScheduleSpec | null;
  readonly problems: readonly ScheduleProblem[];
  /** Of its annotations wake-until and sleep-until, as far as they can be read and are not over. */
  readonly overrides: readonly Override[];
  readonly status: ScheduleStatus;
}

/** A schedule and everything in its scope at one moment. Moments were computed by the activity, so that a replay agrees. */
export interface LightsOutObservation {
  readonly at: EpochMs;
  readonly timings: LightsOutTimings;
  /** Null: it does not exist (any more). */
  readonly schedule: SeenSchedule | null;
  /** Null where the schedule is invalid or gone. */
  readonly period: Period | null;
  /** Null with the period. */
  readonly inEffect: InEffect | null;
  /**
   * Moments of the period as people of the schedule's zone read them (`formatMoment` of moment.ts, which a workflow must not
   * call); null where there is no such moment.
   */
  readonly local: {
    readonly next: string | null;
    readonly nextUpscale: string | null;
    readonly nextDownscale: string | null;
  };
  /**
   * What is to be done. Of an invalid schedule: nothing. Of one that is deleted or gone: to restore all that it put down.
   * Null only where there is a schedule that cannot be read.
   */
  readonly plan: Plan | null;
  /** Who paused Headroom in this cluster, or this controller, in words; null when nobody did. */
  readonly globalPause: string | null;
  /** The pause of the schedule itself. */
  readonly paused: Pause | null;
}

/** The condition Ready as a verdict has it; the activity fills in when it changed. */
export type ReadyCondition = Pick<Condition, 'status' | 'reason' | 'message'>;
