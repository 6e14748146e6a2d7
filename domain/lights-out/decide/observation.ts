import type { PauseInForce } from '../../kernel/pause.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { InEffect } from '../schedule/in-effect.ts';
import type { Override } from '../schedule/override.ts';
import type { Period } from '../schedule/period.ts';
import type { PackedPlan } from './packed-plan.ts';
import type { Plan } from './plan.ts';
import type { Condition } from '../../kernel/condition.ts';
import type { ScheduleSpec, ScheduleStatus } from '../schedule/schedule.ts';
import type { ScheduleProblem } from '../schedule/schedule-problem.ts';

/** Durations that the worker's configuration sets, in milliseconds. */
export interface LightsOutTimings {
  /** Backoff after the first failure of a workload; it doubles each time. */
  readonly retryMin: number;
  readonly retryMax: number;
  /**
   * How long a workload that GitOps scaled up again is left alone before it is put to sleep again; it doubles each
   * time.
   */
  readonly contestedMin: number;
  readonly contestedMax: number;
}

/** A schedule as observed. */
export interface SeenSchedule {
  readonly uid: string;
  readonly generation: number;
  readonly resourceVersion: string;
  readonly createdAt: EpochMs;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  /** Null when the schedule is invalid; `problems` gives the reasons. */
  readonly spec: ScheduleSpec | null;
  readonly problems: readonly ScheduleProblem[];
  /** Overrides from its annotations wake-until and sleep-until that are valid and not over. */
  readonly overrides: readonly Override[];
  readonly status: ScheduleStatus;
  /** What its calendars are, by `calendarDays`, and what is wrong with them. Absent: it has none. */
  readonly calendars?: { readonly digest: string; readonly problems: readonly string[] };
}

/**
 * A schedule and everything in its scope at one moment. The activity computes all moments, so that replays are
 * deterministic.
 */
export interface LightsOutObservation {
  readonly at: EpochMs;
  readonly timings: LightsOutTimings;
  /** Null: the schedule does not exist (any more). */
  readonly schedule: SeenSchedule | null;
  /** Null when the schedule is invalid or gone. */
  readonly period: Period | null;
  /** Null when `period` is null. */
  readonly inEffect: InEffect | null;
  /**
   * Moments of the period formatted in the schedule's zone (with `formatMoment` of moment.ts, which a workflow must not
   * call); null when there is no such moment.
   */
  readonly local: {
    readonly next: string | null;
    readonly nextUpscale: string | null;
    readonly nextDownscale: string | null;
  };
  /**
   * What is to be done. For an invalid schedule: nothing. For a schedule that is deleted or gone: restore everything
   * that it put to sleep. Null only for a schedule that cannot be read.
   */
  readonly plan: Plan | null;
  /** The pause of everything, the controller or the schedule; null when none applies. */
  readonly pause: PauseInForce | null;
}

/** An observation as the activity returns it. */
export type PackedObservation = Omit<LightsOutObservation, 'plan'> & { readonly plan: PackedPlan | null };

/** The condition Ready in a verdict; the activity adds lastTransitionTime. */
export type ReadyCondition = Pick<Condition, 'status' | 'reason' | 'message'>;
