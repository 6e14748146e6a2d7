import { isAtLeast } from '../../domain/kernel/resource-version.ts';

/** The progress of a cache, and who waits for it. */
export class CacheProgress {
  #version = '';
  #ended = false;
  readonly #waiting = new Set<{ readonly version: string; readonly resolve: (isThere: boolean) => void }>();

  get version(): string {
    return this.#version;
  }

  advance(version: string): void {
    if (version === '') return;
    this.#version = version;
    for (const waiting of this.#waiting) {
      if (isAtLeast(version, waiting.version)) waiting.resolve(true);
    }
  }

  async observed(version: string, signal: AbortSignal): Promise<boolean> {
    if (this.#version !== '' && isAtLeast(this.#version, version)) return true;
    if (this.#ended || signal.aborted) return false;
    return await new Promise((resolve) => {
      const onAbort = (): void => waiting.resolve(false);
      const waiting = {
        version,
        resolve: (isThere: boolean): void => {
          this.#waiting.delete(waiting);
          signal.removeEventListener('abort', onAbort);
          resolve(isThere);
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Ends all waits: the cache will not progress any more. */
  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting) waiting.resolve(false);
  }
}
