/** What an episode makes of the state in which GitHub shows its pull request. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../domain/kernel/time.ts';
import { untilHeld } from '../kernel/forge/until-held.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota, EPISODE_MS } from '../kernel/stack/watched-quota.ts';
import { reconcileCompletely } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';

/** Counted from the push: long enough for a test on a machine under load to see an episode before it is over. */
const DEBOUNCE_MS = 15_000;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    // Each head gets a check `ci` that waits for the test.
    forge: { checks: 'pending' },
    env: {
      ...quickAutoMerge,
      HEADROOM_SETTLE: `${DEBOUNCE_MS}ms`,
    },
  });
});
afterAll(async () => await stack?.stop());

/** An episode whose pull request is open and waits for its check. */
async function openedEpisode(namespace: string, pods = 8): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' } });
  await quota.deploy('web', pods, { cpu: '10m' });
  await quota.reaches('AwaitingChecks', 'ChecksPending');
  return quota;
}

/** It is merged, the cluster has followed, and there was one pull request. */
async function endsMerged(quota: WatchedQuota, pods = '12'): Promise<void> {
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.hard()).toMatchObject({ pods });
  expect(await quota.pullRequest()).toMatchObject({ state: 'closed', merged: true, commits: 1 });
  expect(await quota.branches()).toEqual([]);
}

describe.concurrent('a pull request', SEVERAL_PHASES, () => {
  it('waits while its checks are pending and while they fail, and is merged when they pass', async () => {
    const quota = await openedEpisode('checks');
    const { number, head } = await quota.pullRequest();
    expect(await quota.status()).toMatchObject({ detail: `pull request #${number} waits for checks: ci` });

    await quota.check(head.sha, 'failure');
    const failing = await quota.reaches('AwaitingChecks', 'ChecksFailing');
    expect(failing.detail).toBe(`pull request #${number} waits for a failing check to pass: ci`);
    // An older CI reports a status beside the check run.
    await stack.forge.setStatus({ sha: head.sha, context: 'legacy', state: 'pending' });
    await quota.check(head.sha, 'success');
    // A look reads runs and statuses one beside the other, and may have seen one of the two reports.
    const detail = `pull request #${number} waits for checks: legacy`;
    const waits = async () => {
      const seen = await quota.status();
      return seen.detail === detail && seen;
    };
    // As long as for any other phase.
    const pending = await eventually('it waits for the other check', waits, EPISODE_MS);
    expect(pending).toMatchObject({ phase: 'AwaitingChecks', reason: 'ChecksPending' });
    expect(quota.writes().some(({ path }) => path.endsWith('/merge'))).toBe(false);

    await stack.forge.setStatus({ sha: head.sha, context: 'legacy', state: 'success' });
    await endsMerged(quota);
  });

  it('waits while it is a draft', async () => {
    const quota = await openedEpisode('draft');
    const { number, head } = await quota.pullRequest();
    await stack.forge.setDraft(number, true);
    await quota.check(head.sha, 'success');
    const draft = await quota.reaches('AwaitingChecks', 'Draft');
    expect(draft.detail).toBe(`pull request #${number} is a draft, waiting until it is ready for review`);
    await stack.forge.setDraft(number, false);
    await endsMerged(quota);
  });

  it('waits while somebody requests changes, although no rule asks for a review, and says so once', async () => {
    const quota = await openedEpisode('changes-requested');
    const { number, head } = await quota.pullRequest();
    await stack.forge.requestChanges(number, 'alice');
    await quota.check(head.sha, 'success');
    const held = await quota.reaches('AwaitingMerge', 'ChangesRequested');
    expect(held.detail).toBe(
      `pull request #${number} is not merged: changes are requested by alice at ${head.sha.slice(0, 12)}; an approval by alice or a dismissal of that review ends it, and new commits do not`,
    );
    await reconcileCompletely(quota);
    await quota.reaches('AwaitingMerge', 'ChangesRequested');
    expect(await quota.comments(number)).toEqual([
      expect.stringMatching(/^Not merged by Headroom: changes are requested by alice at /),
    ]);
    expect(await quota.events('QuotaResizeHeld')).toHaveLength(1);
    expect(quota.writes().some(({ path }) => path.endsWith('/merge'))).toBe(false);

    await stack.forge.dismissReview(number, 'alice', 'bob');
    await endsMerged(quota);
  });

  it('is rebuilt on the base when a commit there conflicts with it, and stays the only one', async () => {
    // 9 pods are above the threshold of the person's 11 as well.
    const quota = await openedEpisode('conflict', 9);
    const { number, head } = await quota.pullRequest();
    const before = (await quota.inGit()) ?? '';
    await stack.forge.pushCommit({ files: { [quota.path]: before.replace('"10"', '"11"') }, author: 'alice' });

    const rebuilt = await quota.rebuilt({ number, head });
    expect(rebuilt.title).toBe('Raise quota conflict/compute: pods 11 → 12');
    expect((await quota.comments(number))[0]).toMatch(
      /^Rebuilt on main at [0-9a-f]{7}: main changed the same lines, so the branch conflicted/,
    );
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await quota.check(rebuilt.head.sha, 'success');
    await endsMerged(quota);
    expect(await quota.inGit()).toBe(before.replace('"10"', '"12"'));
  });

  it('is not merged when its head moves between the observation and the merge', async () => {
    const quota = await openedEpisode('head-moved');
    const { number, head } = await quota.pullRequest();
    const hold = stack.forge.hold({ method: 'PUT', path: `/pulls/${number}/merge`, when: 'before' });
    await quota.check(head.sha, 'success');
    await untilHeld(hold, 'the merge of head-moved is about to be made', EPISODE_MS);
    expect(await quota.status()).toMatchObject({ phase: 'Merging', reason: 'ReadyToMerge' });
    await stack.forge.pushCommit({ branch: head.ref, files: { 'NOTES.md': 'wait for me\n' }, author: 'alice' });
    hold.release();

    const handed = await quota.reaches('AwaitingMerge', 'ForeignCommit');
    expect(handed.detail).toMatch(
      /^pull request \[#\d+\]\(http.*\) has commits of somebody else, so it belongs to people now/,
    );
    expect(stack.forge.writes).toContainEqual(
      expect.objectContaining({ method: 'PUT', path: `/repos/acme/gitops/pulls/${number}/merge`, status: 409 }),
    );
    expect(await quota.shown(number)).toMatchObject({ state: 'open', merged: false });
  });
});

describe('a pull request into a branch with rules', SEVERAL_PHASES, () => {
  afterEach(async () => {
    stack.forge.setDefaultChecks('pending');
    await stack.forge.protectBranch('main', undefined);
  });

  it('that has no check at all is merged when it has stood for the settle time, and not before', async () => {
    stack.forge.setDefaultChecks('none');
    const quota = await givenQuota(stack, { namespace: 'no-checks', hard: { pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    const { number, decision, until, detail } = await quota
      .reaches('AwaitingChecks', 'NoChecksYet')
      .then((seen) => ({ ...seen, number: seen.decision?.pullRequest?.number }));
    const pushedAt = decision?.pullRequest?.pushedAt ?? 0;
    expect(detail).toBe(`pull request #${number} is clean but no check has appeared yet`);
    expect(until).toBe(formatInstant(pushedAt + DEBOUNCE_MS));
    await endsMerged(quota);
    const merge = quota.writes().find(({ path }) => path.endsWith('/merge'));
    expect(Date.parse(merge?.at ?? '')).toBeGreaterThanOrEqual(pushedAt + DEBOUNCE_MS);
  });

  it('is rebuilt where branches must be up to date and main moved on', async () => {
    await stack.forge.protectBranch('main', { requiredChecks: ['ci'], requireUpToDate: true });
    const quota = await openedEpisode('behind');
    const { number, head } = await quota.pullRequest();
    await stack.forge.pushCommit({ files: { 'OTHER.md': 'another team\n' }, author: 'alice' });
    await quota.check(head.sha, 'success');

    const rebuilt = await quota.rebuilt({ number, head });
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    expect((await quota.comments(number))[0]).toMatch(
      /^Rebuilt on main at [0-9a-f]{7}: main moved on and must be contained before a merge/,
    );
    await quota.check(rebuilt.head.sha, 'success');
    await endsMerged(quota);
    expect(await stack.forge.readFile('main', 'OTHER.md')).toBe('another team\n');
  });

  it('waits for the review that a rule requires', async () => {
    await stack.forge.protectBranch('main', { requiredReviews: 1, as: 'ruleset' });
    const quota = await openedEpisode('review');
    const { number, head } = await quota.pullRequest();
    await quota.check(head.sha, 'success');
    const waiting = await quota.reaches('AwaitingChecks', 'ReviewRequired');
    expect(waiting.detail).toBe(
      `pull request #${number} is blocked by a rule of main: a review or a required check that has not started`,
    );
    await stack.forge.approveReview(number, 'alice');
    await endsMerged(quota);
  });
});
