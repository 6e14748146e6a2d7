import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';
import {
  annotated,
  asAttempt,
  candidates,
  change,
  decide,
  ensureOpen,
  MANIFEST,
  open,
  PATH,
  policy,
  startGitOps,
  target,
} from '../gitops-fixture.ts';

type Worker = ReturnType<Awaited<ReturnType<typeof startGitOps>>['worker']>;

async function merged({ activities }: Worker, ask: Parameters<Worker['activities']['ensureMerged']>[0]) {
  const outcome = await activities.ensureMerged(ask);
  if (outcome.kind !== 'merged') throw new Error(`it is not merged but ${outcome.kind}`);
  return outcome;
}

describe('merging', () => {
  it('squashes the head that was looked at, and deletes the branch', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const outcome = await worker.activities.ensureMerged({ target, decision });
    const main = (await gitops.forge.branchTip('main')) ?? '';
    expect(outcome).toEqual({
      kind: 'merged',
      sha: main,
      at: expect.any(Number),
      by: 'headroom-bot',
      isOwn: true,
      limits: { 'requests.cpu': '3600m' },
    });
    expect(await gitops.forge.readFile('main', PATH)).toBe(MANIFEST.replace("'2'", "'3600m'"));
    expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
    const { message } = await worker.github.branches.commit(main);
    expect(message).toContain('chore(quota): raise team-a/compute: requests.cpu 2 → 3600m (#1)');
    expect(message).toContain(`Headroom-Decision: ${decision.id}\nHeadroom-Target: prod/team-a/compute`);
  });

  for (const graphQl of ['auto', 'off'] as const) {
    it.each(['squash', 'rebase', 'merge'] as const)(
      `merges by %s where nothing else is allowed, with GraphQL ${graphQl}`,
      async (method) => {
        await using gitops = await startGitOps(undefined, { mergeMethods: [method] });
        const worker = gitops.worker({ graphQl });
        const decision = await open(worker);
        const before = await gitops.forge.branchTip('main');
        const { headSha, branch } = decision.pullRequest;
        const outcome = await worker.activities.ensureMerged({ target, decision });
        const main = (await gitops.forge.branchTip('main')) ?? '';
        expect(outcome).toMatchObject({ kind: 'merged', sha: main, isOwn: true, limits: { 'requests.cpu': '3600m' } });
        expect(await gitops.forge.readFile('main', PATH)).toBe(MANIFEST.replace("'2'", "'3600m'"));
        expect(await gitops.forge.branchTip(branch)).toBeUndefined();
        const { parents, message } = await worker.github.branches.commit(main);
        expect(parents).toEqual(method === 'merge' ? [before, headSha] : [before]);
        expect(main === headSha).toBe(false);
        expect(message).toContain(`Headroom-Decision: ${decision.id}\n`);
        expect(/\(#1\)/.test(message)).toBe(method !== 'rebase');
      },
    );

    it.each(['protection', 'ruleset'] as const)(
      `merges as the rules of the branch leave it by a %s, with GraphQL ${graphQl}`,
      async (as) => {
        await using gitops = await startGitOps(undefined, { mergeMethods: ['merge', 'rebase'] });
        const worker = gitops.worker({ graphQl, mergeMethod: 'merge' });
        const decision = await open(worker);
        await gitops.forge.protectBranch('main', { as, requireLinearHistory: true });
        // REST tells only administrators what a branch protection says of the history: GitHub refuses the merge.
        const isTold = graphQl === 'auto' || as === 'ruleset';
        const message = isTold
          ? 'pull request #1 of acme/gitops is not merged: github.mergeMethod (GITHUB_MERGE_METHOD) is merge, and the rules of main allow squash and rebase only; change the setting of Headroom, or allow merge in the settings of the repository (General, Pull Requests) and in the rules of main'
          : (expect.stringMatching(
              /cannot be merged \(merge\) although it is clean: This branch must not contain merge commits\..*; merge it by hand, or look at the settings of the repository and the rules of main$/,
            ) as string);
        expect(await worker.activities.ensureMerged({ target, decision })).toEqual({
          kind: 'blocked',
          reason: 'NotMergeable',
          message,
        });
        expect(gitops.effects().filter((effect) => effect.endsWith('/merge'))).toEqual([]);
        const any = gitops.worker({ graphQl });
        expect(await any.activities.ensureMerged({ target, decision })).toMatchObject({ kind: 'merged' });
        expect(
          (await worker.github.branches.commit((await gitops.forge.branchTip('main')) ?? '')).parents,
        ).toHaveLength(1);
      },
    );
  }

  it('has the Lease released once it is merged, also by an attempt that comes after the merge, and leaves that to whoever asks', async () => {
    await using gitops = await startGitOps();
    const released: unknown[] = [];
    const ensureLeaseReleased = (input: unknown) => {
      released.push(input);
      return Promise.resolve({ event: 'told' as const });
    };
    const worker = gitops.worker({ orphans: { ensureLeaseReleased } });
    const decision = await open(worker);
    const event = {
      target,
      quotaUid: 'uid',
      type: 'Normal',
      reason: 'QuotaResizeMerged',
      message: 'm',
      key: 'k',
    } as const;
    const ask = { target, decision, event, observes: true } as const;
    const { concluded, kind, ...merge } = await merged(worker, ask);
    expect([kind, concluded]).toEqual(['merged', { event: 'told' }]);
    const expected = { target, rejection: null, event, observes: true, decision: { id: decision.id, merge } };
    expect(released).toMatchObject([expected]);
    expect(await asAttempt(2, () => merged(worker, ask))).toEqual({ kind, concluded, ...merge });
    expect(released).toMatchObject([expected, expected]);
    expect(await asAttempt(2, () => merged(gitops.worker(), ask))).toEqual({ kind, ...merge });
  });

  it('merges by none that only the repository or only a ruleset allows', async () => {
    await using gitops = await startGitOps(undefined, { mergeMethods: ['squash'] });
    const worker = gitops.worker();
    const decision = await open(worker);
    await gitops.forge.protectBranch('main', { as: 'ruleset', allowedMergeMethods: ['merge'] });
    expect(await worker.activities.ensureMerged({ target, decision })).toMatchObject({
      kind: 'blocked',
      message: expect.stringContaining(
        'is not merged: the settings of the repository allow squash only, and the rules of main allow merge only; allow one method',
      ) as string,
    });
    await gitops.forge.setMergeSettings({ methods: ['squash', 'merge'] });
    expect(await worker.activities.ensureMerged({ target, decision })).toMatchObject({ kind: 'merged' });
  });

  it('merges nothing when the head moved', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await gitops.forge.pushCommit({ branch: decision.pullRequest.branch, files: { a: 'b' }, author: 'mona' });
    expect(await worker.activities.ensureMerged({ target, decision })).toEqual({
      kind: 'moved',
      why: expect.stringMatching(/as its head is .*, and its number of commits is 2, and not 1$/) as string,
    });
    expect(await gitops.forge.readFile('main', PATH)).toBe(MANIFEST);
  });

  it('merges no commit that says it is the decision’s, and changes anything else', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const { pullRequest } = decision;
    const { branch } = pullRequest;
    const { message } = await worker.github.branches.commit(pullRequest.headSha);
    const decided = (await gitops.forge.readFile(branch, PATH)) ?? '';
    for (const files of [
      { [PATH]: MANIFEST.replace("'2'", "'40'") },
      { [PATH]: decided, 'payments.yaml': 'replicas: 12\n' },
      { 'payments.yaml': 'replicas: 12\n' },
    ]) {
      // Whoever may write to the repository can write a commit in anybody's name.
      const headSha = await gitops.forge.pushCommit({ branch, files, message, author: 'headroom-bot', force: true });
      const forged = { ...decision, pullRequest: { ...pullRequest, headSha } };
      expect(await worker.activities.ensureMerged({ target, decision: forged })).toEqual({
        kind: 'blocked',
        reason: 'NotMergeable',
        message: `pull request #1 of acme/gitops is not merged, because of its commit ${headSha.slice(0, 7)}: it changes something else than was decided; look at it, and merge or close it`,
      });
    }
    const headSha = await gitops.forge.pushCommit({
      branch,
      files: { [PATH]: decided },
      message,
      author: 'mallory',
      force: true,
    });
    const byOther = { ...decision, pullRequest: { ...pullRequest, headSha } };
    expect(await worker.activities.ensureMerged({ target, decision: byOther })).toMatchObject({
      message: expect.stringContaining('not a commit of this decision by an account of Headroom') as string,
    });
    expect(gitops.effects().filter((effect) => effect.endsWith('/merge'))).toEqual([]);
  });

  it('merges nothing of which the Lease says less than the commit does', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const found = await worker.activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates });
    if (found.kind !== 'found') throw new Error(found.message);
    const decision = await open(worker, decide(undefined, { source: found }));
    const smaller = [change('requests.cpu', '2', '3')];
    for (const less of [{ changes: [] }, { changes: smaller }, { source: null }]) {
      expect(await worker.activities.ensureMerged({ target, decision: { ...decision, ...less } })).toMatchObject({
        kind: 'blocked',
        reason: 'NotMergeable',
      });
    }
    expect(await worker.activities.ensureMerged({ target, decision })).toMatchObject({ kind: 'merged' });
  });

  it('closes no pull request, and deletes no branch, that is not named for the quota', async () => {
    await using gitops = await startGitOps(undefined, { tokens: { 'token-of-alice': 'alice' } });
    const worker = gitops.worker();
    const decision = await open(worker);
    await gitops.forge.pushCommit({ branch: 'feature', files: { a: 'b' }, author: 'mona' });
    const theirs = gitops.worker({ token: () => 'token-of-alice' }).github.pullRequests;
    const opened = await theirs.open({ branch: 'feature', base: 'main', title: 'A feature', body: '' });
    if (opened.kind !== 'opened') throw new Error(opened.kind);
    const { number } = opened.pull;
    const headSha = (await gitops.forge.branchTip('feature')) ?? '';
    const forged = { ...decision, pullRequest: { ...decision.pullRequest, number, headSha, branch: 'feature' } };
    await expect(
      worker.activities.ensurePullRequestClosed({ target, decision: forged, comment: 'gone' }),
    ).rejects.toThrow('its branch feature is not one for team-a/compute');
    await expect(worker.activities.ensureBranchDeleted({ target, decision: forged })).rejects.toThrow(
      'is left as it is',
    );
    expect(await worker.github.pullRequests.get(number)).toMatchObject({ state: 'open' });
    expect(await gitops.forge.branchTip('feature')).toBe(headSha);
  });

  for (const attempt of [1, 2]) {
    it(`knows its own merge again when the answer was lost, in attempt ${attempt} of a run`, async () => {
      await using gitops = await startGitOps();
      const decision = await open(gitops.worker());
      gitops.forge.fail({ method: 'PUT', path: '/pulls/1/merge', action: { kind: 'answer-lost' } });
      const run = () => gitops.worker().activities.ensureMerged({ target, decision });
      await expect(run()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
      expect(await asAttempt(attempt, run)).toMatchObject({
        kind: 'merged',
        by: 'headroom-bot',
        sha: await gitops.forge.branchTip('main'),
      });
      expect(gitops.effects().filter((effect) => effect === 'PUT /pulls/1/merge')).toHaveLength(1);
      expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
    });
  }

  it('is done although the answer to the deletion of the branch is lost', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    gitops.forge.fail({ method: 'DELETE', action: { kind: 'answer-lost' } });
    const run = () => gitops.worker().activities.ensureMerged({ target, decision });
    await expect(run()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    expect(await asAttempt(2, run)).toMatchObject({ kind: 'merged' });
  });

  it('leaves to a person what is not proved to be a limit of the quota', async () => {
    await using gitops = await startGitOps({ 'team-a/values.yaml': 'replicas: 2\n' });
    const worker = gitops.worker();
    const named = annotated('team-a/values.yaml', { field: 'replicas' });
    const current = { 'requests.cpu': '2' };
    const limits = { 'requests.cpu': '3' };
    const source = await worker.activities.observeSource({ target, limits, candidates: named, current });
    if (source.kind !== 'found') throw new Error(source.message);
    expect(source.placement.notProved).toMatch(/^nothing shows that team-a\/values\.yaml:1 feeds ResourceQuota/);
    const decision = decide([change('requests.cpu', '2', '3')], { source });
    const candidatesByQuota = [{ quota: target.quota, candidates: named, current }];
    const opened = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
    if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
    const { pullRequest } = opened;
    expect(await gitops.forge.readFile(pullRequest.branch, 'team-a/values.yaml')).toBe('replicas: 3\n');
    expect((await worker.github.pullRequests.get(pullRequest.number)).body).toMatch(
      /\*\*Not proved:\*\* .*so a person merges it: nothing shows that[^]*A person merges this, because it is not proved/,
    );
    expect(await worker.activities.ensureMerged({ target, decision: { ...decision, pullRequest } })).toMatchObject({
      kind: 'blocked',
      reason: 'NotMergeable',
      message: expect.stringMatching(/^a person merges pull request #1 .*not proved/) as string,
    });
    expect(gitops.effects().filter((effect) => effect.endsWith('/merge'))).toEqual([]);
  });

  it.each(['protection', 'ruleset'] as const)(
    'merges into a branch that only an annotation names where a %s protects it, and a person does elsewhere',
    async (as) => {
      await using gitops = await startGitOps();
      await gitops.forge.pushCommit({ branch: 'live', files: { 'README.md': '# live\n' } });
      const worker = gitops.worker();
      const [candidate] = candidates;
      if (candidate === undefined) throw new Error('no candidate');
      const limits = { 'requests.cpu': '3' };
      const placed = async (ref: string): Promise<Decision> => {
        const named = [{ ...candidate, ref, refBy: 'annotation' as const }];
        const source = await worker.activities.observeSource({ target, limits, candidates: named });
        if (source.kind !== 'found') throw new Error(source.message);
        const decision = decide([change('requests.cpu', '2', '3')], { source });
        const candidatesByQuota = [{ quota: target.quota, candidates: named }];
        const opened = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
        if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
        return { ...decision, pullRequest: opened.pullRequest };
      };
      const live = await placed('live');
      expect(live.source?.placement?.branchBy).toBe('annotation');
      expect(await worker.activities.ensureMerged({ target, decision: live })).toMatchObject({
        kind: 'blocked',
        message: expect.stringMatching(/only an annotation names the branch live, and it is not protected/) as string,
      });
      expect(await worker.activities.observePullRequest({ target, decision: live })).not.toHaveProperty(
        'baseIsProtected',
      );
      // A rule against force pushes and deletions keeps nobody from a merge.
      await gitops.forge.protectBranch('live', { as });
      expect(await worker.activities.ensureMerged({ target, decision: live })).toMatchObject({ kind: 'blocked' });
      await gitops.forge.protectBranch('live', { as, requiredReviews: 1 });
      await gitops.forge.approveReview(live.pullRequest?.number ?? 0, 'mona');
      expect(await worker.activities.observePullRequest({ target, decision: live })).toMatchObject({
        baseIsProtected: true,
      });
      expect(await worker.activities.ensureMerged({ target, decision: live })).toMatchObject({ kind: 'merged' });
      // The default branch is the platform's, whoever names it as well.
      const main = await placed('main');
      expect(main.source?.placement).not.toHaveProperty('branchBy');
      expect(await worker.activities.ensureMerged({ target, decision: main })).toMatchObject({ kind: 'merged' });
    },
  );

  it.each(['auto', 'off'] as const)(
    'merges nothing of which changes are requested while it is about to be merged, with GraphQL %s',
    async (graphQl) => {
      await using gitops = await startGitOps();
      const decision = await open(gitops.worker());
      const { headSha } = decision.pullRequest;
      let isToRequest = true;
      // Pauses are looked at right before the write, when everything else was looked at.
      const guard = async (): Promise<void> => {
        if (isToRequest) await gitops.forge.requestChanges(1, 'bob');
        isToRequest = false;
      };
      const { activities } = gitops.worker({ graphQl, guard });
      const held = {
        kind: 'moved',
        why: `pull request #1 was not merged: changes are requested by bob at ${headSha.slice(0, 12)}; an approval by bob or a dismissal of that review ends it, and new commits do not`,
      };
      expect(await activities.ensureMerged({ target, decision })).toEqual(held);
      expect(await asAttempt(2, () => activities.ensureMerged({ target, decision }))).toEqual(held);
      expect(gitops.effects().filter((effect) => effect.endsWith('/merge'))).toEqual([]);
      await gitops.forge.approveReview(1, 'bob');
      expect(await activities.ensureMerged({ target, decision })).toMatchObject({ kind: 'merged' });
    },
  );

  it('merges what somebody who may not write requests changes of', async () => {
    const collaborators = { 'headroom-bot': 'push', reader: 'triage' } as const;
    await using gitops = await startGitOps(undefined, { collaborators });
    const worker = gitops.worker();
    const decision = await open(worker);
    for (const person of ['reader', 'stranger']) await gitops.forge.requestChanges(1, person);
    expect(await worker.activities.ensureMerged({ target, decision })).toMatchObject({ kind: 'merged' });
  });

  it('reports the merge of a person as that person’s', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    const sha = await gitops.forge.mergePullRequest(1, 'mona');
    expect(await gitops.worker().activities.ensureMerged({ target, decision })).toMatchObject({
      kind: 'merged',
      sha,
      by: 'mona',
    });
  });

  it('is moved where a rule came in between, and blocked where nothing it saw explains the no', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const refused = { kind: 'status', status: 405, message: 'Something else is in the way' } as const;
    gitops.forge.fail({ method: 'PUT', path: '/pulls/1/merge', action: refused });
    const blocked = await worker.activities.ensureMerged({ target, decision });
    expect(blocked).toMatchObject({ kind: 'blocked', reason: 'NotMergeable' });
    expect(blocked).toHaveProperty(
      'message',
      expect.stringMatching(/Something else is in the way.*; merge it by hand/),
    );
    await gitops.forge.protectBranch('main', { requiredReviews: 1 });
    expect(await worker.activities.ensureMerged({ target, decision })).toEqual({ kind: 'moved' });
  });

  it('is moved where the base branch was modified at that very moment, and is tried again', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const message = 'Base branch was modified. Review and try the merge again.';
    gitops.forge.fail({ method: 'PUT', path: '/pulls/1/merge', action: { kind: 'status', status: 405, message } });
    expect(await worker.activities.ensureMerged({ target, decision })).toEqual({ kind: 'moved' });
    expect(await worker.activities.ensureMerged({ target, decision })).toMatchObject({ kind: 'merged' });
  });

  it('is blocked by a merge queue for an episode of an earlier version, with that reason', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await gitops.forge.protectBranch('main', { mergeQueue: true });
    expect(await worker.activities.ensureMerged({ target, decision })).toMatchObject({
      kind: 'blocked',
      reason: 'MergeQueue',
    });
  });

  it('is moved where a person closed it', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    await gitops.forge.closePullRequest(1, 'mona');
    expect(await gitops.worker().activities.ensureMerged({ target, decision })).toEqual({
      kind: 'moved',
      why: 'pull request #1 was not merged, as its state is closed, and not open',
    });
  });

  it('writes nothing while Headroom is paused', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    const { activities } = gitops.worker({ guard: () => Promise.reject(new Error('GloballyPaused')) });
    await expect(activities.ensureMerged({ target, decision })).rejects.toThrow('GloballyPaused');
    await expect(activities.ensurePullRequestClosed({ target, decision, comment: 'x' })).rejects.toThrow(
      'GloballyPaused',
    );
    expect(gitops.effects(), 'the opening').toHaveLength(1);
  });
});

describe('closing', () => {
  const comment = 'The demand is gone: used 1 of 2 for 10 min.';

  it('says why, closes, and deletes the branch', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await worker.activities.ensurePullRequestClosed({ target, decision, comment });
    const pull = await worker.github.pullRequests.get(1);
    expect(pull).toMatchObject({ state: 'closed', mergedAt: null });
    expect(await worker.github.pullRequests.ownCommentsWith(1, '')).toEqual([expect.stringContaining(comment)]);
    expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
    const effects = gitops.effects().length;
    await gitops.worker().activities.ensurePullRequestClosed({ target, decision, comment });
    expect(gitops.effects()).toHaveLength(effects);
  });

  for (const [method, path] of [
    ['POST', '/issues/1/comments'],
    ['PATCH', '/pulls/1'],
    ['DELETE', '/git/refs/**'],
  ] as const) {
    it(`comes to one comment and a closed pull request when the answer to ${method} ${path} is lost`, async () => {
      await using gitops = await startGitOps();
      const decision = await open(gitops.worker());
      gitops.forge.fail({ method, path, action: { kind: 'answer-lost' } });
      const run = () => gitops.worker().activities.ensurePullRequestClosed({ target, decision, comment });
      await expect(run()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
      await asAttempt(2, run);
      expect(await gitops.worker().github.pullRequests.ownCommentsWith(1, '')).toHaveLength(1);
      expect(await gitops.worker().github.pullRequests.get(1)).toMatchObject({ state: 'closed' });
      expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
    });
  }

  it('keeps a branch on which people worked', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    const { branch } = decision.pullRequest;
    const foreign = await gitops.forge.pushCommit({ branch, files: { a: 'b' }, author: 'mona' });
    await gitops.worker().activities.ensurePullRequestClosed({ target, decision, comment });
    expect(await gitops.worker().github.pullRequests.get(1)).toMatchObject({ state: 'closed' });
    expect(await gitops.forge.branchTip(branch)).toBe(foreign);
    await gitops.worker().activities.ensureBranchDeleted({ target, decision });
    expect(await gitops.forge.branchTip(branch)).toBe(foreign);
  });

  it('finds a pull request that the record does not know, and a branch that never came to one', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const { pullRequest, ...rest } = await open(worker);
    const forgotten = { ...rest, pullRequest: null };
    await worker.activities.ensurePullRequestClosed({ target, decision: forgotten, comment });
    expect(await worker.github.pullRequests.get(pullRequest.number)).toMatchObject({ state: 'closed' });

    const orphan = decide();
    gitops.forge.fail({ method: 'POST', path: '/pulls', action: { kind: 'status', status: 500 } });
    await expect(ensureOpen(gitops.worker({ graphQl: 'off' }), orphan)).rejects.toThrow('GitHub answered 500');
    const branch = `headroom/prod/team-a/compute/${orphan.id}`;
    expect(await gitops.forge.branchTip(branch)).toBeDefined();
    await worker.activities.ensurePullRequestClosed({ target, decision: orphan, comment });
    expect(await gitops.forge.branchTip(branch)).toBeUndefined();
    await worker.activities.ensurePullRequestClosed({ target, decision: decide(), comment });
  });
});

describe('deleting the branch', () => {
  it.each([
    ['merged', 'mergePullRequest'],
    ['closed', 'closePullRequest'],
  ] as const)('does not happen where somebody pushed to it after the pull request was %s', async (_, end) => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const { branch } = decision.pullRequest;
    await gitops.forge[end](1, 'mona');
    const pushed = await gitops.forge.pushCommit({ branch, files: { a: 'b' }, author: 'mona' });
    await worker.activities.ensureBranchDeleted({ target, decision });
    await worker.activities.ensurePullRequestClosed({ target, decision, comment: 'The demand is gone.' });
    expect(await gitops.forge.branchTip(branch)).toBe(pushed);
  });

  it('happens after a person merged or closed, and never to an open pull request', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const { branch } = decision.pullRequest;
    await worker.activities.ensureBranchDeleted({ target, decision });
    expect(await gitops.forge.branchTip(branch)).toBeDefined();
    await gitops.forge.mergePullRequest(1, 'mona');
    await worker.activities.ensureBranchDeleted({ target, decision });
    expect(await gitops.forge.branchTip(branch)).toBeUndefined();
    await worker.activities.ensureBranchDeleted({ target, decision });

    const second = await open(worker, decide([{ ...decision.changes[0]!, to: '9' }]));
    await gitops.forge.closePullRequest(2, 'mona');
    await worker.activities.ensureBranchDeleted({ target, decision: second });
    expect(await gitops.forge.branchTip(second.pullRequest.branch)).toBeUndefined();
  });
});
