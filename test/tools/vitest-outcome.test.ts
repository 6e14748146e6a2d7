import { describe, expect, it } from 'vitest';
import { vitestOutcome } from '../../tools/test-run/vitest-outcome.ts';

interface File {
  readonly status: 'passed' | 'failed';
  readonly message?: string;
  /** The message of each test's failure; null for one that passed. */
  readonly tests: readonly (string | null)[];
}

function report(files: readonly File[]): string {
  const tests = files.flatMap((file) => file.tests);
  return JSON.stringify({
    numPassedTests: tests.filter((failure) => failure === null).length,
    testResults: files.map((file, index) => ({
      name: `/somewhere/headroom/test/part/file-${index}.test.ts`,
      status: file.status,
      message: file.message ?? '',
      assertionResults: file.tests.map((failure, at) => ({
        status: failure === null ? 'passed' : 'failed',
        fullName: `what it does ${at}`,
        failureMessages: failure === null ? [] : [failure],
      })),
    })),
  });
}

describe('the count of a test run', () => {
  it('has the tests that passed, and each that failed with the first line of why', () => {
    const text = report([
      { status: 'passed', tests: [null] },
      { status: 'failed', tests: [null, 'Error: 1 is not 2\n    at line 3', null] },
    ]);
    expect(vitestOutcome(text, 1)).toEqual({
      passed: 3,
      failures: ['test/part/file-1.test.ts > what it does 1: Error: 1 is not 2'],
    });
  });

  it('a file that could not be loaded is a failure, though no test of it failed', () => {
    const text = report([
      { status: 'passed', tests: [null] },
      { status: 'failed', message: 'Cannot find module', tests: [] },
    ]);
    expect(vitestOutcome(text, 1)).toEqual({ passed: 1, failures: ['test/part/file-1.test.ts: Cannot find module'] });
  });

  it('a run that ends badly is a failure, though all its tests passed', () => {
    const text = report([{ status: 'passed', tests: [null, null, null] }]);
    expect(vitestOutcome(text, 1)).toEqual({ passed: 3, failures: ['vitest failed beside its tests, exit code 1'] });
    expect(vitestOutcome(text, null)).toEqual({
      passed: 3,
      failures: ['vitest failed beside its tests, a signal ended it'],
    });
  });

  it('a run that crashed before it wrote its report is a failure', () => {
    const none = { passed: 0, failures: ['vitest wrote no report, a signal ended it'] };
    expect(vitestOutcome(undefined, null)).toEqual(none);
    expect(vitestOutcome('{"numPassedTests": 3, "numF', null)).toEqual(none);
    expect(vitestOutcome(undefined, 0)).toEqual({ passed: 0, failures: ['vitest wrote no report, exit code 0'] });
  });

  it('a run without failures has none', () => {
    expect(vitestOutcome(report([{ status: 'passed', tests: [null] }]), 0)).toEqual({ passed: 1, failures: [] });
  });
});
