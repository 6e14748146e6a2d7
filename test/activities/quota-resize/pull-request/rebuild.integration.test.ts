import { describe, expect, it } from 'vitest';
import { decisionOfCommit } from '../../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import {
  asAttempt,
  change,
  decide,
  type GitOps,
  MANIFEST,
  open,
  PATH,
  startGitOps,
  target,
  candidatesByQuota,
  policy,
} from '../gitops-fixture.ts';

const why = 'the base moved';

/** What a rebuild must have come to, whatever was lost on the way. */
async function expectRebuilt(gitops: GitOps, decision: Awaited<ReturnType<typeof open>>, text: string) {
  const { github } = gitops.worker();
  const { branch } = decision.pullRequest;
  const head = (await gitops.forge.branchTip(branch)) ?? '';
  const commit = await github.branches.commit(head);
  expect(commit.parents).toEqual([await gitops.forge.branchTip('main')]);
  expect(decisionOfCommit(commit.message)).toBe(decision.id);
  expect(await gitops.forge.readFile(branch, PATH)).toBe(text);
  expect(await github.pullRequests.commitsOf(1)).toHaveLength(1);
  expect(
    (await github.pullRequests.ownCommentsWith(1, '')).filter((body) => body.includes(`headroom:${decision.id}:`)),
  ).toHaveLength(1);
  return head;
}

describe('rebuilding a pull request', () => {
  it('puts one commit on the base as it is now, also over a conflict', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const moved = MANIFEST.replace("'2'  # two, for now", "'3'  # three");
    await gitops.forge.pushCommit({ files: { [PATH]: moved } });
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({
      mergeability: 'conflict',
    });

    const outcome = await worker.activities.ensurePullRequestRebuilt({
      target,
      decision,
      policy,
      candidatesByQuota,
      why,
    });
    const head = await expectRebuilt(gitops, decision, moved.replace("'3'", "'3600m'"));
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1, headSha: head, path: PATH } });
    if (outcome.kind !== 'open') return;
    const rebuilt = { ...decision, pullRequest: outcome.pullRequest };
    expect(await worker.activities.observePullRequest({ target, decision: rebuilt })).toMatchObject({
      mergeability: 'clean',
      headIsOurs: true,
    });
    expect((await worker.github.pullRequests.ownCommentsWith(1, ''))[0]).toContain('Rebuilt on main at ');
  });

  it('takes the larger requirement of the decision into commit, title and body', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const opened = await open(worker);
    const decision = { ...opened, changes: [change('requests.cpu', '2', '5'), change('pods', '10', '12')] };
    await worker.activities.ensurePullRequestRebuilt({
      target,
      decision,
      policy,
      candidatesByQuota,
      why: 'the demand grew',
    });
    await expectRebuilt(gitops, decision, MANIFEST.replace("'2'", "'5'").replace('pods: 10', 'pods: 12'));
    const pull = await worker.github.pullRequests.get(1);
    expect(pull.title).toBe('Raise quota team-a/compute: requests.cpu 2 → 5 and 1 more');
    expect(pull.body).toContain('| `pods` | `10` | `10` | **`12`** |');
  });

  it('changes nothing when it is called again', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await gitops.forge.pushCommit({ files: { other: 'file' } });
    const first = await worker.activities.ensurePullRequestRebuilt({
      target,
      decision,
      policy,
      candidatesByQuota,
      why,
    });
    const effects = gitops.effects().length;
    const again = () =>
      gitops.worker().activities.ensurePullRequestRebuilt({ target, decision, policy, candidatesByQuota, why });
    expect(await asAttempt(2, again)).toEqual(first);
    expect(gitops.effects()).toHaveLength(effects);
  });

  for (const [name, method, path] of [
    ['the tree', 'POST', '/git/trees'],
    ['the commit', 'POST', '/git/commits'],
    ['the branch', 'PATCH', '/git/refs/**'],
    ['the description', 'PATCH', '/pulls/1'],
    ['the comment', 'POST', '/issues/1/comments'],
  ] as const) {
    it(`comes to the same when the answer to the write of ${name} is lost`, async () => {
      await using gitops = await startGitOps();
      const opened = await open(gitops.worker());
      const decision = { ...opened, changes: [change('requests.cpu', '2', '5')] };
      await gitops.forge.pushCommit({ files: { other: 'file' } });
      gitops.forge.fail({ method, path, action: { kind: 'answer-lost' } });
      const run = () =>
        gitops.worker().activities.ensurePullRequestRebuilt({ target, decision, policy, candidatesByQuota, why });
      await expect(run()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
      expect(await asAttempt(2, run)).toMatchObject({ kind: 'open' });
      await expectRebuilt(gitops, decision, MANIFEST.replace("'2'", "'5'"));
      expect(gitops.effects().filter((effect) => effect.startsWith('PATCH /git/refs/'))).toHaveLength(1);
    });
  }

  it('leaves a foreign commit alone and reports the pull request as it is', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    const { branch } = decision.pullRequest;
    const foreign = await gitops.forge.pushCommit({ branch, files: { 'note.md': 'mine' }, author: 'mona' });
    const effects = gitops.effects().length;
    const outcome = await gitops
      .worker()
      .activities.ensurePullRequestRebuilt({ target, decision, policy, candidatesByQuota, why });
    expect(outcome).toEqual({ kind: 'open', pullRequest: decision.pullRequest });
    expect(await gitops.forge.branchTip(branch)).toBe(foreign);
    expect(gitops.effects()).toHaveLength(effects);
  });

  it('does not overwrite a commit that is pushed while it rebuilds', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    const { branch } = decision.pullRequest;
    await gitops.forge.pushCommit({ files: { other: 'file' } });
    const hold = gitops.forge.hold({ method: 'GET', path: '/git/ref/**', when: 'before' });
    const rebuilding = gitops
      .worker()
      .activities.ensurePullRequestRebuilt({ target, decision, policy, candidatesByQuota, why });
    // Where it ends without coming to that look, it says why.
    await Promise.race([hold.held, rebuilding]);
    const foreign = await gitops.forge.pushCommit({ branch, files: { 'note.md': 'mine' }, author: 'mona' });
    hold.release();
    expect(await rebuilding).toEqual({ kind: 'open', pullRequest: decision.pullRequest });
    expect(await gitops.forge.branchTip(branch)).toBe(foreign);
  });

  it('writes nothing where Git holds the values by now', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    await gitops.forge.pushCommit({ files: { [PATH]: MANIFEST.replace("'2'", "'9'") } });
    const effects = gitops.effects().length;
    const outcome = await gitops
      .worker()
      .activities.ensurePullRequestRebuilt({ target, decision, policy, candidatesByQuota, why });
    expect(outcome).toMatchObject({ kind: 'alreadyInGit', limits: { 'requests.cpu': '9' } });
    expect(gitops.effects()).toHaveLength(effects);
  });

  it('is settled where the pull request is closed, and blocked where the file is gone', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    const run = () =>
      gitops.worker().activities.ensurePullRequestRebuilt({ target, decision, policy, candidatesByQuota, why });
    await gitops.forge.pushCommit({ files: { [PATH]: null } });
    expect(await run()).toMatchObject({ kind: 'blocked', reason: 'FileNotFound' });
    await gitops.forge.closePullRequest(1, 'mona');
    expect(await run()).toEqual({ kind: 'completed', pullRequest: decision.pullRequest });
  });

  it('opens the pull request where there is none yet', async () => {
    await using gitops = await startGitOps();
    const outcome = await gitops
      .worker()
      .activities.ensurePullRequestRebuilt({ target, decision: decide(), policy, candidatesByQuota, why });
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
  });

  it('writes nothing while Headroom is paused', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    await gitops.forge.pushCommit({ files: { other: 'file' } });
    const effects = gitops.effects().length;
    const { activities } = gitops.worker({ guard: () => Promise.reject(new Error('GloballyPaused')) });
    await expect(
      activities.ensurePullRequestRebuilt({ target, decision, policy, candidatesByQuota, why }),
    ).rejects.toThrow('GloballyPaused');
    expect(gitops.effects()).toHaveLength(effects);
  });
});
