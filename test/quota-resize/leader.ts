import { eventually } from '../kernel/stack/eventually.ts';
import { type WatchedQuota, EPISODE_MS } from '../kernel/stack/watched-quota.ts';

/** Of several quotas that miss room for the same workload the one that raises them all, once its pull request is there. */
export async function leaderOf(quotas: readonly WatchedQuota[]): Promise<WatchedQuota> {
  return await eventually(
    'one of the quotas has a pull request',
    () => quotas.find((quota) => quota.pullRequests().length === 1),
    EPISODE_MS,
  );
}
