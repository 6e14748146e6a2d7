import { setTimeout } from 'node:timers/promises';
import { asyncLocalStorage } from '@temporalio/activity';
import { equalLists, maskList } from '../../domain/kernel/resource-list.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import { fingerprint } from '../../domain/quota-usage/decide.ts';
import type { CachedQuota, UsageObservation, UsagePolicy } from '../../domain/quota-usage/observation.ts';
import { failure } from '../kernel/failure.ts';
import { notYet } from '../kernel/not-yet.ts';
import { waitBefore } from '../kernel/wait-before.ts';
import type { UsageCache } from './usage-cache.ts';
import type { CountedQuota, UsageCacheActivities, ObserveUsageInput } from './interface.ts';

export interface UsageCacheOptions {
  readonly cache: UsageCache;
  /** The cluster of the caches. */
  readonly cluster: string;
  readonly policy: UsagePolicy;
}

/** How long an attempt waits for a cache that is being filled, in milliseconds. */
const BEHIND_MS = 5_000;
/** How long a count that differs from the status must persist before other controllers use it, in milliseconds. */
const CONFIRM_AFTER_MS = 1_000;

/** The activities that read a starter's informer caches. */
export function createUsageCacheActivities({ cache, cluster, policy }: UsageCacheOptions): UsageCacheActivities {
  return {
    observeUsage,
    observeUsageChange: async ({ since, everyMs, ...observeInput }) => {
      const seen = await observeUsage(observeInput);
      if (fingerprint(seen) !== since) return seen;
      const isWrong = seen.staleValues.length > 0;
      throw notYet(isWrong ? 'the status is as wrong as before' : 'what could not be counted cannot be yet', everyMs);
    },
    observeNamespaceUsage: async ({ cluster: asked, namespace, afterMs }) => {
      requireCluster(asked);
      await waitBefore(afterMs);
      const counted = await countAll(namespace);
      if (counted.every(isNamed)) return counted;
      // A cache may be slightly ahead of the status or behind it; numbers that others act on must be stable.
      await setTimeout(CONFIRM_AFTER_MS);
      const again = new Map((await countAll(namespace)).map((count) => [count.quota.uid, count]));
      return counted.flatMap(({ quota: { uid }, count }) => {
        const second = again.get(uid);
        return second === undefined ? [] : [{ ...second, count: steady(count, second.count) }];
      });
    },
  };

  async function countAll(namespace: string): Promise<readonly CountedQuota[]> {
    const signal = limit();
    return await Promise.all(
      cache.quotas(namespace).map(async (quota) => ({ quota, count: await cache.count(quota, signal) })),
    );
  }

  async function observeUsage({ target }: ObserveUsageInput): Promise<UsageObservation> {
    requireCluster(target.cluster);
    const quota = cache.quota(target.namespace, target.quota);
    if (quota === null) return { quota, count: NOTHING, staleValues: [], policy, at: Date.now() };
    const count = await cache.count(quota, limit());
    return { quota, count, staleValues: cache.staleValues(quota, count), policy, at: Date.now() };
  }

  /** The task queue contains the cluster's name, so another cluster here means a manual mistake. */
  function requireCluster(asked: string): void {
    if (asked === cluster) return;
    const message = `these are the caches of the cluster ${cluster}, not of ${asked}`;
    throw failure({ type: 'InvalidInput', message, nonRetryable: true });
  }
}

const NOTHING: UsageCount = { used: {}, unmeasured: [] };

/** Whether the status equals the count. */
function isNamed({ quota, count }: { readonly quota: CachedQuota; readonly count: UsageCount }): boolean {
  return equalLists(count.used, maskList(quota.status.used ?? {}, Object.keys(count.used)));
}

/** The values that are equal in both counts; the others are not reliable now. */
function steady(first: UsageCount, second: UsageCount): UsageCount {
  const moving = Object.keys(second.used).filter((key) => first.used[key] !== second.used[key]);
  if (moving.length === 0) return second;
  const remaining = Object.keys(second.used).filter((key) => !moving.includes(key));
  const reason = 'it is changing just now';
  return { used: maskList(second.used, remaining), unmeasured: [...second.unmeasured, { keys: moving, reason }] };
}

/** Ends the waiting of an attempt: after the time limit, or when the activity is cancelled. */
function limit(): AbortSignal {
  const cancelled = asyncLocalStorage.getStore()?.cancellationSignal;
  const late = AbortSignal.timeout(BEHIND_MS);
  return cancelled === undefined ? late : AbortSignal.any([cancelled, late]);
}
