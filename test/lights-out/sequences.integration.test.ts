import { describe, expect, it, onTestFailed } from 'vitest';
import { runSequences } from './sequences/run.ts';

describe('random sequences of transitions, people, GitOps, changes of the scope, crashes and deletions', () => {
  it('end where a small table says, with nothing lost and nothing restored twice', async () => {
    const lines: string[] = [];
    onTestFailed(() => {
      process.stdout.write(`${lines.join('\n')}\n`);
    });
    const report = await runSequences({
      seed: 20_262,
      first: 0,
      sequences: 4,
      steps: 5,
      atOnce: 4,
      log: (what) => lines.push(what),
    });
    expect(report.failures).toEqual([]);
    expect(report.steps).toBeGreaterThanOrEqual(20);
    expect(report.faults).toBeGreaterThan(0);
    expect(report.writes).toBeGreaterThan(0);
  }, 400_000);
});
