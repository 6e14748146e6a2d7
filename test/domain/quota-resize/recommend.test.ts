import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addQuantities, compareQuantities, parseQuantity } from '../../../domain/kernel/quantity.ts';
import { recommend, type RecommendInput } from '../../../domain/quota-resize/recommend.ts';

const policy: RecommendInput['policy'] = { threshold: () => '80', increment: () => '20' };

const cpu = (hard: string, used: string, demand = '0') =>
  recommend({
    hard: { 'requests.cpu': hard },
    used: { 'requests.cpu': used },
    demand: { 'requests.cpu': demand },
    policy,
  })[0];

describe('the limits a quota needs', () => {
  it('are a fifth more at exactly the threshold, and as they are one nano below it', () => {
    expect(cpu('10', '8')).toEqual({
      resource: 'requests.cpu',
      current: '10',
      proposed: '12',
      used: '8',
      demand: '0',
      causes: ['threshold'],
    });
    expect(cpu('10', '7999999999n')).toBeUndefined();
  });

  it('hold what was refused, with the same headroom', () => {
    expect(cpu('2', '2', '1')).toMatchObject({ proposed: '3600m', demand: '1', causes: ['threshold', 'demand'] });
    expect(cpu('100m', '0', '600m')).toMatchObject({ proposed: '720m', causes: ['demand'] });
  });

  it('do not grow for a demand that fits as it is', () => {
    expect(cpu('10', '5', '5')).toBeUndefined();
    expect(cpu('10', '9', '500m')).toMatchObject({ proposed: '12', causes: ['threshold'] });
  });

  it('leave a limit of zero alone until something is refused by it', () => {
    expect(cpu('0', '0')).toBeUndefined();
    expect(cpu('0', '1')).toBeUndefined();
    expect(cpu('0', '0', '1')).toMatchObject({ current: '0', proposed: '1200m', causes: ['demand'] });
  });

  it('are whole for pods, and in the unit of the manifest', () => {
    const raises = recommend({
      hard: { pods: '3', 'requests.memory': '1Gi', 'limits.cpu': '5' },
      used: { pods: '3', 'requests.memory': '1Gi', 'limits.cpu': '5' },
      demand: {},
      policy,
      written: { 'requests.memory': '1024Mi', 'limits.cpu': '5000m' },
    });
    expect(raises.map(({ resource, proposed }) => [resource, proposed])).toEqual([
      ['limits.cpu', '6000m'],
      ['pods', '4'],
      ['requests.memory', '1229Mi'],
    ]);
  });

  it('say nothing about resources that the quota does not limit, or when nothing would be added', () => {
    expect(recommend({ hard: {}, used: { cpu: '9' }, demand: { cpu: '9' }, policy })).toEqual([]);
    const none = { threshold: () => '80', increment: () => '0' };
    expect(recommend({ hard: { cpu: '1' }, used: { cpu: '1' }, demand: {}, policy: none })).toEqual([]);
  });

  it('are always above the limit in force and hold used + demand that did not fit', () => {
    const amount = fc.nat(100_000).map((milli) => `${milli}m`);
    fc.assert(
      fc.property(amount, amount, amount, (hard, used, demand) => {
        const raise = cpu(hard, used, demand);
        const needed = addQuantities(parseQuantity(used), parseQuantity(demand));
        const lacking = demand !== '0m' && compareQuantities(needed, parseQuantity(hard)) > 0;
        expect(raise?.causes.includes('demand') ?? false).toBe(lacking);
        const proposed = parseQuantity(raise?.proposed ?? '1000');
        expect(compareQuantities(proposed, parseQuantity(hard))).toBe(1);
        expect(!lacking || compareQuantities(proposed, needed) >= 0).toBe(true);
      }),
    );
  });
});
