import { describe, expect, it } from 'vitest';
import { differences, type Statuses } from './compare.ts';

function statuses(used: Record<string, string>, hard: Record<string, string> = { memory: '10Gi' }): Statuses {
  return new Map([['a/compute', { spec: hard, hard, used }]]);
}

function between(ours: Statuses, theirs: Statuses): string[] {
  return differences(['one', ours], ['two', theirs]).map(({ text }) => text);
}

describe('two clusters', () => {
  it('say the same when the amounts are the same, however they are spelled', () => {
    expect(between(statuses({ memory: '1Gi' }), statuses({ memory: '1073741824' }))).toEqual([]);
  });

  it('differ in a number, a missing number, and a quota', () => {
    expect(between(statuses({ memory: '1Gi' }), statuses({ memory: '1G' }))).toEqual([
      'a/compute: used memory: 1Gi in one, 1G in two',
    ]);
    expect(between(statuses({ memory: '0' }), statuses({}))).toEqual([
      'a/compute: used memory: 0 in one, nothing in two',
    ]);
    expect(between(statuses({}), new Map())).toEqual(['a/compute: only in one']);
  });

  it('are not done while a status has other limits than its spec', () => {
    const behind: Statuses = new Map([['a/compute', { spec: { pods: '2' }, hard: { pods: '1' }, used: {} }]]);
    expect(between(behind, behind)).toEqual(['a/compute: the status of one has other limits than its spec']);
  });
});
