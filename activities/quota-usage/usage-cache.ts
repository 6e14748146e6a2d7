import type { GroupResource } from '../../domain/kernel/group-resource.ts';
import type { CachedQuota, ObservedVersions } from '../../domain/quota-usage/observation.ts';
import type { StaleValue } from '../../domain/quota-usage/observation.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { UnsettledCharges } from '../../domain/quota-usage/recent-charges.ts';

/** What a starter's informer caches hold of ResourceQuotas and of everything that they count. */
export interface UsageCache {
  /** The quota as the cache has it; null when it is not there. */
  readonly quota: (namespace: string, name: string) => CachedQuota | null;
  readonly quotas: (namespace?: string) => readonly CachedQuota[];
  /**
   * Resolves when the caches have come as far as each resourceVersion, or when the signal is aborted, whichever is
   * first. A resource that is not watched is not waited for.
   * @returns the resources that are not there yet; none when all are.
   */
  readonly observed: (versions: ObservedVersions, signal: AbortSignal) => Promise<readonly string[]>;
  /** Resolves when the cached quota is another than this version, or is gone, or the signal is aborted; whether it is. */
  readonly quotaMoved: (
    namespace: string,
    name: string,
    resourceVersion: string,
    signal: AbortSignal,
  ) => Promise<boolean>;
  /**
   * Counts what the quota's namespace uses from the caches as they are. It waits for caches that are just being filled
   * until the signal is aborted; what still cannot be counted then is in `unmeasured`.
   */
  readonly count: (quota: CachedQuota, signal: AbortSignal) => Promise<UsageCount>;
  /** What the quota was charged so recently that the caches may not have its objects yet. */
  readonly unsettledCharges: (quota: CachedQuota) => UnsettledCharges;
  /** Audit: what is wrong in the quota's status by this count, and since when; empty where nobody audits. */
  readonly staleValues: (quota: CachedQuota, count: UsageCount) => readonly StaleValue[];
  /** The extended resource that each device class stands for, null where it stands for none; empty while nobody needs it. */
  readonly deviceClasses: () => ReadonlyMap<string, string | null>;
  /** The resources that are watched now, for people. */
  readonly watched: () => readonly GroupResource[];
}
