import { hasReached } from '../../domain/kernel/resource-version.ts';

/** How far a cache has come, and who waits for it to come further. */
export class CacheProgress {
  #version = '';
  #ended = false;
  readonly #waiting = new Set<{ readonly version: string; readonly settle: (isThere: boolean) => void }>();

  get version(): string {
    return this.#version;
  }

  advance(version: string): void {
    if (version === '') return;
    this.#version = version;
    for (const waiting of this.#waiting) {
      if (hasReached(version, waiting.version)) waiting.settle(true);
    }
  }

  async reached(version: string, signal: AbortSignal): Promise<boolean> {
    if (this.#version !== '' && hasReached(this.#version, version)) return true;
    if (this.#ended || signal.aborted) return false;
    return await new Promise((resolve) => {
      const onAbort = (): void => waiting.settle(false);
      const waiting = {
        version,
        settle: (isThere: boolean): void => {
          this.#waiting.delete(waiting);
          signal.removeEventListener('abort', onAbort);
          resolve(isThere);
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Nothing more will come. */
  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting) waiting.settle(false);
  }
}
