import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { createUsageCacheActivities } from '../../activities/quota-usage/cache-activities.ts';
import { cacheTaskQueue, quotaPauseSubject } from '../../domain/kernel/target.ts';
import type { UsagePolicy } from '../../domain/quota-usage/observation.ts';
import type { RunningController, StarterContext, StarterController } from '../controller.ts';
import { startWorkQueue } from '../kernel/start-work-queue.ts';
import { createUsageCache, type RunningUsageCache } from './cache.ts';
import { createUsageRequestSender, type QueuedUsageRequest } from './reconcile-request.ts';
import { createUsageMetrics } from './metrics.ts';
import { usageOverview } from './overview.ts';
import { createUsageWatch } from './usage-watch.ts';
import { quotaUsageAccess } from './access.ts';
import { OWNER_LEASE, OwnerLease, otherLeaseTrial } from './owner-lease.ts';
import { startRollUp } from './roll-up.ts';
import { SteadyTime } from './steady-time.ts';
import { patchStatus } from './status-patch.ts';

/** Milliseconds for which a status may be untrue in mode `own` until an episode tells it. */
const UNTRUE_MS = 30_000;

export const quotaUsageController: StarterController = {
  isEnabled: ({ quotaUsage }) => quotaUsage.mode !== 'off',
  access: quotaUsageAccess,
  writeTrials: ({ kubernetes, quotaUsage }) =>
    quotaUsage.mode === 'own' ? [otherLeaseTrial(kubernetes.systemNamespace)] : [],
  start,
};

/**
 * Counts the usage of the cluster's quotas, wakes the episodes of quotas with a stale status, and hosts the counting
 * activities once the quotas are listed. Readiness does not wait for it: a missing permission here must not stop the
 * resizer.
 */
function start(context: StarterContext): RunningController {
  const { headroom, kubeConfig, client, metrics, countedUsage, pauses } = context;
  const { config, cluster, log, readiness, signal, onStop, stop } = headroom;
  const { mode, auditAfter, resync, replenishmentResync, discovery } = config.quotaUsage;
  if (mode === 'off') throw new Error('counting is off');
  const policy: UsagePolicy = { mode, auditAfterMs: mode === 'own' ? UNTRUE_MS : auditAfter };
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

  const kubernetes = connectKubernetes(kubeConfig);
  const owner = new OwnerLease({
    kubernetes,
    systemNamespace: config.kubernetes.systemNamespace,
    identity: headroom.identity,
    onAcquired: () => watch.writeAgain(),
    log,
  });
  const time = new SteadyTime();
  const watch = createUsageWatch({
    cluster,
    policy,
    resyncMs: resync,
    cache: () => cache,
    time,
    request: (request) => queue.add(request),
    writing: {
      isOwner: () => owner.isOwner,
      pauseOf: async ({ namespace, name }) =>
        await pauses.before(quotaPauseSubject('quota-usage', { cluster, namespace, quota: name })),
      patch: async (quota, status) => await patchStatus(kubernetes, quota, status),
    },
    onWritten: mode === 'own' ? startRollUp(context) : () => {},
    onCounted: ({ namespace, name }) => countedUsage.counted(namespace, name),
    metrics: createUsageMetrics(metrics, {
      watched: () => cache.watched().length,
      wrong: () => watch.wrong(),
      unmeasured: () => watch.unmeasured(),
      waiting: () => watch.waiting(),
      isOwner: () => owner.isOwner,
    }),
    log,
  });
  const cache = createUsageCache({
    kubeConfig,
    discoveryMs: discovery,
    replenishmentResyncMs: replenishmentResync,
    listener: watch,
    staleValues: (quota, count) => watch.staleValues(quota, count),
    time,
    log,
    signal,
  });
  if (mode === 'own') {
    pauses.onChange(() => watch.writeAgain());
    // Only once it can count: an owner that cannot would keep the others from writing.
    const owning = cache.ready(signal).then(async (isReady) => {
      if (isReady) await owner.run(signal);
    });
    onStop(`Lease ${OWNER_LEASE}`, async () => await owning);
  }
  onStop('usage caches', async () => {
    watch.stop();
    await cache.stop();
  });
  hostCounts(context, cache, policy).catch((error: unknown) => {
    if (!signal.aborted) stop('the host of the usage counts failed', error);
  });
  countedUsage.provide((namespace, name) => watch.countedUsed(namespace, name));
  // The caches have their own readiness.
  return { informers: {}, overview: usageOverview(cluster, () => watch.wrong()) };
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
