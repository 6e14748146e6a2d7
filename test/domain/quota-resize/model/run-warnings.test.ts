import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../../domain/kernel/time.ts';
import { RunWarnings } from '../../../../domain/quota-resize/model/run-warnings.ts';
import { NOW } from './observations.ts';

describe('the Warnings of a run', () => {
  it('are said once, also by a worker of an earlier version, which has no outcome', () => {
    const warnings = new RunWarnings();
    warnings.add('a', 'told', NOW);
    warnings.add('b', undefined, NOW);
    expect(['a', 'b', 'c'].map((key) => warnings.isDue(key, NOW))).toEqual([false, false, true]);
  });

  it('are said later where a worker had no room for one, and none is tried meanwhile', () => {
    const warnings = new RunWarnings();
    warnings.add('a', 'putOff', NOW);
    expect([warnings.isDue('a', NOW + 9 * MINUTE_MS), warnings.isDue('b', NOW + 9 * MINUTE_MS)]).toEqual([
      false,
      false,
    ]);
    expect(warnings.isDue('a', NOW + 10 * MINUTE_MS)).toBe(true);
  });

  it('are ten in an hour', () => {
    const warnings = new RunWarnings();
    for (let count = 0; count < 10; count += 1) {
      expect(warnings.isSpent(NOW)).toBe(false);
      warnings.add(`${count}`, 'told', NOW);
    }
    expect([warnings.isSpent(NOW), warnings.isSpent(NOW + 60 * MINUTE_MS)]).toEqual([true, false]);
  });
});
