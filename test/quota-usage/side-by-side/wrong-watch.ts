/** How long two clusters have said different things while operations go on. */
import { setTimeout as sleep } from 'node:timers/promises';

const CHECK_EVERY_MS = 1_000;

/** The longest time for which one number was another one in both clusters. */
export interface LongestWrong {
  readonly ms: number;
  readonly what: string;
}

/**
 * Looks until it is stopped. A look that fails, because an API server is being restarted, tells nothing: a difference goes on
 * for as long as no look has found it gone.
 *
 * @param look the lines of what is different now; what is before the last colon is the same for as long as the number is wrong.
 */
export function watchWrong(look: () => Promise<readonly string[]>): { readonly stop: () => Promise<LongestWrong> } {
  const over = new AbortController();
  let longest: LongestWrong = { ms: 0, what: 'nothing' };
  const watching = async (): Promise<void> => {
    const since = new Map<string, number>();
    while (!over.signal.aborted) {
      const lines = await look().catch(() => null);
      const now = Date.now();
      const different = new Set(lines?.map((line) => line.slice(0, line.lastIndexOf(':'))));
      if (lines !== null) for (const key of since.keys()) if (!different.has(key)) since.delete(key);
      for (const key of different) {
        const ms = now - (since.get(key) ?? now);
        if (!since.has(key)) since.set(key, now);
        if (ms > longest.ms) longest = { ms, what: key };
      }
      await sleep(CHECK_EVERY_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const watched = watching();
  return {
    stop: async () => {
      over.abort();
      await watched;
      return longest;
    },
  };
}
