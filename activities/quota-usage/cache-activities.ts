import { asyncLocalStorage } from '@temporalio/activity';
import { fingerprint } from '../../domain/quota-usage/decide.ts';
import type { UsageObservation } from '../../domain/quota-usage/observation.ts';
import { failure } from '../kernel/failure.ts';
import { notYet } from '../kernel/not-yet.ts';
import type { UsageCache } from '../ports/usage-cache.ts';
import type { UsageCacheActivities, UsageLook } from './interface.ts';

export interface UsageCacheOptions {
  readonly cache: UsageCache;
  /** The only cluster whose caches these are. */
  readonly cluster: string;
}

/** How long an attempt waits for a cache that is behind; then another starter may have the next attempt. */
const BEHIND_MS = 5_000;
/** After how long the next attempt comes. */
const BEHIND_RETRY_MS = 500;

/** The activities that read a starter's informer caches. */
export function createUsageCacheActivities({ cache, cluster }: UsageCacheOptions): UsageCacheActivities {
  return {
    observeUsage,
    observeUsageChange: async ({ since, everyMs, ...look }) => {
      const seen = await observeUsage(look);
      if (fingerprint(seen) !== since) return seen;
      const what =
        seen.untruths.length > 0 ? 'the status is as wrong as before' : 'what could not be counted cannot be yet';
      throw notYet(what, everyMs);
    },
    observeNamespaceUsage: async ({ cluster: asked, namespace }) => {
      requireCluster(asked);
      const signal = limit();
      return await Promise.all(
        cache.quotas(namespace).map(async (quota) => ({ quota, count: await cache.count(quota, signal) })),
      );
    },
  };

  async function observeUsage({ target, reached, not }: UsageLook): Promise<UsageObservation> {
    requireCluster(target.cluster);
    const signal = limit();
    const behind = await cache.reached(reached, signal);
    if (behind.length > 0) throw notYet(`the cache of ${behind.join(', ')} is behind`, BEHIND_RETRY_MS);
    const { namespace, quota: name } = target;
    if (not !== undefined && !(await cache.quotaMoved(namespace, name, not, signal))) {
      throw notYet('the cache of resourcequotas is behind', BEHIND_RETRY_MS);
    }
    const quota = cache.quota(namespace, name);
    if (quota === null) return { quota, count: { used: {}, unmeasured: [] }, untruths: [], at: Date.now() };
    const count = await cache.count(quota, signal);
    return { quota, count, untruths: cache.untruths(namespace, name), at: Date.now() };
  }

  /** The task queue carries the cluster's name, so this is another's only by a mistake of hands. */
  function requireCluster(asked: string): void {
    if (asked === cluster) return;
    const message = `these are the caches of the cluster ${cluster}, not of ${asked}`;
    throw failure({ type: 'InvalidInput', message, nonRetryable: true });
  }
}

/** Ends the waiting of an attempt: when it has waited long enough, or nobody wants its answer any more. */
function limit(): AbortSignal {
  const cancelled = asyncLocalStorage.getStore()?.cancellationSignal;
  const late = AbortSignal.timeout(BEHIND_MS);
  return cancelled === undefined ? late : AbortSignal.any([cancelled, late]);
}
