/** How often GitHub is asked about an open pull request that nothing happens to. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { begun } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pending' },
    env: {
      ...quickAutoMerge,
      // The poll is slow at once, and the cluster is looked at every second.
      'timings.checksPollMax': '1h',
      'timings.checksPollRamp': '10ms',
      'timings.needGone': '1s',
      'timings.updateInterval': '1s',
    },
  });
});
afterAll(async () => await stack?.stop());

/** Whether the watch of the pull request is between two questions, with minutes to the next one. */
async function isPollSlow({ workflowId }: WatchedQuota): Promise<boolean> {
  const { raw } = await stack.client.workflow.getHandle(workflowId).describe();
  const watch = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'awaitPullRequestChange');
  const nextAt = (watch?.nextAttemptScheduleTime?.seconds?.toNumber() ?? 0) * 1_000;
  return nextAt > Date.now() + 3 * 60_000;
}

it('a pull request that waits costs GitHub nothing when only the cluster is observed', SEVERAL_PHASES, async () => {
  const quota = await givenQuota(stack, { namespace: 'quiet', hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('AwaitingChecks', 'ChecksPending');
  const { head } = await quota.pullRequest();

  await eventually('the poll is slow', async () => await isPollSlow(quota));
  const { requests } = stack.forge;
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
