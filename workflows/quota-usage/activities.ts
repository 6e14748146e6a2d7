import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { QuotaUsageActivities, UsageCacheActivities } from '../../activities/quota-usage/interface.ts';
import { cacheTaskQueue } from '../../domain/kernel/target.ts';
import { controllerActivities } from '../kernel/activities.ts';

/** Workers send a heartbeat every 3 s; three may be missing before another takes the activity over. */
const heartbeatTimeout = '10 seconds';

/**
 * Counts are made where the caches are: in the starters. A cache that is behind is waited for within the attempt, and
 * another starter may have the next one. Without a limit on the whole: a starter comes back.
 */
export function counting(cluster: string, priorityKey: number) {
  return proxyActivities<UsageCacheActivities>({
    taskQueue: cacheTaskQueue(cluster),
    // It reads memory and waits at most some seconds for a watch.
    startToCloseTimeout: '30 seconds',
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
    priority: { priorityKey },
  });
}

/** One read of the pause and one write, each with a timeout of its own. */
export function ensuring(priorityKey: number) {
  return controllerActivities<QuotaUsageActivities>('quota-usage', {
    startToCloseTimeout: '2 minutes',
    // A write that fails for longer was counted too long ago; the episode counts again.
    scheduleToCloseTimeout: '10 minutes',
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // As Kubernetes' own controller: quick at first, and never given up.
    retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
    priority: { priorityKey },
  });
}
