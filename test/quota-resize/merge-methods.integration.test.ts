/** Whole episodes in a repository that allows one way to merge only: what comes after the merge does not depend on it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kindsOf, ONE_OF_EACH } from '../faults/decision-writes.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, EPISODE_MS } from '../kernel/stack/watched-quota.ts';
import { raisesOf } from './raises.ts';
import { SEVERAL_PHASES } from './phases.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: { ...quickAutoMerge },
  });
});
afterAll(async () => await stack?.stop());

describe('in a repository that allows one method only', SEVERAL_PHASES, () => {
  it.each(['squash', 'rebase', 'merge'] as const)(
    '%s: merged, synced, counted, and raised again after the cooldown',
    async (method) => {
      await stack.forge.setMergeSettings({ methods: [method] });
      const quota = await givenQuota(stack, { namespace: `by-${method}`, hard: { pods: '10' } });
      await quota.deploy('web', 8, { cpu: '10m' });
      await quota.reaches('CoolingDown', 'CoolingDown');
      expect(await quota.hard()).toEqual({ pods: '12' });
      const first = await quota.pullRequest();
      expect(first).toMatchObject({ state: 'closed', merged: true, commits: 1 });
      expect(await quota.branches()).toEqual([]);
      expect(await kindsOf(stack, quota.writes(), quota.workflowId)).toEqual(ONE_OF_EACH);
      expect(await raisesOf(quota)).toEqual([expect.objectContaining({ from: { pods: '10' }, to: { pods: '12' } })]);

      await quota.scale('web', 10);
      // Who skips a cooldown while nothing is needed has skipped nothing.
      await eventually('10 pods are counted', async () => (await quota.used())['pods'] === '10');
      await quota.command('skipCooldown');
      const raisedAgain = async () => (await quota.hard())['pods'] === '15';
      await eventually('it is raised a second time', raisedAgain, EPISODE_MS);
      await quota.reaches('CoolingDown', 'CoolingDown');
      expect(await quota.branches()).toEqual([]);
      expect(await raisesOf(quota)).toMatchObject([
        { from: { pods: '10' }, to: { pods: '12' } },
        { from: { pods: '12' }, to: { pods: '15' } },
      ]);
    },
  );
});
