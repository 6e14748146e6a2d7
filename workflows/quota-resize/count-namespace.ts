import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { CountedQuota, UsageCacheActivities } from '../../activities/quota-usage/interface.ts';
import { cacheTaskQueue, type QuotaTarget } from '../../domain/kernel/target.ts';
import { failedActivity } from '../kernel/failure.ts';

/**
 * Limit for one count. An observation does not wait longer for a starter that is away: the status says so, and the next
 * pass asks again. An attempt waits at most 5 s for caches that are being filled, so there is time for several
 * attempts.
 */
const WITHIN_SECONDS = 20;

/**
 * What every quota of the target's namespace uses, counted from a starter's caches.
 *
 * @param wait as the activity takes it.
 * @returns the quotas with their counts, or why there are none, as a clause for people.
 */
export async function countNamespace(
  { cluster, namespace }: Pick<QuotaTarget, 'cluster' | 'namespace'>,
  wait: { readonly afterMs?: number },
): Promise<readonly CountedQuota[] | string> {
  const taskQueue = cacheTaskQueue(cluster);
  const { observeNamespaceUsage } = proxyActivities<UsageCacheActivities>({
    taskQueue,
    scheduleToCloseTimeout: `${WITHIN_SECONDS} seconds`,
    startToCloseTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
  });
  try {
    return await observeNamespaceUsage.executeWithOptions({ summary: namespace }, [{ cluster, namespace, ...wait }]);
  } catch (error) {
    const failed = failedActivity(error);
    if (failed === null) throw error;
    if (failed.type === 'TimedOut') return `no starter answered on ${taskQueue} within ${WITHIN_SECONDS} s`;
    return `a starter answered that ${failed.message}`;
  }
}
