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
  readonly #known: BoundedCache<V>;
  readonly #loading = new Map<string, Promise<V>>();
  readonly #weigh: (value: V) => number;

  /** @param limit in the unit of `weigh`. */
  constructor(limit: number, weigh: (value: V) => number) {
    this.#known = new BoundedCache(limit);
    this.#weigh = weigh;
  }

  async get(key: string, load: () => Promise<V>): Promise<V> {
    const known = this.#known.get(key) ?? this.#loading.get(key);
    if (known !== undefined) return known;
    const loading = load();
    this.#loading.set(key, loading);
    try {
      const value = await loading;
      this.#known.set(key, value, this.#weigh(value));
      return value;
    } finally {
      this.#loading.delete(key);
    }
  }
}
