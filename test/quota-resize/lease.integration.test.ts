/** The lock and the memory of an episode: what a run finds that others left, and what it leaves to the next. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sentence } from '../../domain/kernel/sentence.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { untilHeld } from '../kernel/forge/until-held.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { openingOf } from '../kernel/forge/opening.ts';

/** Long enough for a test on a machine under load to see an episode before it. */
const OVERDUE_MS = 15_000;
const PERSON_TOKEN = 'token-of-alice';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    // Each head gets a check `ci` that waits for the test.
    forge: { checks: 'pending', tokens: { [PERSON_TOKEN]: 'alice' } },
    env: {
      ...quickAutoMerge,
      'timings.holdRetry': '1s',
      HEADROOM_SYNC_OVERDUE: `${OVERDUE_MS}ms`,
      // A workflow that was terminated is started again by the next hint.
      'starter.resyncInterval': '1s',
    },
  });
});
afterAll(async () => await stack?.stop());

/** A quota in the cluster that follows Git only when the test says so, under pressure. */
async function pressedQuota(namespace: string): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, synced: false });
  await quota.deploy('web', 8, { cpu: '10m' });
  return quota;
}

/** Terminates the run and waits for the next one. */
async function succeeded(quota: WatchedQuota): Promise<void> {
  const run = await quota.runId();
  await quota.terminate();
  await eventually('another run has begun', async () => (await quota.runId()) !== run);
}

/** The check passes, the cluster follows, and one pull request with one commit has done it. */
async function finishes(quota: WatchedQuota): Promise<void> {
  const { head } = await quota.pullRequest();
  await quota.check(head.sha, 'success');
  await eventually('it is merged', async () => (await quota.inGit())?.includes('"12"'), EPISODE_MS);
  await quota.setHard({ pods: '12' });
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.pullRequest()).toMatchObject({ merged: true, commits: 1 });
  expect(quota.writes().filter(({ path }) => path.endsWith('/merge'))).toHaveLength(1);
  expect(await quota.branches()).toEqual([]);
  const lease = await quota.lease();
  expect(lease?.holder).toBeNull();
  expect(lease?.annotations).not.toHaveProperty('resizer.io/decision');
  expect(await quota.events('QuotaResizeMerged')).toHaveLength(1);
}

describe.concurrent('a run that is terminated', SEVERAL_PHASES, () => {
  it('when the Lease is written is succeeded by one that opens the pull request of that decision', async () => {
    const hold = stack.forge.hold({ ...openingOf('at-lease'), when: 'before' });
    const quota = await pressedQuota('at-lease');
    await untilHeld(hold, 'the pull request of at-lease is about to be opened', EPISODE_MS);
    const holder = (await quota.lease())?.holder;
    expect(holder).toMatch(/^headroom\/[0-9a-f]{8}$/);
    expect(quota.writes()).toEqual([]);
    await succeeded(quota);
    // What the first run had under way comes through beside it.
    hold.release();

    const adopted = await quota.reaches('AwaitingChecks', 'ChecksPending');
    expect(`headroom/${adopted.decision?.id}`).toBe(holder);
    await finishes(quota);
  });

  it('when the branch is written is succeeded by one that finds it', async () => {
    // The repetition goes step by step.
    stack.forge.fail({ ...openingOf('at-branch'), action: { kind: 'status', status: 502 } });
    const hold = stack.forge.hold({ method: 'PUT', path: '/contents/**', body: 'at-branch', when: 'before' });
    const quota = await pressedQuota('at-branch');
    await untilHeld(hold, 'the commit of at-branch is about to be made', EPISODE_MS);
    expect(await quota.branches()).toHaveLength(1);
    await succeeded(quota);
    hold.abandon();
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await finishes(quota);
  });

  it('when its pull request is open is succeeded by one that merges it', async () => {
    const quota = await pressedQuota('at-open');
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    const { number } = await quota.pullRequest();
    await succeeded(quota);
    const adopted = await quota.reaches('AwaitingChecks', 'ChecksPending');
    expect(adopted.decision?.pullRequest?.number).toBe(number);
    await finishes(quota);
  });

  it('when its pull request is open, and whose Lease is lost, is succeeded by one that takes the pull request over', async () => {
    const quota = await pressedQuota('at-loss');
    const opened = await quota.reaches('AwaitingChecks', 'ChecksPending');
    const before = await quota.pullRequest();
    await quota.deleteLease();
    await succeeded(quota);
    const adopted = await eventually('another decision awaits checks', async () => {
      const seen = await quota.status();
      return seen.phase === 'AwaitingChecks' && seen.decision?.id !== opened.decision?.id && seen;
    });
    const after = await quota.pullRequest();
    expect(adopted.decision?.pullRequest).toMatchObject({ number: before.number, branch: before.head.ref });
    expect(after.head.sha).not.toBe(before.head.sha);
    expect((await quota.lease())?.holder).toBe(`headroom/${adopted.decision?.id}`);
    // Its writes are one pull request, one merge, and no branch that is left.
    await finishes(quota);
  });

  it('when it is merged and not synced is succeeded by one that awaits the sync, and opens nothing', async () => {
    const quota = await pressedQuota('at-merged');
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    const { head } = await quota.pullRequest();
    await quota.check(head.sha, 'success');
    const merged = await quota.reaches('AwaitingSync');
    await succeeded(quota);
    const waiting = await quota.reaches('AwaitingSync');
    expect(waiting.decision?.merge).toEqual(merged.decision?.merge);
    await finishes(quota);
  });

  it('when it cools down is succeeded by one that rests as long', async () => {
    const quota = await pressedQuota('at-rest');
    await finishes(quota);
    const { until } = await quota.reaches('CoolingDown', 'CoolingDown');
    await quota.scale('web', 10);
    await succeeded(quota);
    const resting = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(resting.until).toBe(until);
    expect(quota.pullRequests()).toHaveLength(1);
    const lease = await quota.lease();
    const modified = Date.parse(lease?.annotations['resizer.io/last-modified'] ?? '');
    expect(resting.detail).toContain(`cooling down until ${formatInstant(modified + 60 * 60_000)}`);
  });
});

describe.concurrent('a Lease', SEVERAL_PHASES, () => {
  it('of another holder is respected until it is given back', async () => {
    const quota = await givenQuota(stack, { namespace: 'foreign', hard: { pods: '10' }, synced: false });
    await quota.createLease('operator-of-somebody-else');
    await quota.deploy('web', 8, { cpu: '10m' });
    const blocked = await quota.reaches('Blocked', 'LeaseHeld');
    expect(blocked.detail).toBe(
      'the Lease state-foreign-compute is held by operator-of-somebody-else. Headroom waits until it is released',
    );
    await quota.untilAttributes({ HeadroomPhase: 'Blocked' });
    await eventually('it observes again', async () => (await quota.status()).until !== blocked.until);
    expect(quota.writes()).toEqual([]);
    expect((await quota.lease())?.holder).toBe('operator-of-somebody-else');

    await quota.unlockLease();
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await finishes(quota);
  });

  it('of an earlier tool is respected while its pull request is open, and adopted once that is closed', async () => {
    const quota = await givenQuota(stack, { namespace: 'legacy', hard: { pods: '10' }, synced: false });
    const branch = 'resizer/legacy-compute';
    await stack.forge.pushCommit({ branch, files: { 'legacy.txt': 'an earlier tool\n' }, author: 'alice' });
    const answer = await fetch(`${stack.forge.url}/repos/acme/gitops/pulls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${PERSON_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Resize', head: branch, base: 'main' }),
    });
    const { number } = (await answer.json()) as { number: number };
    await quota.createLease(`pr-${number}`);
    await quota.deploy('web', 8, { cpu: '10m' });
    const blocked = await quota.reaches('Blocked', 'LeaseHeld');
    expect(blocked.detail).toBe(
      `the Lease state-legacy-compute is held by pr-${number}. Headroom waits until it is released`,
    );
    expect(quota.writes()).toEqual([]);

    await stack.forge.closePullRequest(number, 'alice');
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    expect((await quota.lease())?.annotations).toMatchObject({
      'resizer.io/target-namespace': 'legacy',
      'resizer.io/target-quota': 'compute',
    });
    await finishes(quota);
  });
});

describe.concurrent('a sync', SEVERAL_PHASES, () => {
  it('that does not come is warned about once, and nothing new is opened meanwhile', async () => {
    const quota = await pressedQuota('overdue');
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    const { head } = await quota.pullRequest();
    await quota.check(head.sha, 'success');
    const pending = await quota.reaches('AwaitingSync', 'SyncPending');
    expect(pending.detail).toMatch(/^waiting for the cluster to follow Git since 20.*: pods is 10 and becomes 12$/);
    // Far more than what was merged.
    await quota.scale('web', 20);

    const overdue = await quota.reaches('AwaitingSync', 'SyncOverdue');
    const { merge } = overdue.decision ?? {};
    expect(overdue.detail).toBe(
      `the cluster has not followed Git since ${formatInstant(merge?.at ?? 0)}: pods is 10 and becomes 12. Look at Argo CD or Flux. Headroom opens nothing new meanwhile`,
    );
    // Git is read again two times more.
    for (let passes = 0, { until } = await quota.status(); passes < 2; passes += 1) {
      until = await eventually('it observes again', async () => {
        const seen = await quota.status();
        return seen.until !== undefined && seen.until !== until && seen.until;
      });
    }
    expect(await quota.events('SyncOverdue')).toEqual([`Warning: ${sentence(overdue.detail)}`]);
    expect(quota.pullRequests()).toHaveLength(1);

    await quota.setHard({ pods: '12' });
    const resting = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(resting.detail).toContain('cooling down until');
    expect(quota.pullRequests()).toHaveLength(1);
  });

  it('is not awaited any more when a person has taken the change back in Git', async () => {
    const quota = await pressedQuota('reverted');
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    const before = (await quota.inGit()) ?? '';
    const { head } = await quota.pullRequest();
    await quota.check(head.sha, 'success');
    // Overdue already or not: on a machine under load that is soon.
    await quota.reaches('AwaitingSync');
    await stack.forge.pushCommit({ files: { [quota.path]: before }, message: 'Revert', author: 'alice' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.inGit()).toBe(before);
    expect(quota.pullRequests()).toHaveLength(1);
  });
});
