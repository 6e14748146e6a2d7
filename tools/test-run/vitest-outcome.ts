import type { RunRecord } from './run-record.ts';

/** What a run of vitest came to. */
export interface Outcome {
  readonly files: readonly FileOutcome[];
  /** A line for what failed and belongs to no file: a crash, or an error outside of any test. */
  readonly failures: readonly string[];
}

/** What a file of tests came to. */
export interface FileOutcome {
  /** From the root of the checkout: `test/part/file.test.ts`. */
  readonly file: string;
  readonly passed: number;
  /** A line for each test that failed, or one for a file that could not be loaded or set up. */
  readonly failures: readonly Failure[];
}

/** A failure of a file. */
export interface Failure {
  /** The full name of the test that failed; undefined where the file could not be loaded or set up. */
  readonly test?: string;
  /** The first line of why. */
  readonly why: string;
}

/** The part of vitest's JSON report that is counted. */
interface VitestReport {
  readonly testResults: readonly VitestFile[];
}

interface VitestFile {
  /** The path of the file. */
  readonly name: string;
  readonly status: string;
  /** Why the file could not be loaded or set up. */
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[];
  }[];
}

/**
 * Counts a run of vitest. Whatever made it fail is counted: a test, a file that could not be loaded or set up (one each), and
 * each error outside of any test, and one for a run that ended badly although nothing in it failed, such as a crash.
 *
 * @param report the text of the JSON report; undefined if vitest wrote none.
 * @param exitCode vitest's exit code; null if a signal ended it.
 * @param record what the report lacks.
 */
export function vitestOutcome(
  report: string | undefined,
  exitCode: number | null,
  { reasons, unhandled }: Pick<RunRecord, 'reasons' | 'unhandled'> = { reasons: {}, unhandled: [] },
): Outcome {
  const counted = parsed(report) as VitestReport | undefined;
  if (counted === undefined) return { files: [], failures: [`vitest wrote no report, ${endOf(exitCode)}`] };
  const files = counted.testResults.map((result) => fileOutcome(result, reasons));
  // 1 is what vitest ends with where something failed; anything else is an end of its own.
  const hasFailed = unhandled.length > 0 || files.some(({ failures }) => failures.length > 0);
  const isExplained = exitCode === 0 || (exitCode === 1 && hasFailed);
  const failures = unhandled.map((message) => `outside of any test: ${firstLine(message)}`);
  return {
    files,
    failures: isExplained ? failures : [...failures, `vitest failed beside its tests, ${endOf(exitCode)}`],
  };
}

/** A line for each thing that failed, such as `test/part/file.test.ts > what it does: Error: 1 is not 2`. */
export function failureLines({ files, failures }: Outcome): readonly string[] {
  return [...files.flatMap((file) => file.failures.map((failure) => failureLine(file.file, failure))), ...failures];
}

function failureLine(file: string, { test, why }: Failure): string {
  return test === undefined ? `${file}: ${why}` : `${file} > ${test}: ${why}`;
}

/** How many tests of a run passed. */
export function passedTests({ files }: Outcome): number {
  return files.reduce((total, { passed }) => total + passed, 0);
}

function fileOutcome(
  { name, status, message, assertionResults }: VitestFile,
  reasons: RunRecord['reasons'],
): FileOutcome {
  const file = name.replace(/^.*(?=\/test\/)\//, '');
  const failures = assertionResults
    .filter((test) => test.status === 'failed')
    .map(({ fullName, failureMessages }) => ({ test: fullName, why: firstLine(failureMessages[0]) }));
  return {
    file,
    passed: assertionResults.filter((test) => test.status === 'passed').length,
    failures: status === 'failed' && failures.length === 0 ? [{ why: firstLine(message || reasons[file]) }] : failures,
  };
}

function firstLine(text = ''): string {
  return text.split('\n')[0]?.trim() ?? '';
}

function endOf(exitCode: number | null): string {
  return exitCode === null ? 'a signal ended it' : `exit code ${exitCode}`;
}

/** What a run wrote as JSON; undefined where it wrote nothing, or was ended while it wrote. */
export function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
