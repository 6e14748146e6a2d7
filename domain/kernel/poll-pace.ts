/** The pace of polling: fast at first, slower over time. */
export interface PollPace {
  /** Milliseconds between the first questions. */
  readonly first: number;
  /** Milliseconds between questions once `ramp` has passed. */
  readonly last: number;
  /** Milliseconds from the first question until the pace is `last`. */
  readonly ramp: number;
}

/** The milliseconds until the next question, `elapsed` milliseconds after the first. */
export function pollDelay(pace: PollPace, elapsed: number): number {
  const share = pace.ramp <= 0 ? 1 : Math.min(1, Math.max(0, elapsed / pace.ramp));
  return Math.round(pace.first + (Math.max(pace.first, pace.last) - pace.first) * share);
}
