import { eventually } from '../kernel/stack/eventually.ts';
import { type WatchedQuota, EPISODE_MS } from '../kernel/stack/watched-quota.ts';

/** Of several quotas that deny the same workload, the one whose pull request raises them all, once it is open. */
export async function batchOwnerOf(quotas: readonly WatchedQuota[]): Promise<WatchedQuota> {
  return await eventually(
    'one of the quotas has a pull request',
    () => quotas.find((quota) => quota.pullRequests().length === 1),
    EPISODE_MS,
  );
}
