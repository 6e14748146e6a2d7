/** Cron patterns: their syntax, what is wrong with one, and their days. Nothing here knows a time zone but UTC. */
import { DAY_MS, type Day, partsOf } from './day.ts';
import { type EpochMs, MINUTE_MS } from './time.ts';

/** An invalid cron pattern; the message is a sentence with the problem and what would be right. */
export class CronProblem extends RangeError {}

/** A parsed pattern. All lists are ascending and not empty. */
export interface Cron5 {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  /** Sunday is 0. */
  readonly weekdays: readonly number[];
  /**
   * Whether the day of the month, or of the week, is open (`*`), so that the other one decides; if both are given, one
   * match is enough.
   */
  readonly isAnyDay: boolean;
  readonly isAnyWeekday: boolean;
  /**
   * Whether hours are given and not open (`*`, every other hour, or all of them). With given hours, a time that is
   * skipped in spring runs directly after the gap, and a time that is repeated in autumn runs the first time only. With
   * open hours, runs are skipped and repeated with the clock.
   */
  readonly isFixed: boolean;
}

const FORM =
  'a cron pattern has five fields: minute, hour, day of month, month and day of week, such as "0 6 * * 1-5" for 06:00 from Monday to Friday';

interface FieldRule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of the values, in order from `min` on. */
  readonly words: readonly string[];
  readonly advice: string;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function ruleOf(name: string, min: number, max: number, words: readonly string[], advice: string): FieldRule {
  return { name, min, max, words, advice };
}

const MINUTE = ruleOf('minute', 0, 59, [], 'numbers from 0 to 59');
const HOUR = ruleOf('hour', 0, 23, [], 'numbers from 0 to 23');
const DAY = ruleOf('day of month', 1, 31, [], 'numbers from 1 to 31 (but no L or W)');
const MONTH = ruleOf('month', 1, 12, MONTHS, 'numbers from 1 to 12, or JAN to DEC');
const WEEKDAY = ruleOf('day of week', 0, 6, WEEKDAYS, 'numbers from 0 (Sunday) to 6 (but no 7, L or #), or SUN to SAT');

interface Field {
  readonly values: readonly number[];
  /** Whether a part is `*` or `?` in steps of one. */
  readonly isOpen: boolean;
  /** Whether a part begins with `*` or `?`, in any steps. */
  readonly hasStar: boolean;
}

/**
 * Parses a pattern of five fields: `*` and `?`, numbers, names of three letters, ranges, lists, and steps (`8/2` means
 * from 8 to the end). It is the dialect of clusters that already use such schedules; its quirks `1,,3` and `*-5` (which
 * means `*`) are kept for compatibility.
 *
 * @throws {CronProblem} for everything else: macros, a time zone in the pattern, L, W, #, the 7th day, seconds.
 */
export function parseCron(text: string): Cron5 {
  const trimmed = text.trim();
  const [first = '', ...others] = trimmed.split(/\s+/);
  if (first === '') throw new CronProblem(`the cron pattern is empty: ${FORM}`);
  if (/^(?:CRON_)?TZ=/i.test(first)) {
    throw new CronProblem(
      `"${first}" is a time zone inside of the cron pattern: leave it out here, and write it to timezone where there is such a field`,
    );
  }
  if (first.startsWith('@')) throw new CronProblem(`"${trimmed}" is a macro, which is not known: ${FORM}`);
  const [hour, day, month, weekday] = others;
  if (hour === undefined || day === undefined || month === undefined || weekday === undefined || others.length > 4) {
    const count = others.length + 1;
    throw new CronProblem(`"${trimmed}" has ${count} ${count === 1 ? 'field' : 'fields'}: ${FORM}`);
  }
  const hours = readField(hour, HOUR);
  const days = readField(day, DAY);
  const weekdays = readField(weekday, WEEKDAY);
  return {
    minutes: readField(first, MINUTE).values,
    hours: hours.values,
    days: days.values,
    months: readField(month, MONTH).values,
    weekdays: weekdays.values,
    isAnyDay: days.isOpen,
    isAnyWeekday: weekdays.isOpen,
    isFixed: !hours.hasStar && hours.values.length < 24,
  };
}

function readField(text: string, rule: FieldRule): Field {
  const parts = text.split(',').filter((part) => part !== '');
  if (parts.length === 0) throw problem(text, rule, withAdvice('names nothing', rule));
  const read = parts.map((part) => readPart(part, text, rule));
  return {
    values: [...new Set(read.flatMap(({ values }) => values))].toSorted((a, b) => a - b),
    isOpen: read.some(({ isOpen }) => isOpen),
    hasStar: read.some(({ hasStar }) => hasStar),
  };
}

function readPart(part: string, text: string, rule: FieldRule): Field {
  const [range = '', stepText, ...moreSteps] = part.split('/');
  const [from = '', to, ...moreEnds] = range.split('-');
  if (moreSteps.length > 0) throw problem(text, rule, 'has more than one step: it takes one, as in 0-30/10');
  const step = stepText === undefined ? 1 : numberOf(stepText);
  if (step === undefined || step === 0)
    throw problem(text, rule, 'has a step that is not a number from 1 on, as in */2');
  const hasStar = from === '*' || from === '?';
  let [low, high] = [rule.min, rule.max];
  if (!hasStar) {
    if (moreEnds.length > 0) throw problem(text, rule, 'has a range with more than two ends: it takes two, as in 1-5');
    low = valueOf(from, text, rule);
    if (to !== undefined) high = valueOf(to, text, rule);
    else if (stepText === undefined) high = low;
    if (low > high) {
      const [last, first] = [rule.max, rule.min].map((value) =>
        numberOf(from) === undefined ? wordOf(value, rule) : value,
      );
      throw problem(
        text,
        rule,
        `ends before it begins: write both parts of it, as ${from}-${last},${first}-${to ?? ''}`,
      );
    }
  }
  const values = Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, index) => low + index * step);
  return { values, isOpen: hasStar && step === 1, hasStar };
}

function numberOf(text: string): number | undefined {
  return /^\+?\d+$/.test(text) ? Number(text) : undefined;
}

function valueOf(part: string, text: string, rule: FieldRule): number {
  const word = rule.words.indexOf(part.toLowerCase());
  const value = word === -1 ? numberOf(part) : rule.min + word;
  if (value === undefined) throw problem(text, rule, withAdvice('is not understood', rule));
  if (value < rule.min || value > rule.max) throw problem(text, rule, withAdvice('is out of bounds', rule));
  return value;
}

/** The three-letter name of a value, in capitals. */
function wordOf(value: number, { min, words }: FieldRule): string {
  return words[value - min]?.toUpperCase() ?? `${value}`;
}

function withAdvice(what: string, { advice }: FieldRule): string {
  return `${what}: it takes ${advice}, one or a list (1,3), a range (1-5), all of them (*) or steps (*/2)`;
}

function problem(text: string, { name }: FieldRule, what: string): CronProblem {
  return new CronProblem(`the ${name} "${text}" ${what}`);
}

/** Whether a pattern matches this day. */
export function isDayOf(cron: Cron5, day: Day): boolean {
  const { month, date, weekday } = partsOf(day);
  if (!cron.months.includes(month)) return false;
  const [byDate, byWeekday] = [cron.days.includes(date), cron.weekdays.includes(weekday)];
  return cron.isAnyDay || cron.isAnyWeekday ? byDate && byWeekday : byDate || byWeekday;
}

/** Days of each month in a leap year. */
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Whether it names days that never exist, such as the 30th of February: whoever searches for its runs would search for centuries. Every
 * other pattern comes once in eight years at least.
 */
export function neverComes({ days: [first = 32], months, isAnyDay, isAnyWeekday }: Cron5): boolean {
  return isAnyWeekday && !isAnyDay && months.every((month) => first > (MONTH_DAYS[month - 1] ?? 0));
}

/** The problem of a pattern, in one sentence; null when it is valid and runs again and again. */
export function cronProblem(text: string): string | null {
  try {
    return neverComes(parseCron(text)) ? `"${text}" never comes: none of its months has such a day` : null;
  } catch (error) {
    if (error instanceof CronProblem) return error.message;
    throw error;
  }
}

/** From one 29th of February to the next where a year such as 2100 has none: no pattern that comes lets more days go by. */
const MOST_DAYS = 8 * 366;

/**
 * The last run in UTC at or before a moment and after another one; null when there is none between them. It looks at no day outside of
 * them, and at eight years of days at most.
 */
export function lastRunInUtc(cron: Cron5, at: EpochMs, after: EpochMs): EpochMs | null {
  for (let day = dayAt(at); day >= Math.max(dayAt(after), dayAt(at) - MOST_DAYS); day -= 1) {
    if (!isDayOf(cron, day)) continue;
    const times = cron.hours.flatMap((hour) => cron.minutes.map((minute) => (hour * 60 + minute) * MINUTE_MS));
    const run = times.map((time) => day * DAY_MS + time).findLast((moment) => moment <= at);
    if (run !== undefined) return run > after ? run : null;
  }
  return null;
}

function dayAt(at: EpochMs): Day {
  return Math.floor(at / DAY_MS);
}
