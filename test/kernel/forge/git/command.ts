import { spawn } from 'node:child_process';

/** What a git command left behind: its exit code and everything it printed. */
export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** The environment every git command runs with: no prompts, no configuration of the person whose machine this is. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    // A repository that another user owns (a mounted folder) is served all the same: the forge only reads its objects
    // and runs no hook.
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_CONFIG_KEY_1: 'core.hooksPath',
    GIT_CONFIG_VALUE_1: '/dev/null',
  };
}

/**
 * Runs one git command on a bare repository.
 * @param allowed exit codes that are answers and not failures (`merge-tree` says 1 for a conflict)
 * @throws Error with the command and git's own words for any other exit code
 */
export async function git(
  gitDir: string,
  args: readonly string[],
  { input, allowed = [0] }: { input?: string | Buffer; allowed?: readonly number[] } = {},
): Promise<GitResult> {
  const child = spawn('git', ['--git-dir', gitDir, ...args], { env: gitEnvironment(), stdio: 'pipe' });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command that ends early closes its input; its exit code tells more than the broken pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', (cause) =>
      reject(new Error(`git could not be started: ${cause.message}; is it installed?`, { cause })),
    );
    child.on('close', (exit) => resolve(exit ?? -1));
  });
  const result = { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  if (!allowed.includes(code)) {
    throw new Error(`git ${args.join(' ')} in ${gitDir} ended with ${code}: ${result.stderr.trim()}`);
  }
  return result;
}
