import { createUsageCacheActivities } from '../../activities/quota-usage/cache-activities.ts';
import { cacheTaskQueue } from '../../domain/kernel/target.ts';
import type { UsagePolicy } from '../../domain/quota-usage/observation.ts';
import type { RunningController, StarterContext, StarterController } from '../controller.ts';
import { startWorkQueue } from '../kernel/start-work-queue.ts';
import { createUsageCache, type RunningUsageCache } from './cache.ts';
import { createUsageRequestSender, type QueuedUsageRequest } from './reconcile-request.ts';
import { createUsageMetrics } from './metrics.ts';
import { createUsageWatch } from './usage-watch.ts';
import { quotaUsageAccess } from './access.ts';

export const quotaUsageController: StarterController = {
  isEnabled: ({ quotaUsage }) => quotaUsage.mode !== 'off',
  access: quotaUsageAccess,
  start,
};

/**
 * Counts the usage of the cluster's quotas, wakes the episodes of quotas with a stale status, and hosts the counting
 * activities once the quotas are listed. Readiness does not wait for it: a missing permission here must not stop the
 * resizer.
 */
function start(context: StarterContext): RunningController {
  const { headroom, kubeConfig, client, metrics, countedUsage } = context;
  const { config, cluster, log, readiness, signal, onStop, stop } = headroom;
  const { mode, auditAfter, resync, replenishmentResync, discovery, maxGap } = config.quotaUsage;
  if (mode === 'off') throw new Error('counting is off');
  const policy: UsagePolicy = { mode, auditAfterMs: auditAfter };
  // A resource that may not be watched only blocks its quotas, which report it; the process stays ready.
  readiness.watch('usage', () =>
    cache.isReady() ? { ready: true } : { ready: false, reason: 'the quotas are not listed yet' },
  );
  const queue = startWorkQueue<QueuedUsageRequest>(context, 'usage reconcile requests', {
    send: createUsageRequestSender(client, policy),
    kindOf: () => 'usage',
    // Requests are already coalesced by namespace.
    gapMs: 0,
  });

  const watch = createUsageWatch({
    cluster,
    policy,
    resyncMs: resync,
    maxGapMs: maxGap,
    cache: () => cache,
    request: (request) => queue.add(request),
    onCounted: ({ namespace, name }) => countedUsage.counted(namespace, name),
    metrics: createUsageMetrics(metrics, {
      watched: () => cache.watched().length,
      wrong: () => watch.wrong(),
      unmeasured: () => watch.unmeasured(),
      waiting: () => watch.waiting(),
    }),
    log,
  });
  const cache = createUsageCache({
    kubeConfig,
    discoveryMs: discovery,
    replenishmentResyncMs: replenishmentResync,
    listener: watch,
    staleValues: (quota, count) => watch.staleValues(quota, count),
    log,
    signal,
  });
  onStop('usage caches', async () => {
    watch.stop();
    await cache.stop();
  });
  hostCounts(context, cache, policy).catch((error: unknown) => {
    if (!signal.aborted) stop('the host of the usage counts failed', error);
  });
  countedUsage.provide((namespace, name) => watch.countedUsed(namespace, name));
  // The caches have their own readiness.
  return { informers: {} };
}

/** Hosts the counting activities from when the quotas are listed until the process stops. */
async function hostCounts(
  { headroom: { config, cluster, log, signal }, cacheHost }: Pick<StarterContext, 'headroom' | 'cacheHost'>,
  cache: RunningUsageCache,
  policy: UsagePolicy,
): Promise<void> {
  if (!(await cache.ready(signal))) return;
  log.info({ cluster, mode: policy.mode, watched: cache.watched().length }, 'quotas are counted');
  const activities = createUsageCacheActivities({ cache, cluster, policy });
  const { workers } = config.quotaUsage;
  await cacheHost.run({ taskQueue: cacheTaskQueue(cluster), activities, workers }, 'usage counts');
}
