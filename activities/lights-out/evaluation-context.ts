import type { EpochMs } from '../../domain/kernel/time.ts';
import { type InEffect, inEffectNow } from '../../domain/lights-out/schedule/in-effect.ts';
import type { OtherSchedule, EvaluationContext } from '../../domain/lights-out/workload/evaluation.ts';
import type { ObserveScheduleInput } from './interface.ts';
import { OtherSchedules } from './other-schedules.ts';
import { NO_SPEC, type ScheduleNow } from './read-schedule-object.ts';

/** What the worker's configuration has for every schedule. */
export interface ContextSettings {
  readonly protectedNamespaces: readonly string[];
  readonly gitopsManagers: readonly string[];
}

/** One for the process: observations of several schedules list the same schedules. */
const otherSchedules = new OtherSchedules();

/** The other schedules among all that were listed. */
export function othersThan(schedule: string, objects: readonly unknown[]): readonly OtherSchedule[] {
  return otherSchedules.read(schedule, objects);
}

/** The state in effect now; null for a schedule that is invalid or gone. */
export function inEffectOf(
  observeInput: Pick<ObserveScheduleInput, 'inEffect' | 'isApproved'>,
  own: ScheduleNow | null,
  now: EpochMs,
): InEffect | null {
  if (own === null || own.period === null || own.seen.spec === null) return null;
  const { spec, status, createdAt, generation } = own.seen;
  const isApproved = !spec.requireApproval || observeInput.isApproved || status.approved !== undefined;
  const isActive = isApproved && !spec.suspend && !spec.dryRun;
  return inEffectNow(observeInput.inEffect, { period: own.period, now, generation, isActive, createdAt, status });
}

/** @param own the schedule; null when it is gone. */
export function evaluationContext(
  observeInput: ObserveScheduleInput,
  own: ScheduleNow | null,
  others: readonly OtherSchedule[],
  { now, ...settings }: ContextSettings & { readonly now: EpochMs },
): EvaluationContext {
  const { target, completedAt, contested, failing } = observeInput;
  const inEffect = inEffectOf(observeInput, own, now);
  return {
    schedule: target.schedule,
    createdAt: own?.seen.createdAt ?? 0,
    spec: own?.seen.spec ?? NO_SPEC,
    now,
    period: { state: inEffect?.state ?? 'Up', since: inEffect?.from ?? null },
    isRestoringAll: own === null || own.seen.isDeleting,
    // Past overrides tell since when something sleeps.
    overrides: [...observeInput.overrides, ...(own?.seen.overrides ?? []), ...(own?.pastOverrides ?? [])],
    completedAt,
    ...settings,
    others,
    contested,
    failing,
  };
}
