/** The search for open pull requests that no Lease records, and what becomes of each. */
import { describe, expect, it } from 'vitest';
import type { EpisodeRequest } from '../../../../activities/quota-resize/pull-request/orphan-search.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import type { QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { lease, observation, quota } from '../../../domain/quota-resize/model/observations.ts';
import { asAttempt, candidates, decide, type GitOps, open, policy, startGitOps, target } from '../gitops-fixture.ts';

const calm = observation({ quota: quota({ used: { 'requests.cpu': '1' } }) });
const pressed = observation();
const found = { target, repository: 'acme/gitops', number: 1 };
const WORD =
  'Closed by Headroom: every resource is below its threshold, and no workload needs more. If somebody reopens it, Headroom leaves it to people.';

/** A worker that sees the quota like this, and the episodes that it asked for. */
function searcher(gitops: GitOps, seen: () => QuotaObservation, recorded: readonly string[] = []) {
  const requests: [QuotaTarget, EpisodeRequest][] = [];
  const worker = gitops.worker({
    orphans: {
      observeQuota: () => Promise.resolve(seen()),
      recordedPullRequests: () => Promise.resolve(new Set(recorded)),
      requestEpisode: (of, request) => Promise.resolve(void requests.push([of, request])),
    },
  });
  return { ...worker, requests };
}

async function reopened(gitops: GitOps, by = 'alice'): Promise<void> {
  const { branch, headSha } = (await open(gitops.worker())).pullRequest;
  await gitops.forge.closePullRequest(1, 'bob');
  await gitops.worker().github.branches.create(branch, headSha);
  await gitops.forge.reopenPullRequest(1, by);
}

async function comments(gitops: GitOps): Promise<readonly string[]> {
  return (await gitops.worker().github.pullRequests.ownCommentsWith(1, '')).map(
    (text) => text.split('\n\n<!--')[0] ?? '',
  );
}

async function stateOf(gitops: GitOps): Promise<string> {
  return (await gitops.worker().github.pullRequests.get(1)).state;
}

describe('the search', () => {
  it('finds those of this cluster that no Lease records, with one request where all are recorded', async () => {
    await using gitops = await startGitOps();
    await open(gitops.worker());
    const other = { ...target, quota: 'compute-large' };
    await gitops.worker().activities.ensurePullRequest({
      target: other,
      decision: decide(),
      policy,
      candidatesByQuota: [{ quota: other.quota, candidates }],
    });
    const known = searcher(gitops, () => calm, ['acme/gitops#1', 'acme/gitops#2']);
    const before = gitops.forge.requests;
    expect(await known.activities.observeOrphans({ cluster: 'prod' })).toEqual([]);
    expect(gitops.forge.requests - before).toBe(1);

    const { activities } = searcher(gitops, () => calm, ['acme/gitops#1']);
    expect(await activities.observeOrphans({ cluster: 'prod' })).toEqual([{ ...found, target: other, number: 2 }]);
    expect(await activities.observeOrphans({ cluster: 'test' })).toEqual([]);
  });

  it('reads every page of branches', async () => {
    await using gitops = await startGitOps();
    const { github } = gitops.worker();
    const tip = (await gitops.forge.branchTip('main')) ?? '';
    for (let number = 0; number < 100; number += 1) await github.branches.create(`headroom/prod/a/b/${number}`, tip);
    await open(gitops.worker());
    const { activities } = searcher(gitops, () => calm);
    const before = gitops.forge.requests;
    expect(await activities.observeOrphans({ cluster: 'prod' })).toEqual([found]);
    // Two pages, and the commits of the one.
    expect(gitops.forge.requests - before).toBe(3);
  });
});

describe('a reopened pull request', () => {
  it('that its quota needs wakes the quota with the word of who reopened it, and nothing is written', async () => {
    await using gitops = await startGitOps();
    await reopened(gitops);
    const { activities, requests } = searcher(gitops, () => pressed);
    const before = gitops.effects();
    expect(await activities.ensureOrphanEnded(found)).toEqual({ kind: 'requested' });
    expect(requests).toEqual([[target, { pullRequest: 1, by: 'alice' }]]);
    expect(gitops.effects()).toEqual(before);
  });

  it('that nothing needs is closed with a word, and left to people when they reopen it once more', async () => {
    await using gitops = await startGitOps();
    await reopened(gitops);
    const { pulls, activities } = { ...searcher(gitops, () => calm), pulls: gitops.worker().github };
    const { headRef, headSha } = await pulls.pullRequests.get(1);
    expect(await activities.ensureOrphanEnded(found)).toMatchObject({ kind: 'closed' });
    expect([await stateOf(gitops), await comments(gitops)]).toEqual(['closed', [WORD]]);
    expect(await gitops.forge.branchTip(headRef)).toBeUndefined();
    expect(await activities.ensureOrphanEnded(found)).toMatchObject({ kind: 'left', why: 'it is closed by now' });

    await pulls.branches.create(headRef, headSha);
    await gitops.forge.reopenPullRequest(1, 'alice');
    for (const seen of [calm, pressed]) {
      expect(await searcher(gitops, () => seen).activities.ensureOrphanEnded(found)).toEqual({
        kind: 'left',
        why: 'somebody reopened it after Headroom had closed it, so people merge or close it',
      });
    }
    expect([await stateOf(gitops), await comments(gitops)]).toEqual(['open', [WORD]]);
  });

  it.each([
    ['the comment', 'POST', '/issues/*/comments'],
    ['the close', 'PATCH', '/pulls/*'],
  ] as const)('is closed once with one word where the answer to %s is lost', async (_what, method, path) => {
    await using gitops = await startGitOps();
    await reopened(gitops);
    gitops.forge.fail({ method, path, action: { kind: 'answer-lost' } });
    const { activities } = searcher(gitops, () => calm);
    await expect(asAttempt(1, async () => await activities.ensureOrphanEnded(found))).rejects.toMatchObject({
      type: 'ForgeUnavailable',
    });
    await asAttempt(2, async () => await activities.ensureOrphanEnded(found));
    expect([await stateOf(gitops), await comments(gitops)]).toEqual(['closed', [WORD]]);
  });

  it('is left where its quota comes to need it right before the close', async () => {
    await using gitops = await startGitOps();
    await reopened(gitops);
    let seen = calm;
    let asked = 0;
    const { activities } = searcher(gitops, () => {
      asked += 1;
      if (asked > 1) seen = pressed;
      return seen;
    });
    expect(await activities.ensureOrphanEnded(found)).toMatchObject({
      kind: 'left',
      why: 'pull request #1 of team-a/compute is left: what it was to be closed for has changed meanwhile',
    });
    expect([await stateOf(gitops), await comments(gitops)]).toEqual(['open', []]);
  });

  it('with commits of people is left to them, who are told once', async () => {
    await using gitops = await startGitOps();
    const { pullRequest } = await open(gitops.worker());
    await gitops.forge.pushCommit({ branch: pullRequest.branch, files: { 'README.md': '# mine\n' }, author: 'alice' });
    const { activities } = searcher(gitops, () => calm);
    expect(await activities.observeOrphans({ cluster: 'prod' })).toEqual([found]);
    for (let search = 0; search < 2; search += 1) {
      expect(await activities.ensureOrphanEnded(found)).toMatchObject({ kind: 'left' });
    }
    expect([await stateOf(gitops), await comments(gitops)]).toEqual([
      'open',
      [
        'Headroom leaves this pull request alone: it has commits that are not of Headroom, so people merge or close it.',
      ],
    ]);
  });

  it('is not left to auto-merge that Headroom enabled for a decision that is lost, and to that of people it is', async () => {
    await using gitops = await startGitOps();
    const { pullRequest } = await open(gitops.worker());
    await gitops.forge.protectBranch('main', { requiredChecks: ['ci'] });
    await gitops.forge.setMergeSettings({ autoMerge: true });
    const pause = { scope: 'target', by: 'alice', reason: 'maintenance', at: Date.now(), kept: 'here' } as const;
    const { activities } = searcher(gitops, () => observation({ pause }));
    await gitops.forge.enableAutoMerge(1, 'headroom-bot', 'squash');
    expect(await activities.ensureOrphanEnded(found)).toEqual({ kind: 'left', why: 'it is paused' });
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
    await gitops.forge.enableAutoMerge(1, 'headroom-bot', 'squash');
    const { branch } = pullRequest;
    await gitops.forge.pushCommit({ branch, files: { 'README.md': '# mine\n' }, author: 'alice' });
    expect(await searcher(gitops, () => calm).activities.ensureOrphanEnded(found)).toMatchObject({ kind: 'left' });
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
    await gitops.forge.enableAutoMerge(1, 'alice', 'squash');
    expect(await searcher(gitops, () => calm).activities.ensureOrphanEnded(found)).toMatchObject({ kind: 'left' });
    expect(gitops.forge.autoMergeOf(1)).toEqual({ by: 'alice', method: 'squash' });
  });

  it('is no orphan where a decision has just opened it or taken it over, and its number is not recorded yet', async () => {
    await using gitops = await startGitOps();
    const opening = decide();
    await open(gitops.worker(), opening);
    const held = (decision: typeof opening) =>
      observation({
        lease: lease({ holder: `headroom/${decision.id}`, decision: { ...decision, pullRequest: null, merge: null } }),
      });
    const ended = async (decision: typeof opening) =>
      await searcher(gitops, () => held(decision)).activities.ensureOrphanEnded(found);
    expect(await ended(opening)).toEqual({ kind: 'left', why: `it is of decision ${opening.id}` });
    const taking = decide();
    await open(gitops.worker(), taking);
    expect(await ended(taking)).toEqual({ kind: 'left', why: `it is of decision ${taking.id}` });
  });
});
