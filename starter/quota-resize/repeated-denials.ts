/**
 * A controller whose pods are denied tries again after 5 ms, 10 ms, 20 ms and so on, and each time is an Event. The first tells of a
 * need. The others tell the same to an episode that observes by itself meanwhile, and each request would be a signal and a task of its workflow.
 */
const REPEAT_MS = 10_000;

/** An episode with a decision observes once in this time at most, whatever it is told. */
const DECIDED_REPEAT_MS = 60_000;

export class RepeatedDenials {
  /** By quota and what was said, when it was last worth a request; the longest ago first. */
  readonly #told = new Map<string, number>();
  /** The same by quota. */
  readonly #toldOf = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * In how many milliseconds a denial is worth a request: at once where nothing has said the same for ten seconds, or a minute while the
   * quota has a decision, and otherwise when they are over, as the episode may have ended before it. It is asked again after ten seconds,
   * as the decision may have ended too.
   *
   * @returns `isFirst`: no denial of any kind was worth one for ten seconds.
   */
  waitOf(
    quota: string,
    denial: string,
    { isDecided }: { readonly isDecided: boolean },
  ): { readonly afterMs: number; readonly isFirst: boolean } {
    const now = this.#now();
    forget(this.#told, now - DECIDED_REPEAT_MS);
    forget(this.#toldOf, now - REPEAT_MS);
    const key = `${quota}\n${denial}`;
    const at = this.#told.get(key);
    const afterMs = at === undefined ? 0 : at + (isDecided ? DECIDED_REPEAT_MS : REPEAT_MS) - now;
    if (afterMs > 0) return { afterMs: Math.min(afterMs, REPEAT_MS), isFirst: false };
    const isFirst = !this.#toldOf.has(quota);
    put(this.#told, key, now);
    put(this.#toldOf, quota, now);
    return { afterMs: 0, isFirst };
  }
}

function put(moments: Map<string, number>, key: string, now: number): void {
  moments.delete(key);
  moments.set(key, now);
}

/** Forgets what was said at this moment or before. */
function forget(moments: Map<string, number>, until: number): void {
  for (const [key, at] of moments) {
    if (at > until) break;
    moments.delete(key);
  }
}
