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
    // Servers that start, each of the thirty things in its time, what is on its way up then, and the longest recovery: minutes
    // each where others want the cores, and each with an end of its own that says what did not come.
  }, 720_000);
});
