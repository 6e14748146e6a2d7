/** A pull request whose decision is over, and which a person reopens: nobody asks for it, and it is noticed all the same. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orphanSearchId } from '../../domain/quota-resize/target.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { reopenPullRequest } from '../kernel/stack/reopen-pull-request.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type ShownPullRequest, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

const SECRET = 'webhook-secret-of-this-run';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pending' },
    starters: 0,
    env: { ...quickAutoMerge, 'timings.needGone': '2s' },
  });
});
afterAll(async () => await stack?.stop());

async function opened(namespace: string): Promise<{ quota: WatchedQuota; pull: ShownPullRequest }> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('AwaitingChecks', 'ChecksPending');
  return { quota, pull: await quota.pullRequest() };
}

async function closedByAPerson(namespace: string) {
  const { quota, pull } = await opened(namespace);
  await stack.forge.closePullRequest(pull.number, 'bob');
  await quota.reaches('CoolingDown', 'PreviouslyRejected');
  await eventually('its branch is deleted', async () => (await quota.branches()).length === 0);
  return { quota, pull };
}

async function isTakenOver({ quota, pull }: Awaited<ReturnType<typeof opened>>): Promise<void> {
  await quota.reaches('AwaitingChecks', 'ChecksPending');
  const { lastCommand, decision } = await quota.status();
  expect(lastCommand).toContain('cooldown skipped by alice');
  expect(decision?.pullRequest?.number).toBe(pull.number);
  expect(quota.pullRequests()).toEqual([pull.number]);
  const { head } = await quota.shown(pull.number);
  await quota.check(head.sha, 'success');
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.hard()).toEqual({ pods: '12' });
}

/** Waits for a search that began after this call, and has ended. */
async function searched(): Promise<void> {
  const since = Date.now();
  await eventually(
    'open pull requests have been searched for',
    async () => {
      const run = await stack.client.workflow.getHandle(orphanSearchId(stack.cluster)).describe();
      return run.status.name === 'COMPLETED' && run.startTime.getTime() > since;
    },
    EPISODE_MS,
  );
}

describe('without webhooks, a resync', () => {
  beforeAll(async () => {
    const starter = await stack.startStarter({ 'starter.resyncInterval': '2s' });
    return async () => await starter.stop();
  });

  it('finds one that a person reopened, whose word lifts the rejection: it is taken over', SEVERAL_PHASES, async () => {
    const closed = await closedByAPerson('polled-wanted');
    await reopenPullRequest(stack, closed.pull, 'alice');
    await isTakenOver(closed);
  });

  it(
    'finds one that nothing needs, closes it with a word, and leaves it to who reopens it again',
    SEVERAL_PHASES,
    async () => {
      const { quota, pull } = await opened('polled-unneeded');
      await quota.scale('web', 3);
      await eventually(
        'Headroom closes it, and deletes its branch',
        async () => (await quota.shown(pull.number)).state === 'closed' && (await quota.branches()).length === 0,
        EPISODE_MS,
      );
      await quota.reaches('CoolingDown');
      await reopenPullRequest(stack, pull, 'alice');
      const why = 'every resource is below its threshold, and no workload needs more';
      await eventually(
        'it is closed again',
        async () => (await quota.shown(pull.number)).state === 'closed' && (await quota.branches()).length === 0,
        EPISODE_MS,
      );
      expect((await quota.comments(pull.number)).at(-1)).toContain(
        `Closed by Headroom: ${why}. If somebody reopens it, Headroom leaves it to people.`,
      );
      const { length } = await quota.comments(pull.number);

      await reopenPullRequest(stack, pull, 'alice');
      await searched();
      await searched();
      expect(await quota.shown(pull.number)).toMatchObject({ state: 'open', head: { sha: pull.head.sha } });
      expect(await quota.comments(pull.number)).toHaveLength(length);
    },
  );
});

describe('a webhook', () => {
  beforeAll(async () => {
    const starter = await stack.startStarter({
      GITHUB_WEBHOOKS: 'true',
      GITHUB_WEBHOOK_SECRET: SECRET,
      'starter.resyncInterval': '1h',
    });
    const lines = (await readFile(starter.logFile, 'utf8')).split('\n');
    const line = lines.find((text) => text.includes(`"msg":"the starter takes GitHub's webhooks"`)) ?? '{}';
    const { url } = JSON.parse(line) as { url: string };
    await stack.forge.addHook({ url, secret: SECRET });
    return async () => await starter.stop();
  });

  it('says of one that was reopened at once, although no Lease knows its number', SEVERAL_PHASES, async () => {
    const closed = await closedByAPerson('told-wanted');
    await reopenPullRequest(stack, closed.pull, 'alice');
    await isTakenOver(closed);
  });
});
