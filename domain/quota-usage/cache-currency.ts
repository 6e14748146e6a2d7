/**
 * Up to which moment a cache is known to hold everything that was stored. A watch that is connected may have been silent for
 * minutes, so its connection says nothing; what says something is a list of the same resource that was answered from the
 * store, once the cache has come as far. Versions of different resources are never compared: each may be in an etcd of its
 * own, and an aggregated API counts as it likes.
 */
import { isProvenAtLeast } from '../kernel/resource-version.ts';
import type { MonotonicMs } from '../kernel/time.ts';

/** A list with everything that was stored up to a moment. */
export interface FreshList {
  readonly asOf: MonotonicMs;
  readonly version: string;
}

export interface CacheCurrency {
  readonly asOf: MonotonicMs;
  /** Lists up to which the cache has not come yet: the oldest, which it reaches first, and the newest. */
  readonly ahead: readonly FreshList[];
}

export const unknownCurrency: CacheCurrency = { asOf: Number.NEGATIVE_INFINITY, ahead: [] };

/** Adds a list of any part of the resource. */
export function noteList({ asOf, ahead }: CacheCurrency, list: FreshList): CacheCurrency {
  return { asOf, ahead: [...ahead.slice(0, 1), list] };
}

/** The cache holds everything up to this version. */
export function noteProgress({ asOf, ahead }: CacheCurrency, version: string): CacheCurrency {
  const reached = ahead.filter((list) => isProvenAtLeast(version, list.version));
  return {
    asOf: Math.max(asOf, ...reached.map((list) => list.asOf)),
    ahead: ahead.filter((list) => !reached.includes(list)),
  };
}
