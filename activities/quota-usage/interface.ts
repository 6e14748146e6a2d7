import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CachedQuota, UsageObservation } from '../../domain/quota-usage/observation.ts';
import type { QuotaEvent } from '../kernel/quota-event.ts';

export interface ObserveUsageInput {
  readonly target: QuotaTarget;
}

/** A quota of a namespace with its counted usage. */
export interface CountedQuota {
  readonly quota: CachedQuota;
  readonly count: UsageCount;
}

/** Activities that read the informer caches of a starter; starters host them on the cluster's cache task queue. */
export interface UsageCacheActivities {
  /** The quota and its namespace's usage, counted from the caches. */
  observeUsage(observeInput: ObserveUsageInput): Promise<UsageObservation>;
  /**
   * Like `observeUsage`, but throws NotYet, retried at the given pace, while the unmeasured or wrong values are the
   * same as before.
   */
  observeUsageChange(
    observeInput: ObserveUsageInput & { readonly since: string; readonly everyMs: number },
  ): Promise<UsageObservation>;
  /**
   * All quotas of a namespace with their counted usage, from the caches as they are.
   *
   * @param input.afterMs to wait before, in milliseconds.
   */
  observeNamespaceUsage(input: {
    readonly cluster: string;
    readonly namespace: string;
    readonly afterMs?: number;
  }): Promise<readonly CountedQuota[]>;
}

/** Activities that write to the cluster; workers host them. */
export interface QuotaUsageActivities {
  /** @throws Paused or GloballyPaused, not retried, while nothing may be written for the quota. */
  ensureUsageEvent(event: QuotaEvent & { readonly reason: 'UsageWrong' | 'UsageTrue' }): Promise<void>;
}
