import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CachedQuota, ObservedVersions, UsageObservation } from '../../domain/quota-usage/observation.ts';
import type { QuotaEvent } from '../kernel/quota-event.ts';

export interface ObserveUsageInput {
  readonly target: QuotaTarget;
  /** The resourceVersions that the caches must have reached: those that the reconcile request saw. */
  readonly observed: ObservedVersions;
  /** The quota's version at which a write had a conflict: the cache must have a newer one. */
  readonly not?: string;
}

/** A quota of a namespace with its counted usage. */
export interface CountedQuota {
  readonly quota: CachedQuota;
  readonly count: UsageCount;
}

/** Activities that read the informer caches of a starter; starters host them on the cluster's cache task queue. */
export interface UsageCacheActivities {
  /**
   * The quota and its namespace's usage, counted from the caches once they have reached the observed versions.
   * @throws NotYet, retried soon by this or another starter, while the caches have not.
   */
  observeUsage(observeInput: ObserveUsageInput): Promise<UsageObservation>;
  /**
   * Like `observeUsage`, but throws NotYet, retried at the given pace, while the unmeasured or wrong values are the
   * same as before.
   */
  observeUsageChange(
    observeInput: ObserveUsageInput & { readonly since: string; readonly everyMs: number },
  ): Promise<UsageObservation>;
  /** All quotas of a namespace with their counted usage, from the caches as they are. */
  observeNamespaceUsage(input: {
    readonly cluster: string;
    readonly namespace: string;
  }): Promise<readonly CountedQuota[]>;
}

/** A status to write, bound to the version of the quota that it was counted for. */
export interface UsageStatusWrite {
  readonly target: QuotaTarget;
  readonly quotaUid: string;
  readonly resourceVersion: string;
  readonly hard: ResourceList;
  readonly used: ResourceList;
  /** The usage in the status when it was counted. */
  readonly usedBefore: ResourceList;
  /** By the clock of the starter that counted. */
  readonly countedAt: EpochMs;
  /** Keys to remove from the status. */
  readonly without: { readonly hard: readonly string[]; readonly used: readonly string[] };
}

export type UsageStatusOutcome =
  | {
      readonly kind: 'written';
      readonly resourceVersion: string;
      /** Admission had charged something since the count; the written value includes both. */
      readonly isRebased: boolean;
    }
  /** The quota has changed: count again. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' };

/** Activities that write to the cluster; workers host them. */
export interface QuotaUsageActivities {
  /** @throws GloballyPaused, not retried, while Headroom is paused in the cluster. */
  ensureUsageStatus(write: UsageStatusWrite): Promise<UsageStatusOutcome>;
  ensureUsageEvent(event: QuotaEvent & { readonly reason: 'UsageWrong' | 'UsageTrue' }): Promise<void>;
}
