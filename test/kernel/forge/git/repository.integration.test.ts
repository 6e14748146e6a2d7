import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBareRepository } from './bare-repository.ts';
import { git as runGit } from './command.ts';
import { isRefName } from './ref-names.ts';
import { RefMovedError } from './ref-updater.ts';
import { GitRepository, NO_OBJECT, type TreeChange } from './repository.ts';

let folder: string;
let git: GitRepository;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-git-'));
  const lines = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join('');
  await createBareRepository(join(folder, 'r.git'), {
    'a/long.txt': lines,
    'a/gone.txt': 'gone\n',
    'ä b/ü.yaml': '1\n',
  });
  git = await GitRepository.open(join(folder, 'r.git'));
});
afterEach(async () => {
  await git.close();
  await rm(folder, { recursive: true, force: true });
});

const SOMEBODY = { name: 'Somebody', email: 's@example.com', date: '2026-01-02T03:04:05Z' };
const commitOn = async (parents: string[], changes: Record<string, string | null>): Promise<string> => {
  const edits = new Map<string, TreeChange>();
  for (const [path, text] of Object.entries(changes)) {
    edits.set(path, text === null ? null : { mode: '100644', sha: await git.writeBlob(Buffer.from(text, 'latin1')) });
  }
  const first = parents[0];
  const tree = await git.editTree(first ? (await git.commit(first)).tree : undefined, edits);
  return git.writeCommit({ tree, parents, author: SOMEBODY, committer: SOMEBODY, message: 'Change' });
};
const main = async (): Promise<string> => (await git.branchTip('main')) ?? '';

describe('a git repository', () => {
  it('tells what changed: renamed, removed, added, binary, and names beyond ASCII', async () => {
    const base = await main();
    const long = (await git.object((await git.entryAt((await git.commit(base)).tree, 'a/long.txt'))?.sha ?? ''))
      ?.content;
    const head = await commitOn([base], {
      'a/long.txt': null,
      'b/renamed.txt': `${long?.toString()}more\n`,
      'a/gone.txt': null,
      'bin.dat': '\0\x01\x02',
      'ä b/ü.yaml': '2\n',
    });
    const changes = await git.diff(base, head);
    expect(
      changes.map(({ path, previousPath, status, additions, deletions }) => [
        path,
        previousPath,
        status,
        additions,
        deletions,
      ]),
    ).toEqual([
      ['a/gone.txt', undefined, 'removed', 0, 1],
      ['b/renamed.txt', 'a/long.txt', 'renamed', 1, 0],
      ['bin.dat', undefined, 'added', 0, 0],
      ['ä b/ü.yaml', undefined, 'modified', 1, 1],
    ]);
    expect(changes.map(({ patch }) => patch?.split('\n').at(-1))).toEqual(['-gone', '+more', undefined, '+2']);
    // The folder is gone with its last file.
    expect(await git.entryAt((await git.commit(head)).tree, 'a')).toBeUndefined();
  });

  it('writes objects that git itself finds sound and names as git does', async () => {
    const head = await commitOn([await main()], { 'x/y/z.txt': 'deep\n', 'x.txt': 'beside\n', 'x-y': 'between\n' });
    await git.updateRef('refs/heads/new', head, NO_OBJECT);
    const { stdout, stderr } = await runGit(git.gitDir, ['fsck', '--strict', '--no-dangling']);
    expect(stdout.toString() + stderr).not.toMatch(/error|missing|broken/);
    expect((await runGit(git.gitDir, ['show', 'new:x/y/z.txt'])).stdout.toString()).toBe('deep\n');
  });

  it('moves a ref only from the value that was expected, and goes on after a refusal', async () => {
    const base = await main();
    const commit = await commitOn([base], { one: '1\n' });
    await git.updateRef('refs/heads/x', commit, NO_OBJECT);
    await expect(git.updateRef('refs/heads/x', base, NO_OBJECT)).rejects.toThrow(RefMovedError);
    await expect(git.updateRef('refs/heads/x', commit, base)).rejects.toThrow(RefMovedError);
    await expect(git.updateRef('refs/heads/x/below', commit, NO_OBJECT)).rejects.toThrow(/cannot create|exists/);
    await git.updateRef('refs/heads/x', base, commit);
    expect(await git.branchTip('x')).toBe(base);
    await expect(git.deleteRef('refs/heads/x', commit)).rejects.toThrow(RefMovedError);
    await git.deleteRef('refs/heads/x', base);
    expect(await git.branchTip('x')).toBeUndefined();
  });

  it('relates straight histories and those with merges alike', async () => {
    const base = await main();
    const left = await commitOn([await commitOn([base], { l: '1' })], { l: '2' });
    const right = await commitOn([base], { r: '1' });
    const merged = await commitOn([left, right], { m: '1' });
    for (const [first, second] of [
      [base, left],
      [left, base],
      [left, right],
      [right, merged],
      [merged, left],
      [base, base],
    ] as const) {
      const { stdout } = await runGit(git.gitDir, ['rev-list', '--left-right', '--count', `${first}...${second}`]);
      const [behind, ahead] = stdout.toString().trim().split('\t').map(Number);
      expect(await git.distance(first, second)).toEqual({ ahead, behind });
      const bases = await runGit(git.gitDir, ['merge-base', first, second]);
      expect(await git.mergeBase(first, second)).toBe(bases.stdout.toString().trim());
      expect(await git.isAncestor(first, second)).toBe(behind === 0);
      const between = await runGit(git.gitDir, ['rev-list', '--topo-order', '--reverse', second, `^${first}`]);
      expect(await git.commitsBetween(first, second)).toEqual(between.stdout.toString().split('\n').filter(Boolean));
    }
  });

  it('sees what other git processes do to it, packing included', async () => {
    const head = await commitOn([await main()], { packed: '1\n' });
    await git.updateRef('refs/heads/packed', head, NO_OBJECT);
    await runGit(git.gitDir, ['gc', '--quiet', '--prune=now']);
    expect(await git.branchTip('packed')).toBe(head);
    await runGit(git.gitDir, ['update-ref', 'refs/heads/packed', await main()]);
    expect(await git.branchTip('packed')).toBe(await main());
    await git.deleteRef('refs/heads/packed', await main());
    expect(await git.branchTip('packed')).toBeUndefined();
  });

  it('takes the ref names that git takes', () => {
    const names = [
      'a',
      'a/b',
      'headroom/quota-1.2',
      'a..b',
      '.a',
      'a/.b',
      'a.lock',
      'a.lock/b',
      'a b',
      'a~1',
      'a^',
      'a:b',
      'a?',
      'a*',
      'a[',
      'a\\b',
      'a/',
      'a//b',
      'a.',
      '@',
      'a@{b',
      'a\u007f',
      'ä',
      '-x',
    ];
    for (const name of names) {
      const { status } = spawnSync('git', ['check-ref-format', `refs/heads/${name}`]);
      expect([name, isRefName(`refs/heads/${name}`)]).toEqual([name, status === 0]);
    }
  });
});
