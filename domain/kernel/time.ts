/** Milliseconds since 1970-01-01T00:00:00Z. The domain never reads a clock: a moment is always an argument. */
export type EpochMs = number;

/**
 * Milliseconds since some moment that stays the same for as long as the process runs, by a clock that nobody can set. For
 * every span of time that only this process measures.
 */
export type MonotonicMs = number;

export const MINUTE_MS = 60_000;

/** `2026-11-20T10:15:00Z`: whole seconds, UTC, as operators read it in details, Events and annotations. */
export function formatInstant(at: EpochMs): string {
  return new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** `90 s`, `12 min`, `3 h 20 min`, `2 d 4 h`: a span in words, rounded down to what a reader needs. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** `in 3 h 20 min`, or `2 min ago`. */
export function fromNow(at: EpochMs, now: EpochMs): string {
  return at < now ? `${formatSpan(now - at)} ago` : `in ${formatSpan(at - now)}`;
}

/** Instants as `formatInstant` writes them, except for those already followed by their relative time. */
const INSTANT = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z(?! \((?:in )?\d)/g;

/** Adds the relative time to each instant in a text: `until 2026-11-20T11:15:00Z (in 58 min)`. */
export function withRelativeTimes(text: string, now: EpochMs): string {
  return text.replaceAll(INSTANT, (instant) => `${instant} (${fromNow(Date.parse(instant), now)})`);
}
