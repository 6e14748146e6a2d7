/** A timer holds at most so many milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Pending {
  /** Every moment that is still to come. */
  readonly moments: Set<number>;
  timer: NodeJS.Timeout | null;
}

/** Calls back for a namespace at moments that no event reports, because only time passes. */
export class Alarms {
  readonly #now: () => number;
  readonly #notify: (namespace: string) => void;
  readonly #pending = new Map<string, Pending>();

  /** @param now the clock of the moments, in milliseconds. */
  constructor(now: () => number, notify: (namespace: string) => void) {
    this.#now = now;
    this.#notify = notify;
  }

  /** Adds a moment. */
  set(namespace: string, at: number): void {
    const pending = this.#pending.get(namespace) ?? { moments: new Set(), timer: null };
    this.#pending.set(namespace, pending);
    if (pending.moments.has(at)) return;
    pending.moments.add(at);
    this.#wind(namespace, pending);
  }

  stop(): void {
    for (const { timer } of this.#pending.values()) if (timer !== null) clearTimeout(timer);
    this.#pending.clear();
  }

  #wind(namespace: string, pending: Pending): void {
    if (pending.timer !== null) clearTimeout(pending.timer);
    if (pending.moments.size === 0) {
      this.#pending.delete(namespace);
      return;
    }
    // One millisecond later, so that the moment is over.
    const inMs = Math.min(...pending.moments) + 1 - this.#now();
    pending.timer = setTimeout(() => this.#due(namespace, pending), Math.min(Math.max(1, inMs), LONGEST_TIMER_MS));
  }

  #due(namespace: string, pending: Pending): void {
    const now = this.#now();
    const over = [...pending.moments].filter((at) => at < now);
    for (const at of over) pending.moments.delete(at);
    pending.timer = null;
    this.#wind(namespace, pending);
    if (over.length > 0) this.#notify(namespace);
  }
}
