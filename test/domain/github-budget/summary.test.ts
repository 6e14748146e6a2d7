import { describe, expect, it } from 'vitest';
import { type Ask, isQuestions, isLimited } from '../../../domain/github-budget/ask.ts';
import {
  type BudgetState,
  freshBudget,
  limit,
  pause,
  pruned,
  grantPermits,
} from '../../../domain/github-budget/budget.ts';
import { budgetLimits, GITHUB_WRITES } from '../../../domain/github-budget/limits.ts';
import { isOver, nextChange, summaryOf } from '../../../domain/github-budget/summary.ts';

const T = Date.UTC(2026, 10, 20);
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const limits = budgetLimits({ perMinute: 2, perHour: 500 });

function ask(id: string): Ask {
  return { id, call: id, priority: 'demand', target: 'team-a/compute', cluster: 'eu', write: 'comment' };
}

function asked(...ids: readonly string[]): BudgetState {
  return ids.reduce((state, id) => grantPermits(state, { asks: [ask(id)], limits }, T)[0], freshBudget(limits));
}

describe('the status of a budget', () => {
  it('names who waits, since when, and when the turn comes', () => {
    const { phase, reason, facts } = summaryOf(asked('a', 'b', 'c'), T);
    expect({ phase, reason }).toEqual({ phase: 'Waiting', reason: 'PermitsUsedUp' });
    expect(facts).toEqual([
      '2 of 2 permits of 60 s are used',
      '2 of 500 permits of 60 min are used',
      '1. demand: team-a/compute (eu), comment, since 2026-11-20T00:00:00Z, turn 2026-11-20T00:01:10Z',
    ]);
  });

  it('names the first fifty of those who wait, and how many more there are', () => {
    const { facts } = summaryOf(asked(...Array.from({ length: 60 }, (_, index) => `w${index}`)), T);
    expect(facts.length).toBe(2 + 50 + 1);
    expect(facts.at(-1)).toBe('and 8 more');
  });

  it('is granting while permits of the last minute count, then idle, then over', () => {
    const state = asked('a');
    expect(summaryOf(state, T).phase).toBe('Granting');
    const idle = nextChange(state, T) ?? 0;
    expect(idle).toBe(T + 70 * SECOND);
    expect(summaryOf(pruned(state, idle), idle).phase).toBe('Idle');
    expect(isOver(pruned(state, idle))).toBe(false);
    const over = nextChange(state, idle) ?? 0;
    expect(over).toBe(T + HOUR + 10 * SECOND);
    expect(isOver(pruned(state, over))).toBe(true);
  });

  it('is limited until GitHub’s time is over', () => {
    const state = limit(asked('a'), { waitMs: 30 * SECOND, words: 'slow down' }, T);
    expect(summaryOf(state, T)).toMatchObject({
      phase: 'Limited',
      detail: 'GitHub allows no writes until 2026-11-20T00:00:30Z: slow down. No write waits',
    });
    expect(nextChange(state, T)).toBe(T + 30 * SECOND);
  });

  it('is paused without an end, and not over while it is', () => {
    const state = pause(freshBudget(limits), { by: 'alice', reason: '' }, T);
    expect(summaryOf(state, T)).toMatchObject({
      phase: 'Paused',
      detail: 'paused by alice since 2026-11-20T00:00:00Z. No write waits',
    });
    expect(nextChange(state, T)).toBeNull();
    expect(isOver(state)).toBe(false);
  });
});

describe('the limits', () => {
  it('are GitHub’s unless configured', () => {
    expect(budgetLimits(GITHUB_WRITES)).toEqual({
      windows: [
        { ms: 60 * SECOND, most: 80 },
        { ms: HOUR, most: 500 },
      ],
      // Twenty writes may queue in the process, a second apart.
      validMs: 30 * SECOND,
      takenWithinMs: 5 * SECOND,
    });
  });
});

describe('what comes over the wire', () => {
  const questions = { from: 'worker', batch: 1, asks: [ask('a'), ask('b')], limits };

  it.each([
    ['nothing', undefined],
    ['no asker', { ...questions, from: undefined }],
    ['no question', { ...questions, asks: [] }],
    ['a write that is no text', { ...questions, asks: [ask('a'), { ...ask('b'), write: 7 }] }],
    ['an urgency that there is not', { ...questions, asks: [{ ...ask('a'), priority: 'very' }] }],
    ['no limits', { ...questions, limits: undefined }],
    ['limits without a window', { ...questions, limits: { windows: [], validMs: 1 } }],
    ['a limit of nothing', { ...questions, limits: { windows: [{ ms: 60_000, most: 0 }], validMs: 1 } }],
    ['a limit of one and a half', { ...questions, limits: { windows: [{ ms: 60_000, most: 1.5 }], validMs: 1 } }],
  ])('%s is left alone', (_, raw) => {
    expect(isQuestions(raw)).toBe(false);
  });

  it('questions are some', () => {
    expect(isQuestions(questions)).toBe(true);
  });

  it('a limit names a time above 0', () => {
    expect(isLimited({ waitMs: 1, words: 'x' })).toBe(true);
    for (const raw of [null, {}, { waitMs: 0, words: 'x' }, { waitMs: Number.NaN, words: 'x' }, { waitMs: 1 }]) {
      expect(isLimited(raw)).toBe(false);
    }
  });
});
