/**
 * Whether a limit ever went down, read from the repository: the cluster follows it, and Headroom may not write it
 * there.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readFileAt } from '../kernel/stack/gitops-repository.ts';
import { limitIn } from './not-at-rest.ts';

/** The limit of a manifest at every commit of `main` that changed the file, the oldest first. */
export async function limitsOverTime(gitDir: string, path: string): Promise<readonly number[]> {
  const args = ['log', '--first-parent', '--reverse', '--format=%H', 'main', '--', path];
  const { stdout } = await promisify(execFile)('git', args, { cwd: gitDir });
  const commits = stdout.split('\n').filter(Boolean);
  return await Promise.all(commits.map(async (commit) => limitIn(await readFileAt(gitDir, commit, path))));
}

/** Every step of such limits that is not one up, in words; what is no number is none. */
export function stepsDown(limits: readonly number[]): readonly string[] {
  return limits.flatMap((limit, index) => {
    const before = limits[index - 1] ?? 0;
    return limit >= before ? [] : [`the limit went from ${before} to ${limit}`];
  });
}
