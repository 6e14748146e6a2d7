/** A server that answers 404 to GraphQL, to rulesets and to commit statuses: REST is the way, with more requests. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { appCredentials } from '../../../../activities/forge/github/app.ts';
import {
  asAttempt,
  candidates,
  decide,
  ensureOpen,
  type GitOps,
  open,
  startGitOps,
  target,
} from '../../quota-resize/gitops-fixture.ts';

/** How often the server was asked for each of what it has not. */
function withoutMuch({ forge }: GitOps) {
  const absent = (path: string) =>
    forge.fail({ path, times: 'always', action: { kind: 'status', status: 404, message: 'Not Found' } });
  return {
    graphQl: absent('/graphql'),
    rulesets: absent('/rules/branches/*'),
    statuses: absent('/commits/*/status'),
  };
}

describe('without GraphQL, rulesets and commit statuses', () => {
  it('a pull request is opened, looked at, merged and cleared away', async () => {
    await using gitops = await startGitOps();
    const absent = withoutMuch(gitops);
    const worker = gitops.worker();
    expect(
      await worker.activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates }),
    ).toMatchObject({ kind: 'found', base: 'main' });
    const decision = await open(worker);
    await gitops.forge.setCheckRun({
      sha: decision.pullRequest.headSha,
      name: 'ci',
      status: 'completed',
      conclusion: 'success',
    });
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({
      state: 'open',
      headIsOurs: true,
      mergeability: 'clean',
      checks: { total: 1, pending: [], failing: [] },
      hasRequiredChecks: false,
    });
    expect(await worker.activities.ensureMerged({ target, decision })).toMatchObject({
      kind: 'merged',
      limits: { 'requests.cpu': '3600m' },
    });
    expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
    expect(absent.graphQl.hits, 'it is asked once an hour').toBe(1);
    expect(absent.rulesets.hits).toBeGreaterThan(0);
    expect(absent.statuses.hits).toBeGreaterThan(0);
  });

  it('the checks of a head are unknown where the server shows neither kind, and that is a failure', async () => {
    await using gitops = await startGitOps();
    withoutMuch(gitops);
    const decision = await open(gitops.worker());
    gitops.forge.fail({ path: '/commits/*/check-runs', times: 'always', action: { kind: 'status', status: 404 } });
    await expect(gitops.worker().activities.observePullRequest({ target, decision })).rejects.toMatchObject({
      type: 'ForgeRejected',
      message: expect.stringContaining('neither check runs nor commit statuses') as string,
    });
  });

  it('an App knows its own name', async () => {
    await using gitops = await startGitOps();
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const app = gitops.forge.registerApp({ slug: 'headroom', publicKey });
    const { id } = app.install({ account: 'acme' });
    const credentials = appCredentials({
      apiUrl: gitops.forge.apiUrl,
      appId: () => String(app.id),
      installationId: () => String(id),
      privateKey: () => privateKey,
    });
    expect(await credentials.account()).toBe('headroom[bot]');
  });

  it('what is Headroom’s own is known by the account of its credential', async () => {
    await using gitops = await startGitOps();
    withoutMuch(gitops);
    const worker = gitops.worker();
    const lost = await open(worker);
    const { pullRequests } = worker.github;
    await pullRequests.comment(1, 'a word');
    await gitops.forge.comment(1, 'mona', 'a word of mona');
    expect(await pullRequests.ownCommentsWith(1, 'word')).toEqual(['a word']);
    const own = [{ number: 1, branch: lost.pullRequest.branch }];
    expect(await pullRequests.allOwnOpen('headroom/prod/')).toEqual(own);
    expect(await pullRequests.ownOpen('headroom/prod/team-a/compute/', 0)).toEqual(own);
    expect(await pullRequests.ownOpen('headroom/prod/team-a/large/', 0)).toEqual([]);

    expect(await pullRequests.reopened(1)).toBeNull();
    await gitops.forge.closePullRequest(1, 'bob');
    await gitops.forge.reopenPullRequest(1, 'alice');
    const reopening = await pullRequests.reopened(1);
    expect(reopening).toMatchObject({ by: 'alice' });
    gitops.forge.clearFaults();
    expect(await gitops.worker().github.pullRequests.reopened(1), 'as GraphQL says it').toEqual(reopening);

    // It is taken over, and there is no second one.
    const taken = await asAttempt(1, async () => await ensureOpen(gitops.worker(), decide()));
    expect(taken).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
  });
});
