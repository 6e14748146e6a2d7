import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, vitestOutcome } from './vitest-outcome.ts';

/**
 * `node tools/test-run/main.ts` runs the checks, the unit tests and the integration tests, all of them whatever fails, and
 * ends with a line for each failure and the line `N passed, N failed`. The checks together count as one test. To be run by npm, whose PATH has vitest.
 */

let interrupted = false;
// Ctrl-C reaches vitest too, which ends its servers; what it had done until then is still summed up.
process.on('SIGINT', () => {
  interrupted = true;
});

/** Runs a command with this terminal; its exit code, or null when it could not run or a signal ended it. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    child.once('error', (error) => {
      console.error(`${command} could not be started: ${error.message}`);
      resolve(null);
    });
    child.once('close', resolve);
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
    if (!interrupted) {
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
  // 128 + 2: what a shell says of a program that Ctrl-C ended.
  return interrupted ? 130 : Math.min(failures.length, 1);
}

process.exitCode = await main();
