/**
 * Calendar days and their beginning in a time zone. Workflow code must not import this module, because time zones are
 * the platform's.
 */
import { DAY_MS, type Day } from '../../kernel/day.ts';
import type { EpochMs } from '../../kernel/time.ts';

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
