import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, sum, vitestOutcome } from './vitest-outcome.ts';

/**
 * `node tools/test-run/main.ts` runs the checks, the unit tests and the integration tests, all of them whatever fails, and
 * ends with the line `N passed, N failed`. The checks together count as one test. To be run by npm, whose PATH has vitest.
 */

let interrupted = false;
// Ctrl-C reaches vitest too, which ends its servers; what it had done until then is still summed up.
process.on('SIGINT', () => {
  interrupted = true;
});

/** Runs a command with this terminal; its exit code, or null when it could not run or a signal ended it. */
function run(command: string, args: readonly string[]): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit' });
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
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function vitest(project: string, reports: string): Promise<Outcome> {
  const report = join(reports, `${project}.json`);
  const code = await run('vitest', [
    'run',
    `--project=${project}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ]);
  const outcome = vitestOutcome(await readFile(report, 'utf8').catch(() => undefined), code);
  console.log(`${project} tests: ${outcome.passed} passed, ${outcome.failed} failed`);
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
  await rm(reports, { recursive: true, force: true });
  const { passed, failed } = sum(outcomes);
  console.log(`${passed} passed, ${failed} failed`);
  // 128 + 2: what a shell says of a program that Ctrl-C ended.
  return interrupted ? 130 : Math.min(failed, 1);
}

process.exitCode = await main();
