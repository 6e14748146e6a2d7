/**
 * The state by the history of two crons: up since the last run of the one, down since the last run of the other, which
 * counts when both run at the same time.
 */
import { type Cron5, isDayOf, parseCron } from '../../kernel/cron.ts';
import { DAY_MS, type Day } from '../../kernel/day.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { runAfter, runAtOrBefore } from './cron-runs.ts';
import { localDay, offsetAt, startOfDay } from './local-day.ts';
import type { ScheduleState } from './names.ts';

/** Both crons of a schedule in its time zone. */
export interface CronPair {
  readonly up: Cron5;
  readonly down: Cron5;
  readonly zone: string;
  /** `up` restricted to the times of day at which `down` never runs. */
  readonly upApart: readonly Cron5[];
  /** Whether clock changes affect both crons alike: see `isFixed`. */
  readonly moveAlike: boolean;
  /**
   * Whether there may be days on which `up` runs and `down` does not, or at other moments although their times of day
   * are equal.
   */
  readonly mayHaveOwnDays: boolean;
}

/**
 * The start of the computed history: a state that has held for longer counts as begun then. A constant, so that results
 * do not change with the current time.
 */
export const HISTORY_BEGINS: EpochMs = Date.UTC(2000, 0, 1);

/**
 * Parses both patterns.
 *
 * @throws {CronProblem} for an invalid pattern
 */
export function cronPair(upscale: string, downscale: string, zone: string): CronPair {
  const [up, down] = [parseCron(upscale), parseCron(downscale)];
  const moveAlike = up.isFixed === down.isFixed;
  return {
    up,
    down,
    zone,
    upApart: apartOf(up, down),
    moveAlike,
    mayHaveOwnDays: !moveAlike || !sameDays(up, down),
  };
}

function without(all: readonly number[], others: readonly number[]): readonly number[] {
  return all.filter((value) => !others.includes(value));
}

/**
 * The times of day of `up` that `down` does not have, as patterns: other minutes, or the same minutes at other hours.
 */
function apartOf(up: Cron5, down: Cron5): readonly Cron5[] {
  const minutes = without(up.minutes, down.minutes);
  const shared = without(up.minutes, minutes);
  const hours = without(up.hours, down.hours);
  return [
    ...(minutes.length === 0 ? [] : [{ ...up, minutes }]),
    ...(shared.length === 0 || hours.length === 0 ? [] : [{ ...up, minutes: shared, hours }]),
  ];
}

function sameDays(up: Cron5, down: Cron5): boolean {
  const daysOf = ({ days, months, weekdays, isAnyDay, isAnyWeekday }: Cron5) =>
    JSON.stringify([days, months, weekdays, isAnyDay || isAnyWeekday]);
  return daysOf(up) === daysOf(down);
}

/** Whether `up` may run without `down` on this day, even at times of day that both have. */
function isOwnDay({ up, down, zone, moveAlike }: CronPair, day: Day): boolean {
  return isDayOf(up, day) && (!isDayOf(down, day) || (!moveAlike && changesClocks(zone, day)));
}

/** Whether a clock change is possible on a day, in any zone. */
function changesClocks(zone: string, day: Day): boolean {
  return offsetAt(zone, (day - 1) * DAY_MS) !== offsetAt(zone, (day + 2) * DAY_MS);
}

/**
 * The first moment after another at which `up` runs and `down` does not; null when there is none until `until`.
 *
 * It does not step through the runs: for two crons that run together every minute, ten years would take hours.
 */
function nextWake(pair: CronPair, after: EpochMs, until: EpochMs): EpochMs | null {
  const { up, down, zone, upApart } = pair;
  const nextOnOwnDay = (from: EpochMs, atMost: EpochMs): EpochMs => {
    if (!pair.mayHaveOwnDays) return Infinity;
    const last = localDay(zone, atMost);
    for (let day = localDay(zone, from); day <= last; day += 1) {
      if (!isOwnDay(pair, day)) continue;
      const run = runAfter(up, zone, Math.max(from, startOfDay(zone, day) - 1));
      if (run !== null && run < startOfDay(zone, day + 1)) return run;
    }
    return Infinity;
  };
  for (let from = after; ; ) {
    const apart = Math.min(until + 1, ...upApart.map((cron) => runAfter(cron, zone, from) ?? Infinity));
    const wake = Math.min(apart, nextOnOwnDay(from, apart));
    if (wake > until) return null;
    if (runAtOrBefore(down, zone, wake) !== wake) return wake;
    from = wake;
  }
}

/** The last moment at or before another at which `up` ran and `down` did not; null when there is none since `since`. */
function previousWake(pair: CronPair, at: EpochMs, since: EpochMs): EpochMs | null {
  const { up, down, zone, upApart } = pair;
  const previousOnOwnDay = (from: EpochMs, atLeast: EpochMs): EpochMs => {
    if (!pair.mayHaveOwnDays) return -Infinity;
    const first = localDay(zone, atLeast);
    for (let day = localDay(zone, from); day >= first; day -= 1) {
      if (!isOwnDay(pair, day)) continue;
      const run = runAtOrBefore(up, zone, Math.min(from, startOfDay(zone, day + 1) - 1));
      if (run !== null && run >= startOfDay(zone, day)) return run;
    }
    return -Infinity;
  };
  for (let from = at; ; ) {
    const apart = Math.max(since - 1, ...upApart.map((cron) => runAtOrBefore(cron, zone, from) ?? -Infinity));
    const wake = Math.max(apart, previousOnOwnDay(from, apart));
    if (wake < since) return null;
    if (runAtOrBefore(down, zone, wake) !== wake) return wake;
    from = wake - 1;
  }
}

/** The state by the crons at a moment. */
export function cronStateAt({ up, down, zone }: CronPair, at: EpochMs): ScheduleState {
  const [wake, sleep] = [runAtOrBefore(up, zone, at), runAtOrBefore(down, zone, at)];
  // Nothing is put to sleep before the first run of a cron.
  if (wake === null) return sleep === null ? 'Up' : 'Down';
  return sleep === null || wake > sleep ? 'Up' : 'Down';
}

/** When the state by the crons at a moment began; null when neither cron ever runs. */
export function cronStateSince(pair: CronPair, at: EpochMs): EpochMs | null {
  const { up, down, zone } = pair;
  const lastSleep = runAtOrBefore(down, zone, at);
  if (lastSleep === null && runAtOrBefore(up, zone, at) === null) return null;
  const begin = Math.min(HISTORY_BEGINS, at);
  const [other, by] = cronStateAt(pair, at) === 'Up' ? [lastSleep, up] : [previousWake(pair, at, begin), down];
  return other === null ? begin : runAfter(by, zone, other);
}

/**
 * When the state by the crons next changes, after `after` and not after `until`; null when it does not.
 *
 * @param state the state at `after`
 */
export function nextCronChange(pair: CronPair, state: ScheduleState, after: EpochMs, until: EpochMs): EpochMs | null {
  if (state === 'Down') return nextWake(pair, after, until);
  const sleep = runAfter(pair.down, pair.zone, after);
  return sleep !== null && sleep <= until ? sleep : null;
}
