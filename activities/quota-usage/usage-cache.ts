import type { GroupResource } from '../../domain/kernel/group-resource.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import type { StaleValue } from '../../domain/quota-usage/observation.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';

/** The informer caches of a starter for ResourceQuotas and everything they count. */
export interface UsageCache {
  /** The quota in the cache; null when it is not there. */
  readonly quota: (namespace: string, name: string) => CachedQuota | null;
  readonly quotas: (namespace?: string) => readonly CachedQuota[];
  /**
   * Counts the usage of the quota's namespace from the caches. Waits for caches that are being filled until the signal
   * is aborted; what still cannot be counted is returned in `unmeasured`.
   */
  readonly count: (quota: CachedQuota, signal: AbortSignal) => Promise<UsageCount>;
  /** Wrong values in the quota's status by this count, and since when. */
  readonly staleValues: (quota: CachedQuota, count: UsageCount) => readonly StaleValue[];
  /** The extended resource of each device class, null for a class without one; empty while nobody needs it. */
  readonly deviceClasses: () => ReadonlyMap<string, string | null>;
  /** The resources that are watched now, for people. */
  readonly watched: () => readonly GroupResource[];
}
