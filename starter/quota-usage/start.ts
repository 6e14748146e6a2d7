import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import type { Registry } from 'prom-client';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { CachedQuota, UsagePolicy } from '../../domain/quota-usage/observation.ts';
import type { HeadroomProcess } from '../../platform/process/process.ts';
import type { Config } from '../config.ts';
import { connectWorker, runtimeOptions } from '../../platform/temporal/temporal.ts';
import { HintQueue } from '../kernel/hint-queue.ts';
import { isHopelessHint } from '../quota-resize/hint.ts';
import { createUsageCache } from './cache.ts';
import { createUsageHintSender, type UsageQueuedHint } from './hint.ts';
import { createCacheHost } from './host.ts';
import { createUsageMetrics } from './metrics.ts';
import { createUsageWatch } from './usage-watch.ts';

export interface UsageOptions {
  readonly kubeConfig: KubeConfig;
  readonly client: Client;
  readonly metrics: Registry;
  /** Told of every count: what a quota really uses. */
  readonly onCounted: (quota: CachedQuota, used: ResourceList) => void;
}

export interface RunningUsage {
  /** The last count of a quota, as far as it could be counted; null before the first. */
  readonly countedUsed: (namespace: string, quota: string) => ResourceList | null;
}

/**
 * Counts what the quotas of the cluster use, wakes the episodes of those whose status is not true, and hosts the activities
 * that count as soon as the quotas are listed. Nothing waits for it: what may not be listed here must not keep the resizer.
 */
export function startUsage(headroom: HeadroomProcess<Config>, options: UsageOptions): RunningUsage {
  const { config, cluster, log, readiness, identity, signal, onStop, stop } = headroom;
  const { mode, auditAfter, resync, replenishmentResync, discovery, maxGap, workers } = config.quotaUsage;
  if (mode === 'off') throw new Error('counting is off');
  const policy: UsagePolicy = { mode, auditAfterMs: auditAfter };
  const queue = new HintQueue<UsageQueuedHint>({
    send: createUsageHintSender(options.client, policy),
    isHopeless: isHopelessHint,
    perSecond: config.starter.hintsPerSecond,
    // The namespaces are coalesced before they come here.
    gapMs: 0,
    log,
    signal,
  });
  const draining = queue.run();
  onStop('usage hints', async () => await draining);

  const watch = createUsageWatch({
    cluster,
    policy,
    resyncMs: resync,
    maxGapMs: maxGap,
    cache: () => cache,
    hint: (hint) => queue.add(hint),
    onCounted: options.onCounted,
    metrics: createUsageMetrics(options.metrics, {
      watched: () => cache.watched().length,
      wrong: () => watch.wrong(),
      unmeasured: () => watch.unmeasured(),
      waiting: () => watch.waiting(),
    }),
    log,
  });
  const cache = createUsageCache({
    kubeConfig: options.kubeConfig,
    discoveryMs: discovery,
    replenishmentResyncMs: replenishmentResync,
    listener: watch,
    untruths: watch.untruths,
    log,
    signal,
  });
  onStop('usage caches', async () => {
    watch.stop();
    await cache.stop();
  });
  // One resource that may not be watched leaves its quotas blocked, which they say; the process is as ready as ever.
  readiness.watch('usage', () =>
    cache.isReady() ? { ready: true } : { ready: false, reason: 'the quotas are not listed yet' },
  );
  readiness.watch('usage hints', () =>
    queue.trouble === null ? { ready: true } : { ready: false, reason: `waiting for Temporal: ${queue.trouble}` },
  );
  hostCounts().catch((error: unknown) => {
    if (!signal.aborted) stop('the host of the usage counts failed', error);
  });
  return { countedUsed: watch.countedUsed };

  async function hostCounts(): Promise<void> {
    if (!(await cache.ready(signal))) return;
    Runtime.install(runtimeOptions(log, undefined));
    const connection = await connectWorker(config.temporal, { log, signal });
    onStop('Temporal connection of the usage counts', async () => await connection.close());
    const host = await createCacheHost({
      connection,
      namespace: config.temporal.namespace,
      identity,
      cluster,
      cache,
      policy,
      workers,
      shutdownForceTime: config.process.shutdownGrace,
    });
    const running = host.run();
    onStop('usage counts', async () => {
      if (host.getState() === 'RUNNING') host.shutdown();
      await running;
    });
    log.info({ cluster, mode, watched: cache.watched().length }, 'quotas are counted');
    await running;
    if (!signal.aborted) throw new Error('it ended by itself');
  }
}
