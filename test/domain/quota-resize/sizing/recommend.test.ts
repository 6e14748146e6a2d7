import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  multiplyByRatio,
  parseQuantity,
} from '../../../../domain/kernel/quantity.ts';
import { assess, recommend, type RaiseRules } from '../../../../domain/quota-resize/sizing/recommend.ts';

const policy: RaiseRules = {
  threshold: () => '80',
  increment: () => '20',
  burst: 'settle',
  minimum: () => undefined,
  maximum: () => undefined,
  step: () => undefined,
  unattended: () => null,
};

const cpu = (hard: string, used: string, demand = '0', change: Partial<RaiseRules> = {}) => {
  const list = (amount: string) => ({ 'requests.cpu': amount });
  return recommend({ hard: list(hard), used: list(used), demand: list(demand), policy: { ...policy, ...change } })[0];
};

describe('the limits a quota needs', () => {
  it('are those that can be read, beside one that cannot', () => {
    const hard = { 'requests.memory': '1e1002', pods: '10', services: '5' };
    const used = { 'requests.memory': '1Gi', pods: '9', services: '1e1005' };
    expect(recommend({ hard, used, demand: {}, policy }).map(({ resource }) => resource)).toEqual(['pods']);
  });

  it('are a fifth more at exactly the threshold, and as they are one nano below it', () => {
    expect(cpu('10', '8')).toEqual({
      resource: 'requests.cpu',
      current: '10',
      wanted: '12',
      proposed: '12',
      used: '8',
      demand: '0',
      causes: ['threshold'],
      isCut: false,
      cap: null,
    });
    expect(cpu('10', '7999999999n')).toBeUndefined();
  });

  it('hold what was denied, and are a round number that the threshold is not reached by at once', () => {
    // 3 is 80 % of 3750m exactly, which would be reached.
    expect(cpu('2', '2', '1')).toMatchObject({ proposed: '3800m', demand: '1', causes: ['threshold', 'demand'] });
    expect(cpu('100m', '0', '600m')).toMatchObject({ proposed: '760m', causes: ['demand'] });
    // A generous increment is the larger of the two.
    expect(cpu('2', '2', '1', { increment: () => '50' })).toMatchObject({ proposed: '4500m' });
    expect(cpu('2', '2', '1', { threshold: () => '100' })).toMatchObject({ proposed: '3600m' });
  });

  it('hold what was denied and no more where the policy says fill', () => {
    const burst = { burst: 'fill' } as const;
    expect(cpu('2', '2', '1', burst)).toMatchObject({ proposed: '3', causes: ['threshold', 'demand'] });
    expect(cpu('2', '1', '1100m', burst)).toMatchObject({ proposed: '2100m' });
    expect(cpu('10', '9', '0', burst)).toMatchObject({ proposed: '12', causes: ['threshold'] });
  });

  it('do not grow for a demand that fits as it is', () => {
    expect(cpu('10', '5', '5')).toBeUndefined();
    expect(cpu('10', '9', '500m')).toMatchObject({ proposed: '12', causes: ['threshold'] });
  });

  it('leave a limit of zero alone until something is denied by it', () => {
    expect(cpu('0', '0')).toBeUndefined();
    expect(cpu('0', '1')).toBeUndefined();
    expect(cpu('0', '0', '1')).toMatchObject({ current: '0', proposed: '1300m', causes: ['demand'] });
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
    const none = { ...policy, increment: () => '0' };
    expect(recommend({ hard: { cpu: '1' }, used: { cpu: '1' }, demand: {}, policy: none })).toEqual([]);
  });

  it('are at least the minimum, for which alone they grow', () => {
    const minimum = { minimum: () => '4' };
    expect(cpu('2', '1', '0', minimum)).toMatchObject({ proposed: '4', causes: ['minimum'] });
    expect(cpu('2', '2', '0', minimum)).toMatchObject({ proposed: '4', causes: ['threshold', 'minimum'] });
    expect(cpu('2', '2', '2', minimum)).toMatchObject({ proposed: '5100m' });
    expect(cpu('0', '0', '0', minimum)).toMatchObject({ current: '0', proposed: '4', causes: ['minimum'] });
    expect(cpu('4', '1', '0', minimum)).toBeUndefined();
  });

  it('are multiples of the step in its own unit, where the manifest’s has none', () => {
    const raised = (hard: string, more: Partial<RaiseRules> = {}) =>
      recommend({
        hard: { memory: hard },
        used: { memory: hard },
        demand: {},
        written: { memory: hard },
        policy: { ...policy, step: () => '4Gi', ...more },
      }).map(({ proposed }) => proposed);
    expect(raised('10G')).toEqual(['12Gi']);
    expect(raised('10Gi')).toEqual(['12Gi']);
    expect(raised('10G', { step: () => '4G' })).toEqual(['12G']);
    expect(raised('10G', { maximum: () => '14Gi' })).toEqual(['12Gi']);
    expect(raised('10G', { maximum: () => '12Gi' })).toEqual(['12Gi']);
  });

  it('are multiples of the step', () => {
    expect(cpu('10', '9', '0', { step: () => '5' })).toMatchObject({ proposed: '15' });
    expect(cpu('10', '9', '0', { step: () => '4' })).toMatchObject({ proposed: '12' });
    expect(cpu('2', '2', '1', { step: () => '1', burst: 'fill' })).toMatchObject({ proposed: '3' });
  });

  it('are never above the maximum, and say what does not fit below it', () => {
    const maximum = { maximum: () => '20' };
    expect(cpu('18', '17', '0', maximum)).toMatchObject({
      wanted: '21600m',
      proposed: '20',
      cap: { maximum: '20', lacking: '0' },
    });
    expect(cpu('18', '17', '6', maximum)).toMatchObject({ proposed: '20', cap: { lacking: '3' } });
    expect(cpu('10', '9', '0', maximum)).toMatchObject({ proposed: '12', cap: null });
    // The step never goes above it; where whole steps are no raise, the maximum itself is proposed.
    expect(cpu('10', '9', '9', { ...maximum, step: () => '7' })).toMatchObject({ proposed: '14' });
    expect(cpu('16', '16', '9', { ...maximum, step: () => '8' })).toMatchObject({ proposed: '20' });
  });

  it('stay as they are at the maximum or above it, which is distinct from no requirement', () => {
    const at = (hard: string, demand: string) =>
      assess({
        hard: { pods: hard },
        used: { pods: '20' },
        demand: { pods: demand },
        policy: { ...policy, maximum: () => '20' },
      });
    expect(at('20', '3')).toMatchObject([{ proposed: null, cap: { maximum: '20', lacking: '3' } }]);
    expect(at('22', '3')).toMatchObject([{ proposed: null, cap: { lacking: '1' } }]);
    expect(at('40', '3')).toEqual([]);
    expect(cpu('20', '20', '3', { maximum: () => '20' })).toBeUndefined();
  });

  it('keep to a maximum that is finer than the unit of the manifest', () => {
    const raise = (resource: string, hard: string, used: string, maximum: string) =>
      recommend({
        hard: { [resource]: hard },
        used: { [resource]: used },
        demand: {},
        policy: { ...policy, maximum: () => maximum },
      })[0]?.proposed;
    expect(raise('requests.memory', '1Gi', '1Gi', '1100500Ki')).toBe('1100500Ki');
    expect(raise('pods', '5', '5', '5500m')).toBeUndefined();
    expect(raise('pods', '5', '5', '6500m')).toBe('6');
  });

  it('are always above the limit in force and hold used + demand that did not fit', () => {
    const amount = fc.nat(100_000).map((milli) => `${milli}m`);
    fc.assert(
      fc.property(amount, amount, amount, (hard, used, demand) => {
        const raise = cpu(hard, used, demand);
        const required = addQuantities(parseQuantity(used), parseQuantity(demand));
        const lacking = demand !== '0m' && compareQuantities(required, parseQuantity(hard)) > 0;
        expect(raise?.causes.includes('demand') ?? false).toBe(lacking);
        const proposed = parseQuantity(raise?.proposed ?? '1000');
        expect(compareQuantities(proposed, parseQuantity(hard))).toBe(1);
        if (!lacking) return;
        // Strictly below the threshold of 80 % once all is there, and hardly more than that takes.
        expect(required.nano * 100n).toBeLessThan(proposed.nano * 80n);
        const bound = multiplyByRatio(required, 125n * 105n, 100n * 100n).nano + parseQuantity('1m').nano;
        const raised = multiplyByRatio(parseQuantity(hard), 120n, 100n).nano;
        expect(proposed.nano <= bound || proposed.nano <= raised).toBe(true);
      }),
    );
  });
});
