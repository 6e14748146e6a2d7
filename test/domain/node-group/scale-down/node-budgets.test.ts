import { describe, expect, it } from 'vitest';
import type { NodeBudget } from '../../../../domain/node-group/model/node-group.ts';
import { allowedAtOnce } from '../../../../domain/node-group/scale-down/node-budgets.ts';

const HOUR = 3_600_000;
/** A Monday, 12:00 in UTC. */
const AT = Date.UTC(2026, 0, 5, 12);

const of = (nodes: string, over: Partial<NodeBudget> = {}): NodeBudget => ({
  nodes,
  reasons: [],
  window: null,
  ...over,
});
const allowed = (budgets: readonly NodeBudget[], size = 20, at = AT): number =>
  allowedAtOnce(budgets, 'Empty', size, at).allowed;

describe('a budget allows so many nodes at once', () => {
  it('as a count, or a share of the group that is rounded up', () => {
    expect(allowed([of('3')])).toBe(3);
    expect([20, 21, 1, 0].map((size) => allowed([of('10%')], size))).toEqual([2, 3, 1, 0]);
    expect(allowed([of('0')])).toBe(0);
    expect(allowed([of('some')])).toBe(0);
  });

  it('any number where there is none', () => {
    expect(allowedAtOnce([], 'Empty', 20, AT)).toEqual({ allowed: Number.POSITIVE_INFINITY, by: null, until: null });
  });

  it('and the one that allows the fewest counts', () => {
    expect(allowedAtOnce([of('5'), of('2'), of('50%')], 'Empty', 20, AT)).toEqual({ allowed: 2, by: '2', until: null });
  });

  it('for its reasons only', () => {
    const budgets = [of('0', { reasons: ['Consolidation', 'Underutilized'] })];
    expect(allowed(budgets)).toBe(Number.POSITIVE_INFINITY);
    expect(allowedAtOnce(budgets, 'Consolidation', 20, AT)).toMatchObject({
      allowed: 0,
      by: '0 for Consolidation, Underutilized',
    });
  });

  it('in its window, from a moment of its schedule in UTC on for its duration', () => {
    const workday = [of('0', { window: { schedule: '0 9 * * 1-5', durationMs: 8 * HOUR } })];
    const moments = [8.99, 9, 12, 16.99, 17].map((hour) => Date.UTC(2026, 0, 5) + hour * HOUR);
    expect(moments.map((at) => allowed(workday, 20, at) === 0)).toEqual([false, true, true, true, false]);
    expect(allowed(workday, 20, AT - 24 * HOUR)).toBe(Number.POSITIVE_INFINITY);
    expect(allowedAtOnce(workday, 'Empty', 20, AT)).toEqual({
      allowed: 0,
      by: '0 in the window 0 9 * * 1-5',
      until: Date.UTC(2026, 0, 5, 17),
    });
  });

  it.each([
    ['every day at nine', HOUR, 'has 4 fields'],
    ['foo bar baz qux quux', HOUR, 'the hour "bar" is not understood'],
    ['0 0 30 2 *', HOUR, '"0 0 30 2 *" never comes'],
    ['0 9 * * *', 0, 'it lasts no time'],
  ])('always where its window never comes: %s for %d ms', (schedule, durationMs, why) => {
    const answer = allowedAtOnce([of('1', { window: { schedule, durationMs } })], 'Empty', 20, AT);
    expect(answer).toMatchObject({ allowed: 1, until: null });
    expect(answer.by).toContain(why);
  });

  it('in a window of years, which is over at a moment that can be written', () => {
    const { until } = allowedAtOnce(
      [of('0', { window: { schedule: '0 0 29 2 *', durationMs: 3.6e17 } })],
      'Empty',
      20,
      AT,
    );
    expect(new Date(until ?? Number.NaN).toISOString()).toMatch(/^203/);
  });

  it('without a search for the date, however seldom it comes', () => {
    const seldom = [of('1', { window: { schedule: '0 0 29 2 *', durationMs: HOUR } })];
    const never = [of('1', { window: { schedule: '0 0 30 2 *', durationMs: HOUR } })];
    const began = performance.now();
    for (let asked = 0; asked < 2_000; asked += 1) allowed(asked % 2 === 0 ? seldom : never, 20, AT + asked);
    // The cron library takes 21 ms for each that never comes.
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
