import { describe, expect, it } from 'vitest';
import {
  freshSavings,
  IdleCount,
  idleAfter,
  NAMESPACES,
  OTHERS,
  replicaHours,
  type Savings,
  savingsAt,
  savingsOf,
  savingsStatus,
} from '../../../../domain/lights-out/decide/savings.ts';
import { asleep, workloadOf } from '../planned.ts';

const HOUR = 3_600_000;
const GIB = 1024 ** 3;
const NOON = Date.parse('2026-11-20T12:00:00Z');

describe('what does not run', () => {
  it('is what sleeping workloads would request, by namespace', () => {
    const count = new IdleCount();
    count.addAsleep(asleep({ requests: { cpu: 250, memory: GIB } }));
    count.addAsleep(asleep({ name: 'db', requests: { cpu: 100 } }));
    count.addAsleep(asleep({ namespace: 'team-b' }));
    count.addAsleep(workloadOf({ requests: { cpu: 1_000 } }));
    expect(count.byNamespace).toEqual({ 'team-a': [6, 1_050, 3 * GIB], 'team-b': [3, 0, 0] });
  });

  it('is of all namespaces beyond the first ones together', () => {
    const count = new IdleCount();
    for (let at = 0; at < NAMESPACES + 2; at += 1)
      count.addAsleep(asleep({ namespace: `team-${String(at).padStart(3, '0')}`, requests: { cpu: 10 } }));
    expect(Object.keys(count.byNamespace)).toHaveLength(NAMESPACES + 1);
    expect(count.byNamespace[OTHERS]).toEqual([6, 60, 0]);
    expect(count.byNamespace['team-000']).toEqual([3, 30, 0]);
  });

  it('changes with every batch, and never below nothing', () => {
    const idle = { 'team-a': [3, 300, GIB], 'team-b': [1, 100, 0] } as const;
    expect(idleAfter(idle, { 'team-a': [-3, -300, -GIB], 'team-b': [2, 0, 0], shop: [-1, -1, -1] })).toEqual({
      'team-b': [3, 100, 0],
    });
  });
});

describe('what was saved', () => {
  const idle = { 'team-a': [2, 500, GIB] } as const;

  it('is summed up from one moment to the next, by namespace and by month', () => {
    const from = Date.parse('2026-11-30T22:00:00Z');
    const first = savingsAt(freshSavings, from, idle);
    expect(first).toEqual({ ...freshSavings, idle, at: from, since: from });
    const second = savingsAt(first, from + 5 * HOUR, { 'team-b': [1, 0, 0] });
    expect(second).toMatchObject({
      namespaces: { 'team-a': [10, 2.5, 5] },
      months: { '2026-11': [4, 1, 2], '2026-12': [6, 1.5, 3] },
    });
    const third = savingsAt(second, from + 6 * HOUR, {});
    expect(third.namespaces).toEqual({ 'team-a': [10, 2.5, 5], 'team-b': [1, 0, 0] });
    expect(replicaHours(third)).toBe('11.0');
    expect(savingsAt(third, from + 7 * HOUR, {}).namespaces).toEqual(third.namespaces);
  });

  it('does not shrink where a clock runs backwards', () => {
    const first = savingsAt(freshSavings, NOON, idle);
    expect(savingsAt(first, NOON - HOUR, idle)).toMatchObject({ at: NOON, namespaces: {}, months: {} });
  });

  it('keeps a year of months, and so many namespaces', () => {
    let savings: Savings = savingsAt(freshSavings, NOON, idle);
    for (let month = 1; month <= 20; month += 1)
      savings = savingsAt(savings, NOON + month * 31 * 24 * HOUR, { [`team-${month}`]: [1, 1, 1] });
    expect(Object.keys(savings.months)).toHaveLength(13);
    expect(savings.months['2028-08']).toBeDefined();
    const many = Object.fromEntries(Array.from({ length: NAMESPACES }, (_, at) => [`n${at}`, [1, 0, 0] as const]));
    const full = savingsAt(savingsAt(freshSavings, NOON, many), NOON + HOUR, idle);
    expect(savingsAt(full, NOON + 2 * HOUR, {}).namespaces).toMatchObject({ [OTHERS]: [2, 0.5, 1] });
  });

  it('comes back from a status, also from one of an earlier release, or one that somebody has edited', () => {
    const saved = savingsAt(savingsAt(freshSavings, NOON, { ...idle, shop: [1, 4_000, 0] }), NOON + HOUR / 2, idle);
    const status = savingsStatus(saved);
    expect(status).toEqual({
      since: '2026-11-20T12:00:00Z',
      until: '2026-11-20T12:30:00Z',
      months: [{ month: '2026-11', replicaHours: '1.50', cpuCoreHours: '2.25', memoryGiBHours: '0.50' }],
      namespaces: [
        { namespace: 'shop', replicaHours: '0.50', cpuCoreHours: '2.00', memoryGiBHours: '0.00' },
        { namespace: 'team-a', replicaHours: '1.00', cpuCoreHours: '0.25', memoryGiBHours: '0.50' },
      ],
    });
    const { since, namespaces, months } = saved;
    expect(savingsOf({ savings: status })).toEqual({ ...freshSavings, since, namespaces, months });
    expect(savingsStatus(freshSavings)).toBeUndefined();
    expect(savingsOf({})).toEqual(freshSavings);
    expect(savingsOf({ savedReplicaHours: '12.5' }).namespaces).toEqual({ [OTHERS]: [12.5, 0, 0] });
    const edited = { namespace: 'a', replicaHours: 'many', cpuCoreHours: '-1', memoryGiBHours: '2' };
    expect(savingsOf({ savings: { since: 'long ago', until: '', months: [], namespaces: [edited] } })).toMatchObject({
      since: null,
      namespaces: { a: [0, 0, 2] },
    });
  });
});
