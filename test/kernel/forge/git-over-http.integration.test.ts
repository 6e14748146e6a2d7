import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FreshForge, openPullRequest, startFreshForge } from './fresh-forge.ts';
import { gitEnvironment } from './git/command.ts';

const run = promisify(execFile);

describe('git over HTTP', () => {
  let fresh: FreshForge;
  let folder: string;
  const git = async (...args: string[]): Promise<string> => {
    const identity = {
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    };
    return (await run('git', args, { cwd: folder, env: { ...gitEnvironment(), ...identity } })).stdout;
  };
  beforeEach(async () => {
    fresh = await startFreshForge(
      { 'team-a/quota.yaml': 'cpu: 1\n' },
      { token: 'secret', tokens: { 'of-alice': 'alice' } },
    );
    folder = await mkdtemp(join(tmpdir(), 'headroom-clone-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
    await fresh.stop();
  });

  it('clones the repository and fetches what the API changed', async () => {
    const { forge, client, at } = fresh;
    await git('clone', '--quiet', forge.cloneUrl, '.');
    expect(await readFile(join(folder, 'team-a/quota.yaml'), 'utf8')).toBe('cpu: 1\n');
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'team-a/quota.yaml', content: 'cpu: 2\n' });
    await client.pulls.merge({ ...at, pull_number: number, merge_method: 'squash' });
    await git('pull', '--quiet');
    expect(await readFile(join(folder, 'team-a/quota.yaml'), 'utf8')).toBe('cpu: 2\n');
    expect(await git('ls-remote', 'origin', 'refs/pull/1/head')).toContain('refs/pull/1/head');
    await git('fsck', '--strict');
  });

  it('takes a push with a token, and the pull request follows it', async () => {
    const { forge, client, at } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'team-a/quota.yaml', content: 'cpu: 2\n' });
    await git('clone', '--quiet', '--branch', 'one', forge.cloneUrl.replace('http://', 'http://alice:of-alice@'), '.');
    await writeFile(join(folder, 'team-a/quota.yaml'), 'cpu: 3\n');
    await git('commit', '--quiet', '--all', '--message', 'By hand');
    await git('push', '--quiet');
    const pull = await client.pulls.get({ ...at, pull_number: number });
    expect(pull.data.head.sha).toBe((await git('rev-parse', 'HEAD')).trim());
    expect(pull.data.commits).toBe(2);
    expect(forge.writes.at(-1)).toMatchObject({
      path: '/acme/gitops.git/git-receive-pack',
      user: 'alice',
      branch: 'one',
    });
  });

  it('refuses a push without a token', async () => {
    await git('clone', '--quiet', fresh.forge.cloneUrl, '.');
    await git('commit', '--quiet', '--allow-empty', '--message', 'x');
    await expect(git('push')).rejects.toThrow(/could not read Username|Authentication failed/);
  });

  it('leaves objects behind that git itself finds sound', async () => {
    const { forge, client, at } = fresh;
    for (const n of [1, 2, 3]) {
      const { number } = await openPullRequest(fresh, { branch: `b${n}`, path: `dir-${n}/x.yaml`, content: `${n}\n` });
      await client.pulls.merge({ ...at, pull_number: number, merge_method: n === 2 ? 'rebase' : 'squash' });
    }
    const checked = await run('git', ['--git-dir', forge.gitDir, 'fsck', '--strict', '--no-dangling'], {
      env: gitEnvironment(),
    });
    expect(checked.stdout + checked.stderr).not.toMatch(/error|missing|broken/);
  });
});
