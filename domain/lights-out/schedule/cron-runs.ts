/**
 * When the cron patterns of a schedule run, in its time zone. Workflow code must not import this module, because the cron library
 * reads the time zones of the platform; its results are recorded by activities.
 */
import { Cron } from 'croner';
import { type Cron5, neverComes, parseCron } from '../../kernel/cron.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { isKnownZone } from './local-day.ts';

/** How many compiled patterns are cached: one takes some 100 kB, and a cluster has a few dozen schedules. */
const KEPT = 100;

/** The value for a key, created at most once; the least recently used entry is evicted. */
function kept<Made>(all: Map<string, Made>, key: string, make: () => Made): Made {
  const made = all.get(key) ?? make();
  all.delete(key);
  all.set(key, made);
  const [oldest] = all.keys();
  if (all.size > KEPT && oldest !== undefined) all.delete(oldest);
  return made;
}

const compiled = new Map<string, Cron>();

/** The pattern in the library's dialect. */
function compile(cron: Cron5, zone: string): Cron {
  const pattern = [
    cron.minutes.join(','),
    // The library treats an hour with a step as open.
    cron.hours.map((hour) => (cron.isFixed ? `${hour}` : `${hour}-${hour}/1`)).join(','),
    cron.isAnyDay ? '*' : cron.days.join(','),
    cron.months.join(','),
    cron.isAnyWeekday ? '*' : cron.weekdays.join(','),
  ].join(' ');
  const options = { timezone: zone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true } as const;
  return kept(compiled, `${zone} ${pattern}`, () => new Cron(pattern, options));
}

/** The last run at or before a moment, with a precision of one second; null when there is none. */
export function runAtOrBefore(cron: Cron5, zone: string, at: EpochMs): EpochMs | null {
  if (neverComes(cron)) return null;
  // The library searches strictly before the given moment and ignores fractions of a second.
  const [run] = compile(cron, zone).previousRuns(1, new Date(Math.floor(at / 1000) * 1000 + 1));
  return run?.getTime() ?? null;
}

/** The first run after a moment; null when there is none. */
export function runAfter(cron: Cron5, zone: string, after: EpochMs): EpochMs | null {
  if (neverComes(cron)) return null;
  return compile(cron, zone).nextRun(new Date(after))?.getTime() ?? null;
}

/**
 * The last run of a pattern at or before a moment, with a precision of one second; null when there is none.
 *
 * @param zone an IANA time zone, such as Europe/Berlin
 * @throws {CronProblem} for an invalid pattern
 */
export function previousRun(cron: string, zone: string, at: EpochMs): EpochMs | null {
  return runAtOrBefore(parseCron(cron), zone, at);
}

/** The first run of a pattern after a moment; otherwise like `previousRun`. */
export function nextRun(cron: string, zone: string, after: EpochMs): EpochMs | null {
  return runAfter(parseCron(cron), zone, after);
}

/**
 * The problem of a time zone, in one sentence; null when it is known. An offset is rejected: it would be wrong for half
 * of the year.
 */
export function zoneProblem(zone: string): string | null {
  return isKnownZone(zone) ? null : `"${zone}" is not an IANA time zone such as "Europe/Berlin" or "UTC"`;
}
