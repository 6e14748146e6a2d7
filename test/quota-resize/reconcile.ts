/** Has an episode reconcile, for tests of what does not change by it. */
import { askedBy } from '../kernel/stack/asked.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { WatchedQuota } from '../kernel/stack/watched-quota.ts';

/** How often the activity was begun in the running episode. */
export async function begun({ stack, workflowId }: WatchedQuota, activity: string): Promise<number> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => askedBy(event) === activity).length;
}

/**
 * How often an observation was asked for: by an activity of its own, or of a step that observes at its end. A watch may wait for
 * hours until it does.
 */
async function observations({ stack, workflowId }: WatchedQuota): Promise<number> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => {
    const activity = askedBy(event);
    if (activity === 'awaitPullRequestChange') return false;
    const input = event.activityTaskScheduledEventAttributes?.input?.payloads?.[0]?.data;
    return activity === 'observeQuota' || (input != null && Buffer.from(input).includes('"observes":true'));
  }).length;
}

/** Has the episode observe the cluster and GitHub now. Returns when the observation has begun. */
export async function reconcile(quota: WatchedQuota): Promise<void> {
  const before = await observations(quota);
  await quota.command('reconcileNow');
  await eventually('it observes again', async () => (await observations(quota)) > before);
}

/**
 * Has the episode observe what is there now, and returns when it has decided and acted by it: the observation after it
 * has begun.
 */
export async function reconcileCompletely(quota: WatchedQuota): Promise<void> {
  await reconcile(quota);
  await reconcile(quota);
}
