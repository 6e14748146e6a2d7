import { PAUSES_CONFIRMED_MS } from '../../domain/kernel/pause-state.ts';
import type { PauseConfigMaps } from '../../domain/kernel/stored-pause.ts';

/**
 * The ConfigMaps of pauses as a process knows them. A watch says when they change; what was not confirmed for 30 s, or is
 * not watched at the moment, is read again before it is believed. What cannot be read is an error, never "no pause".
 */
export class PauseView {
  readonly #read: () => Promise<PauseConfigMaps>;
  readonly #now: () => number;
  #confirmed: { readonly maps: PauseConfigMaps; readonly at: number } | null = null;
  #isWatched = false;
  /** Counts what makes an answer that is still under way too old to be kept. */
  #changes = 0;

  /** @param now a clock in milliseconds that nobody sets: one that is set back would make what was read young again. */
  constructor(read: () => Promise<PauseConfigMaps>, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#now = now;
  }

  /** Something changed, or may have changed unseen. */
  changed(): void {
    this.#changes += 1;
    this.#confirmed = null;
  }

  /** Whether every change will be told from now on. */
  watched(isWatched: boolean): void {
    this.#isWatched = isWatched;
    this.changed();
  }

  /** @param maxAgeMs what was confirmed longer ago is read again, in milliseconds. */
  async read(maxAgeMs = PAUSES_CONFIRMED_MS): Promise<PauseConfigMaps> {
    const cached = this.#confirmed;
    if (cached !== null && this.#now() - cached.at < maxAgeMs) return cached.maps;
    const changes = this.#changes;
    const at = this.#now();
    const maps = await this.#read();
    if (this.#isWatched && changes === this.#changes) this.#confirmed = { maps, at };
    return maps;
  }
}
