import type { EpochMs, MonotonicMs } from '../../domain/kernel/time.ts';

/** Milliseconds by which a clock may go ahead and still be followed at once. */
const SMALL_STEP_MS = 500;
/**
 * Milliseconds after which a clock that was set forward is believed: by then most of what should not have ended before is over,
 * and the clock was most likely wrong before.
 */
const BELIEVED_AFTER_MS = 600_000;

/**
 * The time of the day for what must not end early. When the clock is set forward, it goes on as before for a while; back it
 * goes at once.
 */
export class SteadyTime {
  readonly #wall: () => EpochMs;
  readonly #monotonic: () => MonotonicMs;
  /** What the monotonic clock lacks to the time of the day. */
  #offset: number;
  /** Since when the clock is ahead; null while it is not. */
  #aheadSince: MonotonicMs | null = null;

  constructor(wall: () => EpochMs = () => Date.now(), monotonic: () => MonotonicMs = () => performance.now()) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#offset = wall() - monotonic();
  }

  now(): EpochMs {
    const monotonic = this.#monotonic();
    const offset = this.#wall() - monotonic;
    const isAhead = offset > this.#offset + SMALL_STEP_MS;
    this.#aheadSince = isAhead ? (this.#aheadSince ?? monotonic) : null;
    if (this.#aheadSince === null || monotonic - this.#aheadSince >= BELIEVED_AFTER_MS) this.#offset = offset;
    return Math.floor(monotonic + this.#offset);
  }
}
