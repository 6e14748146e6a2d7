import { describe, expect, it } from 'vitest';
import { parseQuantity } from '../../../domain/kernel/quantity.ts';
import { parsePercent, percentOf, percentRatio } from '../../../domain/kernel/percent.ts';

describe('a percentage', () => {
  it.each([
    ['90', '90'],
    ['90%', '90'],
    ['12.5%', '12.5'],
    [' 080.50 ', '80.5'],
    ['0', '0'],
    ['0.2', '0.2'],
  ])('%j is read as %j', (text, percent) => {
    expect(parsePercent(text)).toBe(percent);
  });

  it.each(['', '%', 'ninety', '-5', '1e2', '90%%', '9 0', '.5', '5.', 'NaN'])(
    '%j is rejected with what would be right',
    (text) => {
      expect(() => parsePercent(text)).toThrow(
        `"${text}" is not a percentage: write a number such as "80", "80%" or "12.5%"`,
      );
    },
  );

  it('is an exact fraction', () => {
    expect(percentRatio('80')).toEqual({ numerator: 80n, denominator: 100n });
    expect(percentRatio('12.5')).toEqual({ numerator: 125n, denominator: 1000n });
  });

  it.each([
    ['1', '3', '33.3'],
    ['1999m', '2', '99.9'],
    ['2', '2', '100'],
    ['0', '2', '0'],
    ['1', '0', null],
  ])('of a part is rounded down to a tenth: %s of %s', (part, whole, percent) => {
    expect(percentOf(parseQuantity(part), parseQuantity(whole))).toBe(percent);
  });
});
