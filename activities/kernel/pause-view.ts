import type { PauseInForce } from '../../domain/kernel/pause.ts';
import { PAUSES_CONFIRMED_MS } from '../../domain/kernel/pause-state.ts';
import type { PauseConfigMaps } from '../../domain/kernel/stored-pause.ts';

/**
 * The process's view of the pause ConfigMaps. A watch reports changes; a state that was not confirmed for 30 s, or is
 * not watched at the moment, is read again before it is used. A failed read is an error and never "no pause".
 */
export class PauseView {
  readonly #read: () => Promise<PauseConfigMaps>;
  readonly #now: () => number;
  readonly #held: (maxAgeMs: number) => Promise<PauseInForce | null>;
  #confirmed: { readonly maps: PauseConfigMaps; readonly at: number } | null = null;
  #isWatched = false;
  /** Counts changes, so that the result of a read that began before one is not cached. */
  #changes = 0;

  /**
   * @param now a monotonic clock in milliseconds: with a clock that is set back, old state would seem recent.
   * @param held why the process may write nothing at all, by what is not older than this in milliseconds; null: it may.
   */
  constructor(
    read: () => Promise<PauseConfigMaps>,
    now: () => number = () => performance.now(),
    held: (maxAgeMs: number) => Promise<PauseInForce | null> = async () => await Promise.resolve(null),
  ) {
    this.#read = read;
    this.#held = held;
    this.#now = now;
  }

  /** Something changed, or may have changed without notice. */
  changed(): void {
    this.#changes += 1;
    this.#confirmed = null;
  }

  /** Whether every change will be reported from now on. */
  watched(isWatched: boolean): void {
    this.#isWatched = isWatched;
    this.changed();
  }

  /** @param maxAgeMs a state that was confirmed longer ago is read again, in milliseconds. */
  async read(maxAgeMs = PAUSES_CONFIRMED_MS): Promise<PauseConfigMaps> {
    const [maps, held] = await Promise.all([this.#readMaps(maxAgeMs), this.#held(maxAgeMs)]);
    return held === null ? maps : { ...maps, held };
  }

  async #readMaps(maxAgeMs: number): Promise<PauseConfigMaps> {
    const cached = this.#confirmed;
    if (cached !== null && this.#now() - cached.at < maxAgeMs) return cached.maps;
    const changes = this.#changes;
    const at = this.#now();
    const maps = await this.#read();
    if (this.#isWatched && changes === this.#changes) this.#confirmed = { maps, at };
    return maps;
  }
}
