import { describe, expect, it } from 'vitest';
import { addInt64, int64Quantity, int64Value, maxInt64 } from '../../../domain/kernel/int64-quantity.ts';

/** What apimachinery 0.35.4 answers on amd64: the quantities are added, then `Value()` and `MilliValue()` are read. */
const ANSWERS: readonly (readonly [texts: string, value: bigint, milliValue: bigint])[] = [
  ['0', 0n, 0n],
  ['0.5m', 1n, 1n],
  ['1500e-3', 2n, 1500n],
  ['100u', 1n, 1n],
  ['0.1n', 1n, 1n],
  ['1e-400', 1n, 1n],
  ['Ki', 0n, 0n],
  ['1.5Ki', 1536n, 1_536_000n],
  ['0.3Ki', 308n, 307_200n],
  ['0.0001Ki', 1n, 103n],
  ['1.5Gi', 1_610_612_736n, 1_610_612_736_000n],
  ['9007199254740993', 9_007_199_254_740_993n, 9_007_199_254_740_993_000n],
  ['12345678901234567.5', 12_345_678_901_234_568n, -6_101_065_172_474_984_116n],
  ['1e18', 1_000_000_000_000_000_000n, 0n],
  ['1e19', 0n, 0n],
  ['10E', 0n, 0n],
  ['10000000000000000000', -8_446_744_073_709_551_616n, 1_864_712_049_423_024_128n],
  ['9E', 9_000_000_000_000_000_000n, 0n],
  ['1e400', 0n, 0n],
  ['10e399', 0n, 0n],
  ['1e1001', 0n, 0n],
  ['1e2000000000', 0n, 0n],
  ['1e4294967296', 1n, 1000n],
  ['9223372036854775807', 9_223_372_036_854_775_807n, -1000n],
  ['9223372036854775808', -9_223_372_036_854_775_808n, 0n],
  ['18446744073709551617', 1n, 1000n],
  ['999999999999999999k', 3_875_820_019_684_211_736n, 2_003_764_205_205_896_640n],
  ['123456789012345678T', 0n, 0n],
  ['7Ei', 8_070_450_532_247_928_832n, -9_223_372_036_854_775_808n],
  ['16Ei', 9_223_372_036_854_775_807n, -1000n],
  ['9300000000000000000m', 9_300_000_000_000_000n, -9_146_744_073_709_551_616n],
  ['-1n', -1n, -1n],
  ['0.5m 0.5m', 1n, 1n],
  ['600u 600u', 1n, 2n],
  ['1e19 1e19', 0n, 0n],
  ['1e19 1', -8_446_744_073_709_551_615n, 1_864_712_049_423_025_128n],
  ['16Ei 1', -9_223_372_036_854_775_808n, 0n],
  ['8Ei 8Ei', -2n, -2000n],
  ['10000000000000000000 1e400', -8_446_744_073_709_551_616n, 1_864_712_049_423_024_128n],
  ['1e400 1e370', -9_223_372_036_854_775_808n, -9_223_372_036_854_775_808n],
  ['999999999999999999k 1', 3_875_820_019_684_211_737n, 2_003_764_205_205_897_640n],
];

describe('a quantity is to us what it is to Kubernetes', () => {
  it.each(ANSWERS)('%s', (texts, value, milliValue) => {
    const sum = texts.split(' ').map(int64Quantity).reduce(addInt64);
    expect([int64Value(sum, 0), int64Value(sum, -3)]).toEqual([value, milliValue]);
  });

  it('also where it is the larger of two', () => {
    const [small, large] = [int64Quantity('1500m'), int64Quantity('2')];
    expect(maxInt64(small, large)).toBe(large);
    expect(maxInt64(large, small)).toBe(large);
    // Kubernetes compares it as a decimal then, and goes on with that.
    expect(int64Value(maxInt64(int64Quantity('0.5Ki'), int64Quantity('1e19')), 0)).toBe(-(2n ** 63n));
  });

  it('and nothing where it is none', () => {
    expect(int64Value(int64Quantity('1e99999999999999999999'), 0)).toBe(0n);
    expect(int64Value(int64Quantity('Infinity'), 0)).toBe(0n);
  });
});
