import type { GroupResource } from '../../domain/kernel/group-resource.ts';
import type { CachedQuota, ObservedVersions } from '../../domain/quota-usage/observation.ts';
import type { StaleValue } from '../../domain/quota-usage/observation.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { UnsettledCharges } from '../../domain/quota-usage/recent-charges.ts';

/** The informer caches of a starter for ResourceQuotas and everything they count. */
export interface UsageCache {
  /** The quota in the cache; null when it is not there. */
  readonly quota: (namespace: string, name: string) => CachedQuota | null;
  readonly quotas: (namespace?: string) => readonly CachedQuota[];
  /**
   * Resolves when the caches have reached each resourceVersion, or when the signal is aborted. Resources that are not
   * watched are ignored.
   * @returns the resources that are still behind; empty when none is.
   */
  readonly observed: (versions: ObservedVersions, signal: AbortSignal) => Promise<readonly string[]>;
  /**
   * Resolves when the cached quota has another version or is gone, or when the signal is aborted; returns whether it
   * changed.
   */
  readonly quotaMoved: (
    namespace: string,
    name: string,
    resourceVersion: string,
    signal: AbortSignal,
  ) => Promise<boolean>;
  /**
   * Counts the usage of the quota's namespace from the caches. Waits for caches that are being filled until the signal
   * is aborted; what still cannot be counted is returned in `unmeasured`.
   */
  readonly count: (quota: CachedQuota, signal: AbortSignal) => Promise<UsageCount>;
  /** Charges of the quota that are so recent that the caches may not have their objects yet. */
  readonly unsettledCharges: (quota: CachedQuota) => UnsettledCharges;
  /** Audit: wrong values in the quota's status by this count, and since when; empty without an audit. */
  readonly staleValues: (quota: CachedQuota, count: UsageCount) => readonly StaleValue[];
  /** The extended resource of each device class, null for a class without one; empty while nobody needs it. */
  readonly deviceClasses: () => ReadonlyMap<string, string | null>;
  /** The resources that are watched now, for people. */
  readonly watched: () => readonly GroupResource[];
}
