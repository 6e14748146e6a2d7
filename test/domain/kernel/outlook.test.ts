import { describe, expect, it } from 'vitest';
import { countsAs } from '../../../domain/kernel/outlook.ts';

const NOW = Date.UTC(2026, 10, 27, 18);
const MINUTE = 60_000;
const sleeps = (minutes: number) =>
  countsAs({ change: 'sleeps', at: NOW + minutes * MINUTE, leadMs: 10 * MINUTE }, NOW);
const wakes = (minutes: number, lead = 10) =>
  countsAs({ change: 'wakes', at: NOW + minutes * MINUTE, leadMs: lead * MINUTE }, NOW);

describe('what is foreseen of a workload', () => {
  it('counts as going when it sleeps within the hour', () => {
    expect([61, 60, 1, 0].map(sleeps)).toEqual([null, 'going', 'going', 'going']);
  });

  it('counts as coming when it wakes within its lead, and never with a lead of nothing', () => {
    expect([11, 10, 1, 0].map((minutes) => wakes(minutes))).toEqual([null, 'coming', 'coming', 'coming']);
    expect(wakes(0, 0)).toBeNull();
  });

  it('counts for nothing when it has been due for an hour and is not done', () => {
    expect([-59, -60].map(sleeps)).toEqual(['going', null]);
    expect([-59, -60].map((minutes) => wakes(minutes))).toEqual(['coming', null]);
  });
});
