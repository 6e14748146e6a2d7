import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { QuotaUsageActivities, UsageCacheActivities } from '../../activities/quota-usage/interface.ts';
import { cacheTaskQueue } from '../../domain/kernel/target.ts';
import { controllerActivities, type SummarizedActivities } from '../kernel/activities.ts';

/** Workers send a heartbeat every 3 s; after three missing ones another worker takes over the activity. */
const heartbeatTimeout = '10 seconds';

/**
 * Options for activities that count from the starters' caches. An attempt waits for a cache that is behind, and the
 * next attempt may run on another starter. There is no overall limit, because a starter comes back.
 */
export function counting(cluster: string): SummarizedActivities<UsageCacheActivities> {
  return proxyActivities<UsageCacheActivities>({
    taskQueue: cacheTaskQueue(cluster),
    // The activity reads memory and waits at most a few seconds for a watch.
    startToCloseTimeout: '30 seconds',
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  });
}

/** One read of the pause and one write, each with its own timeout. */
export const { ensureUsageEvent } = controllerActivities<QuotaUsageActivities>('quota-usage', {
  startToCloseTimeout: '2 minutes',
  // What could not be told for so long is out of date; the episode counts again.
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
});
