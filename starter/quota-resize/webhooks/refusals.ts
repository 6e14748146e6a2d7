/** Requests that were refused before their bodies were read, in the present second. */
export class Refusals {
  readonly #most: number;
  #count = 0;
  #since = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(now: number): void {
    if (now - this.#since >= SECOND_MS) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
  }

  /** Whether nothing more is listened to until the second is over. */
  areTooMany(now: number): boolean {
    return this.#count >= this.#most && now - this.#since < SECOND_MS;
  }
}

const SECOND_MS = 1_000;
