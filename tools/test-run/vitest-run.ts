import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RUN_RECORD, type RunRecord } from './run-record.ts';
import { run } from './running-command.ts';
import { type Outcome, parsed, vitestOutcome } from './vitest-outcome.ts';

const RUN_RECORDER = fileURLToPath(new URL('run-record.ts', import.meta.url));

/** What is run. */
interface VitestRun {
  /** Of its reports. */
  readonly name: string;
  readonly project: string;
  /** From the root of the checkout; none of them means all of the project. */
  readonly files?: readonly string[];
  /** The folder for its reports, for what it prints, and for the logs of what its tests start. */
  readonly reports: string;
}

/** What a run came to, and how long each of its files took, in seconds. */
export async function runVitest({
  name,
  project,
  files = [],
  reports,
}: VitestRun): Promise<{ readonly outcome: Outcome; readonly seconds: ReadonlyMap<string, number> }> {
  const report = join(reports, `${name}.json`);
  const record = join(reports, `${name}.record.json`);
  const reporters = ['default', 'json', RUN_RECORDER].map((reporter) => `--reporter=${reporter}`);
  const args = ['run', `--project=${project}`, ...reporters, `--outputFile.json=${report}`, ...files];
  const code = await run('vitest', args, {
    logFile: join(reports, `${name}.log`),
    env: {
      [RUN_RECORD]: record,
      HEADROOM_TEST_LOGS: join(reports, name),
      // Dozens of tests start the command line, and most of its first second is compiling what it loads.
      NODE_COMPILE_CACHE: join(reports, 'compiled'),
    },
  });
  const lacking = await readRecord(record);
  const outcome = vitestOutcome(await readText(report), code, lacking);
  return { outcome, seconds: new Map(Object.entries(lacking.seconds)) };
}

/** A run that ended before or while it wrote its record counts as failed by its exit code, or by the report that it lacks. */
async function readRecord(file: string): Promise<RunRecord> {
  return (parsed(await readText(file)) as RunRecord | undefined) ?? { seconds: {}, reasons: {}, unhandled: [] };
}

async function readText(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').catch(() => undefined);
}
