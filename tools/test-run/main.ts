import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, vitestOutcome } from './vitest-outcome.ts';

/**
 * `node tools/test-run/main.ts` runs the checks, the unit tests and the integration tests, all of them whatever fails, and
 * ends with a line for each failure and the line `N passed, N failed`. The checks together count as one test. To be run by npm, whose PATH has vitest.
 */

/** What a shell says of a program that the signal ended: 128 and its number. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Ending = keyof typeof EXIT_CODES;
/** After it, whoever has not ended by itself is ended; the servers of tests end with the processes that started them. */
const GRACE_MS = 10_000;

let endedBy: Ending | undefined;
let running: number | undefined;

/** Sends a signal to the running command and all that it started: it has a process group of its own. */
function signalGroup(signal: NodeJS.Signals): void {
  if (running === undefined) return;
  try {
    process.kill(-running, signal);
  } catch {
    // It has ended meanwhile.
  }
}

// One that is sent to this program alone would leave the tests running, and what they had done until then is still summed up.
for (const signal of Object.keys(EXIT_CODES) as Ending[]) {
  process.on(signal, () => {
    if (endedBy !== undefined) return signalGroup('SIGKILL');
    endedBy = signal;
    signalGroup(signal);
    setTimeout(() => signalGroup('SIGKILL'), GRACE_MS).unref();
  });
}

/** Runs a command with this terminal's output; its exit code, or null when it could not run or a signal ended it. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number | null> {
  return new Promise((resolve) => {
    // Nobody reads from the terminal: a process group in the background would be stopped for it.
    const stdio = ['ignore', 'inherit', 'inherit'] as const;
    const child = spawn(command, args, { stdio: [...stdio], detached: true, env: { ...process.env, ...env } });
    running = child.pid;
    child.once('error', (error) => {
      console.error(`${command} could not be started: ${error.message}`);
      resolve(null);
    });
    child.once('close', (code) => {
      // What it started and left behind, such as the worker of a vitest that was killed.
      if (endedBy !== undefined) signalGroup('SIGKILL');
      running = undefined;
      resolve(code);
    });
  });
}

async function check(): Promise<Outcome> {
  const code = await run('npm', ['run', '--silent', 'check']);
  console.log(code === 0 ? 'checks passed' : 'checks failed');
  return code === 0 ? { passed: 1, failures: [] } : { passed: 0, failures: ['npm run check'] };
}

async function vitest(project: string, reports: string): Promise<Outcome> {
  const report = join(reports, `${project}.json`);
  const args = ['run', `--project=${project}`, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // Dozens of tests start the command line, and most of its first second is compiling what it loads.
  const code = await run('vitest', args, { NODE_COMPILE_CACHE: join(reports, 'compiled') });
  const outcome = vitestOutcome(await readFile(report, 'utf8').catch(() => undefined), code);
  console.log(`${project} tests: ${outcome.passed} passed, ${outcome.failures.length} failed`);
  return outcome;
}

async function main(): Promise<number> {
  const reports = await mkdtemp(join(tmpdir(), 'headroom-test-run-'));
  const steps: readonly (() => Promise<Outcome>)[] = [
    check,
    () => vitest('unit', reports),
    () => vitest('integration', reports),
  ];
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    if (endedBy === undefined) {
      outcomes.push(await step());
    }
  }
  // Again for as long as a process that is ending still writes what it has compiled.
  await rm(reports, { recursive: true, force: true, maxRetries: 10 });
  const passed = outcomes.reduce((total, outcome) => total + outcome.passed, 0);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  // Once more at the end, where somebody who has only the last lines finds them.
  for (const failure of failures) console.log(`failed: ${failure}`);
  console.log(`${passed} passed, ${failures.length} failed`);
  return endedBy === undefined ? Math.min(failures.length, 1) : EXIT_CODES[endedBy];
}

process.exitCode = await main();
