import { describe, expect, it } from 'vitest';
import {
  averageOf,
  isUnderutilized,
  keptByLatest,
  keptByUtilization,
  utilizationRule,
} from '../../../../domain/node-group/scale-down/utilization.ts';
import { groupOf, NOW } from '../builders.ts';

const rule = utilizationRule(groupOf('web').scaleDown);
const MINUTE = 60_000;

/** Samples by their age in minutes. */
const samples = (...entries: readonly (readonly [age: number, cpu: number, memory?: number])[]) =>
  entries.map(([age, cpu, memory = cpu]) => ({ at: NOW - age * MINUTE, cpu, memory }));

describe('a node uses little', () => {
  it('where four fifths of the samples of ten minutes are below both thresholds', () => {
    const low = Array.from({ length: 8 }, (_, index) => [9 - index, 30] as const);
    expect(isUnderutilized(samples([9.5, 70], [9.2, 70], ...low), rule, NOW)).toBe(true);
    expect(isUnderutilized(samples([9.7, 70], [9.5, 70], [9.2, 70], ...low), rule, NOW)).toBe(false);
  });

  it('by CPU and memory: one of them is not enough', () => {
    expect(isUnderutilized(samples([1, 30, 60]), rule, NOW)).toBe(false);
    expect(isUnderutilized(samples([1, 50, 20]), rule, NOW)).toBe(false);
    expect(isUnderutilized(samples([1, 49, 49]), rule, NOW)).toBe(true);
  });

  it('never without data, or by old ones', () => {
    expect(isUnderutilized([], rule, NOW)).toBe(false);
    expect(isUnderutilized(samples([9, 30], [5.1, 30]), rule, NOW)).toBe(false);
    expect(isUnderutilized(samples([9, 30], [5, 30]), rule, NOW)).toBe(true);
    expect(keptByUtilization(samples([6, 30]), rule, NOW)).toMatchObject({
      reason: 'NoUtilization',
      detail: 'metrics.k8s.io has said nothing about it in the last 5 min',
    });
  });

  it('whatever it used before the window', () => {
    expect(isUnderutilized(samples([11, 90], [10, 90], [3, 10]), rule, NOW)).toBe(true);
    expect(averageOf(samples([11, 90], [3, 10, 30], [1, 20, 50]), rule, NOW)).toEqual({ cpu: 15, memory: 40 });
  });

  it('by its latest sample where the window is shorter than the time between two', () => {
    expect(isUnderutilized(samples([2, 90], [1, 10]), { ...rule, windowMs: 0 }, NOW)).toBe(true);
  });
});

it('what it uses is said with the thresholds', () => {
  expect(keptByLatest(samples([5, 10], [1, 62.4, 40]), rule, NOW)).toEqual({
    reason: 'Utilized',
    detail: 'it uses 62 % of its CPU and 40 % of its memory now; less than 50 % and 50 % would be low',
    until: null,
  });
  expect(keptByUtilization(samples([2, 60, 40], [1, 70, 40]), rule, NOW)?.detail).toContain(
    'on average of the last 10 min',
  );
});
