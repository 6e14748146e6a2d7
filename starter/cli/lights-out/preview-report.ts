/** What schedules would do, and what is wrong with those that would do nothing. */
import { type EpochMs, formatInstant } from '../../../domain/kernel/time.ts';
import type { ScheduleProblem } from '../../../domain/lights-out/schedule/schedule-problem.ts';
import { type Preview, previewOf } from '../../../domain/lights-out/schedule/preview.ts';
import { readSchedule, scheduleWarnings } from '../../../domain/lights-out/schedule/read-schedule.ts';
import type { ScheduleSpec } from '../../../domain/lights-out/schedule/schedule.ts';
import type { WrittenSchedule } from './manifest.ts';
import { nameOf, type ScheduleObject } from './schedules.ts';

export interface PreviewSpan {
  readonly from: EpochMs;
  readonly until: EpochMs;
}

/** One schedule of a preview. Where it has problems, it has no preview. */
export interface ScheduleReport {
  readonly object: ScheduleObject;
  readonly schedule: string;
  readonly spec: ScheduleSpec | null;
  readonly preview: Preview | null;
  readonly problems: readonly ScheduleProblem[];
  readonly warnings: readonly string[];
}

/**
 * Each of the schedules, which are all that there are: only then is it known which of them overlap.
 *
 * @param protectedNamespaces what the cluster's configuration keeps schedules from, beside the system's.
 */
export function previewSchedules(
  schedules: readonly WrittenSchedule[],
  { from, until }: PreviewSpan,
  protectedNamespaces: readonly string[],
): readonly ScheduleReport[] {
  const read = schedules.map(({ object, problems }) => {
    const { spec, problems: found } = readSchedule(object);
    const all = [...problems, ...found];
    return { object, schedule: nameOf(object), spec: all.length === 0 ? spec : null, problems: all };
  });
  return read.map((schedule): ScheduleReport => {
    const { spec } = schedule;
    if (spec === null) return { ...schedule, preview: null, warnings: [] };
    const others = read.flatMap(({ object, schedule: name, spec: other }) =>
      other === null || object === schedule.object ? [] : [{ name, spec: other }],
    );
    const warnings = scheduleWarnings(spec, others, { now: from, protectedNamespaces });
    return { ...schedule, preview: previewOf(spec, from, until), warnings: [...idleness(spec), ...warnings] };
  });
}

function idleness({ suspend, dryRun, requireApproval }: ScheduleSpec): readonly string[] {
  return [
    ...(suspend ? ['it is suspended: nothing is put to sleep or woken'] : []),
    ...(dryRun ? ['it is a dry run: nothing is written'] : []),
    ...(requireApproval ? ['nothing is put to sleep before an operator has approved the first run'] : []),
  ];
}

/** The documented form of `headroom lights-out preview --output json`; moments are RFC 3339. */
export function previewJson({ schedule, spec, preview, problems, warnings }: ScheduleReport): object {
  return {
    schedule,
    timezone: spec?.timezone ?? null,
    state: preview?.period.state ?? null,
    since: preview === null || preview.period.since === null ? null : formatInstant(preview.period.since),
    transitions: (preview?.rows ?? []).map(({ at, local, state, exception }) => ({
      at: formatInstant(at),
      local,
      state,
      exception,
    })),
    downShare: preview === null ? null : Number(preview.downShare.toFixed(4)),
    problems,
    warnings,
  };
}
