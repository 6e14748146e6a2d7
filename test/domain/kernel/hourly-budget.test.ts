import { describe, expect, it } from 'vitest';
import { HourlyBudgets } from '../../../domain/kernel/hourly-budget.ts';
import { MINUTE_MS } from '../../../domain/kernel/time.ts';

const NOW = Date.UTC(2026, 10, 20, 10);
const HOUR = 60 * MINUTE_MS;

describe('an hourly budget', () => {
  it('is of one thing, and holds for any hour', () => {
    const budgets = new HourlyBudgets(2);
    budgets.spend('a', NOW);
    budgets.spend('a', NOW + 50 * MINUTE_MS);
    expect(budgets.isSpent('a', NOW + 59 * MINUTE_MS)).toBe(true);
    expect(budgets.isSpent('b', NOW + 59 * MINUTE_MS)).toBe(false);
    expect(budgets.isSpent('a', NOW + HOUR)).toBe(false);
    budgets.spend('a', NOW + HOUR);
    expect(budgets.isSpent('a', NOW + 109 * MINUTE_MS), 'the second is not an hour old').toBe(true);
    expect(budgets.isSpent('a', NOW + 110 * MINUTE_MS)).toBe(false);
  });
});
