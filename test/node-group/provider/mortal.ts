/** A process that ends at one of its requests, so that it can be tried at each. */

/** When it ends: at its request with this number, from 1 on, before or after the request took effect. */
export interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** What the process would have had as an answer. */
export class Died extends Error {
  override readonly name = 'Died';
}

/** Counts the requests of a process, and lets none through from its end on. */
export class Mortal {
  #requests = 0;
  #isDead = false;
  readonly #death: Death | null;

  constructor(death: Death | null = null) {
    this.#death = death;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  async #request<T>(send: () => Promise<T>): Promise<T> {
    if (this.#isDead) throw new Died('the process has ended');
    this.#requests += 1;
    if (this.#requests !== this.#death?.at) return await send();
    if (this.#death.when === 'before') {
      this.#isDead = true;
      throw new Died(`the process ended before its request ${this.#requests}`);
    }
    // Others of its requests that are under way meanwhile take effect too, or not.
    await send().catch(() => undefined);
    this.#isDead = true;
    throw new Died(`the process ended before the answer to its request ${this.#requests}`);
  }

  readonly fetch: typeof fetch = async (input, init) => await this.#request(async () => await fetch(input, init));

  /** A client of an API group whose requests are the process's. */
  client<T extends object>(api: T): T {
    return new Proxy(api, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) =>
          await this.#request(async () => (await Reflect.apply(member, target, args)) as unknown);
      },
    });
  }
}
