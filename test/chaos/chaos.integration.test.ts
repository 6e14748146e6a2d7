import { describe, expect, it, onTestFailed } from 'vitest';
import { runChaos } from './chaos.ts';

describe('a short random run', () => {
  it('of kills, outages, failures of GitHub and people ends with every quota at rest and nothing done twice', async () => {
    const done: string[] = [];
    onTestFailed(() => {
      process.stdout.write(`${done.join('\n')}\n`);
    });
    const report = await runChaos({ seed: 20_261, forMs: 15_000, quotas: 5, tell: (what) => done.push(what) });
    expect(report.actions).toBeGreaterThan(10);
    expect(report.pullRequests).toBeGreaterThan(1);
  }, 300_000);
});
