/** Headroom gives way to people: what they close, merge, change, reject and approve. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../domain/kernel/time.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, type GivenQuota, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { reconcileCompletely } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { deniedWhileOptedOut } from './denied.ts';
import { podsCome } from './tried-again.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    // Each head gets a check `ci` that waits for the test.
    forge: { checks: 'pending' },
    env: {
      ...quickAutoMerge,
      // Long enough for a test on a machine under load to see that the demand is gone before the pull request is closed.
      'timings.needGone': '8s',
      'timings.updateInterval': '2s',
    },
  });
});
afterAll(async () => await stack?.stop());

/** An episode for 8 of 10 pods, whose pull request is open and waits for its check. */
async function openedEpisode(namespace: string, given: Partial<GivenQuota> = {}): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, ...given });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('AwaitingChecks', 'ChecksPending');
  return quota;
}

function merges(quota: WatchedQuota): number {
  return quota.writes().filter(({ path }) => path.endsWith('/merge')).length;
}

describe.concurrent('a person', SEVERAL_PHASES, () => {
  it('who closes a pull request rejects its values: they are not asked for again, also not by another run', async () => {
    const quota = await openedEpisode('closed');
    const { number } = await quota.pullRequest();
    await stack.forge.closePullRequest(number, 'alice');

    const refused = await quota.reaches('CoolingDown', 'PreviouslyRejected');
    expect(refused.detail).toMatch(
      new RegExp(
        `^pods 10 → 12 was rejected by alice at 20.* \\(pull request #${number} was closed\\). Headroom does not ask for it again before 20.* unless the demand grows$`,
      ),
    );
    expect(await quota.events('QuotaResizeRejected')).toEqual([
      `Normal: pods 10 → 12: pull request #${number} was closed by alice, which counts as a rejection.`,
    ]);
    expect(await quota.branches()).toEqual([]);
    const lease = await quota.lease();
    expect(lease?.holder).toBeNull();
    expect(JSON.parse(lease?.annotations['resizer.io/refusals'] ?? '')).toMatchObject([
      { limits: { pods: '12' }, by: 'alice', reason: `pull request #${number} was closed` },
    ]);
    expect(await quota.comments(number)).toEqual([]);

    // A new run knows it from the Lease, and one pod more does not outvote it.
    const run = await quota.runId();
    await quota.terminate();
    await quota.scale('web', 9);
    await eventually('a new run looks', async () => (await quota.runId()) !== run);
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    expect(quota.pullRequests()).toEqual([number]);

    expect(await quota.command('skipCooldown', { by: 'bob' })).toContain('also on one that was rejected before');
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    expect(quota.pullRequests()).toHaveLength(2);
  });

  it('who merges before the checks are through has merged', async () => {
    const quota = await openedEpisode('merged');
    const { number } = await quota.pullRequest();
    await stack.forge.mergePullRequest(number, 'alice');

    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    expect(await quota.events('QuotaResizeMerged')).toEqual([
      `Normal: pods 10 → 12: pull request #${number} was merged by alice.`,
    ]);
    expect(merges(quota)).toBe(0);
    expect(await quota.branches()).toEqual([]);
    expect((await quota.lease())?.holder).toBeNull();
  });

  it('who commits to the branch takes it over, and what they merge is what is awaited', async () => {
    const quota = await openedEpisode('taken-over');
    const { number, head } = await quota.pullRequest();
    const theirs = ((await quota.inGit()) ?? '').replace('"10"', '"16"');
    const commit = await stack.forge.pushCommit({ branch: head.ref, files: { [quota.path]: theirs }, author: 'alice' });

    const handed = await quota.reaches('AwaitingMerge', 'ForeignCommit');
    expect(handed.detail).toContain('has commits of somebody else, so it belongs to people now');
    const written = quota.writes().length;
    await quota.check(commit, 'success');
    // Greater by more than an increment, and left to alice all the same.
    await quota.scale('web', 14);
    await eventually('10 pods are there', async () => (await quota.pods()) === 10);
    await reconcileCompletely(quota);
    await quota.reaches('AwaitingMerge', 'ForeignCommit');
    expect(quota.writes()).toHaveLength(written);

    await stack.forge.mergePullRequest(number, 'alice');
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '16' });
    expect(await quota.inGit()).toBe(theirs);
    await podsCome(quota, 14);
    expect(quota.pullRequests()).toEqual([number]);
  });

  it('who rejects closes the pull request with who and why, as a rejection', async () => {
    const quota = await openedEpisode('rejected');
    const { number } = await quota.pullRequest();
    expect(await quota.command('reject', { by: 'alice', reason: 'ask the team first' })).toBe(
      `rejected by alice: pull request #${number} is closed`,
    );
    const refused = await quota.reaches('CoolingDown', 'PreviouslyRejected');
    expect(refused.detail).toMatch(
      /^pods 10 → 12 was rejected by alice at 20.* \(ask the team first\)\. Headroom does not ask for it/,
    );
    expect(await quota.shown(number)).toMatchObject({ state: 'closed', merged: false });
    expect((await quota.comments(number))[0]).toMatch(
      /^Closed by Headroom: rejected by alice: ask the team first\. Headroom does not ask for it again before 20.* unless the demand grows\./,
    );
    expect(await quota.branches()).toEqual([]);
    expect(JSON.parse((await quota.lease())?.annotations['resizer.io/refusals'] ?? '')).toMatchObject([
      { limits: { pods: '12' }, by: 'alice', reason: 'ask the team first' },
    ]);
    await expect(quota.command('reject', { by: 'bob' })).rejects.toMatchObject({
      cause: { message: 'there is no open pull request to reject' },
    });
  });

  it('has to approve a step above max-step, and their name stays with it', async () => {
    const quota = await givenQuota(stack, { namespace: 'max-step', hard: { 'requests.cpu': '1' } });
    await deniedWhileOptedOut(quota, 2, () => quota.deploy('web', 6, { cpu: '500m' }));
    const { head, number, body } = await quota.pullRequest();
    expect(body).toContain('**An approval is needed** before Headroom merges this: requests.cpu from 1 to 3800m');
    await quota.check(head.sha, 'success');
    const waiting = await quota.reaches('AwaitingApproval', 'MaxStepExceeded');
    expect(waiting.detail).toMatch(
      /has waited for an approval since 20.*: requests\.cpu from 1 to 3800m is more than 2 × the limit \(resizer\.io\/max-step\). Send approve or reject$/,
    );
    await quota.untilAttributes({ HeadroomPhase: 'AwaitingApproval' });

    expect(await quota.command('approve', { by: 'alice', reason: 'agreed in the budget' })).toBe(
      `approved by "alice" (a claimed name): pull request #${number} at ${head.sha.slice(0, 12)}, for these values only`,
    );
    const done = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(done.lastCommand).toContain('approve: approved by "alice" (a claimed name)');
    expect(await quota.hard()).toEqual({ 'requests.cpu': '3800m' });
    await podsCome(quota, 6);
  });

  it('has to approve a raise from 0, also by a bare signal, which is of unknown', async () => {
    const quota = await givenQuota(stack, { namespace: 'from-zero', hard: { pods: '0' } });
    await quota.deploy('web', 2, { cpu: '10m' });
    const { head } = await quota.pullRequest();
    await quota.check(head.sha, 'success');
    const waiting = await quota.reaches('AwaitingApproval', 'RaiseFromZero');
    expect(waiting.detail).toMatch(/pods is 0, which is deliberate, and would become 3. Send approve or reject$/);
    await quota.signal('approve');
    const done = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(done.lastCommand).toContain('approve: approved by "unknown" (a claimed name)');
    expect(await quota.hard()).toEqual({ pods: '3' });
  });

  it('has to approve again when the head has changed since', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'void',
      hard: { pods: '10' },
      annotations: { 'resizer.io/max-step': '1.1' },
    });
    await quota.deploy('web', 9, { cpu: '10m' });
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    const { head, number } = await quota.pullRequest();
    await quota.command('approve', { by: 'alice' });
    expect((await quota.status()).approval).toMatchObject({ by: 'alice', headSha: head.sha, limits: { pods: '12' } });

    const before = (await quota.inGit()) ?? '';
    await stack.forge.pushCommit({ files: { [quota.path]: before.replace('# see', '# really, see') }, author: 'bob' });
    const rebuilt = await quota.rebuilt({ number, head });
    await quota.check(rebuilt.head.sha, 'success');
    const waiting = await quota.reaches('AwaitingApproval', 'MaxStepExceeded');
    expect(waiting.approval).toBeNull();
    expect(merges(quota)).toBe(0);

    await quota.command('approve', { by: 'carol' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.inGit()).toBe(before.replace('# see', '# really, see').replace('"10"', '"12"'));
    expect(quota.pullRequests()).toEqual([number]);
  });

  it('merges where auto-merge is off for the namespace: an approval does not override that', async () => {
    const quota = await openedEpisode('auto-merge-off', {
      annotations: { 'resizer.io/auto-merge': 'false', 'resizer.io/max-step': '1.1' },
    });
    const { head, number } = await quota.pullRequest();
    await quota.check(head.sha, 'success');
    const waiting = await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    expect(waiting.detail).toMatch(
      /is ready and waits for a person to merge it: auto-merge is off for this namespace \(resizer\.io\/auto-merge\)$/,
    );
    await quota.command('approve', { by: 'alice' });
    await eventually('the approval is told', async () => (await quota.events('QuotaResizeApproved')).length > 0);
    const still = await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    expect(still.approval).toMatchObject({ by: 'alice' });
    expect(merges(quota)).toBe(0);
    await stack.forge.mergePullRequest(number, 'bob');
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    expect(merges(quota)).toBe(0);
  });
});

describe.concurrent('an open pull request', SEVERAL_PHASES, () => {
  it('is updated, and stays one, when the demand outgrows it', async () => {
    const quota = await openedEpisode('grown');
    const { number, head } = await quota.pullRequest();
    await quota.scale('web', 13);
    // The comment ends the rebuilding. There are two where the tenth pod was seen before the others were refused.
    await eventually(
      'it says that the demand grew',
      async () =>
        (await quota.comments(number)).some((comment) =>
          /^Rebuilt on main at .*: the demand grew \(pods 10 → 17\)/.test(comment),
        ),
      EPISODE_MS,
    );
    const grown = await quota.rebuilt({ number, head });
    expect(grown).toMatchObject({ title: 'Raise quota grown/compute: pods 10 → 17', commits: 1, changed_files: 1 });
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await quota.check(grown.head.sha, 'success');
    await quota.reaches('CoolingDown', 'CoolingDown');
    await podsCome(quota, 13);
    expect(quota.pullRequests()).toEqual([number]);
  });

  it('is closed with a word when its requirement has been gone for a while, which is no rejection', async () => {
    const quota = await openedEpisode('need-gone');
    const { number } = await quota.pullRequest();
    await quota.scale('web', 3);
    const going = await quota.reaches('AwaitingChecks', 'DemandGone');
    expect(going.detail).toMatch(
      /^the demand has been gone since 20.*, pull request \[#\d+\].* is closed at 20.* unless it comes back$/,
    );
    const rest = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.shown(number)).toMatchObject({ state: 'closed', merged: false });
    expect((await quota.comments(number))[0]).toMatch(/^Closed by Headroom: the demand has been gone since 20\S+\./);
    expect(await quota.branches()).toEqual([]);
    const annotations = (await quota.lease())?.annotations;
    expect(annotations).not.toHaveProperty('resizer.io/refusals');
    const withdrawnAt = Date.parse(annotations?.['resizer.io/last-withdrawal'] ?? '');
    expect(rest.until).toBe(formatInstant(withdrawnAt + 60 * 60_000));
  });

  it('that came back within the cooldown is not opened again, also not by another run', async () => {
    const quota = await openedEpisode('swings');
    await quota.scale('web', 3);
    const rest = await quota.reaches('CoolingDown', 'CoolingDown');
    const ended = await quota.runId();
    await quota.terminate();
    await quota.scale('web', 9);
    await eventually('9 pods are counted', async () => (await quota.used())['pods'] === '9');
    await eventually('another run has begun', async () => (await quota.runId()) !== ended);
    await reconcileCompletely(quota);
    const { until, detail } = await quota.status();
    expect(until).toBe(rest.until);
    expect(detail).toContain('The quota still needs more, and Headroom acts after the cooldown (pods 10 → 12)');
    expect(quota.pullRequests()).toHaveLength(1);
    await quota.command('skipCooldown', { by: 'alice' });
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    expect(quota.pullRequests()).toHaveLength(2);
  });
});

describe.concurrent('a history that grows too long', SEVERAL_PHASES, () => {
  it('is continued as a new one, with the approval that was given', async () => {
    const quota = await openedEpisode('renewed', { annotations: { 'resizer.io/max-step': '1.1' } });
    const { head, number } = await quota.pullRequest();
    await quota.restartRenewing(60);
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await quota.command('approve', { by: 'alice' });
    const { approval } = await quota.status();
    const run = await quota.runId();
    await eventually('the history is continued as a new one', async () => {
      await quota.command('reconcileNow', { by: 'bob' });
      return (await quota.runId()) !== run;
    });
    const renewed = await eventually('the new run has looked', async () => {
      const seen = await quota.status();
      return seen.decision !== null && seen;
    });
    expect(renewed.approval).toEqual(approval);
    expect(renewed.lastCommand).toContain('asked by bob');

    await quota.check(head.sha, 'success');
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.details()).toContain('approved by "alice" (a claimed name)');
    expect(quota.pullRequests()).toEqual([number]);
    expect(merges(quota)).toBe(1);
  });

  it('is continued also while it is paused and only reconcile requests arrive, and stays paused', async () => {
    const quota = await openedEpisode('renewed-at-rest');
    await quota.restartRenewing(60);
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await quota.command('pause', { by: 'carol', reason: 'holidays' });
    await quota.reaches('Paused', 'Paused');
    const run = await quota.runId();
    await eventually('the history is continued as a new one', async () => {
      await quota.request();
      return (await quota.runId()) !== run;
    });
    const renewed = await quota.reaches('Paused', 'Paused');
    expect(renewed.paused).toMatchObject({ by: 'carol', reason: 'holidays' });
    expect(renewed.detail).toMatch(/^paused by carol since 20.*Z: holidays \(ConfigMap headroom-pauses, key \S+\)$/);
  });
});

describe('a token that may not read the checks', SEVERAL_PHASES, () => {
  it('blocks the episode with what GitHub says, and nothing is lost when it may', async () => {
    const quota = await openedEpisode('no-checks-read');
    const { head, number } = await quota.pullRequest();
    const message = 'Resource not accessible by personal access token';
    const rejections = [
      stack.forge.fail({
        path: '/graphql',
        body: 'statusCheckRollup',
        times: 'always',
        action: { kind: 'field-error', field: 'repository', type: 'FORBIDDEN', message },
      }),
      stack.forge.fail({
        method: 'GET',
        path: `/commits/${head.sha}/check-runs`,
        times: 'always',
        action: { kind: 'status', status: 403, message },
      }),
    ];
    await quota.command('reconcileNow');
    const blocked = await quota.reaches('Blocked', 'ForgeRejected');
    expect(blocked.detail).toContain(message);
    expect(blocked.until).toBeDefined();

    for (const rejection of rejections) rejection.remove();
    await quota.command('reconcileNow');
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await quota.check(head.sha, 'success');
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(quota.pullRequests()).toEqual([number]);
  });
});
