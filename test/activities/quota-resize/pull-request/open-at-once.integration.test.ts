/** Branch, commit and pull request with one request, and what becomes of it when only a part of it is done. */
import { describe, expect, it } from 'vitest';
import type { PermitAsk } from '../../../../activities/forge/write-permits.ts';
import type { FaultAction } from '../../../kernel/forge/http/faults.ts';
import {
  asAttempt,
  candidates,
  change,
  decide,
  ensureOpen,
  type GitOps,
  MANIFEST,
  PATH,
  startGitOps,
  target,
  type Worker,
} from '../gitops-fixture.ts';

const AT_ONCE = 'POST /graphql createRef createCommitOnBranch createPullRequest';
const IN_THREE = ['POST /git/refs', `PUT /contents/${PATH}`, 'POST /pulls'];

/** A decision whose place was looked up a moment ago, as an episode does. */
async function decided(worker: Worker) {
  const observe = async () =>
    await worker.activities.observeSource({ target, limits: { 'requests.cpu': '3' }, candidates });
  // The first reading starts a thread. On a busy machine that takes longer than the 10 s for which a base counts as fresh.
  await observe();
  const decision = decide([change('requests.cpu', '2', '3')]);
  await observe();
  return decision;
}

function endpoints({ forge }: GitOps): readonly (string | undefined)[] {
  return forge.writes.filter(({ effect }) => effect).map(({ endpoint }) => endpoint);
}

/** However often and however it was written: one branch of the decision, with one commit, in one open pull request. */
async function expectOneOfEach(gitops: GitOps, id: string): Promise<void> {
  const { forge } = gitops;
  const branch = `headroom/prod/team-a/compute/${id}`;
  const { github } = gitops.worker({ baseBranch: 'main' });
  const base = (await forge.branchTip('main')) ?? '';
  const compared = await github.branches.compare(base, branch);
  expect(compared).toMatchObject({ behind: 0, ahead: [{ message: expect.stringContaining(id) as string }] });
  const number = await github.pullRequests.ofBranch(branch);
  expect(number).toBe(1);
  expect(await github.pullRequests.get(1)).toMatchObject({ state: 'open', commits: 1, headRef: branch });
  expect(await forge.readFile(branch, PATH)).toBe(MANIFEST.replace("'2'", "'3'"));
  expect(await numbers(forge)).toEqual([1]);
}

/** Of all pull requests that there ever were. */
async function numbers(forge: GitOps['forge']): Promise<readonly number[]> {
  const headers = { authorization: 'Bearer first-token' };
  const answer = await fetch(`${forge.url}/repos/acme/gitops/pulls?state=all`, { headers });
  return ((await answer.json()) as readonly { readonly number: number }[]).map(({ number }) => number);
}

describe('a fresh decision', () => {
  it('is opened with one request, and asks the budget for what that makes', async () => {
    await using gitops = await startGitOps();
    const asked: PermitAsk[] = [];
    const acquire = (ask: PermitAsk): Promise<void> => {
      asked.push(ask);
      return Promise.resolve();
    };
    const worker = gitops.worker({ permits: { acquire, limited: () => Promise.resolve() } });
    const decision = await decided(worker);
    const before = gitops.forge.requests;
    const outcome = await ensureOpen(worker, decision);
    expect(gitops.forge.requests - before, 'and one that looks at it').toBe(2);
    expect(endpoints(gitops)).toEqual([AT_ONCE]);
    expect(asked).toMatchObject([{ write: 'open at once', permits: 3 }]);
    const branch = `headroom/prod/team-a/compute/${decision.id}`;
    const headSha = await gitops.forge.branchTip(branch);
    expect(outcome).toMatchObject({
      kind: 'open',
      pullRequest: {
        number: 1,
        url: `${gitops.forge.url}/acme/gitops/pull/1`,
        branch,
        base: 'main',
        path: PATH,
        headSha,
      },
    });
    await expectOneOfEach(gitops, decision.id);
  });

  it('is opened step by step where its file is executable', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const { files, branches } = worker.github;
    const base = await files.base();
    if (base.kind !== 'branch') throw new Error(base.message);
    const executable = { path: PATH, mode: '100755', blobSha: null, text: `${MANIFEST} ` };
    const commit = { parent: base.sha, parentTree: base.treeSha, files: [executable], message: 'executable' };
    await branches.move('main', (await branches.commitOnto(commit)).sha, false);
    const before = gitops.effects().length;
    const decision = await decided(worker);
    expect(await ensureOpen(worker, decision)).toMatchObject({ kind: 'open' });
    expect(gitops.effects().slice(before)).toEqual(IN_THREE);
  });

  it('is opened step by step on every attempt but the first', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await decided(worker);
    expect(await asAttempt(2, async () => await ensureOpen(worker, decision))).toMatchObject({ kind: 'open' });
    expect(gitops.effects()).toEqual(IN_THREE);
  });
});

describe('when only a part of the request is done', () => {
  const refused = (field: string, type: 'FORBIDDEN' | 'UNPROCESSABLE' | 'STALE_DATA' | 'NOT_FOUND'): FaultAction => ({
    kind: 'field-error',
    field,
    type,
    message: `${field} was refused`,
  });
  // Whatever is there is found, and only what is missing is made.
  it.each([
    ['the branch is refused', refused('createRef', 'UNPROCESSABLE'), IN_THREE],
    ['the commit is refused', refused('createCommitOnBranch', 'STALE_DATA'), IN_THREE.slice(1)],
    ['the pull request is refused', refused('createPullRequest', 'FORBIDDEN'), IN_THREE.slice(2)],
    ['the repository is not found', refused('createRef', 'NOT_FOUND'), IN_THREE],
  ] as const)('as %s, the rest is done step by step in the same attempt', async (_, action, rest) => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await decided(worker);
    gitops.forge.fail({ path: '/graphql', body: 'createRef', action });
    expect(await ensureOpen(worker, decision)).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(gitops.effects().filter((effect) => !effect.startsWith('POST /graphql'))).toEqual(rest);
    await expectOneOfEach(gitops, decision.id);
    expect(worker.lines).toContainEqual(
      expect.objectContaining({ level: 40, error: expect.stringMatching(/was refused/) as string }),
    );
  });

  it.each(['createRef', 'createCommitOnBranch', 'createPullRequest'])(
    'and %s took effect although it says that something went wrong, the next attempt finds it',
    async (field) => {
      await using gitops = await startGitOps();
      const worker = gitops.worker();
      const decision = await decided(worker);
      const message = 'Something went wrong while executing your query.';
      gitops.forge.fail({
        path: '/graphql',
        body: 'createRef',
        action: { kind: 'field-error', field, message, after: true },
      });
      await expect(ensureOpen(worker, decision)).rejects.toMatchObject({ type: 'ForgeUnavailable' });
      const again = await asAttempt(2, async () => await ensureOpen(worker, decision));
      expect(again).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
      expect(endpoints(gitops)).toEqual([AT_ONCE]);
      await expectOneOfEach(gitops, decision.id);
    },
  );

  it('its lost answer is found by the next attempt, which writes nothing', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await decided(worker);
    gitops.forge.fail({ path: '/graphql', body: 'createRef', action: { kind: 'answer-lost' } });
    await expect(ensureOpen(worker, decision)).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    const again = await asAttempt(2, async () => await ensureOpen(gitops.worker(), decision));
    expect(again).toMatchObject({ kind: 'open', pullRequest: { number: 1, path: PATH } });
    expect(endpoints(gitops)).toEqual([AT_ONCE]);
    await expectOneOfEach(gitops, decision.id);
  });

  it('one that is limited, in an answer with 200, is made by the next attempt', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await decided(worker);
    const action = { kind: 'secondary-rate-limit', retryAfterSeconds: 1, status: 200 } as const;
    gitops.forge.fail({ path: '/graphql', body: 'createRef', action });
    await expect(ensureOpen(worker, decision)).rejects.toMatchObject({
      type: 'ForgeRateLimited',
      nextRetryDelay: 1_000,
    });
    expect(endpoints(gitops)).toEqual([]);
    const again = await asAttempt(2, async () => await ensureOpen(gitops.worker(), decision));
    expect(again).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    await expectOneOfEach(gitops, decision.id);
  });

  it('and the branch was there with somebody’s commit, the pull request is left to people', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await decided(worker);
    const branch = `headroom/prod/team-a/compute/${decision.id}`;
    await gitops.forge.pushCommit({ branch, files: { [PATH]: MANIFEST.replace("'2'", "'200'") }, author: 'mallory' });
    const opened = await ensureOpen(worker, decision);
    if (opened.kind !== 'open') throw new Error(opened.kind);
    const seen = await worker.activities.observePullRequest({
      target,
      decision: { ...decision, pullRequest: { ...opened.pullRequest, headSha: '' } },
    });
    expect(seen).toMatchObject({ state: 'open', headIsOurs: false });
    expect(await numbers(gitops.forge)).toEqual([1]);
  });
});
