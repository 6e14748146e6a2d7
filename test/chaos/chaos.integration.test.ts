import { describe, expect, it, onTestFailed } from 'vitest';
import { runChaos } from './chaos.ts';

describe('a short random run', () => {
  it('of kills, outages, failures of GitHub and people ends with every quota at rest and nothing done twice', async () => {
    const done: string[] = [];
    onTestFailed(() => {
      process.stdout.write(`${done.join('\n')}\n`);
    });
    const report = await runChaos({
      seed: 20_261,
      forMs: 15_000,
      atLeast: 30,
      quotas: 5,
      log: (what) => done.push(what),
    });
    expect(report.actions).toBeGreaterThanOrEqual(30);
    expect(report.pullRequests).toBeGreaterThan(1);
    // Enough for the start of the servers, the thirty faults, the restarts after them and the longest recovery, which
    // take minutes each on a busy machine. Each has a shorter limit of its own, whose message says what did not happen.
  }, 720_000);
});
