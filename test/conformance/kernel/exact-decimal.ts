/** What a case says about a quantity in whole units and in thousandths, worked out from the exact decimal that it states. */
import * as z from 'zod';
import type { Deviation } from '../adapter.ts';

const NANO = 1_000_000_000n;

/** `-0.0015` in nanos. What no such decimal is has none. */
export function nanoOfDecimal(text: string): bigint | null {
  const [, sign, whole = '', fraction = ''] = /^(-?)([0-9]+)(?:\.([0-9]{1,9}))?$/.exec(text) ?? [];
  if (whole === '') return null;
  const nano = BigInt(whole) * NANO + BigInt(fraction.padEnd(9, '0'));
  return sign === '-' ? -nano : nano;
}

/** a ÷ b, rounded away from zero. */
export function ceilOf(a: bigint, b: bigint): bigint {
  if (a % b === 0n) return a / b;
  return a < 0n ? a / b - 1n : a / b + 1n;
}

const stated = z.looseObject({
  exactDecimal: z.string().transform(nanoOfDecimal).pipe(z.bigint()),
  valueCeil: z.string(),
  milliValueCeil: z.string(),
});

/** The same case with the values that its decimal has; null where it does not state all of them. */
function corrected(expected: unknown): Readonly<Record<'valueCeil' | 'milliValueCeil', string>> | null {
  const { data } = stated.safeParse(expected);
  if (data === undefined) return null;
  return {
    valueCeil: `${ceilOf(data.exactDecimal, NANO)}`,
    milliValueCeil: `${ceilOf(data.exactDecimal, NANO / 1_000n)}`,
  };
}

/** Go's accessors overflow an int64, and round a negative decimal up; Headroom is exact, and rounds away from zero. */
export const exactValues: Deviation<unknown> = {
  name: 'exact-values',
  applies: (_, expected) => {
    const exact = corrected(expected);
    const { valueCeil, milliValueCeil } = z.looseObject({}).parse(expected);
    return exact !== null && (exact.valueCeil !== valueCeil || exact.milliValueCeil !== milliValueCeil);
  },
  expected: (_, expected) => ({ ...z.looseObject({}).parse(expected), ...corrected(expected) }),
};
