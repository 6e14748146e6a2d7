import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { compareQuantities, isQuantity, parseQuantity } from '../../../../domain/kernel/quantity.ts';
import { isCountable, roundLimitUp, roundLimitWithin, tidyUp } from '../../../../domain/quota-resize/sizing/round.ts';

describe('a limit as it is written', () => {
  it.each([
    // resource, exact amount, what the manifest says, what to write
    ['requests.cpu', '2.4', '2', '2400m'],
    ['requests.cpu', '12', '10', '12'],
    ['cpu', '3', '2500m', '3000m'],
    ['limits.cpu', '11500.2m', '10', '11501m'],
    ['requests.cpu', '1200', '1k', '1200'],
    ['requests.memory', '12Gi', '10Gi', '12Gi'],
    ['requests.memory', '1.2Gi', '1Gi', '1229Mi'],
    ['requests.memory', '1.8Gi', '1.5Gi', '1844Mi'],
    ['memory', '2Gi', '1024Mi', '2048Mi'],
    ['requests.memory', '120.5Ki', '100Ki', '121Ki'],
    ['requests.storage', '1.2Ti', '1Ti', '1229Gi'],
    ['requests.storage', '4.8Gi', '1Gi', '4916Mi'],
    ['requests.storage', '12G', '10G', '12G'],
    ['requests.storage', '1200000001', '1G', '1201M'],
    ['limits.memory', '1200.5M', '1000M', '1201M'],
    ['limits.memory', '1.2e9', '1e9', '1200e6'],
    ['limits.memory', '1500000000', '1000000000', '1431Mi'],
    ['requests.memory', '500', '400', '1Mi'],
    ['requests.memory', '12Gi', '10737418240', '12Gi'],
    ['gold.storageclass.storage.k8s.io/requests.storage', '12Gi', '10Gi', '12Gi'],
    ['requests.hugepages-2Mi', '5Mi', '4Mi', '6Mi'],
    ['requests.hugepages-1Gi', '1.2Gi', '1Gi', '2Gi'],
    ['pods', '3.6', '3', '4'],
    ['pods', '1200', '1k', '1200'],
    ['requests.nvidia.com/gpu', '1.2', '1', '2'],
    ['count/jobs.batch', '3.2', '3', '4'],
    ['gold.storageclass.storage.k8s.io/persistentvolumeclaims', '2.4', '2', '3'],
  ])('%s of %s, written %s before, is %s', (resource, exact, written, expected) => {
    expect(roundLimitUp(resource, parseQuantity(exact), written)).toBe(expected);
  });

  it('is a quantity, never below what is needed, and at most a step above', () => {
    const resources = fc.constantFrom(
      'requests.cpu',
      'limits.memory',
      'requests.storage',
      'pods',
      'requests.nvidia.com/gpu',
    );
    const units = fc.constantFrom('', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e9');
    fc.assert(
      fc.property(
        resources,
        fc.bigInt({ min: 1n, max: 10n ** 24n }),
        fc.nat(4000),
        units,
        (resource, nano, number, unit) => {
          const exact = { nano, format: 'DecimalSI' } as const;
          const text = roundLimitUp(resource, exact, `${number}${unit}`);
          expect(isQuantity(text)).toBe(true);
          expect(compareQuantities(parseQuantity(text), exact)).toBeGreaterThanOrEqual(0);
          const step = unit === 'T' || unit === 'Ti' ? 2n ** 30n : 2n ** 20n;
          expect(parseQuantity(text).nano - nano).toBeLessThan(step * 10n ** 9n);
        },
      ),
    );
  });
});

describe('a round number', () => {
  it.each([
    ['requests.cpu', '3751m', '2', '3800m'],
    ['requests.cpu', '188m', '100m', '190m'],
    ['limits.cpu', '18760m', '10', '19'],
    ['requests.cpu', '1234', '1000', '1240'],
    ['requests.memory', '4.8Gi', '4Gi', '5Gi'],
    ['requests.memory', '1311Mi', '1Gi', '1344Mi'],
    ['requests.memory', '100.3Mi', '64Mi', '104Mi'],
    ['requests.storage', '1240M', '1G', '1300M'],
    ['requests.storage', '961Gi', '500Gi', '992Gi'],
    ['pods', '17', '10', '17'],
    ['requests.nvidia.com/gpu', '99', '8', '99'],
    ['requests.hugepages-2Mi', '102Mi', '64Mi', '102Mi'],
  ])('of %s for at least %s, written %s before, is %s', (resource, exact, written, expected) => {
    const tidy = tidyUp(resource, parseQuantity(exact), written);
    expect(compareQuantities(tidy, parseQuantity(expected))).toBe(0);
  });

  it('is never below what is needed and at most a twentieth above', () => {
    const resources = fc.constantFrom('requests.cpu', 'limits.memory', 'requests.storage', 'pods');
    const units = fc.constantFrom('', 'm', 'M', 'G', 'Mi', 'Gi', 'e9');
    fc.assert(
      fc.property(resources, fc.bigInt({ min: 1n, max: 10n ** 24n }), units, (resource, nano, unit) => {
        const tidy = tidyUp(resource, { nano, format: 'DecimalSI' }, `1${unit}`);
        expect(tidy.nano).toBeGreaterThanOrEqual(nano);
        expect((tidy.nano - nano) * 20n).toBeLessThanOrEqual(nano);
      }),
    );
  });
});

it('a limit below a maximum is written in the unit of the manifest, or exactly where that would go above', () => {
  const within = (resource: string, exact: string, written: string, maximum: string) =>
    roundLimitWithin(resource, parseQuantity(exact), written, parseQuantity(maximum));
  expect(within('requests.memory', '1.2Gi', '1Gi', '2Gi')).toBe('1229Mi');
  expect(within('requests.memory', '1.2Gi', '1Gi', '1258291Ki')).toBe('1258291Ki');
  expect(within('pods', '3.2', '3', '3500m')).toBe('3');
});

it('objects, ports and extended resources come in whole pieces, cpu and bytes do not', () => {
  const countable = [
    'pods',
    'services.nodeports',
    'count/pods',
    'requests.nvidia.com/gpu',
    'gpu.deviceclass.resource.k8s.io/devices',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims',
  ];
  const measured = [
    'cpu',
    'limits.cpu',
    'memory',
    'requests.memory',
    'requests.ephemeral-storage',
    'hugepages-2Mi',
    'requests.storage',
    'gold.storageclass.storage.k8s.io/requests.storage',
  ];
  expect(countable.filter((resource) => !isCountable(resource))).toEqual([]);
  expect(measured.filter(isCountable)).toEqual([]);
});
