import type { EpochMs } from '../../../domain/kernel/time.ts';

const DAY_MS = 86_400_000;
/** Marks of deliveries, two for each. What is forgotten sooner than after a day is still refused by its own age. */
const REMEMBERED = 20_000;

/** What marks the deliveries of the last day, so that none has an effect twice; the oldest are forgotten first. */
export class SeenDeliveries {
  readonly #at = new Map<string, EpochMs>();
  readonly #limit: number;

  constructor(limit = REMEMBERED) {
    this.#limit = limit;
  }

  /** Notes a mark; false when it was seen before. */
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
