import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The people and tools of the repository's history. */
const AUTHOR = { GIT_AUTHOR_NAME: 'Platform Team', GIT_AUTHOR_EMAIL: 'platform@example.com' };
const COMMITTER = { GIT_COMMITTER_NAME: 'Platform Team', GIT_COMMITTER_EMAIL: 'platform@example.com' };

async function git(cwd: string, ...args: string[]): Promise<string> {
  // The collection of garbage that a commit begins goes on in the background, in a folder that is removed meanwhile.
  const { stdout } = await run('git', ['-c', 'gc.auto=0', ...args], {
    cwd,
    env: { ...process.env, ...AUTHOR, ...COMMITTER, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** Creates a bare repository at `gitDir` whose branch `main` has one commit with these files. */
export async function createGitOpsRepository(gitDir: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(gitDir, { recursive: true });
  await git(gitDir, 'init', '--bare', '--initial-branch=main', '--quiet');
  const work = await mkdtemp(join(tmpdir(), 'gitops-'));
  try {
    await git(work, 'init', '--quiet', '--initial-branch=main');
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(work, dirname(path)), { recursive: true });
      await writeFile(join(work, path), text);
    }
    await git(work, 'add', '--all');
    await git(work, 'commit', '--quiet', '--message', 'Manage the quotas of all teams');
    await git(work, 'push', '--quiet', gitDir, 'main');
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * The commit that a branch points at. Read from its file, since the syncer asks three times a second: a process for each
 * question took a fifth of what the tests' own process did. Only a branch that was packed with others has no file.
 */
export async function headOf(gitDir: string, branch = 'main'): Promise<string> {
  const loose = await readFile(join(gitDir, 'refs', 'heads', branch), 'utf8').catch(() => '');
  if (/^[0-9a-f]{40}\n$/.test(loose)) return loose.trim();
  return (await git(gitDir, 'rev-parse', `refs/heads/${branch}`)).trim();
}

/** The paths of all files at a commit. */
export async function filesAt(gitDir: string, commit: string): Promise<string[]> {
  return (await git(gitDir, 'ls-tree', '-r', '--name-only', '-z', commit)).split('\0').filter(Boolean);
}

/** The paths of the files that a later commit has and that are not the same at an earlier one. */
export async function changedFiles(gitDir: string, from: string, to: string): Promise<string[]> {
  const listed = await git(gitDir, 'diff', '--name-only', '--diff-filter=d', '--no-renames', '-z', from, to);
  return listed.split('\0').filter(Boolean);
}

/** The text of a file at a commit, byte for byte. */
export async function readFileAt(gitDir: string, commit: string, path: string): Promise<string> {
  return await git(gitDir, 'cat-file', 'blob', `${commit}:${path}`);
}

/** A unified diff between two commits. */
export async function diffBetween(gitDir: string, from: string, to: string): Promise<string> {
  return await git(gitDir, 'diff', `${from}...${to}`);
}
