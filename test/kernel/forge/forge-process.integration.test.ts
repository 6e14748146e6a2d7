import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../stack/eventually.ts';
import { clientOf, openPullRequest } from './fresh-forge.ts';
import { startForge } from './forge.ts';
import { createBareRepository } from './git/bare-repository.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

let folder: string;
let gitDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-forge-'));
  gitDir = join(folder, 'gitops.git');
  await createBareRepository(gitDir, { 'a.yaml': '1\n' });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a forge that is started again', () => {
  it('has its pull requests, comments, checks and protection still', async () => {
    const at = { owner: 'acme', repo: 'gitops' };
    const first = await startForge({ gitDir, ...at, mergeableDelayMs: 0 });
    const pull = await openPullRequest(
      { client: clientOf(first), at },
      { branch: 'one', path: 'a.yaml', content: '2\n' },
    );
    await first.comment(pull.number, 'alice', 'Hello');
    await first.setCheckRun({ sha: pull.headSha, name: 'ci', status: 'completed', conclusion: 'success' });
    await first.protectBranch('main', { requiredChecks: ['ci', 'other'] });
    const before = await clientOf(first).pulls.get({ ...at, pull_number: pull.number });
    await first.stop();

    // On a port of its own: that of the first may be somebody else's by now.
    const second = await startForge({ gitDir, ...at, mergeableDelayMs: 0 });
    const client = clientOf(second);
    const after = await client.pulls.get({ ...at, pull_number: pull.number });
    const moved = JSON.stringify(before.data).replaceAll(first.url, second.url);
    expect(after.data).toEqual(JSON.parse(moved));
    expect(after.data.mergeable_state).toBe('blocked');
    expect((await client.issues.listComments({ ...at, issue_number: pull.number })).data).toHaveLength(1);
    const next = await openPullRequest({ client, at }, { branch: 'two', path: 'b.yaml', content: '1\n' });
    expect(next.number).toBe(pull.number + 1);
    await second.stop();
  });

  it('takes in what was pushed while it was away', async () => {
    const at = { owner: 'acme', repo: 'gitops' };
    const first = await startForge({ gitDir, ...at });
    await openPullRequest({ client: clientOf(first), at }, { branch: 'one', path: 'a.yaml', content: '2\n' });
    await openPullRequest({ client: clientOf(first), at }, { branch: 'two', path: 'a.yaml', content: '3\n' });
    await first.stop();
    const git = (...args: string[]) => once(spawn('git', ['--git-dir', gitDir, ...args]), 'exit');
    await git('update-ref', '-d', 'refs/heads/one');
    await git('update-ref', 'refs/heads/two', 'refs/heads/main');
    const second = await startForge({ gitDir, ...at });
    const pulls = await clientOf(second).pulls.list({ ...at, state: 'all', direction: 'asc', sort: 'created' });
    expect(pulls.data.map(({ state }) => state)).toEqual(['closed', 'open']);
    expect(pulls.data[1]?.head.sha).toBe(await second.branchTip('main'));
    await second.stop();
  });
});

describe('npm run forge', () => {
  const refusedWith = async (...args: string[]): Promise<{ code: number | null; message: string }> =>
    new Promise((resolve) => {
      // Milliseconds, many times what it takes: one that serves in place of refusing is ended, and has said where it serves.
      const child = execFile(process.execPath, [MAIN, ...args], { timeout: 60_000 }, (_error, _stdout, stderr) => {
        resolve({ code: child.exitCode, message: stderr.trim() });
      });
    });
  interface Started {
    readonly url: string;
    /** Sends the signal, and returns how it ended and what it logged. */
    readonly end: (signal: NodeJS.Signals) => Promise<{ readonly code: number | null; readonly log: string }>;
  }
  /** @throws Error with what it said when it ends, or says nothing, instead of serving. */
  const started = async (...args: string[]): Promise<Started> => {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    let log = '';
    let stderr = '';
    let exit: { readonly code: number | null } | undefined;
    child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.once('close', (code) => (exit = { code }));
    const url = await eventually(
      () => `the forge says where it serves, which this does not: ${stderr}`,
      () => /API (\S+),/.exec(stderr)?.[1] ?? (exit && 'nowhere'),
    );
    if (exit) throw new Error(`the forge ended with ${exit.code}: ${stderr}`);
    return {
      url,
      end: async (signal) => {
        child.kill(signal);
        const { code } = await eventually(`the forge ends on ${signal}`, () => exit);
        return { code, log };
      },
    };
  };

  it.each([
    { args: [], says: /^--git-dir is missing; usage: npm run forge/ },
    { args: ['--colour', 'red'], says: /^Unknown option '--colour'; usage/ },
    {
      args: ['--git-dir', 'GIT', '--owner', 'acme', '--repo', 'gitops', '--port', 'many'],
      says: /^--port "many" is not a whole number from 0 to 65535$/,
    },
    {
      args: ['--git-dir', 'GIT', '--owner', 'a/b', '--repo', 'gitops', '--port', '0'],
      says: /^--owner "a\/b" is no name/,
    },
    {
      args: ['--git-dir', 'GIT', '--owner', 'acme', '--repo', 'gitops', '--port', '0', '--checks', 'maybe'],
      says: /^--checks "maybe" is none of pass, fail, pending, none$/,
    },
    {
      args: ['--git-dir', 'GIT', '--owner', 'acme', '--repo', 'gitops', '--port', '0', '--webhook-url', 'example.com'],
      says: /^--webhook-url "example.com" is no address that begins with http/,
    },
    {
      args: ['--git-dir', 'GIT', '--owner', 'acme', '--repo', 'gitops', '--port', '0', '--repository', 'clusters'],
      says: /^--repository "clusters" is not of the form OWNER\/REPO=PATH$/,
    },
    {
      args: ['--git-dir', '/no/where', '--owner', 'acme', '--repo', 'gitops', '--port', '0'],
      says: /^\/no\/where does not exist; give the path of a bare git repository/,
    },
    {
      args: ['--git-dir', 'FOLDER', '--owner', 'acme', '--repo', 'gitops', '--port', '0'],
      says: /is not a git repository/,
    },
  ])('ends with 2 and one sentence for wrong arguments: $args', async ({ args, says }) => {
    const filled = args.map((arg) => (arg === 'GIT' ? gitDir : arg === 'FOLDER' ? folder : arg));
    const { code, message } = await refusedWith(...filled);
    expect(code).toBe(2);
    expect(message).toMatch(says);
    expect(message.split('\n')).toHaveLength(1);
  });

  it('says so in one sentence when the port is taken', async () => {
    const other = createServer();
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address ? String(address.port) : '';
    const { code, message } = await refusedWith(
      '--git-dir',
      gitDir,
      '--owner',
      'acme',
      '--repo',
      'gitops',
      '--port',
      port,
    );
    expect({ code, message }).toEqual({ code: 2, message: `port ${port} is taken by another process; choose another` });
    other.close();
  });

  it('serves several repositories as GitHub Enterprise and tells a webhook', async () => {
    const receiver = await startWebhookReceiver();
    const another = join(folder, 'clusters.git');
    await createBareRepository(another, { 'b.yaml': '1\n' });
    const first = ['--git-dir', gitDir, '--owner', 'acme', '--repo', 'gitops', '--port', '0'];
    const more = ['--enterprise', '--repository', `globex/clusters=${another}`];
    const hook = ['--webhook-url', receiver.url, '--webhook-secret', 'secret'];
    const { url, end } = await started(...first, ...more, ...hook);
    expect(url).toMatch(/\/api\/v3$/);
    const client = clientOf({ url });
    expect((await client.repos.get({ owner: 'globex', repo: 'clusters' })).data.default_branch).toBe('main');
    const control = (path: string, body: object) =>
      fetch(new URL(path, url), { method: 'POST', body: JSON.stringify(body) });
    await control('/_forge/commits', { files: { 'a.yaml': '2\n' } });
    await control('/_forge/commits?repository=globex/clusters', { files: { 'b.yaml': '2\n' } });
    await eventually('the push is told', () => receiver.received.length === 2);
    expect(receiver.names()).toEqual(['ping', 'push']);
    expect(receiver.received[1]?.signature).toMatch(/^sha256=[0-9a-f]{64}$/);
    expect(receiver.received[1]?.headers).toHaveProperty('x-github-enterprise-host');
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' });
    const app = await control('/_forge/apps', { slug: 'headroom', publicKey, install: [{ account: 'acme' }] });
    expect(await app.json()).toMatchObject({ bot: 'headroom[bot]', installations: [expect.any(Number)] });
    await end('SIGTERM');
    await receiver.stop();
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'serves, logs every write as a line of JSON, and ends cleanly on %s',
    async (signal) => {
      const { url, end } = await started(
        '--git-dir',
        gitDir,
        '--owner',
        'acme',
        '--repo',
        'gitops',
        '--port',
        '0',
        '--token',
        't',
        '--checks',
        'pass',
      );
      const at = { owner: 'acme', repo: 'gitops' };
      await openPullRequest(
        { client: clientOf({ url }, 't'), at },
        { branch: 'headroom/d1', path: 'a.yaml', content: '2\n' },
      );
      const { code, log } = await end(signal);
      expect(code).toBe(0);
      const lines = log
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ method, path, status, decision }) => [method, path, status, decision])).toEqual([
        ['POST', '/repos/acme/gitops/git/refs', 201, 'd1'],
        ['PUT', '/repos/acme/gitops/contents/a.yaml', 200, 'd1'],
        ['POST', '/repos/acme/gitops/pulls', 201, 'd1'],
      ]);
    },
  );
});
