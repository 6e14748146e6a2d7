import { describe, expect, it } from 'vitest';
import { sum, vitestOutcome } from '../../../tools/test-run/vitest-outcome.ts';

function report(passed: number, failed: number, files: { status: string; tests: string[] }[]): string {
  return JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    testResults: files.map(({ status, tests }) => ({
      status,
      assertionResults: tests.map((test) => ({ status: test })),
    })),
  });
}

describe('the count of a test run', () => {
  it('passed and failed tests are counted', () => {
    const text = report(2, 1, [{ status: 'failed', tests: ['passed', 'passed', 'failed'] }]);
    expect(vitestOutcome(text, 1)).toEqual({ passed: 2, failed: 1 });
  });

  it('a file that could not be loaded is a failure, though no test of it failed', () => {
    const text = report(1, 0, [
      { status: 'passed', tests: ['passed'] },
      { status: 'failed', tests: [] },
    ]);
    expect(vitestOutcome(text, 1)).toEqual({ passed: 1, failed: 1 });
  });

  it('a run that ends badly is a failure, though all its tests passed', () => {
    const text = report(3, 0, [{ status: 'passed', tests: ['passed', 'passed', 'passed'] }]);
    expect(vitestOutcome(text, 1)).toEqual({ passed: 3, failed: 1 });
    expect(vitestOutcome(text, null)).toEqual({ passed: 3, failed: 1 });
  });

  it('a run that crashed before it wrote its report is a failure', () => {
    expect(vitestOutcome(undefined, null)).toEqual({ passed: 0, failed: 1 });
    expect(vitestOutcome(undefined, 0)).toEqual({ passed: 0, failed: 1 });
    expect(vitestOutcome('{"numPassedTests": 3, "numF', 1)).toEqual({ passed: 0, failed: 1 });
  });

  it('a run without failures has none', () => {
    const text = report(1, 0, [{ status: 'passed', tests: ['passed'] }]);
    expect(vitestOutcome(text, 0)).toEqual({ passed: 1, failed: 0 });
  });

  it('runs are summed', () => {
    expect(
      sum([
        { passed: 1, failed: 0 },
        { passed: 20, failed: 3 },
      ]),
    ).toEqual({ passed: 21, failed: 3 });
  });
});
