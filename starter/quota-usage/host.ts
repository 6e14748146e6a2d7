import type { Worker } from '@temporalio/worker';
import type { UsageCache } from '../../activities/quota-usage/usage-cache.ts';
import { createUsageCacheActivities } from '../../activities/quota-usage/cache-activities.ts';
import type { UsagePolicy } from '../../domain/quota-usage/observation.ts';
import { cacheTaskQueue } from '../../domain/kernel/target.ts';
import type { OwnWorkerOptions } from '../../platform/temporal/worker-connection.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from '../../platform/temporal/heartbeat.ts';

export interface CacheHostOptions {
  /** A worker of this process in its namespace of Temporal. */
  readonly createWorker: (options: Omit<OwnWorkerOptions, 'identity'>) => Promise<Worker>;
  readonly cluster: string;
  readonly cache: UsageCache;
  readonly policy: UsagePolicy;
  /** The number of concurrent counts. */
  readonly workers: number;
  /** Milliseconds after which running activities are abandoned when the process stops. */
  readonly shutdownForceTime: number;
}

/** The activities that read this starter's caches, on the cluster's cache task queue; it runs no workflows. */
export async function createCacheHost({
  createWorker,
  cache,
  cluster,
  policy,
  workers,
  ...options
}: CacheHostOptions): Promise<Worker> {
  return await createWorker({
    ...options,
    taskQueue: cacheTaskQueue(cluster),
    activities: createUsageCacheActivities({ cache, cluster, policy }),
    interceptors: { activity: [heartbeatWhileRunning] },
    maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
    maxConcurrentActivityTaskExecutions: workers,
    // A count takes milliseconds; one that waits for a cache can move to another starter at once.
    shutdownGraceTime: 0,
  });
}
