import { describe, expect, it, onTestFailed } from 'vitest';
import { runChaos } from './chaos.ts';
import { amount } from '../kernel/long.ts';

const LEAST = amount({ short: 12, long: 60 });

describe('a short random run', () => {
  it('of kills, outages, failures of GitHub and people ends with every quota at rest and nothing done twice', async () => {
    const done: string[] = [];
    onTestFailed(() => {
      process.stdout.write(`${done.join('\n')}\n`);
    });
    const report = await runChaos({
      seed: 20_261,
      forMs: amount({ short: 6_000, long: 30_000 }),
      atLeast: LEAST,
      quotas: 5,
      log: (what) => done.push(what),
    });
    expect(report.actions).toBeGreaterThanOrEqual(LEAST);
    expect(report.pullRequests).toBeGreaterThan(1);
    // Enough for the start of the servers, the faults, the restarts after them and the longest recovery, which
    // take minutes each on a busy machine. Each has a shorter limit of its own, whose message says what did not happen.
  }, 720_000);
});
