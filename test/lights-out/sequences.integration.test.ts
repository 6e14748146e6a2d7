import { describe, expect, it, onTestFailed } from 'vitest';
import { runSequences } from './sequences/run.ts';
import { amount } from '../kernel/long.ts';

const SEQUENCES = amount({ short: 2, long: 12 });
const STEPS = 5;

describe('random sequences of transitions, people, GitOps, changes of the scope, crashes and deletions', () => {
  it('end where a small table says, with nothing lost and nothing restored twice', async () => {
    const lines: string[] = [];
    onTestFailed(() => {
      process.stdout.write(`${lines.join('\n')}\n`);
    });
    const report = await runSequences({
      seed: 20_262,
      first: 0,
      sequences: SEQUENCES,
      steps: STEPS,
      atOnce: 4,
      log: (what) => lines.push(what),
    });
    expect(report.failures).toEqual([]);
    expect(report.steps).toBeGreaterThanOrEqual(SEQUENCES * STEPS);
    expect(report.faults).toBeGreaterThan(0);
    expect(report.writes).toBeGreaterThan(0);
  }, 400_000);
});
