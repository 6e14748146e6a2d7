/** What an episode has looked at, for tests that nothing comes of a look. */
import { eventually } from '../kernel/stack/eventually.ts';
import type { WatchedQuota } from '../kernel/stack/watched-quota.ts';

/** How often the activity was begun in the running episode. */
export async function begun({ stack, workflowId }: WatchedQuota, activity: string): Promise<number> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === activity)
    .length;
}

/** Has the episode look at the cluster and at GitHub now. Returns when the look has begun. */
export async function looksAgain(quota: WatchedQuota): Promise<void> {
  const before = await begun(quota, 'observeQuota');
  await quota.command('reconcileNow');
  await eventually('it looks again', async () => (await begun(quota, 'observeQuota')) > before);
}

/**
 * Has the episode look at what is there now, and returns when what it saw is decided on and done: the look after it has
 * begun.
 */
export async function looksThrough(quota: WatchedQuota): Promise<void> {
  await looksAgain(quota);
  await looksAgain(quota);
}
