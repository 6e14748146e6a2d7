/** How often GitHub is asked about an open pull request that nothing happens to. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pending' },
    env: {
      ...quickAutoMerge,
      // The poll is slow after a second, and the cluster is looked at every second.
      HEADROOM_CHECKS_POLL_MAX: '1h',
      HEADROOM_CHECKS_POLL_RAMP: '1s',
      HEADROOM_NEED_GONE: '1s',
      HEADROOM_UPDATE_INTERVAL: '1s',
    },
  });
});
afterAll(async () => await stack?.stop());

/** How often the activity was begun in the running episode. */
async function begun(quota: WatchedQuota, activity: string): Promise<number> {
  const { events } = await stack.client.workflow.getHandle(quota.workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === activity)
    .length;
}

it('a pull request that waits costs GitHub nothing when only the cluster is looked at', async () => {
  const quota = await givenQuota(stack, { namespace: 'quiet', hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('AwaitingChecks', 'ChecksPending');
  const { head } = await quota.pullRequest();

  // The poll has become slow when the forge is left alone from one look at the cluster to the next few.
  let looks = 0;
  let requests = -1;
  await eventually('the poll is slow', async () => {
    const [seen, asked] = [await begun(quota, 'observeQuota'), stack.forge.requests];
    const quiet = asked === requests && seen >= looks + 3;
    if (asked !== requests) [looks, requests] = [seen, asked];
    return quiet;
  });
  const observed = await begun(quota, 'observePullRequest');
  const from = await begun(quota, 'observeQuota');
  await eventually(
    'the cluster was looked at five times more',
    async () => (await begun(quota, 'observeQuota')) >= from + 5,
  );
  expect(stack.forge.requests).toBe(requests);
  expect(await begun(quota, 'observePullRequest')).toBe(observed);

  // A hint that it changed is enough to go on.
  await quota.check(head.sha, 'success');
  await stack.client.workflow
    .getHandle(quota.workflowId)
    .signal('pullRequestChanged', { cause: 'a test', resourceVersion: '' });
  await quota.reaches('CoolingDown', 'CoolingDown');
});
