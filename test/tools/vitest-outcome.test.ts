import { describe, expect, it } from 'vitest';
import { failureLines, passedTests, vitestOutcome } from '../../tools/test-run/vitest-outcome.ts';

interface File {
  readonly status: 'passed' | 'failed';
  readonly message?: string;
  /** The message of each test's failure; null for one that passed. */
  readonly tests: readonly (string | null)[];
}

function report(files: readonly File[]): string {
  return JSON.stringify({
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

function counted(text: string | undefined, exitCode: number | null) {
  const outcome = vitestOutcome(text, exitCode);
  return { passed: passedTests(outcome), failures: failureLines(outcome) };
}

describe('the count of a test run', () => {
  it('has the tests that passed, and each that failed with the first line of why', () => {
    const text = report([
      { status: 'passed', tests: [null] },
      { status: 'failed', tests: [null, 'Error: 1 is not 2\n    at line 3', null] },
    ]);
    expect(counted(text, 1)).toEqual({
      passed: 3,
      failures: ['test/part/file-1.test.ts > what it does 1: Error: 1 is not 2'],
    });
  });

  it('a file that could not be loaded is a failure, though no test of it failed', () => {
    const text = report([
      { status: 'passed', tests: [null] },
      { status: 'failed', message: 'Cannot find module', tests: [] },
    ]);
    expect(counted(text, 1)).toEqual({ passed: 1, failures: ['test/part/file-1.test.ts: Cannot find module'] });
  });

  it('a file whose end failed after all its tests passed is a failure', () => {
    const text = report([{ status: 'failed', message: 'a server did not stop', tests: [null] }]);
    expect(counted(text, 1)).toEqual({ passed: 1, failures: ['test/part/file-0.test.ts: a server did not stop'] });
  });

  it('a run that ends badly is a failure, though all its tests passed', () => {
    const text = report([{ status: 'passed', tests: [null, null, null] }]);
    expect(counted(text, 1)).toEqual({ passed: 3, failures: ['vitest failed beside its tests, exit code 1'] });
    expect(counted(text, null)).toEqual({ passed: 3, failures: ['vitest failed beside its tests, a signal ended it'] });
  });

  it('a run that a signal ended is a failure of its own, though a test had failed as well', () => {
    const text = report([{ status: 'failed', tests: ['Error: 1 is not 2'] }]);
    expect(counted(text, null).failures).toEqual([
      'test/part/file-0.test.ts > what it does 0: Error: 1 is not 2',
      'vitest failed beside its tests, a signal ended it',
    ]);
  });

  it('a run that crashed before it wrote its report is a failure', () => {
    const none = { passed: 0, failures: ['vitest wrote no report, a signal ended it'] };
    expect(counted(undefined, null)).toEqual(none);
    expect(counted('{"testResults": [{"na', null)).toEqual(none);
    expect(counted(undefined, 0)).toEqual({ passed: 0, failures: ['vitest wrote no report, exit code 0'] });
  });

  it('a run without failures has none', () => {
    expect(counted(report([{ status: 'passed', tests: [null] }]), 0)).toEqual({ passed: 1, failures: [] });
  });
});
