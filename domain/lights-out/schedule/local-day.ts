/**
 * Calendar days and their beginning in a time zone. Workflow code must not import this module, because time zones are
 * the platform's.
 */
import type { EpochMs } from '../../kernel/time.ts';

/** A calendar day, independent of a zone: days since 1970-01-01. */
export type Day = number;

export const DAY_MS = 86_400_000;

/**
 * A day by its date; the month counts from 1. A date that does not exist, such as 02-30, overflows into the next month.
 */
export function dayOf(year: number, month: number, date: number): Day {
  return Date.UTC(year, month - 1, date) / DAY_MS;
}

/** The date of a day: the month counts from 1, Sunday is 0. */
export function partsOf(day: Day): {
  readonly year: number;
  readonly month: number;
  readonly date: number;
  readonly weekday: number;
} {
  const at = new Date(day * DAY_MS);
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, date: at.getUTCDate(), weekday: at.getUTCDay() };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * A formatter for the offset of a zone.
 *
 * @throws {RangeError} for a zone that the platform does not know
 */
function formatOf(zone: string): Intl.DateTimeFormat {
  const cached = formats.get(zone);
  if (cached !== undefined) return cached;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, made);
  return made;
}

/** Whether the platform knows this IANA time zone. */
export function isKnownZone(zone: string): boolean {
  try {
    // The platform also accepts offsets, which are not zones.
    return /^[A-Za-z]/.test(zone) && formatOf(zone) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/** The offset of a zone from UTC at a moment, in milliseconds. */
export function offsetAt(zone: string, at: EpochMs): number {
  // "6/1/2026, GMT+02:00", and "GMT" alone for UTC.
  const [, sign, hours, minutes, seconds = 0] =
    /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(formatOf(zone).format(at)) ?? [];
  if (sign === undefined) return 0;
  const ahead = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ahead : ahead;
}

/**
 * The first moment of a day in a zone: its midnight, the first one if there are two; if the clocks skip midnight, the
 * moment after the gap. A day that a zone skips completely ends at its beginning.
 */
export function startOfDay(zone: string, day: Day): EpochMs {
  const midnight = day * DAY_MS;
  const offsets = [offsetAt(zone, midnight - DAY_MS), offsetAt(zone, midnight + DAY_MS)] as const;
  let [low, high] = [midnight - Math.max(...offsets), midnight - Math.min(...offsets)];
  const found = [low, high].find((at) => at + offsetAt(zone, at) === midnight);
  if (found !== undefined) return found;
  const before = offsetAt(zone, low);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** The local day in a zone. It only moves forward, even if the clocks go back over midnight. */
export function localDay(zone: string, at: EpochMs): Day {
  const day = Math.floor((at + offsetAt(zone, at)) / DAY_MS);
  return startOfDay(zone, day + 1) <= at ? day + 1 : day;
}
