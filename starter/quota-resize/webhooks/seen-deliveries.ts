import type { EpochMs } from '../../../domain/kernel/time.ts';

const DAY_MS = 86_400_000;
/**
 * Two entries per delivery. An entry that is evicted within a day belongs to a delivery that is rejected by its age.
 */
const REMEMBERED = 20_000;

/** Remembers the deliveries of the last day, so that none takes effect twice; the oldest are evicted first. */
export class SeenDeliveries {
  readonly #at = new Map<string, EpochMs>();
  readonly #limit: number;

  constructor(limit = REMEMBERED) {
    this.#limit = limit;
  }

  /** Adds an entry; false when it was there already. */
  add(mark: string, now: EpochMs): boolean {
    for (const [oldest, at] of this.#at) {
      if (this.#at.size < this.#limit && now - at <= DAY_MS) break;
      this.#at.delete(oldest);
    }
    if (this.#at.has(mark)) return false;
    this.#at.set(mark, now);
    return true;
  }
}
