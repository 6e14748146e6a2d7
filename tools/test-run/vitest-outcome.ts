/** How many tests of a run passed, and one line for each thing that failed. */
export interface Outcome {
  readonly passed: number;
  readonly failures: readonly string[];
}

/** The part of vitest's JSON report that is counted. */
interface VitestReport {
  readonly numPassedTests: number;
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
 * one for a run that ended badly although nothing in it failed, such as a crash or an error outside of any test.
 *
 * @param report the text of the JSON report; undefined if vitest wrote none.
 * @param exitCode vitest's exit code; null if a signal ended it.
 */
export function vitestOutcome(report: string | undefined, exitCode: number | null): Outcome {
  const counted = report === undefined ? undefined : parse(report);
  const passed = counted?.numPassedTests ?? 0;
  const failures = (counted?.testResults ?? []).flatMap(failuresOf);
  if (failures.length > 0) return { passed, failures };
  if (counted === undefined) return { passed, failures: [`vitest wrote no report, ${endOf(exitCode)}`] };
  return { passed, failures: exitCode === 0 ? [] : [`vitest failed beside its tests, ${endOf(exitCode)}`] };
}

function failuresOf({ name, status, message, assertionResults }: VitestFile): readonly string[] {
  if (status !== 'failed') return [];
  const file = name.replace(/^.*(?=\/test\/)\//, '');
  const tests = assertionResults
    .filter((test) => test.status === 'failed')
    .map(({ fullName, failureMessages }) => `${file} > ${fullName}: ${firstLine(failureMessages[0])}`);
  return tests.length > 0 ? tests : [`${file}: ${firstLine(message)}`];
}

function firstLine(text = ''): string {
  return text.split('\n')[0]?.trim() ?? '';
}

function endOf(exitCode: number | null): string {
  return exitCode === null ? 'a signal ended it' : `exit code ${exitCode}`;
}

/** A report that was cut off by a crash is no report. */
function parse(report: string): VitestReport | undefined {
  try {
    return JSON.parse(report) as VitestReport;
  } catch {
    return undefined;
  }
}
