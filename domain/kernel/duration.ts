const MS_PER_UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+$/;
const PART = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)/g;

/** What `parseDuration` understands, as the end of a sentence that begins with "expected". */
export const DURATION_FORM = 'a duration such as "500ms", "15s", "10m" or "1h30m"';

/**
 * Milliseconds of a duration in Go's notation: one or more numbers with a unit (`ms`, `s`, `m`, `h`), or `0`. In
 * addition to Go's units, `d` is 24 hours.
 *
 * @throws {RangeError} for any other text, including a number without a unit.
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

/** Formats a duration for `parseDuration`, in its largest whole unit up to hours: `8h`, `90m`, `0`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0';
  const unit = (['h', 'm', 's'] as const).find((name) => ms % MS_PER_UNIT[name] === 0) ?? 'ms';
  return `${ms / MS_PER_UNIT[unit]}${unit}`;
}
