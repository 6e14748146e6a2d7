import { setTimeout as sleep } from 'node:timers/promises';
import type { EpochMs } from '../../../../domain/kernel/time.ts';

const WINDOW_MS = 60_000;
/** VPSie counts by the minute: without a Retry-After a part of the window is waited. */
const DEFAULT_REST_MS = 20_000;
/** Longer is no wait inside of a call: the caller comes back. */
const LONGEST_WAIT_MS = 5_000;

/** It is not this process's turn to ask VPSie, for so many milliseconds. */
export class Limited extends Error {
  override readonly name = 'Limited';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super(`VPSie takes no more requests for ${Math.ceil(retryAfterMs / 1000)} s`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Keeps the requests of a process below what VPSie takes from an account in a minute. */
export class Pace {
  readonly #perMinute: number;
  readonly #now: () => EpochMs;
  #sent: EpochMs[] = [];
  #restUntil: EpochMs = 0;

  constructor(perMinute: number, now: () => EpochMs = Date.now) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /**
   * Waits for the turn of one request, which counts as sent then.
   * @throws Limited when that takes longer than some seconds.
   */
  async turn(): Promise<void> {
    for (;;) {
      const wait = this.#wait();
      if (wait <= 0) break;
      if (wait > LONGEST_WAIT_MS) throw new Limited(wait);
      await sleep(wait);
    }
    this.#sent.push(this.#now());
  }

  /** After VPSie has said that there were too many, for all that share this. */
  rest(retryAfterMs: number | null): Limited {
    const limited = new Limited(retryAfterMs ?? DEFAULT_REST_MS);
    this.#restUntil = Math.max(this.#restUntil, this.#now() + limited.retryAfterMs);
    return limited;
  }

  /** Milliseconds until the next request. */
  #wait(): number {
    const now = this.#now();
    this.#sent = this.#sent.filter((at) => at > now - WINDOW_MS);
    const [oldest] = this.#sent;
    const full = oldest !== undefined && this.#sent.length >= this.#perMinute ? oldest + WINDOW_MS - now : 0;
    return Math.max(full, this.#restUntil - now);
  }
}
