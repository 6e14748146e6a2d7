/**
 * Holidays and one-off exceptions: a state that is forced on local days. Workflow code must not import this module,
 * because the beginning of a day depends on the platform's time zones.
 */
import { type Day, dayOf, partsOf } from '../../kernel/day.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { localDay, startOfDay } from './local-day.ts';
import type { ScheduleState } from './names.ts';
import type { ScheduleProblem } from './schedule-problem.ts';
import type { ScheduleException } from './schedule.ts';

/** The forced state at a moment. */
interface Forced {
  readonly state: ScheduleState;
  /** The reason of the exception, or its dates if it has none. */
  readonly label: string;
}

/** The parsed exceptions of a schedule. */
export interface Exceptions {
  readonly zone: string;
  /** For each day the first matching exception counts. */
  readonly all: readonly ReadException[];
}

interface MonthDay {
  readonly month: number;
  readonly date: number;
}

interface ReadException extends Forced {
  readonly covers: (day: Day) => boolean;
  /** Every day in or near a year on which the exception begins or is over. */
  readonly edgesNear: (year: number) => readonly Day[];
}

const DATE = /^(?:(\d{4})-)?(\d{2})-(\d{2})$/;

interface ReadDate extends MonthDay {
  /** Null: every year. */
  readonly year: number | null;
}

/** A year that has all dates. */
const LEAP_YEAR = 2024;

/** Parses a date; null when it does not exist. */
function readDate(text: string): ReadDate | null {
  const [, year, month, date] = DATE.exec(text) ?? [];
  const read = { year: year === undefined ? null : Number(year), month: Number(month), date: Number(date) };
  const inYear = read.year ?? LEAP_YEAR;
  const found = partsOf(dayOf(inYear, read.month, read.date));
  return found.year === inYear && found.month === read.month && found.date === read.date ? read : null;
}

/**
 * The problems of exceptions that match the schema: dates that do not exist, mixed forms, ranges that run backwards.
 */
export function exceptionProblems(exceptions: readonly ScheduleException[]): readonly ScheduleProblem[] {
  return exceptions.flatMap(({ from, to }, index) => {
    const at = (end: 'from' | 'to', message: string) => ({ field: `spec.exceptions[${index}].${end}`, message });
    const [first, last] = [readDate(from), readDate(to ?? from)];
    const unknown = (text: string) =>
      `"${text}" is not a day: write one that exists, as 2026-12-24, or as 12-24 for every year`;
    if (first === null || last === null) {
      return [
        ...(first === null ? [at('from', unknown(from))] : []),
        ...(last === null && to !== undefined ? [at('to', unknown(to))] : []),
      ];
    }
    if ((first.year === null) !== (last.year === null)) {
      return [at('to', `"${to}" has another form than "${from}": write both with the year, or both without it`)];
    }
    if (first.year !== null && numberOf(last) < numberOf(first)) {
      return [at('to', `"${to}" is before "${from}": write the last day, which is not before the first`)];
    }
    return [];
  });
}

function numberOf({ year, month, date }: ReadDate): number {
  return (year ?? 0) * 10_000 + month * 100 + date;
}

/**
 * Parses the exceptions of a schedule in its time zone.
 *
 * @throws {RangeError} if `exceptionProblems` reports a problem
 */
export function readExceptions(exceptions: readonly ScheduleException[], zone: string): Exceptions {
  return { zone, all: exceptions.map(readException) };
}

function readException({ from, to = from, state, reason }: ScheduleException): ReadException {
  const [first, last] = [readDate(from), readDate(to)];
  if (first === null || last === null) throw new RangeError(`"${first === null ? from : to}" is not a day`);
  const dates = from === to ? from : `${from} to ${to}`;
  const label = reason === undefined || reason === '' ? dates : reason;
  const [begin, end] = [numberOf(first), numberOf(last)];
  if (first.year !== null && last.year !== null) {
    const [firstDay, lastDay] = [dayOf(first.year, first.month, first.date), dayOf(last.year, last.month, last.date)];
    const edges = [firstDay, lastDay + 1];
    return { state, label, covers: (day) => firstDay <= day && day <= lastDay, edgesNear: () => edges };
  }
  const covers = (day: Day): boolean => {
    const at = numberOf({ ...partsOf(day), year: null });
    return begin <= end ? begin <= at && at <= end : begin <= at || at <= end;
  };
  // A range may span two years, and the next leap day may be years away. In other years a range at 29 February has its
  // edge on 1 March.
  const edgesIn = (year: number): readonly Day[] => [
    dayOf(year, first.month, first.date),
    Math.min(dayOf(year, last.month, last.date) + 1, dayOf(year, last.month + 1, 1)),
  ];
  return { state, label, covers, edgesNear: (year) => [year - 1, year, year + 1].flatMap(edgesIn) };
}

/** The state that an exception forces at a moment; null when none applies. */
export function forcedAt({ all, zone }: Exceptions, at: EpochMs): Forced | null {
  if (all.length === 0) return null;
  const day = localDay(zone, at);
  return all.find(({ covers }) => covers(day)) ?? null;
}

/** Whether an exception that forces this state covers a moment, even if another one takes precedence. */
export function isCovered({ all, zone }: Exceptions, at: EpochMs, state: ScheduleState): boolean {
  const asked = withState(all, state);
  if (asked.length === 0) return false;
  const day = localDay(zone, at);
  return asked.some(({ covers }) => covers(day));
}

/**
 * The first moment after another at which an exception may begin or end; null when there is none.
 *
 * @param state only exceptions that force this state
 */
export function nextEdge({ all, zone }: Exceptions, after: EpochMs, state?: ScheduleState): EpochMs | null {
  const asked = withState(all, state);
  if (asked.length === 0) return null;
  const today = localDay(zone, after);
  const { year } = partsOf(today);
  let next = Infinity;
  for (const { edgesNear } of asked) {
    for (const day of edgesNear(year)) if (day > today && day < next) next = day;
  }
  return next === Infinity ? null : startOfDay(zone, next);
}

/** The last moment at or before another at which an exception may have begun or ended; otherwise like `nextEdge`. */
export function previousEdge({ all, zone }: Exceptions, at: EpochMs, state?: ScheduleState): EpochMs | null {
  const asked = withState(all, state);
  if (asked.length === 0) return null;
  const today = localDay(zone, at);
  const { year } = partsOf(today);
  let previous = -Infinity;
  for (const { edgesNear } of asked) {
    for (const day of edgesNear(year)) if (day <= today && day > previous) previous = day;
  }
  return previous === -Infinity ? null : startOfDay(zone, previous);
}

function withState(all: readonly ReadException[], state: ScheduleState | undefined): readonly ReadException[] {
  return state === undefined ? all : all.filter((exception) => exception.state === state);
}
