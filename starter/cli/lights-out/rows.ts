/** A schedule as `headroom lights-out list` shows it, from its object and the phase of its workflow. */
import { type Calendars, calendarDays, timingWith } from '../../../domain/lights-out/schedule/calendar.ts';
import { type EpochMs, formatInstant, formatSpan, fromNow } from '../../../domain/kernel/time.ts';
import { overridesOf } from '../../../domain/lights-out/workload/annotations.ts';
import { totalOf } from '../../../domain/lights-out/workload/kinds.ts';
import { formatMoment } from '../../../domain/lights-out/schedule/moment.ts';
import type { ScheduleState } from '../../../domain/lights-out/schedule/names.ts';
import { levelText } from '../../../domain/lights-out/schedule/level.ts';
import { periodAt, type Transition } from '../../../domain/lights-out/schedule/period.ts';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import type { ScheduleSpec, ScheduleStatus } from '../../../domain/lights-out/schedule/schedule.ts';
import { nameOf, NOBODY_FOLLOWS, type ScheduleObject } from './schedules.ts';

/** The documented form of `headroom lights-out list --output json`. */
export interface ScheduleRow {
  readonly schedule: string;
  /** Null where the schedule is invalid, or gone. */
  readonly timezone: string | null;
  /** What its crons and exceptions say now. */
  readonly state: ScheduleState | null;
  /** Of its workflow; null where none runs, or Temporal does not say. */
  readonly phase: string | null;
  /** The next change of state, in the schedule's zone, and as a span from now on. */
  readonly next: {
    readonly state: ScheduleState;
    /** What a window keeps from then on, in words. Absent: nothing is said of it. */
    readonly keeps?: string;
    /** RFC 3339, UTC. */
    readonly at: string;
    readonly local: string;
    readonly in: string;
    readonly exception: string | null;
  } | null;
  /** Workloads in its scope, and those that it keeps down. */
  readonly managed: number;
  readonly scaled: number;
  /** The condition Ready; null before the first pass. */
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | null;
  readonly savedReplicaHours: string;
  /** What is worth saying besides, in sentences. */
  readonly notes: readonly string[];
}

export interface RowContext {
  readonly now: EpochMs;
  readonly calendars: Calendars;
}

/**
 * One row for each schedule, and for each workflow whose schedule is gone already.
 *
 * @param phases by schedule; null where they are not known.
 */
export function rowsOf(
  objects: readonly ScheduleObject[],
  phases: ReadonlyMap<string, string> | null,
  { now, calendars }: RowContext,
): readonly ScheduleRow[] {
  const names = new Set(objects.map(nameOf));
  const gone = [...(phases ?? [])].filter(([schedule]) => !names.has(schedule));
  const rows = [
    ...objects.map((object) => rowOf(object, phases, { now, calendars })),
    ...gone.map(([schedule, phase]) => goneRow(schedule, phase)),
  ];
  return rows.toSorted((a, b) => (a.schedule < b.schedule ? -1 : 1));
}

function rowOf(
  object: ScheduleObject,
  phases: ReadonlyMap<string, string> | null,
  { now, calendars }: RowContext,
): ScheduleRow {
  const schedule = nameOf(object);
  const { spec, problems, status } = readSchedule(object);
  const phase = phases?.get(schedule) ?? null;
  const period = spec === null ? null : periodAt(timingWith(spec, calendarDays(spec, calendars)), now);
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const isDeleting = object.metadata?.deletionTimestamp !== undefined;
  return {
    schedule,
    timezone: spec?.timezone ?? null,
    state: period?.state ?? null,
    phase,
    next: spec === null || !period?.next ? null : nextOf(period.next, spec, now),
    ...countsOf(status),
    ready: ready === undefined ? null : { status: ready.status, reason: ready.reason, message: ready.message },
    savedReplicaHours: status.savedReplicaHours ?? '0.0',
    notes: [
      ...(ready === undefined || ready.status === 'True' ? [] : [`not ready: ${ready.reason}: ${ready.message}`]),
      ...problems.map(({ field, message }) => `invalid: ${field}: ${message}`),
      ...(isDeleting ? ['it is being deleted: what it put to sleep is woken first'] : []),
      ...(spec?.suspend === true ? ['it is suspended: nothing is put to sleep or woken'] : []),
      ...(spec?.dryRun === true ? ['it is a dry run: nothing is written'] : []),
      ...commanded(status, now),
      ...annotated(object, now),
      ...(phases !== null && phase === null ? [`no workflow follows it: ${NOBODY_FOLLOWS}`] : []),
    ],
  };
}

function nextOf(
  { at, state, level, exception }: Transition,
  { timezone }: ScheduleSpec,
  now: EpochMs,
): NonNullable<ScheduleRow['next']> {
  return {
    state,
    ...(level === undefined ? {} : { keeps: levelText(level) ?? 'nothing' }),
    at: formatInstant(at),
    local: formatMoment(at, timezone),
    in: formatSpan(at - now),
    exception,
  };
}

function countsOf({ workloadStats = {} }: ScheduleStatus): Pick<ScheduleRow, 'managed' | 'scaled'> {
  return { managed: totalOf(workloadStats, 'managed'), scaled: totalOf(workloadStats, 'asleep') };
}

function commanded({ overrides = [] }: ScheduleStatus, now: EpochMs): readonly string[] {
  return overrides
    .filter(({ until }) => Date.parse(until) > now)
    .map(({ kind, namespace, until, by, reason }) => {
      const where = namespace === undefined ? '' : ` in ${namespace}`;
      const why = reason === undefined || reason === '' ? '' : `: ${reason}`;
      return `${kind === 'wake' ? 'awake' : 'asleep'}${where} until ${until} (${fromNow(Date.parse(until), now)}), by ${by}${why}`;
    });
}

/** What its own annotations say; a workload's or a namespace's are not looked at here. */
function annotated({ metadata }: ScheduleObject, now: EpochMs): readonly string[] {
  const { wakeUntil, sleepUntil, problems } = overridesOf(metadata?.annotations ?? {}, now);
  const until = (at: EpochMs): string => `until ${formatInstant(at)} (${fromNow(at, now)}), by its annotation`;
  if (wakeUntil !== null) return [`awake ${until(wakeUntil)}`, ...problems];
  return sleepUntil === null ? problems : [`asleep ${until(sleepUntil)}`, ...problems];
}

function goneRow(schedule: string, phase: string): ScheduleRow {
  return {
    schedule,
    timezone: null,
    state: null,
    phase,
    next: null,
    managed: 0,
    scaled: 0,
    ready: null,
    savedReplicaHours: '0.0',
    notes: ['the schedule is gone: what it put to sleep is woken'],
  };
}
