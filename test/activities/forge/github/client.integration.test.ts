import { describe, expect, it } from 'vitest';
import {
  decide,
  open,
  startGitOps,
  target,
  candidates,
  candidatesByQuota,
  policy,
} from '../../quota-resize/gitops-fixture.ts';

const limits = { 'requests.cpu': '3600m' };

describe('what GitHub refuses', () => {
  it('a secondary limit is a failure that names the time, and nothing is asked until then', async () => {
    await using gitops = await startGitOps();
    const { activities } = gitops.worker({ baseBranch: 'main', graphQl: 'off' });
    gitops.forge.fail({
      method: 'POST',
      path: '/git/refs',
      action: { kind: 'secondary-rate-limit', retryAfterSeconds: 37 },
    });
    const started = Date.now();
    await expect(
      activities.ensurePullRequest({ target, decision: decide(), policy, candidatesByQuota }),
    ).rejects.toMatchObject({
      type: 'ForgeRateLimited',
      nonRetryable: false,
      nextRetryDelay: 37_000,
      category: 'BENIGN',
    });
    expect(Date.now() - started, 'it does not sleep').toBeLessThan(37_000);
    const { requests } = gitops.forge;
    await expect(activities.observeSource({ target, limits, candidates })).rejects.toMatchObject({
      type: 'ForgeRateLimited',
    });
    expect(gitops.forge.requests).toBe(requests);
  });

  for (const status of [403, 429] as const) {
    it(`a primary limit with ${status} waits until GitHub counts anew`, async () => {
      await using gitops = await startGitOps();
      gitops.forge.fail({ action: { kind: 'primary-rate-limit', status, resetInSeconds: 100 } });
      const started = Date.now();
      const failure: unknown = await gitops
        .worker({ baseBranch: 'main' })
        .activities.observeSource({ target, limits, candidates })
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ type: 'ForgeRateLimited' });
      const { nextRetryDelay } = failure as { nextRetryDelay: number };
      const took = Date.now() - started;
      // GitHub names both moments in whole seconds. On a machine that is slow an answer is read later, or has the date of a
      // moment before, since a server makes it once a second.
      expect(nextRetryDelay).toBeGreaterThan(98_000 - took);
      expect(nextRetryDelay).toBeLessThan(103_000 + took);
      expect(gitops.forge.requests).toBe(1);
    });
  }

  it('a refused token says what to check, never what it is, and the next token is taken without a restart', async () => {
    await using gitops = await startGitOps(undefined, { tokens: { 'second-token': 'headroom-bot' } });
    let token = 'expired-token';
    const worker = gitops.worker({ token: () => token });
    const failure: unknown = await worker.activities
      .observeSource({ target, limits, candidates })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'ForgeUnauthorized', nonRetryable: false, nextRetryDelay: 5_000 });
    expect((failure as Error).message).toContain('check that it has not expired or been revoked');
    const asked = gitops.forge.requests;
    await expect(worker.activities.observeSource({ target, limits, candidates })).rejects.toMatchObject({
      type: 'ForgeUnauthorized',
    });
    expect(gitops.forge.requests, 'a refused token is not sent again').toBe(asked);
    token = 'second-token';
    expect(await worker.activities.observeSource({ target, limits, candidates })).toMatchObject({ kind: 'found' });
    expect(JSON.stringify([failure, (failure as Error).stack, worker.lines])).not.toMatch(/expired-token|second-token/);
  });

  it('a token that no header can hold is in no message', async () => {
    await using gitops = await startGitOps();
    const { activities } = gitops.worker({ token: () => 'secret\nvalue\u0000' });
    const failure: unknown = await activities
      .observeSource({ target, limits, candidates })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'ForgeUnavailable' });
    expect(String(failure)).not.toContain('secret');
  });

  it('a refusal that no code handles is for a person, in GitHub’s words', async () => {
    await using gitops = await startGitOps();
    const message = 'Resource not accessible by personal access token';
    gitops.forge.fail({ method: 'POST', path: '/git/refs', action: { kind: 'status', status: 403, message } });
    await expect(
      gitops
        .worker({ graphQl: 'off' })
        .activities.ensurePullRequest({ target, decision: decide(), policy, candidatesByQuota }),
    ).rejects.toMatchObject({
      type: 'ForgeRejected',
      nonRetryable: true,
      message: expect.stringContaining(`GitHub refused POST /repos/acme/gitops/git/refs with 403: ${message}`),
    });
  });
});

describe('what GitHub does not answer', () => {
  it('a read is tried once more', async () => {
    await using gitops = await startGitOps();
    gitops.forge.fail({ method: 'GET', path: '/git/blobs/*', action: { kind: 'status', status: 503 } });
    expect(
      await gitops.worker({ baseBranch: 'main' }).activities.observeSource({ target, limits, candidates }),
    ).toMatchObject({
      kind: 'found',
    });
    gitops.forge.fail({ path: '/graphql', times: 2, action: { kind: 'connection-reset' } });
    await expect(
      gitops.worker({ baseBranch: 'main' }).activities.observeSource({ target, limits, candidates }),
    ).rejects.toMatchObject({
      type: 'ForgeUnavailable',
      nonRetryable: false,
    });
  });

  it('a read after a write is tried once more as well', async () => {
    await using gitops = await startGitOps();
    const { activities } = gitops.worker();
    await activities.ensurePullRequest({ target, decision: decide(), policy, candidatesByQuota });
    gitops.forge.fail({ path: '/graphql', action: { kind: 'status', status: 503 } });
    expect(await activities.observeSource({ target, limits, candidates })).toMatchObject({ kind: 'found' });
  });

  it('a write is sent once, whatever comes back', async () => {
    await using gitops = await startGitOps();
    const fault = gitops.forge.fail({
      method: 'POST',
      path: '/git/refs',
      times: 'always',
      action: { kind: 'status', status: 500 },
    });
    await expect(
      gitops
        .worker({ graphQl: 'off' })
        .activities.ensurePullRequest({ target, decision: decide(), policy, candidatesByQuota }),
    ).rejects.toMatchObject({
      type: 'ForgeUnavailable',
      message: expect.stringContaining('GitHub answered 500 to POST /repos/acme/gitops/git/refs'),
    });
    expect(fault.hits).toBe(1);
  });

  it('a request that takes too long ends', async () => {
    await using gitops = await startGitOps();
    const { activities } = gitops.worker({ requestTimeoutMs: 150 });
    gitops.forge.fail({ method: 'GET', times: 'always', action: { kind: 'slow', ms: 600_000 } });
    const started = Date.now();
    await expect(activities.observeSource({ target, limits, candidates })).rejects.toMatchObject({
      type: 'ForgeUnavailable',
      message: expect.stringContaining('timeout'),
    });
    // Not by the limit of production, which is 30 s.
    expect(Date.now() - started).toBeLessThan(25_000);
  });

  it('a forge that is not there is said to be that', async () => {
    await using gitops = await startGitOps();
    const { activities } = gitops.worker({ apiUrl: 'http://127.0.0.1:1', baseBranch: 'main' });
    await expect(activities.observeSource({ target, limits, candidates })).rejects.toMatchObject({
      type: 'ForgeUnavailable',
      message: expect.stringContaining('no answer from GitHub to POST /graphql'),
    });
  });
});

describe('the limit that GitHub gives', () => {
  it('is not touched by a poll without news', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    const existing = await worker.activities.observePullRequest({ target, decision });
    const remaining = async () => {
      const answer = await fetch(`${gitops.forge.url}/rate_limit`, {
        headers: { authorization: 'Bearer first-token' },
      });
      return ((await answer.json()) as { rate: { remaining: number } }).rate.remaining;
    };
    // Later than the minute in which a change is likely.
    const quietSince = Date.now() - 90_000;
    const watch = async () =>
      await expect(
        worker.activities.awaitPullRequestChange({ target, decision, lastSeen: existing, quietSince }),
      ).rejects.toMatchObject({ type: 'NotYet' });
    await watch();
    const before = await remaining();
    for (let poll = 0; poll < 5; poll += 1) await watch();
    expect(await remaining()).toBe(before);
  });

  it('writes keep their distance', async () => {
    await using gitops = await startGitOps();
    const spaced = gitops.worker({ writeSpacingMs: 150, graphQl: 'off' });
    const started = Date.now();
    await open(spaced);
    const { writes } = gitops.forge;
    expect(writes.length).toBeGreaterThan(2);
    // From before the first is sent to the arrival of the last: a slow machine can only make it longer.
    const span = Date.parse(writes.at(-1)?.at ?? '') - started;
    expect(span).toBeGreaterThan(150 * (writes.length - 1) - 10);
  });
});
