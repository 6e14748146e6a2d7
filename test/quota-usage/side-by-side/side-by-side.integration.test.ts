import { describe, expect, it, onTestFailed } from 'vitest';
import { runSideBySide } from './run.ts';

describe("Headroom beside Kubernetes' own quota controller", () => {
  it('says the same of every quota after a hundred operations, with killed processes and restarted API servers', async () => {
    const lines: string[] = [];
    onTestFailed(() => {
      process.stdout.write(`${lines.join('\n')}\n`);
    });
    const report = await runSideBySide({
      seed: 20_262,
      operations: 120,
      faults: true,
      second: 'headroom',
      log: (what) => lines.push(what),
    });
    expect(report.operations).toBeGreaterThanOrEqual(120);
    expect(report.quotas).toBeGreaterThan(30);
    expect(report.statusWrites).toBeGreaterThan(0);
    expect(report.longestWrong.second.ms).toBeLessThanOrEqual(30_000);
  }, 900_000);
});
