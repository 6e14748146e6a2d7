const MS_PER_UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+$/;
const PART = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g;

/** What `parseDuration` understands, as the end of a sentence that begins with "expected". */
export const DURATION_FORM = 'a duration such as "500ms", "15s", "10m" or "1h30m"';

/**
 * Milliseconds of a duration in Go's notation: one or more numbers with a unit (`ms`, `s`, `m`, `h`), and `0`.
 *
 * @throws {RangeError} for any other text, a number without a unit included.
 */
export function parseDuration(text: string): number {
  if (text === '0') return 0;
  if (!DURATION.test(text)) throw new RangeError(`expected ${DURATION_FORM}`);
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    ms += Number(amount) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  }
  return Math.round(ms);
}
