/** How many requests one workflow may get: each is a signal, and the server refuses the 10,000th of a run. */
export interface AllowanceOptions {
  /** Requests that a workflow which had none for long may get one after the other. */
  readonly burst: number;
  /** Further requests, for those that may use the reserve. */
  readonly reserve: number;
  /** Milliseconds after which one more request is allowed. */
  readonly refillMs: number;
}

/** What is left of a workflow's allowance; it may be a fraction of a request. */
interface Left {
  readonly requests: number;
  readonly at: number;
}

/** The allowances of all workflows. A workflow that got nothing for long has a full one, and costs nothing here. */
export class Allowances {
  readonly #options: AllowanceOptions;
  readonly #left = new Map<string, Left>();

  constructor(options: AllowanceOptions) {
    this.#options = options;
  }

  /** From when on a request is allowed, which may be in the past. */
  dueAt(key: string, usesReserve: boolean, now: number): number {
    const needed = usesReserve ? 1 : 1 + this.#options.reserve;
    return now + (needed - this.#leftAt(key, now)) * this.#options.refillMs;
  }

  spend(key: string, now: number): void {
    this.#left.set(key, { requests: Math.max(0, this.#leftAt(key, now) - 1), at: now });
  }

  /** Forgets the allowances that are full again. */
  forgetFull(now: number): void {
    for (const key of this.#left.keys()) if (this.#leftAt(key, now) >= this.#full) this.#left.delete(key);
  }

  get #full(): number {
    return this.#options.burst + this.#options.reserve;
  }

  #leftAt(key: string, now: number): number {
    const left = this.#left.get(key);
    if (left === undefined) return this.#full;
    return Math.min(this.#full, left.requests + (now - left.at) / this.#options.refillMs);
  }
}
