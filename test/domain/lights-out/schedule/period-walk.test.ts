/** The period against a walk through every minute that knows nothing of it: neither its cron library nor its calendar. */
import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { nextRun, previousRun } from '../../../../domain/lights-out/schedule/cron-runs.ts';
import {
  MAX_TRANSITIONS,
  periodAt,
  type Timing,
  type Transition,
  transitions,
} from '../../../../domain/lights-out/schedule/period.ts';
import type { ScheduleException } from '../../../../domain/lights-out/schedule/schedule.ts';

const RUNS = 200;
/** They take some seconds; a machine that runs servers beside them may take ten times that. */
const TIMEOUT_MS = 120_000;

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

/** Moments in which something is odd about the calendar or the clocks of a zone. */
const ODD_MOMENTS = [
  ['America/New_York', '2026-03-08T07:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00:00Z'],
  ['America/Sao_Paulo', '2019-02-17T02:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Pacific/Apia', '2012-03-31T14:00:00Z'],
  ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
  ['Africa/Casablanca', '2026-03-22T02:00:00Z'],
  ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['Asia/Kathmandu', '2028-02-28T18:15:00Z'],
  ['UTC', '2026-12-31T00:00:00Z'],
  ['UTC', '2024-02-29T00:00:00Z'],
] as const;

/** How far the walk goes from its odd moment, both ways: over the end of a month, and of another one. */
const REACH = 34 * DAY;

/** What the clock of a zone shows in one minute. */
interface Minute {
  readonly at: number;
  /** The clock's reading as if it were UTC, in minutes: two minutes that read alike have the same. */
  readonly reading: number;
  readonly minute: number;
  readonly hour: number;
  readonly date: number;
  readonly month: number;
  readonly weekday: number;
  /** The greatest date so far: a day that has begun stays. */
  readonly day: string;
  /** The clock shows this for the second time. */
  readonly isRepeated: boolean;
  /** The readings that the clock jumped over to get here, of this day. */
  readonly skipped: readonly Minute[];
}

function minuteOf(at: number, reading: number): Minute {
  const clock = new Date(reading * MINUTE);
  return {
    at,
    reading,
    minute: clock.getUTCMinutes(),
    hour: clock.getUTCHours(),
    date: clock.getUTCDate(),
    month: clock.getUTCMonth() + 1,
    weekday: clock.getUTCDay(),
    day: clock.toISOString().slice(0, 10),
    isRepeated: false,
    skipped: [],
  };
}

/** Every minute around a moment, as the clock of a zone shows it. */
function walk(zone: string, around: number): readonly Minute[] {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const minutes: Minute[] = [];
  const shown = new Set<number>();
  let reading = 0;
  for (let at = around - REACH; at <= around + REACH; at += MINUTE) {
    // No clock changes other than on a quarter of an hour, or a minute after one in St. John's.
    const isRead = minutes.length === 0 || at % (15 * MINUTE) <= MINUTE;
    reading = isRead ? Date.parse(`${clock.format(at).replace(' ', 'T')}Z`) / MINUTE : reading + 1;
    const before = minutes.at(-1);
    const here = minuteOf(at, reading);
    const skipped: Minute[] = [];
    for (let missed = (before?.reading ?? reading) + 1; missed < reading; missed += 1) {
      const minute = minuteOf(at, missed);
      if (minute.day === here.day) skipped.push(minute);
    }
    const day = before !== undefined && before.day > here.day ? before.day : here.day;
    minutes.push({ ...here, day, isRepeated: shown.has(reading), skipped });
    shown.add(reading);
  }
  return minutes;
}

const walks = new Map<string, readonly Minute[]>();

function walkAround(zone: string, around: string): readonly Minute[] {
  const key = `${zone} ${around}`;
  const existing = walks.get(key) ?? walk(zone, Date.parse(around));
  walks.set(key, existing);
  return existing;
}

/** A field of a pattern with what it means. */
interface Field {
  readonly text: string;
  readonly values: ReadonlySet<number>;
  /** `*`, in steps of one. */
  readonly isOpen: boolean;
  /** Begins with a star, in whatever steps. */
  readonly hasStar: boolean;
}

interface Pattern {
  readonly text: string;
  readonly minute: Field;
  readonly hour: Field;
  readonly date: Field;
  readonly month: Field;
  readonly weekday: Field;
}

function span(low: number, high: number, step = 1): ReadonlySet<number> {
  const values = new Set<number>();
  for (let value = low; value <= high; value += step) values.add(value);
  return values;
}

function named(text: string, values: ReadonlySet<number>): Field {
  return { text, values, isOpen: false, hasStar: false };
}

function star(min: number, max: number): fc.Arbitrary<Field> {
  return fc.constantFrom('*', '?', '*/1').map((text) => ({
    text,
    values: span(min, max),
    isOpen: true,
    hasStar: true,
  }));
}

/** Values that are written as numbers or, where there are any, as names. */
function value(
  low: number,
  high: number,
  names: readonly string[] = [],
): fc.Arbitrary<readonly [text: string, value: number]> {
  return fc.tuple(fc.integer({ min: low, max: high }), fc.boolean()).map(([number, isNamed]) => {
    const name = names[number];
    return [isNamed && name !== undefined ? name : `${number}`, number] as const;
  });
}

/** A field in all its forms; single values are between `low` and `high`. */
function field(min: number, max: number, low = min, high = max, names: readonly string[] = []): fc.Arbitrary<Field> {
  const step = fc.integer({ min: 2, max: Math.min(20, max) });
  const single = value(low, high, names);
  const field = single.map(([text, number]) => named(text, new Set([number])));
  const range = fc.tuple(single, single).map(([a, b]) => {
    const [from, to] = a[1] <= b[1] ? [a, b] : [b, a];
    return named(`${from[0]}-${to[0]}`, span(from[1], to[1]));
  });
  const steppedRange = fc.tuple(single, single, step).map(([a, b, by]) => {
    const [from, to] = a[1] <= b[1] ? [a, b] : [b, a];
    return named(`${from[0]}-${to[0]}/${by}`, span(from[1], to[1], by));
  });
  const fromOn = fc.tuple(single, step).map(([[text, from], by]) => named(`${text}/${by}`, span(from, max, by)));
  const stepped = step.map((by) => ({ text: `*/${by}`, values: span(min, max, by), isOpen: false, hasStar: true }));
  const list = fc
    .array(fc.oneof(field, field, range), { minLength: 2, maxLength: 3 })
    .map((parts) =>
      named(parts.map(({ text }) => text).join(','), new Set(parts.flatMap(({ values }) => [...values]))),
    );
  return fc.oneof(
    { weight: 4, arbitrary: field },
    range,
    steppedRange,
    fromOn,
    { weight: 2, arbitrary: list },
    stepped,
  );
}

const MONTHS = ['', 'JAN', 'feb', 'Mar', 'APR', 'may', 'Jun', 'JUL', 'aug', 'Sep', 'OCT', 'nov', 'Dec'];
const WEEKDAYS = ['SUN', 'mon', 'Tue', 'WED', 'thu', 'Fri', 'SAT'];

const pattern: fc.Arbitrary<Pattern> = fc
  .record({
    minute: fc.oneof({ weight: 6, arbitrary: field(0, 59) }, star(0, 59)),
    // Many where the clocks change.
    hour: fc.oneof({ weight: 4, arbitrary: field(0, 23, 0, 3) }, { weight: 2, arbitrary: field(0, 23) }, star(0, 23)),
    date: fc.oneof({ weight: 4, arbitrary: star(1, 31) }, field(1, 31), field(1, 31, 28, 31)),
    month: fc.oneof({ weight: 8, arbitrary: star(1, 12) }, field(1, 12, 1, 12, MONTHS)),
    weekday: fc.oneof({ weight: 4, arbitrary: star(0, 6) }, { weight: 3, arbitrary: field(0, 6, 0, 6, WEEKDAYS) }),
  })
  .map((fields) => ({
    ...fields,
    text: [fields.minute, fields.hour, fields.date, fields.month, fields.weekday].map(({ text }) => text).join(' '),
  }))
  // The schema has this bound.
  .filter(({ text }) => text.length <= 200);

function isOn({ date, month, weekday }: Pattern, at: Minute): boolean {
  if (!month.values.has(at.month)) return false;
  const [byDate, byWeekday] = [date.values.has(at.date), weekday.values.has(at.weekday)];
  return date.isOpen || weekday.isOpen ? byDate && byWeekday : byDate || byWeekday;
}

function names(cron: Pattern, at: Minute): boolean {
  return cron.minute.values.has(at.minute) && cron.hour.values.has(at.hour) && isOn(cron, at);
}

/** Whether a pattern fires in a minute. */
function fires(cron: Pattern, at: Minute): boolean {
  const hoursAreOpen = cron.hour.hasStar || cron.hour.values.size === 24;
  if (hoursAreOpen) return names(cron, at);
  return (!at.isRepeated && names(cron, at)) || at.skipped.some((missed) => names(cron, missed));
}

const exceptionState = fc.constantFrom<'Up' | 'Down'>('Up', 'Down');

/** Exceptions near a date: with their year, or for every year. */
function exceptionsNear(around: string): fc.Arbitrary<readonly ScheduleException[]> {
  const day = (offset: number) => new Date(Date.parse(around) + offset * DAY).toISOString().slice(0, 10);
  const field = fc
    .record({
      from: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -20, max: 20 })),
      length: fc.integer({ min: 0, max: 3 }),
      isYearly: fc.boolean(),
      hasEnd: fc.boolean(),
      state: exceptionState,
    })
    .map(({ from, length, isYearly, hasEnd, state }): ScheduleException => {
      const [first, last] = [day(from), day(from + length)].map((text) => (isYearly ? text.slice(5) : text));
      return { from: first ?? '', state, ...(hasEnd ? { to: last ?? '' } : {}) };
    });
  return fc.oneof(fc.constant([]), fc.array(field, { maxLength: 4 }));
}

/** What an exception forces on a day that is written as `2026-12-24`, by comparing the letters. */
function forcedOn(exceptions: readonly ScheduleException[], day: string): 'Up' | 'Down' | null {
  const found = exceptions.find(({ from, to = from }) => {
    const text = from.length === 5 ? day.slice(5) : day;
    return from <= to ? from <= text && text <= to : from <= text || text <= to;
  });
  return found?.state ?? null;
}

interface Walked {
  readonly ups: readonly number[];
  readonly downs: readonly number[];
  /** From the first minute on from which the state is known, each change of it. */
  readonly changes: readonly Pick<Transition, 'at' | 'state'>[];
  readonly knownFrom: number | null;
}

/** The firings and the states of a schedule, minute by minute. */
function walked(
  minutes: readonly Minute[],
  up: Pattern,
  down: Pattern,
  exceptions: readonly ScheduleException[],
): Walked {
  const [ups, downs]: [number[], number[]] = [[], []];
  const changes: Pick<Transition, 'at' | 'state'>[] = [];
  let byCron: 'Up' | 'Down' | null = null;
  let state: 'Up' | 'Down' | null = null;
  let knownFrom: number | null = null;
  for (const minute of minutes) {
    const [isUp, isDown] = [fires(up, minute), fires(down, minute)];
    if (isUp) ups.push(minute.at);
    if (isDown) downs.push(minute.at);
    if (isUp || isDown) byCron = isDown ? 'Down' : 'Up';
    if (byCron === null) continue;
    knownFrom ??= minute.at;
    const now: 'Up' | 'Down' = forcedOn(exceptions, minute.day) ?? byCron;
    if (state !== null && now !== state) changes.push({ at: minute.at, state: now });
    state = now;
  }
  return { ups, downs, changes, knownFrom };
}

const last = (all: readonly number[], until: number) => all.findLast((at) => at <= until);
const first = (all: readonly number[], after: number) => all.find((at) => at > after);

const example = fc.constantFrom(...ODD_MOMENTS).chain(([zone, around]) =>
  fc.record({
    zone: fc.constant(zone),
    around: fc.constant(around),
    up: pattern,
    down: pattern,
    exceptions: exceptionsNear(around),
    // Near the odd moment, to the second; or somewhere.
    seconds: fc.oneof(
      fc.integer({ min: -7_200, max: 7_200 }),
      fc.integer({ min: -120, max: 120 }).map((minute) => minute * 60),
      fc.integer({ min: -20 * 86_400, max: 20 * 86_400 }),
    ),
    ms: fc.constantFrom(0, 0, 1, 999),
  }),
);

describe('at any moment of any schedule', () => {
  it('the firings, the state, when it began and what comes next are those of a walk through every minute', {
    timeout: TIMEOUT_MS,
  }, () => {
    const observed = { existing: 0, forced: 0, changed: 0, began: 0, next: 0 };
    fc.assert(
      fc.property(example, ({ zone, around, up, down, exceptions, seconds, ms }) => {
        const timing: Timing = { upscale: up.text, downscale: down.text, timezone: zone, exceptions: [...exceptions] };
        const now = Date.parse(around) + seconds * 1000 + ms;
        const minutes = walkAround(zone, around);
        const { ups, downs, changes, knownFrom } = walked(minutes, up, down, exceptions);
        const period = periodAt(timing, now);

        for (const [text, runs] of [
          [up.text, ups],
          [down.text, downs],
        ] as const) {
          const [previous, next] = [previousRun(text, zone, now), nextRun(text, zone, now)];
          expect(previous === null || previous <= now).toBe(true);
          expect(next === null || next > now).toBe(true);
          const [before, after] = [last(runs, now), first(runs, now)];
          if (before === undefined) expect(previous ?? -Infinity).toBeLessThan(Date.parse(around) - REACH);
          else expect(previous).toBe(before);
          if (after === undefined) expect(next ?? Infinity).toBeGreaterThan(Date.parse(around) + REACH);
          else expect(next).toBe(after);
        }

        if (knownFrom === null || knownFrom > now) return;
        observed.existing += 1;
        if (period.exception !== null) observed.forced += 1;
        const began = changes.findLast(({ at }) => at <= now);
        const next = changes.find(({ at }) => at > now);
        // Up to the first change it is what that one ends.
        const before = next?.state === 'Up' ? 'Down' : 'Up';
        const state = began?.state ?? (next === undefined ? period.state : before);
        expect(period.state).toBe(state);
        if (began === undefined) {
          expect(period.since ?? -Infinity).toBeLessThanOrEqual(knownFrom);
        } else {
          observed.began += 1;
          expect(period.since).toBe(began.at);
        }
        if (next === undefined) {
          expect(period.next?.at ?? Infinity).toBeGreaterThan(Date.parse(around) + REACH);
        } else {
          observed.next += 1;
          expect(period.next).toMatchObject(next);
        }

        const until = now + 3 * DAY;
        const coming = changes.filter(({ at }) => at > now && at <= until);
        observed.changed += coming.length;
        const found = transitions(timing, now, until).map(({ at, state }) => ({ at, state }));
        expect(found).toEqual(coming.slice(0, MAX_TRANSITIONS));
      }),
      { numRuns: RUNS },
    );
    // It says nothing where most schedules are unknown, or nothing ever changes.
    expect(observed.existing).toBeGreaterThan(0.7 * RUNS);
    expect(observed.forced).toBeGreaterThan(0.05 * RUNS);
    expect(observed.began).toBeGreaterThan(0.4 * RUNS);
    expect(observed.next).toBeGreaterThan(0.4 * RUNS);
    expect(observed.changed).toBeGreaterThan(RUNS);
  });

  it('a period begins where the one before it ends, and ends where the next begins', { timeout: TIMEOUT_MS }, () => {
    fc.assert(
      fc.property(example, ({ zone, around, up, down, exceptions, seconds }) => {
        const timing: Timing = { upscale: up.text, downscale: down.text, timezone: zone, exceptions: [...exceptions] };
        const { state, since, next } = periodAt(timing, Date.parse(around) + seconds * 1000);
        if (next !== null) {
          expect(next.state).not.toBe(state);
          expect(periodAt(timing, next.at - 1)).toMatchObject({ state, since });
          expect(periodAt(timing, next.at)).toMatchObject({
            state: next.state,
            since: next.at,
            exception: next.exception,
          });
        }
        if (since !== null && since > Date.UTC(2000, 0, 2)) {
          expect(periodAt(timing, since)).toMatchObject({ state, since });
          const before = periodAt(timing, since - 1);
          expect(before.state).not.toBe(state);
          expect(before.next).toMatchObject({ at: since, state });
        }
      }),
      { numRuns: RUNS },
    );
  });
});
