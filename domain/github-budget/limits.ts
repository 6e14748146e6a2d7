/** Write limits: GitHub's own, or lower ones. */

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
   * Milliseconds in which a permit must be used, counted from its question. The windows allow for it: a permit counts
   * in a window from its grant until this long after the window's length.
   */
  readonly validMs: number;
  /** Milliseconds in which the permit must reach its caller; the rest is for the request to GitHub. */
  readonly takenWithinMs: number;
}

/** How many writes of a process may wait in its queue after getting a permit. */
const QUEUED_WRITES = 20;

export interface WriteLimits {
  readonly perMinute: number;
  readonly perHour: number;
  /** The length of "a minute" in milliseconds; other values are for tests. An hour is sixty of them. */
  readonly minuteMs?: number;
  /** The least time between two writes of a process, in milliseconds. */
  readonly spacingMs?: number;
}

/**
 * GitHub allows 80 content-creating requests a minute and 500 an hour, over all clients of a user or an app, and
 * recommends a second between two of them.
 */
export const GITHUB_WRITES: WriteLimits = { perMinute: 80, perHour: 500, spacingMs: 1_000 };

/**
 * The limits of a budget. A permit is valid for a sixth of a minute (10 s: half for a slow worker, half for a slow
 * request), plus the time for which its write may wait in the process's queue (20 s).
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

/** How long a grant counts in a window: a permit that is used as late as possible is still in the window until then. */
export function spanOf({ ms }: Window, { validMs }: BudgetLimits): number {
  return ms + validMs;
}

export function shortestSpan(limits: BudgetLimits): number {
  return Math.min(...limits.windows.map((window) => spanOf(window, limits)));
}

export function longestSpan(limits: BudgetLimits): number {
  return Math.max(...limits.windows.map((window) => spanOf(window, limits)));
}
