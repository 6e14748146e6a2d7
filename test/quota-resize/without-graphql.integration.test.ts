/** Whole episodes on a server that answers 404 to GraphQL, to rulesets and to commit statuses. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kindsOf, ONE_OF_EACH } from '../faults/decision-writes.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota } from '../kernel/stack/watched-quota.ts';
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

it('an episode goes from pressure to merged, synced and cooling down', SEVERAL_PHASES, async () => {
  const absent = ['/graphql', '/rules/branches/*', '/commits/*/status'].map((path) =>
    stack.forge.fail({ path, times: 'always', action: { kind: 'status', status: 404, message: 'Not Found' } }),
  );
  const quota = await givenQuota(stack, { namespace: 'plain', hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.hard()).toEqual({ pods: '12' });
  expect(await quota.pullRequest()).toMatchObject({ state: 'closed', merged: true, commits: 1 });
  expect(await quota.branches()).toEqual([]);
  expect(await kindsOf(stack, quota.writes(), quota.workflowId)).toEqual(ONE_OF_EACH);
  expect(absent.map(({ hits }) => hits > 0)).toEqual([true, true, true]);
});
