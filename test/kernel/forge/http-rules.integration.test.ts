import { afterEach, describe, expect, it } from 'vitest';
import type { Octokit } from '@octokit/rest';
import { eventually } from '../stack/eventually.ts';
import { mostWithin } from './http/rate-limits.ts';
import { clientOf, type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';

let fresh: FreshForge | undefined;
afterEach(async () => {
  await fresh?.stop();
  fresh = undefined;
});

describe('a conditional request', () => {
  it('is answered 304 and costs nothing until the answer changes', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' });
    const { client, at, forge } = fresh;
    const first = await client.git.getRef({ ...at, ref: 'heads/main' });
    const etag = first.headers.etag ?? '';
    expect(etag).toMatch(/^"\w+"$/);
    const again = (tag: string) =>
      fetch(`${forge.url}/repos/acme/gitops/git/ref/heads/main`, { headers: { 'if-none-match': tag } });
    const unchanged = await again(`W/${etag}`);
    expect(unchanged.status).toBe(304);
    expect(await unchanged.text()).toBe('');
    expect(unchanged.headers.get('x-ratelimit-used')).toBe(first.headers['x-ratelimit-used']);
    await forge.pushCommit({ files: { 'a.yaml': '2\n' } });
    const changed = await again(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    expect(changed.headers.get('x-ratelimit-used')).toBe('2');
  });
});

describe('the primary limit', () => {
  it('counts down in every answer and then refuses', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' }, { rateLimit: { limit: 2 } });
    const { client, at } = fresh;
    const first = await client.repos.get(at);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-used': '1',
      'x-ratelimit-resource': 'core',
    });
    await client.repos.get(at);
    const refused = await client.repos.get(at).catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ status: 403, response: { headers: { 'x-ratelimit-remaining': '0' } } });
  });

  it('refuses until the reset and not longer', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' }, { rateLimit: { limit: 1, windowSeconds: 1 } });
    const { client, at } = fresh;
    const get = () => client.repos.get(at).catch((cause: unknown) => cause);
    const refused = await eventually('two come within one window', async () => {
      await get();
      const second = (await get()) as { status: number };
      return second.status !== 200 && second;
    });
    expect(refused).toMatchObject({ status: 403, response: { headers: { 'x-ratelimit-remaining': '0' } } });
    await eventually('it is reset', async () => (await client.repos.get(at)).status === 200);
  });

  it('is told without counting the question', async () => {
    fresh = await startFreshForge({});
    const { client } = fresh;
    await client.rateLimit.get();
    expect((await client.rateLimit.get()).data.rate).toMatchObject({ limit: 5000, used: 0, remaining: 5000 });
  });
});

describe('the secondary limits', () => {
  it('refuse writes that come too fast, with retry-after, and let reads through', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' }, { secondaryLimits: { contentPerMinute: 3 } });
    const { client, at } = fresh;
    await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '2\n' });
    const refused = await client.issues
      .createComment({ ...at, issue_number: 1, body: 'One too many' })
      .catch((cause: unknown) => cause);
    expect(refused).toMatchObject({
      status: 403,
      message: expect.stringContaining('You have exceeded a secondary rate limit'),
      response: { headers: { 'retry-after': expect.stringMatching(/^\d+$/) } },
    });
    expect((await client.pulls.list(at)).data).toHaveLength(1);
  });
});

describe('the secondary limits of each credential', () => {
  const comment = (client: Octokit) =>
    client.issues.createComment({ owner: 'acme', repo: 'gitops', issue_number: 1, body: 'Hello' });

  it('count what was written before they were set, and nobody else’s writes', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' }, { token: 'ours', tokens: { 'of-alice': 'alice' } });
    const { client, forge } = fresh;
    await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '2\n' });
    forge.limit({ contentPerHour: 3, status: 429 });
    const refused = await comment(client).catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ status: 429 });
    const { response } = refused as { response: { headers: Record<string, string> } };
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(3500);
    await comment(clientOf(forge, 'of-alice'));
    expect(forge.writeTimes('headroom-bot')).toHaveLength(3);
    expect(forge.writeTimes('alice')).toHaveLength(1);
    forge.limit({});
    await comment(client);
    expect(forge.writeTimes()).toHaveLength(5);
  });

  it('let no more writes in than a window allows, however many come', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' });
    const { client, forge } = fresh;
    await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '2\n' });
    forge.limit({ contentPerMinute: 5, minuteMs: 300 });
    const accepted = async (): Promise<boolean> =>
      comment(client).then(
        () => true,
        () => false,
      );
    let after = 0;
    await expect
      .poll(
        async () => {
          const results = await Promise.all(Array.from({ length: 8 }, accepted));
          after += results.filter(Boolean).length;
          return after;
        },
        // Three windows at least, on a machine that has other things to do as well.
        { timeout: 30_000 },
      )
      .toBeGreaterThan(10);
    expect(mostWithin(forge.writeTimes(), 300)).toBeLessThanOrEqual(5);
  });
});

describe('the ETag of a pull request', () => {
  it('changes with everything that the answer says, mergeable_state included, and with nothing else', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' }, { mergeableDelayMs: 0 });
    const { forge } = fresh;
    const { number, headSha } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '2\n' });
    let etag = '';
    const changed = async (): Promise<boolean> => {
      const address = `${forge.url}/repos/acme/gitops/pulls/${number}`;
      const answer = await fetch(address, { headers: etag === '' ? {} : { 'if-none-match': etag } });
      etag = answer.headers.get('etag') ?? '';
      return answer.status === 200;
    };
    expect([await changed(), await changed()]).toEqual([true, false]);
    await forge.setCheckRun({ sha: headSha, name: 'ci', status: 'in_progress' });
    expect([await changed(), await changed()]).toEqual([true, false]);
    await forge.setCheckRun({ sha: headSha, name: 'lint', status: 'in_progress' });
    expect(await changed()).toBe(false);
    await forge.protectBranch('main', { requiredReviews: 1 });
    expect([await changed(), await changed()]).toEqual([true, false]);
    await forge.approveReview(number, 'alice');
    expect(await changed()).toBe(true);
  });
});

describe('a token', () => {
  it('is asked for when one is set, and says who acts', async () => {
    fresh = await startFreshForge({}, { token: 'right', login: 'headroom', tokens: { 'of-alice': 'alice' } });
    const { forge, at } = fresh;
    expect(await refusal(clientOf(forge).repos.get(at))).toMatchObject({
      status: 401,
      message: 'Requires authentication',
    });
    expect(await refusal(clientOf(forge, 'wrong').repos.get(at))).toMatchObject({
      status: 401,
      message: 'Bad credentials',
    });
    expect((await clientOf(forge, 'right').users.getAuthenticated()).data.login).toBe('headroom');
    expect((await clientOf(forge, 'of-alice').users.getAuthenticated()).data.login).toBe('alice');
  });
});

describe('a long list', () => {
  it('comes in pages that lead to each other', async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' });
    const { client, at, forge } = fresh;
    for (let n = 0; n < 5; n += 1)
      await openPullRequest(fresh, { branch: `b${n}`, path: `f${n}.yaml`, content: '1\n' });
    await forge.closePullRequest(2, 'alice');
    const page = await client.pulls.list({ ...at, state: 'all', per_page: 2, page: 2 });
    expect(page.data.map(({ number }) => number)).toEqual([3, 2]);
    expect(page.headers.link).toContain('page=3>; rel="next"');
    expect(page.headers.link).toContain('page=1>; rel="prev"');
    const all = await client.paginate(client.pulls.list, {
      ...at,
      state: 'all',
      per_page: 2,
      direction: 'asc',
      sort: 'created',
    });
    expect(all.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    const open = await client.pulls.list({ ...at, state: 'open', base: 'main' });
    expect(open.data.map(({ number }) => number)).toEqual([5, 4, 3, 1]);
  });
});

describe('the validation against GitHub’s description', () => {
  it('finds a request that GitHub does not know and makes stop() fail', async () => {
    const started = await startFreshForge({ 'a.yaml': '1\n' });
    const { forge } = started;
    const sha = await forge.branchTip('main');
    await fetch(`${forge.url}/repos/acme/gitops/git/refs`, {
      method: 'POST',
      body: JSON.stringify({ ref: 'refs/heads/x', sha, colour: 'green' }),
    });
    await fetch(`${forge.url}/repos/acme/gitops/pulls?page=1&direction=up&taste=sweet`);
    expect(forge.violations).toEqual([
      'POST /repos/{owner}/{repo}/git/refs: GitHub knows no field colour in the request body',
      expect.stringMatching(/parameter direction = "up".*must be equal to one of the allowed values/),
      'GET /repos/{owner}/{repo}/pulls: GitHub knows no query parameter taste',
    ]);
    await expect(started.stop()).rejects.toThrow('GitHub knows no field colour');
  });
});
