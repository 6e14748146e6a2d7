/** Calendar days as numbers, without any time zone. */

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
