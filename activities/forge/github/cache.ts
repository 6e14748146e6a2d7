/**
 * What GitHub said before, kept in the process: answers to ask for again with their ETag, and git objects, which never
 * change.
 */

/** A map that forgets what was not used for longest, once the weights of its entries exceed the limit. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>();
  readonly #limit: number;
  #weight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, weight = 1): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      // The newest stays, however heavy it is: it is about to be used.
      if (this.#weight <= this.#limit || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}

/** Git objects by their SHA: loaded once, also when several ask at the same time. A failed load is not remembered. */
export class ObjectCache<V> {
  readonly #cache: BoundedCache<V>;
  readonly #loading = new Map<string, Promise<V>>();
  readonly #weigh: (value: V) => number;

  /** @param limit in the unit of `weigh`. */
  constructor(limit: number, weigh: (value: V) => number) {
    this.#cache = new BoundedCache(limit);
    this.#weigh = weigh;
  }

  async get(key: string, load: () => Promise<V>): Promise<V> {
    // A value may be null, which is known as well.
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const underway = this.#loading.get(key);
    // Whoever loads it may be cancelled, which is nothing to those who wait along: they load it themselves then.
    if (underway !== undefined) return underway.catch(() => this.get(key, load));
    const loading = load();
    this.#loading.set(key, loading);
    try {
      const value = await loading;
      this.#cache.set(key, value, this.#weigh(value));
      return value;
    } finally {
      this.#loading.delete(key);
    }
  }

  /** Whether a value is here, or on its way. */
  has(key: string): boolean {
    return this.#cache.get(key) !== undefined || this.#loading.has(key);
  }

  /**
   * The values of the keys, those that are not known from one load.
   *
   * @param load is asked for the missing ones, if any, and may bring more, which is kept as well.
   */
  async getAll(
    keys: readonly string[],
    load: (missing: readonly string[]) => Promise<ReadonlyMap<string, V>>,
  ): Promise<ReadonlyMap<string, V>> {
    const missing = new Set(keys.filter((key) => !this.has(key)));
    const loading = missing.size === 0 ? undefined : load([...missing]);
    const found = await Promise.all(
      keys.map(async (key) => {
        const value = await this.get(key, async () => {
          const loaded = (await (missing.has(key) ? loading : load([key])))?.get(key);
          if (loaded === undefined) throw new Error(`asked for ${key}, and got none`);
          return loaded;
        });
        return [key, value] as const;
      }),
    );
    for (const [key, value] of (await loading) ?? []) {
      if (!this.has(key)) this.#cache.set(key, value, this.#weigh(value));
    }
    return new Map(found);
  }
}
