/** How many tests of a run passed, and how many things failed. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
}

/** The part of vitest's JSON report that is counted. */
interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
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
  const brokenFiles = (counted?.testResults ?? []).filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  ).length;
  const failed = (counted?.numFailedTests ?? 0) + brokenFiles;
  const endedBadly = exitCode !== 0 || counted === undefined;
  return { passed, failed: failed === 0 && endedBadly ? 1 : failed };
}

/** A report that was cut off by a crash is no report. */
function parse(report: string): VitestReport | undefined {
  try {
    return JSON.parse(report) as VitestReport;
  } catch {
    return undefined;
  }
}

export function sum(outcomes: readonly Outcome[]): Outcome {
  return {
    passed: outcomes.reduce((total, outcome) => total + outcome.passed, 0),
    failed: outcomes.reduce((total, outcome) => total + outcome.failed, 0),
  };
}
