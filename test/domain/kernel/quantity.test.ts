import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  ceilTo,
  compareQuantities,
  formatQuantity,
  isQuantity,
  isZero,
  maxQuantity,
  multiplyByRatio,
  parseQuantity,
  type Quantity,
  QuantityError,
  quantityOf,
  roundUp,
  scaledValue,
  subtractQuantities,
} from '../../../domain/kernel/quantity.ts';

/** Any amount that Kubernetes keeps: whole nanos; binary ones capped at int64 as parsing does. */
const quantities: fc.Arbitrary<Quantity> = fc
  .record({
    nano: fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n }),
    format: fc.constantFrom('DecimalSI' as const, 'BinarySI' as const, 'DecimalExponent' as const),
  })
  .map(({ nano, format }) => ({ nano, format }));

const texts = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.stringMatching(/^[0-9]{1,20}$/),
    fc.stringMatching(/^(\.[0-9]{0,12})?$/),
    fc.constantFrom(
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'Pi',
      'Ei',
      'e3',
      'E-3',
      'e+6',
    ),
  )
  .map((parts) => parts.join(''));

const canonical = (text: string) => formatQuantity(parseQuantity(text));

describe('reading a quantity', () => {
  it('gives the same amount for every spelling of it', () => {
    for (const text of ['1.5Gi', '1536Mi', '1610612736', '1610612736000m', '1.610612736e9']) {
      expect(parseQuantity(text).nano).toBe(1_610_612_736_000_000_000n);
    }
  });

  it('rounds what is finer than a nano away from zero, to one at least', () => {
    expect(canonical('0.0000000000001')).toBe('1n');
    expect(canonical('-1.1e-9')).toBe('-2e-9');
    expect(canonical('1e-999')).toBe('1e-9');
  });

  it('caps a binary amount at the largest int64 and leaves decimal ones alone', () => {
    expect(canonical('9Ei')).toBe('9223372036854775807');
    expect(canonical('-9Ei')).toBe('-9223372036854775807');
    expect(canonical('12E')).toBe('12E');
    expect(canonical('1000E')).toBe('1000E');
  });

  it('turns a binary amount below one into a decimal one', () => {
    expect(parseQuantity('0.000001Ki')).toEqual({ nano: 1_024_000n, format: 'DecimalSI' });
  });

  it('remembers the spelling that Kubernetes goes on printing, and only that', () => {
    expect(parseQuantity('+1Ki').spelling).toBe('+1Ki');
    expect(parseQuantity('5.444T').spelling).toBe('5.444T');
    expect(parseQuantity('1Gi')).not.toHaveProperty('spelling');
    expect(parseQuantity('1000M')).not.toHaveProperty('spelling');
    expect(addQuantities(parseQuantity('+1Ki'), parseQuantity('0'))).not.toHaveProperty('spelling');
  });

  it.each([
    ['', 'quantities must match the regular expression'],
    ['1 ', 'quantities must match the regular expression'],
    ['0.1.2', 'quantities must match the regular expression'],
    ['abc', 'quantities must match the regular expression'],
    ['1i', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
    ['1KiB', 'quantities must match the regular expression'],
    ['.Ei', 'unable to parse numeric part of quantity'],
  ])('rejects %j in the words of Kubernetes', (text, message) => {
    expect(() => parseQuantity(text)).toThrow(QuantityError);
    expect(() => parseQuantity(text)).toThrow(message);
    expect(isQuantity(text)).toBe(false);
  });

  it('rejects an exponent that would take minutes to expand', () => {
    expect(() => parseQuantity('1e2000000000')).toThrow(QuantityError);
  });

  it('throws nothing but QuantityError, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), texts), (text) => {
        expect(isQuantity(text)).toBeTypeOf('boolean');
      }),
    );
  });
});

describe('printing a quantity', () => {
  it('is read back as the same amount', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const quantity = parseQuantity(text);
        expect(parseQuantity(formatQuantity(quantity)).nano).toBe(quantity.nano);
      }),
    );
  });

  it('has one text for one amount of a format', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(canonical(canonical(text))).toBe(canonical(text));
      }),
    );
  });

  it('prints a binary amount below 1024 or with a fraction in decimals, losing nothing', () => {
    expect(formatQuantity(quantityOf(1023n, 'BinarySI'))).toBe('1023');
    expect(formatQuantity(quantityOf(1024n, 'BinarySI'))).toBe('1Ki');
    expect(canonical('100.035Ki')).toBe('102435840m');
  });
});

describe('arithmetic', () => {
  it('adds exactly: 100m and 200m are 300m', () => {
    expect(formatQuantity(addQuantities(parseQuantity('100m'), parseQuantity('200m')))).toBe('300m');
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        expect(addQuantities(a, b).nano).toBe(a.nano + b.nano);
        expect(subtractQuantities(addQuantities(a, b), b).nano).toBe(a.nano);
      }),
    );
  });

  it('keeps the left format, unless the left is zero', () => {
    expect(addQuantities(parseQuantity('1Gi'), parseQuantity('1G')).format).toBe('BinarySI');
    expect(addQuantities(parseQuantity('0'), parseQuantity('1Gi')).format).toBe('BinarySI');
    expect(formatQuantity(subtractQuantities(parseQuantity('0'), parseQuantity('100m')))).toBe('-100m');
  });

  it('orders all amounts, by value alone', () => {
    fc.assert(
      fc.property(quantities, quantities, quantities, (a, b, c) => {
        expect(compareQuantities(a, b) + compareQuantities(b, a)).toBe(0);
        expect(compareQuantities(a, b) === 0).toBe(a.nano === b.nano);
        const [low, middle, high] = [a, b, c].toSorted(compareQuantities);
        expect(compareQuantities(low ?? a, middle ?? a)).toBeLessThanOrEqual(0);
        expect(compareQuantities(middle ?? a, high ?? a)).toBeLessThanOrEqual(0);
        expect(maxQuantity(maxQuantity(a, b), c).nano).toBe((high ?? a).nano);
      }),
    );
    expect(compareQuantities(parseQuantity('1'), parseQuantity('1000m'))).toBe(0);
    expect(isZero(parseQuantity('-0Gi'))).toBe(true);
  });

  it('multiplies by a ratio exactly: 3 by 12/10 is 3600m', () => {
    expect(formatQuantity(multiplyByRatio(parseQuantity('3'), 12n, 10n))).toBe('3600m');
    expect(multiplyByRatio({ nano: 1n, format: 'DecimalSI' }, 1n, 3n).nano).toBe(1n);
    expect(() => multiplyByRatio(parseQuantity('1'), 1n, 0n)).toThrow('positive denominator');
  });

  it('rounds up to a step and never below the amount', () => {
    fc.assert(
      fc.property(quantities, fc.bigInt({ min: 1n, max: 10n ** 18n }), (quantity, step) => {
        const rounded = ceilTo(quantity, { nano: step, format: 'DecimalSI' }).nano;
        expect(rounded % step).toBe(0n);
        expect(rounded).toBeGreaterThanOrEqual(quantity.nano);
        expect(rounded - quantity.nano).toBeLessThan(step);
      }),
    );
    expect(() => ceilTo(parseQuantity('1'), parseQuantity('0'))).toThrow('a step must be positive, got 0');
  });

  it('rounds away from zero to a power of ten', () => {
    expect(formatQuantity(roundUp(parseQuantity('9.01'), 0))).toBe('10');
    expect(formatQuantity(roundUp(parseQuantity('-9.01'), -1))).toBe('-9100m');
    expect(scaledValue(parseQuantity('1n'), -3)).toBe(1n);
    expect(scaledValue(parseQuantity('8Ei'), -3)).toBe(9_223_372_036_854_775_807_000n);
  });
});
