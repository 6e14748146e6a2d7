import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../starter/cli/command-line.ts';
import type { ProgramName } from '../../tools/programs/program-names.ts';
import { startOf } from '../kernel/stack/programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Milliseconds: less than a test's own limit, so that the test shows what a program that hangs had said until then. */
const ENDS_WITHIN_MS = 100_000;

export interface ProgramOutcome {
  /** -1 where it did not end. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one of the programs to its end. Of the environment it gets what Node needs, and what is given: the settings of whoever
 * runs the tests are not the test's settings.
 */
export async function runProgram(
  program: ProgramName,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input?: string,
): Promise<ProgramOutcome> {
  const start = await startOf(program);
  const { PATH, HOME } = process.env;
  return await new Promise((resolve) => {
    const child = execFile(
      start.command,
      [...start.args, ...args],
      { cwd: ROOT, env: { PATH, HOME, ...start.env, ...env }, timeout: ENDS_WITHIN_MS, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1);
        resolve({ code, stdout, stderr });
      },
    );
    if (input !== undefined) child.stdin?.end(input);
  });
}

/**
 * `headroom …` in the process of the test, which spares the start of one; `runProgram('headroom', …)` runs what ships. An error
 * that the command line does not expect is thrown.
 */
export async function headroom(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<ProgramOutcome> {
  const { PATH, HOME } = process.env;
  const printed = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (printed[name] += text) });
  const io = {
    env: { PATH, HOME, ...env },
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    readStdin: () => input,
  };
  const timer = new AbortController();
  try {
    const code = await Promise.race([
      runCommandLine(args, io),
      delay(ENDS_WITHIN_MS, -1, { signal: timer.signal }).catch(() => -1),
    ]);
    return { code, ...printed };
  } finally {
    timer.abort();
  }
}

/** So often a command is begun anew before it is taken for a Temporal that is away. */
const ATTEMPTS = 5;

/**
 * `headroom …` where Temporal is there. For a connection to it a command has five seconds, which a busy machine may need more
 * than: it has asked for nothing by then, and is begun anew.
 */
export async function headroomWithTemporal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ProgramOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await headroom(args, env);
    const isUnreached = `${outcome.stdout}${outcome.stderr}`.includes('Temporal cannot be reached at');
    if (!isUnreached || attempt === ATTEMPTS) return outcome;
  }
}
