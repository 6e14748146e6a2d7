/** An open pull request of the quota that no decision knows: of a lost Lease, or reopened by a person. There is never a second one. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { appCredentials } from '../../../../activities/forge/github/app.ts';
import { decisionOfCommit } from '../../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import {
  asAttempt,
  candidates,
  change,
  decide,
  ensureOpen,
  type GitOps,
  MANIFEST,
  open,
  PATH,
  policy,
  startGitOps,
  target,
} from '../gitops-fixture.ts';

const tokens = { 'token-of-alice': 'alice' };
const LARGER = [change('requests.cpu', '2', '4')];
const RAISED = MANIFEST.replace("'2'", "'4'");

/** The numbers of the pull requests that are open. */
async function openNumbers(gitops: GitOps): Promise<readonly number[]> {
  const { github } = gitops.worker();
  const numbers: number[] = [];
  for (let number = 1; ; number += 1) {
    const pull = await github.pullRequests.get(number).catch(() => null);
    if (pull === null) return numbers;
    if (pull.state === 'open') numbers.push(number);
  }
}

/** What Headroom commented, without the markers. */
async function comments(gitops: GitOps, number: number): Promise<readonly string[]> {
  return (await gitops.worker().github.pullRequests.ownCommentsWith(number, '')).map(
    (text) => text.split('\n\n<!--')[0] ?? '',
  );
}

/** How often a pull request was opened so far. */
function opened({ forge }: GitOps): number {
  return forge.writes.filter(({ effect, endpoint }) => effect && / createPullRequest|\/pulls$/.test(endpoint ?? ''))
    .length;
}

describe('a pull request whose Lease was lost', () => {
  it('is taken over by the next decision, which rebuilds and merges it', async () => {
    await using gitops = await startGitOps();
    const lost = await open(gitops.worker());
    const worker = gitops.worker();
    const decision = decide(LARGER);
    const outcome = await ensureOpen(worker, decision);
    const { branch } = lost.pullRequest;
    const head = (await gitops.forge.branchTip(branch)) ?? '';
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1, branch, headSha: head, path: PATH } });
    if (outcome.kind !== 'open') return;
    expect(opened(gitops)).toBe(1);
    const { message, parents } = await worker.github.branches.commit(head);
    expect(decisionOfCommit(message)).toBe(decision.id);
    expect(parents).toEqual([await gitops.forge.branchTip('main')]);
    expect(await gitops.forge.readFile(branch, PATH)).toBe(RAISED);
    const pull = await worker.github.pullRequests.get(1);
    expect(pull.title).toContain('2 → 4');
    expect(pull.body).toContain(`<!-- headroom:${decision.id} -->`);
    expect(await comments(gitops, 1)).toEqual([
      `Taken over by decision ${decision.id}: it was open and not recorded, because its Lease was lost or somebody reopened it`,
    ]);

    const taken = { ...decision, pullRequest: outcome.pullRequest };
    expect(await worker.activities.observePullRequest({ target, decision: taken })).toMatchObject({ headIsOurs: true });
    expect(await worker.activities.ensureMerged({ target, decision: taken })).toMatchObject({ kind: 'merged' });
    expect(await gitops.forge.readFile('main', PATH)).toBe(RAISED);
    expect(await gitops.forge.branchTip(branch)).toBeUndefined();
  });

  it('is built again where it holds the same change of the same base, because a commit of another decision is not merged', async () => {
    await using gitops = await startGitOps();
    const lost = await open(gitops.worker());
    const worker = gitops.worker();
    const decision = decide();
    const outcome = await ensureOpen(worker, decision);
    if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
    expect(outcome.pullRequest.number).toBe(1);
    expect(outcome.pullRequest.headSha).not.toBe(lost.pullRequest.headSha);
    const taken = { ...decision, pullRequest: outcome.pullRequest };
    expect(await worker.activities.ensureMerged({ target, decision: taken })).toMatchObject({ kind: 'merged' });
  });

  it.each([
    ['the new commit', 'PATCH', '/git/refs/**'],
    ['its description', 'PATCH', '/pulls/*'],
    ['its comment', 'POST', '/issues/*/comments'],
  ] as const)('is taken over once where the answer to %s is lost', async (_what, method, path) => {
    await using gitops = await startGitOps();
    await open(gitops.worker());
    const decision = decide(LARGER);
    gitops.forge.fail({ method, path, action: { kind: 'answer-lost' } });
    await expect(asAttempt(1, async () => await ensureOpen(gitops.worker(), decision))).rejects.toMatchObject({
      type: 'ForgeUnavailable',
    });
    const outcome = await asAttempt(2, async () => await ensureOpen(gitops.worker(), decision));
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(await openNumbers(gitops)).toEqual([1]);
    expect(await comments(gitops, 1)).toHaveLength(1);
    expect(await gitops.worker().github.pullRequests.commitsOf(1)).toHaveLength(1);
    if (outcome.kind !== 'open') return;
    const taken = { ...decision, pullRequest: outcome.pullRequest };
    expect(await gitops.worker().activities.ensureMerged({ target, decision: taken })).toMatchObject({
      kind: 'merged',
    });
  });

  it('is taken over by a worker whose run died before it was recorded, by the trailer of that decision', async () => {
    await using gitops = await startGitOps();
    await open(gitops.worker());
    const decision = decide(LARGER);
    const first = await ensureOpen(gitops.worker(), decision);
    const again = await ensureOpen(gitops.worker(), decision);
    expect(again).toEqual(first);
    expect(await comments(gitops, 1)).toHaveLength(1);
  });

  it('is taken over by a GitHub App as well, whose commits are GitHub’s own', async () => {
    await using gitops = await startGitOps();
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const app = gitops.forge.registerApp({ slug: 'headroom', publicKey });
    const installation = app.install({ account: 'acme' });
    const authorization = await appCredentials({
      apiUrl: gitops.forge.apiUrl,
      appId: () => String(app.id),
      installationId: () => String(installation.id),
      privateKey: () => privateKey,
    }).authorization();
    const token = () => authorization.replace(/^\S+ /, '');
    await open(gitops.worker({ token }));
    const decision = decide(LARGER);
    const outcome = await ensureOpen(gitops.worker({ token }), decision);
    if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
    expect(outcome.pullRequest.number).toBe(1);
    const taken = { ...decision, pullRequest: outcome.pullRequest };
    expect(await gitops.worker({ token }).activities.ensureMerged({ target, decision: taken })).toMatchObject({
      kind: 'merged',
    });
    // Another account's is not its own.
    await open(gitops.worker({ token }), decide([change('pods', '10', '12')]));
    expect(await ensureOpen(gitops.worker(), decide([change('pods', '10', '14')]))).toMatchObject({
      kind: 'open',
      pullRequest: { number: 3 },
    });
  });

  it('that people committed to is left to them, and no second one is opened', async () => {
    await using gitops = await startGitOps();
    const { pullRequest } = await open(gitops.worker());
    await gitops.forge.pushCommit({ branch: pullRequest.branch, files: { 'README.md': '# mine\n' }, author: 'alice' });
    const before = gitops.effects();
    expect(await ensureOpen(gitops.worker(), decide(LARGER))).toEqual({
      kind: 'blocked',
      reason: 'ForeignCommit',
      message:
        'pull request #1 of acme/gitops is open for this quota and has commits of other people; merge or close it',
    });
    expect(gitops.effects()).toEqual(before);
  });

  it('is closed with a word where Git holds the values by now', async () => {
    await using gitops = await startGitOps();
    const { pullRequest } = await open(gitops.worker());
    await gitops.forge.pushCommit({ files: { [PATH]: RAISED } });
    expect(await ensureOpen(gitops.worker(), decide(LARGER))).toMatchObject({ kind: 'alreadyInGit' });
    expect(await openNumbers(gitops)).toEqual([]);
    expect(await comments(gitops, 1)).toEqual([
      'Closed by Headroom: main holds these values already. If somebody reopens it, Headroom leaves it to people.',
    ]);
    expect(await gitops.forge.branchTip(pullRequest.branch)).toBeUndefined();
  });
});

describe('a comment with Headroom’s marker that somebody else wrote', () => {
  it('suppresses none of Headroom’s, and does not make a pull request a reopened one', async () => {
    await using gitops = await startGitOps();
    const lost = await open(gitops.worker());
    await gitops.forge.pushCommit({ files: { [PATH]: RAISED } });
    const decision = decide(LARGER);
    // Whoever reads the source knows the key, and the ids are in the pull request.
    const about = 'closed because its Lease does not know it';
    const key = createHash('sha256').update(about).digest('hex').slice(0, 12);
    for (const id of [lost.id, decision.id]) {
      await gitops.forge.comment(1, 'mallory', `Fine.\n\n<!-- headroom:${id}:${key} -->`);
    }
    expect(await ensureOpen(gitops.worker(), decision)).toMatchObject({ kind: 'alreadyInGit' });
    expect(await openNumbers(gitops)).toEqual([]);
    expect(await comments(gitops, 1)).toEqual([
      'Closed by Headroom: main holds these values already. If somebody reopens it, Headroom leaves it to people.',
    ]);
  });
});

describe('a pull request that somebody reopened', () => {
  it('after it was closed is taken over when its quota needs more again', async () => {
    await using gitops = await startGitOps();
    await open(gitops.worker());
    await gitops.forge.closePullRequest(1, 'alice');
    await gitops.forge.reopenPullRequest(1, 'alice');
    expect(await ensureOpen(gitops.worker(), decide(LARGER))).toMatchObject({
      kind: 'open',
      pullRequest: { number: 1 },
    });
    expect(await openNumbers(gitops)).toEqual([1]);
  });

  it('after Headroom closed it for another base is left to people the second time', async () => {
    await using gitops = await startGitOps();
    const { pullRequest } = await open(gitops.worker({ baseBranch: 'main' }));
    const head = await gitops.forge.branchTip(pullRequest.branch);
    await gitops.forge.pushCommit({ branch: 'live', files: { [PATH]: MANIFEST } });
    const live = () => gitops.worker({ baseBranch: 'live' });
    expect(await ensureOpen(live(), decide(LARGER))).toMatchObject({ kind: 'open', pullRequest: { number: 2 } });
    expect(await comments(gitops, 1)).toEqual([
      'Closed by Headroom: another one into live raises this quota. If somebody reopens it, Headroom leaves it to people.',
    ]);
    expect(await openNumbers(gitops)).toEqual([2]);

    // A person brings the branch and the pull request back, and closes the other one.
    await gitops.forge.closePullRequest(2, 'alice');
    await gitops.worker().github.branches.create(pullRequest.branch, head ?? '');
    await gitops.forge.reopenPullRequest(1, 'alice');
    const before = gitops.effects();
    expect(await ensureOpen(live(), decide(LARGER))).toEqual({
      kind: 'blocked',
      reason: 'ForeignCommit',
      message:
        'pull request #1 of acme/gitops is open for this quota and was reopened after Headroom had closed it; merge or close it',
    });
    expect(gitops.effects()).toEqual(before);
  });
});

describe('a pull request that only looks like one', () => {
  it('because a person opened it from a branch of that name is left alone', async () => {
    await using gitops = await startGitOps(undefined, { tokens });
    const stranger = gitops.worker({ token: () => 'token-of-alice' });
    const theirs = await open(stranger);
    const head = await gitops.forge.branchTip(theirs.pullRequest.branch);
    const outcome = await ensureOpen(gitops.worker(), decide(LARGER));
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 2 } });
    expect(await gitops.forge.branchTip(theirs.pullRequest.branch)).toBe(head);
    expect(await comments(gitops, 1)).toEqual([]);
  });

  it('because its branch begins alike and another quota is in its commit is left alone', async () => {
    await using gitops = await startGitOps();
    const templates = { branch: 'quota-{{namespace}}-{{id}}' };
    const other = { ...target, quota: 'compute-large' };
    const worker = gitops.worker({ templates });
    const candidatesOfOther = [{ quota: other.quota, candidates }];
    const first = await worker.activities.ensurePullRequest({
      target: other,
      decision: decide(),
      policy,
      candidatesByQuota: candidatesOfOther,
    });
    expect(first).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(await ensureOpen(gitops.worker({ templates }), decide(LARGER))).toMatchObject({
      kind: 'open',
      pullRequest: { number: 2 },
    });
    // By the same template the quota's own is found: the text behind the last folder is searched for.
    expect(await ensureOpen(gitops.worker({ templates }), decide(LARGER))).toMatchObject({
      kind: 'open',
      pullRequest: { number: 2 },
    });
    expect(await openNumbers(gitops)).toEqual([1, 2]);
  });
});

describe('what it takes', () => {
  it('is no request more where there is none, by any of the ways to the base', async () => {
    for (const baseBranch of ['main', undefined]) {
      await using gitops = await startGitOps();
      const worker = gitops.worker(baseBranch === undefined ? {} : { baseBranch });
      const limits = { 'requests.cpu': '3600m' };
      const look = async () => await worker.activities.observeSource({ target, limits, candidates });
      await look();
      const before = gitops.forge.requests;
      await look();
      expect(gitops.forge.requests - before).toBe(1);
      await worker.github.pullRequests.ownOpen('headroom/prod/team-a/compute/', 60_000);
      expect(gitops.forge.requests - before).toBe(1);
    }
  });
});
