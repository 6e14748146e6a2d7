/** The hours of a day in which nodes may be taken away, as the VPSie autoscaler has them. */
import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';

/** Moments of a day, in one unit: hours, or minutes since midnight. */
export interface DayWindow {
  readonly start: number;
  /** Not part of it any more. */
  readonly end: number;
}

const DAY_MS = 86_400_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
/** The VPSie autoscaler takes `22:00-02:00` only; whole hours are what people write as well. */
const WINDOW = /^(\d{1,2})(?::(\d{2}))?\s*-\s*(\d{1,2})(?::(\d{2}))?$/;

/** Half-open, also over midnight: 22 to 2 has 22, 23, 0 and 1. A window that ends where it starts has no moment at all. */
export function isHourInWindow(hour: number, { start, end }: DayWindow): boolean {
  return start <= end ? hour >= start && hour < end : hour >= start || hour < end;
}

/** Reads `22:00-02:00`, `22-2`, or several with commas, as minutes since midnight in UTC; null for any other text. */
export function readAllowedHours(text: string): readonly DayWindow[] | null {
  const windows = text.split(',').map((part) => {
    const [, startHour, startMinute = '0', endHour, endMinute = '0'] = WINDOW.exec(part.trim()) ?? [];
    const [start, end] = [minutesOf(startHour, startMinute), minutesOf(endHour, endMinute)];
    // 24:00 is how people write the end of a day.
    return start < DAY_MINUTES && end <= DAY_MINUTES ? { start, end } : null;
  });
  return windows.every((window) => window !== null) ? windows : null;
}

/** NaN for what is no time, which no comparison holds for. */
function minutesOf(hour: string | undefined, minute: string): number {
  return Number(minute) < HOUR_MINUTES ? Number(hour) * HOUR_MINUTES + Number(minute) : Number.NaN;
}

/** When one of the windows is open next: `at` where one is open now, null where none ever is. */
export function nextAllowedMoment(windows: readonly DayWindow[], at: EpochMs): EpochMs | null {
  const midnight = at - (at % DAY_MS);
  const minute = Math.floor((at - midnight) / MINUTE_MS);
  if (windows.some((window) => isHourInWindow(minute, window))) return at;
  const begins = windows
    .filter(({ start, end }) => start !== end)
    .map(({ start }) => midnight + start * MINUTE_MS)
    .map((begin) => (begin > at ? begin : begin + DAY_MS));
  return begins.length === 0 ? null : Math.min(...begins);
}
