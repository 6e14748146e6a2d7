import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { CORE_SECONDS, coreFiles } from './core.ts';
import { recordDurations, recordedDurations } from './durations.ts';
import { testedTree, writeGateEntry } from './gate-log.ts';
import { filesToRepeat, filesWithoutTests, flakyFiles, withRepetitions } from './repetition.ts';
import { closeRunFolder, openRunFolder } from './run-folder.ts';
import { passSignalsOn, run, signalExitCode } from './running-command.ts';
import { failureLines, type Outcome, passedTests } from './vitest-outcome.ts';
import { runVitest } from './vitest-run.ts';

/**
 * `node tools/test-run/main.ts [core|all] [--record]` runs the checks, the unit tests and the integration tests, of these the core
 * or all, whatever fails. It ends with how long that took, a line for each failure and the line `N passed, N failed`; the checks
 * together count as one test. A file of the core that failed is run once more, alone, when the others are through. To be run by npm,
 * whose PATH has vitest.
 */
const RINGS = ['core', 'all'] as const;
type Ring = (typeof RINGS)[number];

const SHOWN_FILES = 10;
/** A file of the core is named where it takes so many times its recorded duration, and so many seconds, more. */
const GROWN = 2;
const GROWN_SECONDS = 20;

interface Options {
  readonly ring: Ring;
  /** Write the durations of this run into the checkout. */
  readonly record: boolean;
}

interface IntegrationRun {
  readonly outcome: Outcome;
  readonly flaky: readonly string[];
  /** How long each file took the first time. */
  readonly seconds: ReadonlyMap<string, number>;
}

function optionsOf(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { record: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const ring = RINGS.find((each) => each === (positionals[0] ?? 'core'));
  if (ring === undefined || positionals.length > 1) {
    throw new Error(
      `expected core or all, got "${positionals.join(' ')}"; single files are run by: npm run integration -- FILE`,
    );
  }
  return { ring, record: values.record };
}

async function check(): Promise<Outcome> {
  const code = await run('npm', ['run', '--silent', 'check']);
  console.log(code === 0 ? 'checks passed' : 'checks failed');
  const failures = code === 0 ? [] : [{ why: 'see above' }];
  return { files: [{ file: 'npm run check', passed: code === 0 ? 1 : 0, failures }], failures: [] };
}

async function unit(reports: string): Promise<Outcome> {
  return (await runVitest({ name: 'unit', project: 'unit', reports })).outcome;
}

/** The integration tests of a ring, and then, each alone, the files of the core of which a test failed. */
async function integration(ring: Ring, reports: string): Promise<IntegrationRun> {
  const project = 'integration';
  const files = ring === 'core' ? [...coreFiles] : [];
  const { outcome: first, seconds } = await runVitest({ name: 'integration', project, files, reports });
  const repeated = signalExitCode() === undefined ? filesToRepeat(first, coreFiles) : [];
  for (const line of failureLines({ files: repeated, failures: [] })) console.log(`failed the first time: ${line}`);
  const repetitions: Outcome[] = [];
  for (const { file } of repeated) {
    if (signalExitCode() !== undefined) break;
    console.log(`once more, alone: ${file}`);
    const name = `again-${repetitions.length + 1}`;
    repetitions.push((await runVitest({ name, project, files: [file], reports })).outcome);
  }
  const last = withRepetitions(first, repetitions);
  // A vitest that wrote no report is one failure, and not one for each file.
  const expected = first.files.length === 0 ? [] : coreFiles;
  const missing = filesWithoutTests(last, expected).map((file) => `${file}: no test of it ran`);
  const outcome = { ...last, failures: [...last.failures, ...missing] };
  return { outcome, flaky: flakyFiles(repeated, outcome), seconds };
}

function report(name: string, outcome: Outcome): Outcome {
  console.log(`${name} tests: ${passedTests(outcome)} passed, ${failureLines(outcome).length} failed`);
  return outcome;
}

function printDurations(seconds: ReadonlyMap<string, number>): void {
  const slowest = [...seconds].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN_FILES);
  console.log(`the ${slowest.length} slowest files:`);
  for (const [file, each] of slowest) console.log(`${each.toFixed(1).padStart(7)} s  ${file}`);
  const core = [...seconds].filter(([file]) => coreFiles.has(file)).reduce((total, [, each]) => total + each, 0);
  console.log(`the files of the core took ${Math.round(core)} s in all, of the ${CORE_SECONDS} s of their budget`);
  const recorded = recordedDurations();
  for (const [file, each] of seconds) {
    const before = recorded.get(file) ?? 0;
    if (coreFiles.has(file) && each > GROWN * before + GROWN_SECONDS) {
      console.log(`grown, or a busy machine: ${file} took ${each.toFixed(0)} s, ${before.toFixed(0)} s are recorded`);
    }
  }
}

function noTree(error: unknown): undefined {
  console.log(
    `gate.jsonl gets no line, since git knows no tree here: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/** `9 min 5 s`. */
function durationText(seconds: number): string {
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

async function main(): Promise<number> {
  const { ring, record } = optionsOf(process.argv.slice(2));
  passSignalsOn();
  // Make says when it began: what npm installs first is a part of the ten minutes.
  const began = Number(process.env['HEADROOM_RUN_BEGAN'] || Date.now() / 1_000);
  const [before, reports] = await Promise.all([testedTree().catch(noTree), openRunFolder()]);
  const outcomes: Outcome[] = [await check()];
  if (signalExitCode() === undefined) outcomes.push(report('unit', await unit(reports)));
  let tested: IntegrationRun | undefined;
  if (signalExitCode() === undefined) {
    tested = await integration(ring, reports);
    outcomes.push(report('integration', tested.outcome));
    printDurations(tested.seconds);
  }
  const flaky = tested?.flaky ?? [];
  const failures = outcomes.flatMap(failureLines);
  const passed = outcomes.reduce((total, outcome) => total + passedTests(outcome), 0);
  const logs = await closeRunFolder(reports, failures.length + flaky.length > 0);
  const seconds = Math.round(Date.now() / 1_000 - began);
  console.log(`the run took ${durationText(seconds)}`);
  if (signalExitCode() === undefined) {
    const after = await testedTree().catch(noTree);
    if (before !== undefined && after !== undefined) {
      const clean = before.clean && after.clean && before.tree === after.tree;
      const entry = { tree: before.tree, clean, ring, seconds, passed, failed: failures.length, flaky };
      console.log(`noted in ${await writeGateEntry(entry)}`);
    }
    // What failed beside these tests may be that a recorded duration is too long.
    if (record && tested !== undefined && failureLines(tested.outcome).length + flaky.length === 0) {
      recordDurations(tested.seconds, existsSync);
    }
  }
  // Once more at the end, where somebody who has only the last lines finds them.
  if (logs !== undefined) console.log(`logs: ${logs}`);
  for (const file of flaky) console.log(`flaky: ${file}`);
  for (const failure of failures) console.log(`failed: ${failure}`);
  if (flaky.length > 0) console.log(`${flaky.length} flaky: each a defect to find, though it makes no run red`);
  console.log(`${passed} passed, ${failures.length} failed`);
  return signalExitCode() ?? Math.min(failures.length, 1);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
