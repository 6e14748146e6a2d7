import type { EpochMs } from '../../domain/kernel/time.ts';
import { type InEffect, inEffectNow } from '../../domain/lights-out/schedule/in-effect.ts';
import type { OtherSchedule, EvaluationContext } from '../../domain/lights-out/workload/evaluation.ts';
import { joinedUids, unmarkedUids } from '../../domain/lights-out/workload/unmarked.ts';
import { workloadSelection } from '../../domain/lights-out/schedule/scope.ts';
import type { ObserveScheduleInput } from './interface.ts';
import { OtherSchedules } from './other-schedules.ts';
import { NO_SPEC, type ScheduleNow } from './read-schedule-object.ts';
import type { KeptMemory } from './scaling-memory.ts';

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
  const { spec, status, createdAt, generation, calendars } = own.seen;
  const isApproved = !spec.requireApproval || observeInput.isApproved || status.approved !== undefined;
  const isActive = isApproved && !spec.suspend && !spec.dryRun;
  return inEffectNow(observeInput.inEffect, {
    period: own.period,
    now,
    generation,
    calendars: calendars?.digest,
    isActive,
    createdAt,
    status,
    selection: workloadSelection(spec),
  });
}

/**
 * Whether somebody has approved a set of workloads. An approval of an earlier release was of whatever is selected.
 *
 * @param isSaid what the schedule's workflow knows; absent: as the status says.
 */
export function isBound({ spec, status }: Pick<ScheduleNow['seen'], 'spec' | 'status'>, isSaid?: boolean): boolean {
  if (spec?.requireApproval !== true) return false;
  return isSaid ?? status.approved?.digest !== undefined;
}

/** @param own the schedule; null when it is gone. */
export function evaluationContext(
  observeInput: ObserveScheduleInput,
  own: ScheduleNow | null,
  others: readonly OtherSchedule[],
  {
    now,
    kept,
    ...settings
  }: ContextSettings & {
    readonly now: EpochMs;
    /** Absent in a starter that only wants to know whom to wake. */
    readonly kept?: Pick<KeptMemory, 'remembered' | 'approved'>;
  },
): EvaluationContext {
  const { target, completedAt, contested, failing } = observeInput;
  const inEffect = inEffectOf(observeInput, own, now);
  const level = own?.period?.level;
  const unmarked = unmarkedUids(observeInput.unmarked);
  return {
    schedule: target.schedule,
    createdAt: own?.seen.createdAt ?? 0,
    spec: own?.seen.spec ?? NO_SPEC,
    now,
    period: {
      state: inEffect?.state ?? 'Up',
      since: inEffect?.from ?? null,
      ...(level === undefined ? {} : { level }),
    },
    ...(inEffect !== null && inEffect.from > (inEffect.since ?? inEffect.from) ? { actsFrom: inEffect.from } : {}),
    ...(own === null || own.ownTimes === null ? {} : { ownTimes: own.ownTimes }),
    isRestoringAll: own === null || own.seen.isDeleting,
    // Past overrides tell since when something sleeps.
    overrides: [...observeInput.overrides, ...(own?.seen.overrides ?? []), ...(own?.pastOverrides ?? [])],
    completedAt,
    ...settings,
    ...(kept === undefined ? {} : { remembered: kept.remembered }),
    ...(kept !== undefined && own !== null && isBound(own.seen, observeInput.isBound)
      ? { approved: kept.approved ?? new Map() }
      : {}),
    others,
    contested,
    failing,
    ...(inEffect?.earlier === undefined ? {} : { earlier: inEffect.earlier }),
    ...(observeInput.joined === undefined ? {} : { joined: observeInput.joined }),
    ...(observeInput.joinedWorkloads === undefined
      ? {}
      : { joinedWorkloads: joinedUids(observeInput.joinedWorkloads) }),
    ...(unmarked === undefined ? {} : { unmarked }),
  };
}
