import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { bar, barWithPercent, percentUsed } from '../../../domain/quota-usage/bar.ts';
import { topUsage } from '../../../domain/quota-usage/top.ts';

const charges = [
  { workload: 'Deployment/web', charge: { pods: '1', 'requests.memory': '1Gi' } },
  { workload: 'StatefulSet/db', charge: { pods: '1', 'requests.memory': '4Gi' } },
  { workload: 'Deployment/web', charge: { pods: '1', 'requests.memory': '1Gi' } },
  { workload: 'Job/import', charge: { pods: '1', 'requests.memory': '512Mi' } },
  { workload: 'CronJob/report', charge: { pods: '1' } },
];

describe('what uses most of a resource', () => {
  it('is told by workload, the largest first, and the rest together', () => {
    expect(topUsage(charges, 'requests.memory', 2)).toEqual({
      total: '6656Mi',
      top: [
        { workload: 'StatefulSet/db', amount: '4Gi', share: 61.5 },
        { workload: 'Deployment/web', amount: '2Gi', share: 30.7 },
      ],
      others: { workloads: 1, amount: '512Mi', share: 7.6 },
    });
  });

  it('leaves out who is charged nothing of it, and has no others when all are named', () => {
    const { top, others } = topUsage(charges, 'requests.memory', 5);
    expect(top.map(({ workload }) => workload)).toEqual(['StatefulSet/db', 'Deployment/web', 'Job/import']);
    expect(others).toBeNull();
  });

  it('names equal ones by name', () => {
    expect(topUsage(charges, 'pods', 9).top.map(({ workload }) => workload)).toEqual([
      'Deployment/web',
      'CronJob/report',
      'Job/import',
      'StatefulSet/db',
    ]);
  });

  it('is nobody when nothing is used', () => {
    expect(topUsage([], 'pods', 3)).toEqual({ total: '0', top: [], others: null });
    expect(topUsage(charges, 'services', 3)).toEqual({ total: '0', top: [], others: null });
  });
});

describe('a bar', () => {
  it.each([
    ['0', '10', '░░░░░░░░░░ 0 %'],
    ['48', '100', '████░░░░░░ 48 %'],
    ['4800m', '10', '████░░░░░░ 48 %'],
    ['999', '1000', '█████████░ 99 %'],
    ['1Gi', '1024Mi', '██████████ 100 %'],
    ['1001', '1000', '█████████▶ 101 %'],
    ['3', '1', '█████████▶ 300 %'],
    ['0', '0', '░░░░░░░░░░ –'],
    ['2', '0', '█████████▶ over 0'],
    [null, '5', '░░░░░░░░░░ not counted'],
  ])('of %s of %s is %s', (used, hard, drawn) => {
    expect(barWithPercent(used, hard, 10)).toBe(drawn);
  });

  it('looks full only when it is, and over only when it is, at any size', () => {
    const amount = fc.bigInt({ min: 0n, max: 2n ** 70n });
    fc.assert(
      fc.property(amount, amount, fc.integer({ min: 1, max: 60 }), (used, hard, width) => {
        const drawn = bar(`${used}`, `${hard}`, width);
        expect(drawn).toHaveLength(width);
        expect(drawn.endsWith('▶')).toBe(used > hard);
        expect(drawn.endsWith('█')).toBe(used === hard && hard > 0n);
        expect(percentUsed(`${used}`, `${hard}`) === '100 %').toBe(used === hard && hard > 0n);
      }),
      {
        examples: [
          [5n, 5n, 1],
          [0n, 0n, 3],
          [2n ** 70n - 1n, 2n ** 70n, 60],
        ],
      },
    );
  });
});
