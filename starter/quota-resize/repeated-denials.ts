/**
 * A controller whose pods are denied tries again after 5 ms, 10 ms, 20 ms and so on, and each time is an Event. The first tells of a
 * need. The others tell the same to an episode that observes by itself meanwhile, and each request would be a signal and a task of its workflow.
 */
const REPEAT_MS = 10_000;

export class RepeatedDenials {
  /** By what was said, when it was last worth a request; the longest ago first. */
  readonly #told = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * In how many milliseconds a denial is worth a request: at once where nothing has said the same for ten seconds, and otherwise when
   * they are over, as the episode may have ended before it.
   */
  waitOf(denial: string): number {
    const now = this.#now();
    for (const [said, at] of this.#told) {
      if (now - at < REPEAT_MS) break;
      this.#told.delete(said);
    }
    const at = this.#told.get(denial);
    if (at !== undefined) return at + REPEAT_MS - now;
    this.#told.set(denial, now);
    return 0;
  }
}
