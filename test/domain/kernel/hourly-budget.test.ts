import { describe, expect, it } from 'vitest';
import { HourlyBudget, HourlyBudgets } from '../../../domain/kernel/hourly-budget.ts';
import { MINUTE_MS } from '../../../domain/kernel/time.ts';

const NOW = Date.UTC(2026, 10, 20, 10);
const HOUR = 60 * MINUTE_MS;

describe('an hourly budget', () => {
  it('is unused, and may be forgotten, an hour after the last of what happened', () => {
    const budget = new HourlyBudget(1);
    expect(budget.isUnused(NOW)).toBe(true);
    budget.spend(NOW);
    expect([budget.isUnused(NOW + HOUR - 1), budget.isUnused(NOW + HOUR)]).toEqual([false, true]);
  });

  it('of one thing outlasts that those of others are forgotten', () => {
    const budgets = new HourlyBudgets(1);
    budgets.spend('a', NOW);
    budgets.spend('b', NOW + 59 * MINUTE_MS);
    budgets.spend('c', NOW + HOUR);
    expect(['a', 'b', 'c'].map((what) => budgets.isSpent(what, NOW + HOUR))).toEqual([false, true, true]);
  });

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
