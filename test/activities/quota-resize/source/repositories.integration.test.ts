import { describe, expect, it } from 'vitest';
import type { PullRequestRef } from '../../../../domain/quota-resize/model/decision.ts';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import {
  asAttempt,
  change,
  decide,
  candidates,
  MANIFEST,
  PATH,
  candidatesByQuota,
  policy,
  startGitOps,
  target,
} from '../gitops-fixture.ts';

const README = { 'README.md': '#\n' };
const PLATFORM = [{ owner: 'acme', repo: 'platform' }];
const limits = { 'requests.cpu': '3600m' };
const scan: SourceCandidate = { from: 'scan', learntFrom: 'a search of the whole repository' };

/** The quota is in the second repository, of which the decision was made. */
async function startPlatform() {
  const gitops = await startGitOps(README, {}, { platform: { [PATH]: MANIFEST } });
  const source = { repository: 'acme/platform', base: 'main', how: 'in a file' };
  return { gitops, decision: decide(undefined, { source }) };
}

describe('several repositories', () => {
  it('are searched in order, by a source candidate that names none', async () => {
    const { gitops } = await startPlatform();
    await using _ = gitops;
    const { activities } = gitops.worker({ repositories: PLATFORM });
    expect(await activities.observeSource({ target, limits, candidates })).toMatchObject({
      kind: 'found',
      repository: 'acme/platform',
      path: PATH,
    });
  });

  it('that both have the quota are named, and none is changed', async () => {
    await using gitops = await startGitOps(undefined, {}, { platform: { 'q.yaml': MANIFEST } });
    const { activities } = gitops.worker({ repositories: PLATFORM });
    const seen = await activities.observeSource({ target, limits, candidates: [scan] });
    expect(seen).toMatchObject({ kind: 'blocked', reason: 'FoundTwice' });
    expect(seen).toHaveProperty(
      'message',
      expect.stringMatching(
        /quota\.yaml:4 of acme\/gitops at main, q\.yaml:4 of acme\/platform at main.*git-repository/,
      ),
    );
    const only = { ...scan, repository: 'acme/platform' };
    expect(await activities.observeSource({ target, limits, candidates: [only] })).toMatchObject({ path: 'q.yaml' });
  });

  for (const [name, reason, says, other] of [
    [
      'has it twice',
      'FoundTwice',
      /platform at main: .*a\.yaml.*b\.yaml/,
      { platform: { 'a.yaml': MANIFEST, 'b.yaml': MANIFEST } },
    ],
    [
      'has a file of its namespace that is no YAML',
      'NotYaml',
      /platform at main: .*broken\.yaml/,
      { platform: { 'team-a/broken.yaml': `${MANIFEST.slice(0, 120)}\n\t]: {` } },
    ],
    ['is not shown to the token', 'RepositoryNotFound', /no repository acme\/platform to this token/, {}],
  ] as const) {
    it(`are both left alone when one has the quota and the other ${name}`, async () => {
      await using gitops = await startGitOps(undefined, {}, other);
      const { activities } = gitops.worker({ repositories: PLATFORM });
      const seen = await activities.observeSource({ target, limits, candidates: [scan] });
      expect(seen).toMatchObject({ kind: 'blocked', reason });
      expect(seen).toHaveProperty('message', expect.stringMatching(says));
      expect(seen).toHaveProperty(
        'message',
        expect.stringMatching(/is at managed-resources\/.*quota\.yaml:4 of acme\/gitops at main, .*git-repository/),
      );
      const decision = decide();
      const inAny = [{ quota: target.quota, candidates: [scan] }];
      const outcome = await activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: inAny });
      expect(outcome).toMatchObject({ kind: 'blocked' });
      expect(gitops.effects()).toEqual([]);
      const only = { ...scan, repository: 'acme/gitops' };
      expect(await activities.observeSource({ target, limits, candidates: [only] })).toMatchObject({ kind: 'found' });
    });
  }

  it('need not all have the branch that is applied', async () => {
    await using gitops = await startGitOps(README, {}, { platform: README });
    await gitops.forge.pushCommit({ branch: 'live', files: { [PATH]: MANIFEST } });
    const { activities } = gitops.worker({ repositories: PLATFORM });
    const onLive = { ...scan, ref: 'live' };
    expect(await activities.observeSource({ target, limits, candidates: [onLive] })).toMatchObject({
      kind: 'found',
      repository: 'acme/gitops',
      base: 'live',
    });
    const onNone = { ...scan, ref: 'nowhere' };
    expect(await activities.observeSource({ target, limits, candidates: [onNone] })).toMatchObject({
      reason: 'RepositoryNotFound',
      message: expect.stringContaining('has no branch "nowhere"'),
    });
  });

  it('open, look at, comment, merge and clean up where the quota is', async () => {
    const { gitops, decision } = await startPlatform();
    await using _ = gitops;
    const { activities, repositories } = gitops.worker({ repositories: PLATFORM });
    const outcome = await activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1, repository: 'acme/platform' } });
    if (outcome.kind !== 'open') return;
    const opened = { ...decision, pullRequest: outcome.pullRequest };
    expect(await activities.observePullRequest({ target, decision: opened })).toMatchObject({
      state: 'open',
      number: 1,
    });
    const learntFrom = { target, decision: opened, about: 'freeze', text: 'Nothing is merged before Monday.' };
    await activities.ensureComment(learntFrom);
    await activities.ensureComment(learntFrom);
    const platform = repositories.of('acme/platform');
    expect(await platform.pullRequests.ownCommentsWith(1, '')).toEqual([
      expect.stringContaining('Nothing is merged before Monday.'),
    ]);
    expect(await activities.ensureMerged({ target, decision: opened })).toMatchObject({ kind: 'merged' });
    const merged = await platform.files.fileAt(PATH, 'main');
    expect(merged?.text).toBe(MANIFEST.replace("'2'", "'3600m'"));
    expect(await platform.branches.head(outcome.pullRequest.branch)).toBeNull();
    const elsewhere = gitops.effects().filter((effect) => !effect.includes('/repos/acme/platform'));
    expect(elsewhere, 'GraphQL has one address for all').toEqual(['POST /graphql']);
    const first = repositories.of('acme/gitops');
    expect(await first.pullRequests.ofBranch(outcome.pullRequest.branch), 'in the first').toBeNull();
  });

  it('find a lost pull request again in the repository of the decision', async () => {
    const { gitops, decision } = await startPlatform();
    await using _ = gitops;
    const ensure = () =>
      gitops
        .worker({ repositories: PLATFORM })
        .activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
    gitops.forge.fail({ path: '/graphql', body: 'createPullRequest', action: { kind: 'answer-lost' } });
    await expect(ensure()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    expect(await asAttempt(2, ensure)).toMatchObject({ kind: 'open', pullRequest: { repository: 'acme/platform' } });
  });

  it('that are no longer configured are not touched, and the failure says what to do', async () => {
    await using gitops = await startGitOps();
    const pullRequest: PullRequestRef = {
      number: 7,
      url: 'https://github.com/acme/old/pull/7',
      repository: 'acme/old',
      branch: 'b',
      base: 'main',
      path: PATH,
      headSha: '0'.repeat(40),
      openedAt: 0,
      pushedAt: 0,
    };
    const { activities } = gitops.worker();
    await expect(
      activities.observePullRequest({ target, decision: decide(undefined, { pullRequest }) }),
    ).rejects.toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
      message: expect.stringMatching(/#7 .* is in acme\/old, and this worker is configured for acme\/gitops/),
    });
    const source = { repository: 'acme/old', base: 'main', how: '' };
    await expect(
      activities.ensurePullRequest({ target, decision: decide(undefined, { source }), policy, candidatesByQuota }),
    ).rejects.toMatchObject({ type: 'InvalidInput', message: expect.stringContaining('acme/old') });
  });

  it('open nothing in another repository than the one that was locked', async () => {
    await using gitops = await startGitOps(undefined, {}, { platform: README });
    const source = { repository: 'acme/platform', base: 'main', how: '' };
    const { activities } = gitops.worker({ repositories: PLATFORM });
    const outcome = await activities.ensurePullRequest({
      target,
      decision: decide(undefined, { source }),
      policy,
      candidatesByQuota,
    });
    expect(outcome).toMatchObject({ kind: 'blocked', message: expect.stringContaining('acme/gitops at main') });
    expect(gitops.forge.writes).toEqual([]);
  });

  it('share what is known of files: the same file is read once', async () => {
    await using gitops = await startGitOps({ 'a/q.yaml': MANIFEST }, {}, { platform: { 'a/q.yaml': MANIFEST } });
    const { activities } = gitops.worker({ repositories: PLATFORM });
    await activities.observeSource({
      target,
      limits,
      candidates: [{ ...scan, repository: 'acme/gitops', ref: 'main' }],
    });
    const before = gitops.forge.requests;
    await activities.observeSource({
      target,
      limits,
      candidates: [{ ...scan, repository: 'acme/platform', ref: 'main' }],
    });
    expect(gitops.forge.requests - before, 'the branch alone').toBe(1);
  });
});

describe('a branch that a source candidate names', () => {
  it('is the base of the pull request', async () => {
    await using gitops = await startGitOps(README);
    await gitops.forge.pushCommit({ branch: 'live', files: { [PATH]: MANIFEST } });
    const onLive = [{ quota: 'compute', candidates: [{ ...candidates[0]!, ref: 'live' }] }];
    const { activities, github } = gitops.worker();
    const outcome = await activities.ensurePullRequest({
      target,
      decision: decide(),
      policy,
      candidatesByQuota: onLive,
    });
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { base: 'live' } });
    expect(await github.pullRequests.get(1)).toMatchObject({ baseRef: 'live' });
  });

  it('that does not exist stops the search, although the quota is on another one', async () => {
    await using gitops = await startGitOps();
    const tagged: SourceCandidate = {
      from: 'argocd',
      ref: 'v1.2.3',
      path: '',
      learntFrom: 'the Argo CD Application argocd/team-a',
    };
    const seen = await gitops
      .worker()
      .activities.observeSource({ target, limits, candidates: [tagged, ...candidates] });
    expect(seen).toMatchObject({ kind: 'blocked', reason: 'RepositoryNotFound' });
    expect(seen).toHaveProperty('message', expect.stringMatching(/no branch "v1\.2\.3".*no tag.*argocd\/team-a/));
  });
});

describe('a source candidate', () => {
  it('with a problem stops the search, with that message', async () => {
    await using gitops = await startGitOps();
    const problem = 'the annotation names acme/other, which is not on the list';
    const broken: SourceCandidate = { from: 'annotation', learntFrom: 'the annotation', problem };
    const seen = await gitops
      .worker()
      .activities.observeSource({ target, limits, candidates: [broken, ...candidates] });
    expect(seen).toEqual({ kind: 'blocked', reason: 'Unplaceable', message: problem });
    expect(gitops.forge.requests).toBe(0);
  });

  it('that finds nothing gives way to the next, and the message of a vain search names both', async () => {
    await using gitops = await startGitOps();
    const elsewhere: SourceCandidate = {
      from: 'flux',
      path: 'clusters/prod',
      learntFrom: 'the Flux Kustomization flux-system/apps',
    };
    const { activities } = gitops.worker();
    expect(await activities.observeSource({ target, limits, candidates: [elsewhere, ...candidates] })).toMatchObject({
      kind: 'found',
      path: PATH,
      how: expect.stringContaining(' by the path template `'),
    });
    const nowhere = { ...target, namespace: 'team-z' };
    const seen = await activities.observeSource({ target: nowhere, limits, candidates: [elsewhere, scan] });
    expect(seen).toMatchObject({ kind: 'blocked', reason: 'FileNotFound' });
    expect(seen).toHaveProperty(
      'message',
      expect.stringMatching(
        /by the Flux Kustomization flux-system\/apps: .*"clusters\/prod".*the whole repository.*git-path/,
      ),
    );
  });
});

describe('a wider pull request', () => {
  it('leaves the values alone that Git holds, in each repository on its own', async () => {
    const { gitops } = await startPlatform();
    await using _ = gitops;
    const source = { repository: 'acme/platform', base: 'main', how: '' };
    const decision = decide([change('requests.cpu', '1', '2')], { source });
    const { activities } = gitops.worker({ repositories: PLATFORM });
    expect(await activities.ensurePullRequest({ target, decision, policy, candidatesByQuota })).toMatchObject({
      kind: 'alreadyInGit',
      limits: { 'requests.cpu': '2' },
    });
  });
});
