/** How many writes in which spans: what GitHub allows, or less. */

/** At most `most` writes in any span of `ms` milliseconds. */
export interface Window {
  readonly ms: number;
  /** At least 1. */
  readonly most: number;
}

export interface BudgetLimits {
  /** From the shortest span to the longest; at least one. */
  readonly windows: readonly Window[];
  /**
   * Milliseconds in which a permit must have been used, counted from the question that was answered with it. The windows
   * make room for it: a permit counts in a window from its grant until this long after its span.
   */
  readonly validMs: number;
  /** Milliseconds in which it must be in its asker's hands; the rest is for the way from there to GitHub. */
  readonly takenWithinMs: number;
}

/** So many writes of a process may queue for their turn once they have their permit. */
const QUEUED_WRITES = 20;

export interface WriteLimits {
  readonly perMinute: number;
  readonly perHour: number;
  /** What "a minute" is, in milliseconds: another span is for tests. An hour is sixty of them. */
  readonly minuteMs?: number;
  /** The least time between two writes of a process, in milliseconds. */
  readonly spacingMs?: number;
}

/**
 * GitHub allows 80 content-creating requests a minute and 500 an hour, over all clients of a user or an app. It asks for a
 * second between two of them.
 */
export const GITHUB_WRITES: WriteLimits = { perMinute: 80, perHour: 500, spacingMs: 1_000 };

/**
 * The limits of a budget. A permit is valid for a sixth of a minute (10 s), half of it for a worker that is slow and half for
 * a request that takes long to arrive, and for the time in which its write may queue in the process (20 s).
 */
export function budgetLimits({ perMinute, perHour, minuteMs = 60_000, spacingMs = 0 }: WriteLimits): BudgetLimits {
  const takenWithinMs = Math.ceil(minuteMs / 12);
  return {
    windows: [
      { ms: minuteMs, most: perMinute },
      { ms: 60 * minuteMs, most: perHour },
    ],
    validMs: 2 * takenWithinMs + QUEUED_WRITES * spacingMs,
    takenWithinMs,
  };
}

/** For how long a grant counts in a window: a permit that is used as late as possible is still within its span until then. */
export function spanOf({ ms }: Window, { validMs }: BudgetLimits): number {
  return ms + validMs;
}

export function shortestSpan(limits: BudgetLimits): number {
  return Math.min(...limits.windows.map((window) => spanOf(window, limits)));
}

export function longestSpan(limits: BudgetLimits): number {
  return Math.max(...limits.windows.map((window) => spanOf(window, limits)));
}
