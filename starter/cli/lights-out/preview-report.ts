/** What schedules would do, and what is wrong with those that would do nothing. */
import { type EpochMs, formatInstant, MINUTE_MS } from '../../../domain/kernel/time.ts';
import { type Calendars, calendarDays, timingWith } from '../../../domain/lights-out/schedule/calendar.ts';
import { type ChangedDays, changedDays } from '../../../domain/lights-out/schedule/changed-days.ts';
import { levelText } from '../../../domain/lights-out/schedule/level.ts';
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
  /** The days on which its exceptions and calendars hold. */
  readonly days: readonly ChangedDays[];
  readonly problems: readonly ScheduleProblem[];
  readonly warnings: readonly string[];
}

export interface PreviewContext {
  /** What the cluster's configuration keeps schedules from, beside the system's. */
  readonly protectedNamespaces: readonly string[];
  readonly calendars: Calendars;
  /** Where the calendars are. */
  readonly location: string;
}

/**
 * Each of the schedules, which are all that there are: only then is it known which of them overlap.
 */
export function previewSchedules(
  schedules: readonly WrittenSchedule[],
  { from, until }: PreviewSpan,
  { protectedNamespaces, calendars, location }: PreviewContext,
): readonly ScheduleReport[] {
  const read = schedules.map(({ object, problems }) => {
    const { spec, problems: found } = readSchedule(object);
    const all = [...problems, ...found];
    return { object, schedule: nameOf(object), spec: all.length === 0 ? spec : null, problems: all };
  });
  return read.map((schedule): ScheduleReport => {
    const { spec } = schedule;
    if (spec === null) return { ...schedule, preview: null, days: [], warnings: [] };
    const others = read.flatMap(({ object, schedule: name, spec: other }) =>
      other === null || object === schedule.object ? [] : [{ name, spec: other }],
    );
    const warnings = scheduleWarnings(spec, others, { now: from, protectedNamespaces });
    const shared = calendarDays(spec, calendars, location);
    const timing = timingWith(spec, shared);
    const problems = shared?.problems ?? [];
    return {
      ...schedule,
      preview: previewOf(timing, from, until),
      days: changedDays(timing, from, until),
      warnings: [...idleness(spec), ...problems, ...warnings],
    };
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
export function previewJson({ schedule, spec, preview, days, problems, warnings }: ScheduleReport): object {
  return {
    schedule,
    timezone: spec?.timezone ?? null,
    state: preview?.period.state ?? null,
    since: preview === null || preview.period.since === null ? null : formatInstant(preview.period.since),
    transitions: (preview?.rows ?? []).map(({ at, local, state, level, exception }) => ({
      at: formatInstant(at),
      local,
      state,
      ...(level === undefined ? {} : { keeps: levelText(level) ?? 'nothing' }),
      exception,
    })),
    days: days.map(({ from, until, state, label, changed }) => ({
      from: formatInstant(from),
      until: formatInstant(until),
      state,
      exception: label,
      changedHours: Number((changed / (60 * MINUTE_MS)).toFixed(2)),
    })),
    downShare: preview === null ? null : Number(preview.downShare.toFixed(4)),
    problems,
    warnings,
  };
}
