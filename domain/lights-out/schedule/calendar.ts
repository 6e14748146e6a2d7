/**
 * Calendars: exceptions that several schedules share, as people write them into a ConfigMap. A part of one that cannot be
 * read is named and left out; the rest of it holds, because one wrong day must not stop every schedule of a cluster.
 */
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { digestOf } from '../../kernel/digest.ts';
import { isRecord } from '../../kernel/record.ts';
import { listText, truncate } from '../../kernel/sentence.ts';
import { exceptionProblems } from './exceptions.ts';
import { CALENDAR } from './names.ts';
import type { Timing } from './period.ts';
import { scheduleException, type ScheduleException, type ScheduleSpec } from './schedule.ts';

export interface Calendar {
  /** In the order of the keys, each as in its text. */
  readonly days: readonly ScheduleException[];
  /** What cannot be read, one sentence each: where, what, and what would be right. */
  readonly problems: readonly string[];
}

/** By the names of their ConfigMaps. */
export type Calendars = ReadonlyMap<string, Calendar>;

export const NO_CALENDARS: Calendars = new Map();

/** Entries of one calendar: 40 years of holidays. */
const MOST_DAYS = 1_000;
/** Problems of one calendar that are named. */
const MOST_PROBLEMS = 10;
const SHOWN_LENGTH = 60;

/** A day of a calendar is an exception that is `Down` where it does not say so. A field that is not known may be a slip. */
const calendarDay = z.strictObject({
  ...scheduleException.shape,
  state: scheduleException.shape.state.default('Down'),
});

const DAY_FORM = 'from (2026-12-24, or 12-24 for every year), and where needed to, state (Up or Down) and reason';
const LIST_FORM = `a list of days such as "- {from: 2026-12-24, to: 2026-12-26, reason: Christmas}"`;

/**
 * Reads the data of a ConfigMap: each value is a YAML list of days. Never throws.
 *
 * @param name of the ConfigMap, for the sentences.
 */
export function readCalendar(name: string, data: Readonly<Record<string, string>>): Calendar {
  const days: ScheduleException[] = [];
  const problems: string[] = [];
  for (const key of Object.keys(data).toSorted()) {
    const at = `ConfigMap ${name}, ${key}`;
    const [entries, problem] = entriesOf(data[key] ?? '');
    if (problem !== null) problems.push(`${at}: ${problem}`);
    for (const [index, entry] of entries.entries()) {
      const read = readDay(entry);
      if (typeof read === 'string') problems.push(`${at}, entry ${index + 1}: ${read}`);
      else days.push(read);
    }
  }
  if (days.length > MOST_DAYS) {
    problems.push(
      `ConfigMap ${name}: ${days.length} days, of which the first ${MOST_DAYS} hold: expected at most ${MOST_DAYS}`,
    );
  }
  if (days.length === 0 && problems.length === 0) problems.push(`ConfigMap ${name}: no days: expected ${LIST_FORM}`);
  return { days: days.slice(0, MOST_DAYS), problems: someOf(problems) };
}

function someOf(problems: readonly string[]): readonly string[] {
  const rest = problems.length - MOST_PROBLEMS;
  return rest <= 0 ? problems : [...problems.slice(0, MOST_PROBLEMS), `and ${rest} more`];
}

function entriesOf(text: string): readonly [entries: readonly unknown[], problem: string | null] {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const [message = ''] = error.message.split('\n', 1);
    return [[], `this is not YAML: ${message.replace(/:$/, '')}`];
  }
  try {
    const read: unknown = document.toJS();
    if (read === null || read === undefined) return [[], null];
    return Array.isArray(read) ? [read, null] : [[], `${shown(read)}: expected ${LIST_FORM}`];
  } catch (cause) {
    // A document whose aliases grow beyond all bounds.
    return [[], `this cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`];
  }
}

function shown(value: unknown): string {
  return truncate(JSON.stringify(value) ?? String(value), SHOWN_LENGTH);
}

/** The day, or what is wrong with it. */
function readDay(entry: unknown): ScheduleException | string {
  const { data, error } = calendarDay.safeParse(entry);
  if (data === undefined) {
    const fields = new Set((error?.issues ?? []).flatMap((issue) => fieldsOf(issue)));
    const wrong = fields.size === 0 || !isRecord(entry) ? shown(entry) : wrongText(entry, [...fields]);
    return `${wrong}: expected ${DAY_FORM}`;
  }
  const problems = exceptionProblems([data]);
  return problems.length === 0 ? data : problems.map(({ message }) => message).join('; ');
}

function fieldsOf(issue: z.core.$ZodIssue): readonly string[] {
  return issue.code === 'unrecognized_keys' ? issue.keys : issue.path.slice(0, 1).map(String);
}

function wrongText(entry: Readonly<Record<string, unknown>>, fields: readonly string[]): string {
  return fields
    .map((field) => (entry[field] === undefined ? `no ${field}` : `${field} ${shown(entry[field])}`))
    .join(', ');
}

/** What a schedule's calendars say together. */
export interface CalendarDays {
  /** Each with the name of its calendar in its reason. */
  readonly days: readonly ScheduleException[];
  readonly problems: readonly string[];
  /** The same for the same days. */
  readonly digest: string;
}

/** Hexadecimal digits. */
const DIGEST_LENGTH = 16;

/**
 * Null for a schedule that names no calendar.
 *
 * @param place where the ConfigMaps are, for the sentences.
 */
export function calendarDays(
  { calendars: names }: Pick<ScheduleSpec, 'calendars'>,
  calendars: Calendars,
  place = "Headroom's namespace",
): CalendarDays | null {
  if (names.length === 0) return null;
  const missing = names.filter((name) => !calendars.has(name));
  const found = names.flatMap((name) => {
    const calendar = calendars.get(name);
    return calendar === undefined ? [] : [{ name, ...calendar }];
  });
  const days = found.flatMap(({ name, days: own }) => own.map((day) => named(day, name)));
  const problems = [
    ...(missing.length === 0
      ? []
      : [`there is no ConfigMap ${listText(missing, missing.length)} with the label ${CALENDAR} in ${place}`]),
    ...found.flatMap((calendar) => calendar.problems),
  ];
  const text = JSON.stringify([days, problems]);
  return { days, problems, digest: digestOf(text, DIGEST_LENGTH) };
}

function named(day: ScheduleException, calendar: string): ScheduleException {
  const { from, to = from, reason = '' } = day;
  const what = reason === '' ? (from === to ? from : `${from} to ${to}`) : reason;
  return { ...day, reason: `${what} (${calendar})` };
}

/** When a schedule is up and down by its own exceptions and then its calendars: the first that matches counts. */
export function timingWith(spec: Timing, shared: Pick<CalendarDays, 'days'> | null): Timing {
  return shared === null ? spec : { ...spec, exceptions: [...spec.exceptions, ...shared.days] };
}
