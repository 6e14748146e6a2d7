/** Caches of GitHub responses: those to request again with their ETag, and git objects, which never change. */

/** A map that evicts the least recently used entries once the total weight exceeds the limit. */
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
      // The newest entry stays, whatever its weight, because it is about to be used.
      if (this.#weight <= this.#limit || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}

/** A cache of git objects by their SHA. Concurrent requests for an object load it once; failed loads are not cached. */
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
    // A cached value may be null.
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const underway = this.#loading.get(key);
    // The caller that loads the object may be cancelled; the others that wait for it then load it themselves.
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

  /** Stores an object that came with another request. */
  set(key: string, value: V): void {
    this.#cache.set(key, value, this.#weigh(value));
  }

  /** The object, if it is stored. */
  peek(key: string): V | undefined {
    return this.#cache.get(key);
  }

  /** Whether a value is cached or being loaded. */
  has(key: string): boolean {
    return this.#cache.get(key) !== undefined || this.#loading.has(key);
  }

  /**
   * The values of the keys; missing ones are loaded together.
   *
   * @param load gets the missing keys, if any; it may return more values, which are cached too.
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
