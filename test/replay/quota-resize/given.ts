/** Quotas in the states in which scenarios begin. */
import type { QuotaResizeActivities } from '../../../activities/quota-resize/interface.ts';
import { askedBy } from '../../kernel/stack/asked.ts';
import type { Stack } from '../../kernel/stack/stack.ts';
import { type GivenQuota, givenQuota, type WatchedQuota } from '../../kernel/stack/watched-quota.ts';
import type { Recorded } from '../stages.ts';

export const HARD = { pods: '10' };
/** People merge by hand. */
export const byPeople = { 'resizer.io/auto-merge': 'false' };

/** The newest run of a quota. */
export async function runOf(quota: WatchedQuota): Promise<Recorded> {
  return { workflowId: quota.workflowId, runId: await quota.runId() };
}

/** How often the newest run has asked for an activity so far. */
export async function timesAsked(
  { stack, workflowId }: WatchedQuota,
  activity: keyof QuotaResizeActivities,
): Promise<number> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => askedBy(event) === activity).length;
}

/** Nine of ten pods: the threshold is reached. */
export async function press(quota: WatchedQuota): Promise<void> {
  await quota.deploy('web', 9, { cpu: '10m' });
}

/** A quota whose pull request is open and ready, and waits for people. */
export async function opened(
  stack: Stack,
  namespace: string,
  given: Partial<Omit<GivenQuota, 'namespace'>> = {},
): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: HARD, annotations: byPeople, ...given });
  await press(quota);
  await quota.reaches('AwaitingMerge');
  return quota;
}
