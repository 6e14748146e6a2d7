/** Whole episodes where GitHub's own auto-merge is preferred to Headroom's merge. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { raisesOf } from './raises.ts';
import { reconcileCompletely } from './reconcile.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'none' },
    env: {
      ...quickAutoMerge,
      ENABLE_AUTO_MERGE: 'github',
      'timings.checksPollMax': '1s',
      'timings.updateInterval': '1s',
      'timings.holdRetry': '2s',
    },
  });
  await stack.forge.protectBranch('main', { requiredChecks: ['ci'] });
  await stack.forge.setMergeSettings({ autoMerge: true });
});
afterAll(async () => await stack?.stop());

/** An episode for whose pull request Headroom has enabled auto-merge. */
async function enabledEpisode(namespace: string): Promise<WatchedQuota & { readonly number: number }> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  const enabled = await quota.reaches('Merging', 'AutoMergeEnabled');
  expect(enabled.detail).toMatch(/^Headroom enabled GitHub's auto-merge \(squash\) of /);
  const { number } = await quota.pullRequest();
  expect(stack.forge.autoMergeOf(number)).toEqual({ by: 'headroom-bot', method: 'squash' });
  return Object.assign(quota, { number });
}

async function passes(quota: WatchedQuota): Promise<void> {
  const { head } = await quota.pullRequest();
  await stack.forge.setStatus({ sha: head.sha, context: 'ci', state: 'success' });
}

async function endsMerged(quota: WatchedQuota, by: string): Promise<void> {
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.hard()).toEqual({ pods: '12' });
  expect(await quota.pullRequest()).toMatchObject({ state: 'closed', merged: true, commits: 1 });
  expect(await quota.branches()).toEqual([]);
  expect(await quota.events('QuotaResizeMerged')).toEqual([
    // Whether a look finds it merged, or the gate that is asked again.
    expect.stringMatching(new RegExp(`was merged by ${by}\\.${by === 'headroom-bot' ? '|is merged\\.' : ''}`)),
  ]);
}

async function isDisabled(number: number): Promise<void> {
  const disabled = () => Promise.resolve(stack.forge.autoMergeOf(number) === undefined);
  await eventually('auto-merge is disabled', disabled, EPISODE_MS);
}

async function lastDisabling(number: number): Promise<unknown> {
  const query = `{ repository(owner: "acme", name: "gitops") { pullRequest(number: ${number}) { timelineItems(itemTypes: [AUTO_MERGE_DISABLED_EVENT], last: 1) { nodes { ... on AutoMergeDisabledEvent { reason actor { login } } } } } } }`;
  const headers = { authorization: `Bearer ${stack.env.worker['GITHUB_TOKEN']}` };
  const answer = await fetch(`${stack.forge.url}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  const { data } = (await answer.json()) as {
    readonly data: { readonly repository: { readonly pullRequest: { readonly timelineItems: { nodes: unknown[] } } } };
  };
  return data.repository.pullRequest.timelineItems.nodes[0];
}

describe.concurrent('a pull request that GitHub merges by itself', SEVERAL_PHASES, () => {
  it('is merged as soon as its check passes, which counts as Headroom’s own merge', async () => {
    const quota = await enabledEpisode('merged');
    // The raise counts from the moment on at which Headroom can no longer hold the merge.
    expect(await raisesOf(quota)).toMatchObject([{ to: { pods: '12' }, isPending: true }]);
    await passes(quota);
    await endsMerged(quota, 'headroom-bot');
    expect(quota.writes().some(({ path }) => path.endsWith('/merge'))).toBe(false);
    const [raise, ...others] = await raisesOf(quota);
    expect(others).toEqual([]);
    expect(raise).toMatchObject({ from: { pods: '10' }, to: { pods: '12' } });
    expect(raise).not.toHaveProperty('isPending');
  });

  it('has it disabled by a request for changes, and enabled again when that is over', async () => {
    const quota = await enabledEpisode('objected');
    await stack.forge.requestChanges(quota.number, 'alice');
    await isDisabled(quota.number);
    await quota.reaches('AwaitingMerge', 'ChangesRequested');
    await stack.forge.dismissReview(quota.number, 'alice', 'bob');
    await quota.reaches('Merging', 'AutoMergeEnabled');
    await passes(quota);
    await endsMerged(quota, 'headroom-bot');
  });

  it('has it disabled by a pause, during which a check that passes merges nothing', async () => {
    const quota = await enabledEpisode('paused');
    await quota.command('pause', { by: 'alice', reason: 'a look' });
    await isDisabled(quota.number);
    await quota.reaches('Paused', 'Paused');
    await passes(quota);
    expect(await quota.pullRequest()).toMatchObject({ state: 'open' });
    await quota.command('resume', { by: 'alice' });
    // Nothing is missing any more, so the merge is Headroom's.
    await endsMerged(quota, 'headroom-bot');
    expect(quota.writes().some(({ path }) => path.endsWith('/merge'))).toBe(true);
  });

  it('has it disabled by a freeze, and enabled again after it', async () => {
    const quota = await enabledEpisode('frozen');
    await quota.annotate({ 'resizer.io/freeze-until': '2999-01-01T00:00:00Z' });
    await isDisabled(quota.number);
    await quota.annotate({ 'resizer.io/freeze-until': null });
    await quota.reaches('Merging', 'AutoMergeEnabled');
    await passes(quota);
    await endsMerged(quota, 'headroom-bot');
  });

  it('has it disabled before it is closed for a rejection', async () => {
    const quota = await enabledEpisode('rejected');
    await quota.command('reject', { by: 'alice', reason: 'no budget' });
    await eventually('it is closed', async () => (await quota.pullRequest()).state === 'closed', EPISODE_MS);
    expect(await quota.pullRequest()).toMatchObject({ merged: false });
    // Otherwise GitHub had done it, because it was closed.
    expect(await lastDisabling(quota.number)).toEqual({ reason: null, actor: { login: 'headroom-bot' } });
  });

  it('is left to people where a person disables it, until that or another person enables it', async () => {
    const quota = await enabledEpisode('by-hand');
    await stack.forge.disableAutoMerge(quota.number, 'alice');
    await quota.reaches('AwaitingChecks', 'ReviewRequired');
    await passes(quota);
    const out = await quota.reaches('AwaitingMerge', 'AutoMergeDisabled');
    expect(out.detail).toContain("alice disabled GitHub's auto-merge at ");
    await reconcileCompletely(quota);
    expect(stack.forge.autoMergeOf(quota.number)).toBeUndefined();
    expect(await quota.pullRequest()).toMatchObject({ state: 'open' });
    await stack.forge.mergePullRequest(quota.number, 'alice');
    await endsMerged(quota, 'alice');
    expect(await raisesOf(quota)).toEqual([]);
  });

  it('whose episode is terminated is decided about by the next one, which disables it where a freeze began', async () => {
    const quota = await enabledEpisode('terminated');
    await stack.client.workflow.getHandle(quota.workflowId).terminate('a test');
    await quota.annotate({ 'resizer.io/freeze-until': '2999-01-01T00:00:00Z' });
    await isDisabled(quota.number);
    await passes(quota);
    await quota.reaches('AwaitingMerge', 'Frozen');
    expect(await quota.pullRequest()).toMatchObject({ state: 'open' });
  });
});
