import { createSign, generateKeyPairSync } from 'node:crypto';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ForgeApp, ForgeInstallation } from './apps/handle.ts';
import { base64, clientOf, type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';
import { git } from './git/command.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

const pair = (): { publicKey: string; privateKey: string } =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
const KEYS = pair();
const OTHER = pair();

let fresh: FreshForge;
let app: ForgeApp;
let installed: ForgeInstallation;
beforeEach(async () => {
  fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: 'persons', mergeableDelayMs: 0 });
  app = fresh.forge.registerApp({ slug: 'headroom', publicKey: KEYS.publicKey });
  installed = app.install({ account: 'acme' });
});
afterEach(() => fresh.stop());

/** A client that makes its own assertions and tokens, as the field's library does. */
function appClient(options: { privateKey?: string; appId?: number | string; installationId?: number } = {}): Octokit {
  const quiet = (): void => {};
  return new Octokit({
    baseUrl: fresh.forge.apiUrl,
    authStrategy: createAppAuth,
    auth: { appId: app.id, privateKey: KEYS.privateKey, installationId: installed.id, ...options },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
}

function assertion(claims: Record<string, unknown>, privateKey = KEYS.privateKey): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iss: app.id, iat: now - 30, exp: now + 300, ...claims })}`;
  return `${body}.${createSign('RSA-SHA256').update(body).sign(privateKey, 'base64url')}`;
}

const asked = async (token: string, path = '/app', method = 'GET'): Promise<{ status: number; message: unknown }> => {
  const answer = await fetch(`${fresh.forge.apiUrl}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  const body = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, message: body['message'] };
};

describe('a GitHub App', () => {
  it('proves who it is with its key, by its id or its client id, and finds its installation', async () => {
    const { at } = fresh;
    for (const appId of [app.id, app.clientId]) {
      const client = appClient({ appId });
      expect((await client.apps.getAuthenticated()).data).toMatchObject({ slug: 'headroom', installations_count: 1 });
      const found = await client.apps.getRepoInstallation(at);
      expect(found.data).toMatchObject({ id: installed.id, account: { login: 'acme' }, repository_selection: 'all' });
      expect((await client.apps.getOrgInstallation({ org: 'acme' })).data.id).toBe(installed.id);
      expect((await client.apps.listInstallations()).data).toHaveLength(1);
      expect(await refusal(client.apps.getOrgInstallation({ org: 'globex' }))).toMatchObject({ status: 404 });
    }
  });

  it('is refused with another key, a stale or too far assertion, and under another name', async () => {
    const now = Math.floor(Date.now() / 1000);
    expect(await asked(assertion({}, OTHER.privateKey))).toEqual({
      status: 401,
      message: 'A JSON web token could not be decoded',
    });
    expect((await asked(assertion({ exp: now - 1 }))).message).toContain('must be a numeric value representing');
    // Ten minutes are the longest, and seconds go by before it is asked.
    expect((await asked(assertion({ exp: now + 660 }))).message).toContain('is too far in the future');
    expect((await asked(assertion({ iat: now + 60 }))).message).toContain(
      "'Issued at' claim ('iat') must be an Integer",
    );
    expect((await asked(assertion({ iss: undefined }))).status).toBe(401);
    expect(await asked(assertion({ iss: 4711 }))).toEqual({ status: 404, message: 'Integration not found' });
    expect((await asked('persons')).status).toBe(401);
    expect((await asked(installed.token())).status).toBe(401);
    expect((await asked(assertion({}), '/repos/acme/gitops')).status).toBe(403);
  });

  it('goes on with a new key once its key is rotated', async () => {
    app.setKeys(KEYS.publicKey, OTHER.publicKey);
    expect((await asked(assertion({}, OTHER.privateKey))).status).toBe(200);
    app.setKeys(OTHER.publicKey);
    expect((await asked(assertion({}))).status).toBe(401);
    expect((await appClient({ privateKey: OTHER.privateKey }).apps.getAuthenticated()).status).toBe(200);
  });
});

describe('the token of an installation', () => {
  it('works on what it is for, as the app’s bot, in commits of GitHub’s own', async () => {
    const { at, forge } = fresh;
    const client = appClient();
    const { number } = await openPullRequest(
      { client, at },
      { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' },
    );
    const pull = await client.pulls.get({ ...at, pull_number: number });
    expect(pull.data.user).toMatchObject({ login: 'headroom[bot]', type: 'Bot' });
    const head = await client.repos.getCommit({ ...at, ref: 'one' });
    expect(head.data).toMatchObject({
      author: { login: 'headroom[bot]', type: 'Bot' },
      committer: { login: 'web-flow' },
      commit: { verification: { verified: true, reason: 'valid' } },
    });
    expect((await client.apps.listReposAccessibleToInstallation()).data.repositories).toMatchObject([
      { full_name: 'acme/gitops' },
    ]);
    expect(forge.writes.at(-1)).toMatchObject({ user: 'headroom[bot]', endpoint: 'POST /repos/{owner}/{repo}/pulls' });
  });

  it('ends by itself, and the library then takes another', async () => {
    const { at } = fresh;
    app.setTokenLifetime(0);
    const ended = installed.token();
    expect(await asked(ended, '/repos/acme/gitops')).toEqual({ status: 401, message: 'Bad credentials' });
    app.setTokenLifetime(3600);
    expect((await appClient().repos.get(at)).status).toBe(200);
  });

  it('ends when it is revoked, by itself or by an administrator', async () => {
    const [own, other] = [installed.token(), installed.token()];
    const deleted = await fetch(`${fresh.forge.apiUrl}/installation/token`, {
      method: 'DELETE',
      headers: { authorization: `token ${own}` },
    });
    expect(deleted.status).toBe(204);
    expect((await asked(own, '/repos/acme/gitops')).status).toBe(401);
    expect((await asked(other, '/repos/acme/gitops')).status).toBe(200);
    installed.revokeTokens();
    expect((await asked(other, '/repos/acme/gitops')).status).toBe(401);
    installed.suspend(true);
    expect(await refusal(appClient().repos.get(fresh.at))).toMatchObject({ status: 403 });
  });

  it('sees only what the app is installed on, and may only what it was given', async () => {
    const { at, forge } = fresh;
    await fresh.addRepository('acme/secret', { 'a.yaml': '1\n' });
    await fresh.addRepository('globex/clusters', { 'a.yaml': '1\n' });
    const narrow = app.install({ account: 'globex', permissions: { metadata: 'read', contents: 'read' } });
    const client = appClient({ installationId: narrow.id });
    const there = { owner: 'globex', repo: 'clusters' };
    expect((await client.repos.getContent({ ...there, path: 'a.yaml' })).status).toBe(200);
    expect(await refusal(client.repos.get(at))).toMatchObject({ status: 404 });
    const write = { ...there, path: 'b.yaml', message: 'Write', content: base64('1\n') };
    expect(await refusal(client.repos.createOrUpdateFileContents(write))).toMatchObject({
      status: 403,
      message: 'Resource not accessible by integration',
    });
    expect(await refusal(client.pulls.list(there))).toMatchObject({ status: 403 });
    expect(await refusal(client.users.getAuthenticated())).toMatchObject({ status: 403 });
    const commit = await fetch(`${forge.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${narrow.token()}` },
      body: JSON.stringify({ query: '{ repository(owner: "acme", name: "secret") { id } }' }),
    });
    expect(await commit.json()).toMatchObject({ errors: [{ type: 'NOT_FOUND' }] });
  });

  it('may be for less than the installation is, and never for more', async () => {
    await fresh.addRepository('acme/secret', { 'a.yaml': '1\n' });
    const client = appClient();
    const installation_id = installed.id;
    const made = await client.apps.createInstallationAccessToken({
      installation_id,
      repositories: ['gitops'],
      permissions: { contents: 'read' },
    });
    expect(made.data).toMatchObject({ repository_selection: 'selected', repositories: [{ name: 'gitops' }] });
    expect((await asked(made.data.token, '/repos/acme/gitops/branches')).status).toBe(200);
    expect((await asked(made.data.token, '/repos/acme/secret/branches')).status).toBe(404);
    expect((await asked(made.data.token, '/repos/acme/gitops/pulls')).status).toBe(403);
    const ask = (given: object) => refusal(client.apps.createInstallationAccessToken({ installation_id, ...given }));
    expect(await ask({ permissions: { checks: 'write' } })).toMatchObject({ status: 422 });
    const selected = app.install({ account: 'acme', repositories: ['gitops'] });
    const more = client.apps.createInstallationAccessToken({ installation_id: selected.id, repositories: ['secret'] });
    expect(await refusal(more)).toMatchObject({ status: 422 });
  });

  it('pushes with git', async () => {
    const { forge } = fresh;
    const address = forge.cloneUrl.replace('http://', `http://x-access-token:${installed.token()}@`);
    await git(forge.gitDir, ['push', '--quiet', address, 'refs/heads/main:refs/heads/pushed']);
    expect(await forge.branchTip('pushed')).toBe(await forge.branchTip('main'));
    expect(forge.writes.at(-1)).toMatchObject({ user: 'headroom[bot]', branch: 'pushed' });
  });

  it('and a person’s token have limits of their own', async () => {
    const { forge, at } = fresh;
    forge.limit({ contentPerMinute: 2, status: 429 });
    const write = (client: Octokit, path: string) =>
      client.repos.createOrUpdateFileContents({ ...at, path, message: 'Write', content: base64('1\n') });
    const [person, bot] = [clientOf(forge, 'wrong'), appClient()];
    expect(await refusal(write(person, 'x'))).toMatchObject({ status: 401 });
    await write(bot, 'a');
    await write(bot, 'b');
    const refused = write(bot, 'c');
    expect(await refusal(refused)).toMatchObject({ status: 429 });
    await expect(refused).rejects.toMatchObject({
      response: { headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) as string } },
    });
    expect(forge.writeTimes()).toHaveLength(2);
    expect(forge.writeTimes('headroom-bot')).toHaveLength(0);
  });
});

it('an app’s own webhook hears of every repository that it is installed on, with the installation', async () => {
  const receiver = await startWebhookReceiver();
  const { forge } = fresh;
  const hooked = forge.registerApp({
    slug: 'listener',
    publicKey: OTHER.publicKey,
    webhook: { url: receiver.url, secret: 'x', events: ['push'] },
  });
  const { id } = hooked.install({ account: 'acme', repositories: ['gitops'] });
  const other = await fresh.addRepository('acme/secret', { 'a.yaml': '1\n' });
  await forge.pushCommit({ files: { 'quota.yaml': 'cpu: 2\n' } });
  await other.pushCommit({ files: { 'a.yaml': '2\n' } });
  await forge.deliveriesSettled();
  expect(receiver.received.map(({ payload }) => payload)).toMatchObject([
    { installation: { id }, repository: { full_name: 'acme/gitops' } },
  ]);
  expect(receiver.received[0]?.headers).toMatchObject({ 'x-github-hook-installation-target-type': 'integration' });
  expect(hooked.deliveries()).toMatchObject([{ event: 'push', status: 'OK' }]);
  await receiver.stop();
});
