import { describe, expect, it } from 'vitest';
import { asAttempt, decide, ensureOpen, MANIFEST, open, PATH, startGitOps, target } from '../gitops-fixture.ts';

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
      limits: { 'requests.cpu': '3600m' },
    });
    expect(await gitops.forge.readFile('main', PATH)).toBe(MANIFEST.replace("'2'", "'3600m'"));
    expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
    const { message } = await worker.github.branches.commit(main);
    expect(message).toContain('chore(quota): raise team-a/compute: requests.cpu 2 → 3600m (#1)');
    expect(message).toContain(`Headroom-Decision: ${decision.id}\nHeadroom-Target: prod/team-a/compute`);
  });

  it('merges nothing when the head moved', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await gitops.forge.pushCommit({ branch: decision.pullRequest.branch, files: { a: 'b' }, author: 'mona' });
    expect(await worker.activities.ensureMerged({ target, decision })).toEqual({ kind: 'moved' });
    expect(await gitops.forge.readFile('main', PATH)).toBe(MANIFEST);
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
    await using gitops = await startGitOps(undefined, { mergeMethods: ['merge'] });
    const worker = gitops.worker();
    const decision = await open(worker);
    const blocked = await worker.activities.ensureMerged({ target, decision });
    expect(blocked).toMatchObject({ kind: 'blocked', reason: 'NotMergeable' });
    expect(blocked).toHaveProperty('message', expect.stringContaining('allow squash merges'));
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

  it('is blocked by a merge queue, with that reason', async () => {
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
    expect(await gitops.worker().activities.ensureMerged({ target, decision })).toEqual({ kind: 'moved' });
  });

  it('writes nothing while Headroom is paused', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    const { activities } = gitops.worker({ guard: () => Promise.reject(new Error('GloballyPaused')) });
    await expect(activities.ensureMerged({ target, decision })).rejects.toThrow('GloballyPaused');
    await expect(activities.ensurePullRequestClosed({ target, decision, comment: 'x' })).rejects.toThrow(
      'GloballyPaused',
    );
    expect(gitops.effects()).toHaveLength(3);
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
    expect(await worker.github.pullRequests.commentsOf(1)).toEqual([expect.stringContaining(comment)]);
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
      expect(await gitops.worker().github.pullRequests.commentsOf(1)).toHaveLength(1);
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
    await expect(ensureOpen(worker, orphan)).rejects.toThrow('GitHub answered 500');
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
