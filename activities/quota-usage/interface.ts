import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CachedQuota, ObservedVersions, UsageObservation } from '../../domain/quota-usage/observation.ts';
import type { QuotaEvent } from '../kernel/quota-event.ts';

export interface ObserveUsageInput {
  readonly target: QuotaTarget;
  /** The caches must have come as far as this: what the reconcile request saw. */
  readonly observed: ObservedVersions;
  /** The version of the quota that a write just failed against: the cache must have another one. */
  readonly not?: string;
}

/** A quota of a namespace with what it really uses. */
export interface CountedQuota {
  readonly quota: CachedQuota;
  readonly count: UsageCount;
}

/** Activities that read the informer caches of a starter; starters host them on the cluster's cache task queue. */
export interface UsageCacheActivities {
  /**
   * The quota and what its namespace uses, counted from the caches once they have come far enough.
   * @throws NotYet, retried soon, by this or another starter, while the caches have not come far enough.
   */
  observeUsage(observeInput: ObserveUsageInput): Promise<UsageObservation>;
  /**
   * As `observeUsage`, and NotYet, retried at the pace given, while what is unmeasured or wrong is the same as before.
   */
  observeUsageChange(
    observeInput: ObserveUsageInput & { readonly since: string; readonly everyMs: number },
  ): Promise<UsageObservation>;
  /** Every quota of a namespace with what was counted for it, from the caches as they are. */
  observeNamespaceUsage(input: {
    readonly cluster: string;
    readonly namespace: string;
  }): Promise<readonly CountedQuota[]>;
}

/** A status to be written, against the very version of the quota that it was counted for. */
export interface UsageStatusWrite {
  readonly target: QuotaTarget;
  readonly quotaUid: string;
  readonly resourceVersion: string;
  readonly hard: ResourceList;
  readonly used: ResourceList;
  /** What the status said when it was counted. */
  readonly usedBefore: ResourceList;
  /** By the clock of the starter that counted. */
  readonly countedAt: EpochMs;
  /** Keys of the status that are to go. */
  readonly without: { readonly hard: readonly string[]; readonly used: readonly string[] };
}

export type UsageStatusOutcome =
  | {
      readonly kind: 'written';
      readonly resourceVersion: string;
      /** Admission had charged something since the count; what was written is both. */
      readonly isRebased: boolean;
    }
  /** The quota is another one by now: count again. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'gone' };

/** Activities that write to the cluster; workers host them. */
export interface QuotaUsageActivities {
  /** @throws GloballyPaused, not retried, while Headroom is paused in the cluster. */
  ensureUsageStatus(write: UsageStatusWrite): Promise<UsageStatusOutcome>;
  ensureUsageEvent(event: QuotaEvent & { readonly reason: 'UsageWrong' | 'UsageTrue' }): Promise<void>;
}
