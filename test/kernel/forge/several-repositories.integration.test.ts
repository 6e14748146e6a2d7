import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git } from './git/command.ts';
import { clientOf, type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

let fresh: FreshForge;
beforeEach(async () => {
  fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { mergeableDelayMs: 0 });
});
afterEach(() => fresh.stop());

describe('several repositories in one forge', () => {
  it('have branches, pull requests and ids of their own', async () => {
    const { client, forge, at } = fresh;
    const other = await fresh.addRepository('globex/clusters', { 'a.yaml': '1\n' });
    const there = { owner: 'globex', repo: 'clusters' };
    const first = await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
    const second = await openPullRequest({ client, at: there }, { branch: 'one', path: 'a.yaml', content: '2\n' });
    expect([first.number, second.number]).toEqual([1, 1]);
    const pulls = await Promise.all([client.pulls.list(at), client.pulls.list(there)]);
    const [[ours], [theirs]] = [pulls[0].data, pulls[1].data];
    expect(ours?.id).not.toBe(theirs?.id);
    expect(theirs).toMatchObject({ base: { repo: { full_name: 'globex/clusters', owner: { type: 'Organization' } } } });
    await other.mergePullRequest(1, 'bob');
    expect(await forge.repository('globex/clusters').readFile('main', 'a.yaml')).toBe('2\n');
    expect((await client.pulls.get({ ...at, pull_number: 1 })).data.merged).toBe(false);
  });

  it('have rules, people and hooks of their own', async () => {
    const { client, forge, at } = fresh;
    const receiver = await startWebhookReceiver();
    const other = await fresh.addRepository('acme/clusters', { 'a.yaml': '1\n' }, { collaborators: { bob: 'push' } });
    await other.addHook({ url: receiver.url, events: ['push'] });
    await other.protectBranch('main', { requiredReviews: 1 });
    await forge.pushCommit({ files: { 'quota.yaml': 'cpu: 2\n' } });
    const there = { owner: 'acme', repo: 'clusters' };
    const pull = await openPullRequest({ client, at: there }, { branch: 'one', path: 'a.yaml', content: '2\n' });
    await forge.deliveriesSettled();
    expect(receiver.received.map(({ payload }) => payload?.['ref'])).toEqual([
      undefined,
      'refs/heads/one',
      'refs/heads/one',
    ]);
    const state = async () => (await client.pulls.get({ ...there, pull_number: pull.number })).data.mergeable_state;
    await other.approveReview(pull.number, 'stranger');
    expect(await state()).toBe('blocked');
    await other.approveReview(pull.number, 'bob');
    expect(await state()).toBe('clean');
    const ours = await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 3\n' });
    expect((await client.pulls.get({ ...at, pull_number: ours.number })).data.mergeable_state).toBe('clean');
    await receiver.stop();
  });

  it('are cloned under their own addresses', async () => {
    const other = await fresh.addRepository('globex/clusters', { 'a.yaml': '1\n' });
    const { stdout } = await git(other.gitDir, ['ls-remote', other.cloneUrl, 'refs/heads/main']);
    expect(stdout.toString()).toContain(await other.branchTip('main'));
    expect(other.cloneUrl).toBe(`${fresh.forge.url}/globex/clusters.git`);
  });

  it('are looked up by both names, whatever their case', async () => {
    await fresh.addRepository('globex/clusters', { 'a.yaml': '1\n' });
    const { client } = fresh;
    expect((await client.repos.get({ owner: 'Globex', repo: 'CLUSTERS' })).data.full_name).toBe('globex/clusters');
    expect(await refusal(client.repos.get({ owner: 'globex', repo: 'gitops' }))).toMatchObject({ status: 404 });
    await expect(fresh.addRepository('GLOBEX/clusters', {})).rejects.toThrow(
      'has a repository GLOBEX/clusters already',
    );
  });
});

describe('a forge as GitHub Enterprise', () => {
  it('serves its API below /api/v3 alone, and says so in every address', async () => {
    const enterprise = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { enterprise: true });
    const { forge, at } = enterprise;
    expect(forge.apiUrl).toBe(`${forge.url}/api/v3`);
    const client = clientOf(forge);
    await openPullRequest({ client, at }, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
    const [pull] = (await client.pulls.list(at)).data;
    expect(pull).toMatchObject({
      url: `${forge.url}/api/v3/repos/acme/gitops/pulls/1`,
      html_url: `${forge.url}/acme/gitops/pull/1`,
      user: { url: `${forge.url}/api/v3/users/headroom-bot` },
    });
    expect((await fetch(`${forge.url}/repos/acme/gitops`)).status).toBe(404);
    const asked = await fetch(`${forge.url}/api/graphql`, {
      method: 'POST',
      body: JSON.stringify({ query: '{ viewer { login } }' }),
    });
    expect(await asked.json()).toEqual({ data: { viewer: { login: 'headroom-bot' } } });
    await enterprise.stop();
  });
});
