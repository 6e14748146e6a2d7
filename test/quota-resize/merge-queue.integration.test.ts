/** Whole episodes where the base branch takes changes through a merge queue only. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota, EPISODE_MS } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { raisesOf } from './raises.ts';
import { reconcileCompletely } from './reconcile.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: { ...quickAutoMerge, 'timings.checksPollMax': '1s', 'timings.updateInterval': '1s' },
  });
  await stack.forge.protectBranch('main', { as: 'ruleset', mergeQueue: true, requiredChecks: ['ci'] });
});
afterAll(async () => await stack?.stop());

/** An episode whose pull request Headroom has put into the queue. */
async function queuedEpisode(namespace: string): Promise<WatchedQuota & { readonly number: number }> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  const queued = await quota.reaches('Merging', 'InMergeQueue');
  expect(queued.detail).toMatch(/is in the merge queue at position \d+, whose checks run since /);
  const { number } = await quota.pullRequest();
  expect(stack.forge.isQueued(number)).toBe(true);
  return Object.assign(quota, { number });
}

async function endsMerged(quota: WatchedQuota, by: string): Promise<void> {
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.hard()).toEqual({ pods: '12' });
  expect(await quota.pullRequest()).toMatchObject({ state: 'closed', merged: true, commits: 1 });
  expect(await quota.branches()).toEqual([]);
  expect(await quota.events('QuotaResizeMerged')).toEqual([expect.stringContaining(`was merged by ${by}.`)]);
  expect(quota.writes().some(({ path }) => path.endsWith('/merge'))).toBe(false);
}

async function leavesTheQueue(number: number): Promise<void> {
  await eventually('it left the queue', () => Promise.resolve(!stack.forge.isQueued(number)), EPISODE_MS);
}

describe.concurrent('a pull request in the merge queue', SEVERAL_PHASES, () => {
  it('is merged by the queue, which counts as Headroom\u2019s own merge', async () => {
    const quota = await queuedEpisode('merged');
    // The raise counts from the moment on at which Headroom can no longer hold the merge.
    expect(await raisesOf(quota)).toMatchObject([{ to: { pods: '12' }, isPending: true }]);
    await stack.forge.finishQueued(quota.number, 'passed');
    await endsMerged(quota, 'headroom-bot');
    const [raise, ...others] = await raisesOf(quota);
    expect(others).toEqual([]);
    expect(raise).toMatchObject({ from: { pods: '10' }, to: { pods: '12' } });
    expect(raise).not.toHaveProperty('isPending');
  });

  it('is told of when the queue takes it out because its checks fail, and not put there again at once', async () => {
    const quota = await queuedEpisode('failed');
    await stack.forge.finishQueued(quota.number, 'failed');
    const out = await quota.reaches('AwaitingMerge', 'RemovedFromQueue');
    expect(out.detail).toMatch(
      /is ready, and out of the merge queue: the merge queue took it out at .*: its checks failed there/,
    );
    await reconcileCompletely(quota);
    expect(stack.forge.isQueued(quota.number)).toBe(false);
    expect(await quota.comments(quota.number)).toEqual([
      expect.stringMatching(/^Not merged: the merge queue took it out/),
    ]);
    expect(await quota.events('QuotaResizeHeld')).toHaveLength(1);
    // A person puts it there once more.
    await stack.forge.enqueue(quota.number, 'alice');
    await reconcileCompletely(quota);
    await quota.reaches('AwaitingMerge', 'InMergeQueue');
    await stack.forge.finishQueued(quota.number, 'passed');
    await endsMerged(quota, 'alice');
    expect(await raisesOf(quota)).toEqual([]);
  });

  it('is taken out by a request for changes, and put there again when that is over', async () => {
    const quota = await queuedEpisode('objected');
    await stack.forge.requestChanges(quota.number, 'alice');
    await leavesTheQueue(quota.number);
    await quota.reaches('AwaitingMerge', 'ChangesRequested');
    await stack.forge.dismissReview(quota.number, 'alice', 'bob');
    await quota.reaches('Merging', 'InMergeQueue');
    await stack.forge.finishQueued(quota.number, 'passed');
    await endsMerged(quota, 'headroom-bot');
  });

  it('is taken out by a pause, and put there again after it', async () => {
    const quota = await queuedEpisode('paused');
    await quota.command('pause', { by: 'alice', reason: 'a look' });
    await leavesTheQueue(quota.number);
    await quota.reaches('Paused', 'Paused');
    await quota.command('resume', { by: 'alice' });
    await quota.reaches('Merging', 'InMergeQueue');
    await stack.forge.finishQueued(quota.number, 'passed');
    await endsMerged(quota, 'headroom-bot');
  });

  it('is taken out by a freeze, and put there again after it', async () => {
    const quota = await queuedEpisode('frozen');
    await quota.annotate({ 'resizer.io/freeze-until': '2999-01-01T00:00:00Z' });
    await leavesTheQueue(quota.number);
    await quota.reaches('AwaitingMerge', 'Frozen');
    await quota.annotate({ 'resizer.io/freeze-until': null });
    await quota.reaches('Merging', 'InMergeQueue');
    await stack.forge.finishQueued(quota.number, 'passed');
    await endsMerged(quota, 'headroom-bot');
  });

  it('is taken out before it is closed for a rejection', async () => {
    const quota = await queuedEpisode('rejected');
    await quota.command('reject', { by: 'alice', reason: 'no budget' });
    await eventually('it is closed', async () => (await quota.pullRequest()).state === 'closed', EPISODE_MS);
    expect(stack.forge.isQueued(quota.number)).toBe(false);
    expect(await quota.pullRequest()).toMatchObject({ merged: false });
  });

  it('is left to people where a person takes it out', async () => {
    const quota = await queuedEpisode('by-hand');
    await stack.forge.dequeue(quota.number, 'alice');
    const out = await quota.reaches('AwaitingMerge', 'RemovedFromQueue');
    expect(out.detail).toContain('alice took it out of the merge queue at ');
    await reconcileCompletely(quota);
    expect(stack.forge.isQueued(quota.number)).toBe(false);
  });
});
