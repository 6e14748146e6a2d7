import type { Quantity } from './quantity.ts';

/**
 * A percentage in a policy ("80", "12.5%") as the exact decimal that was written: a canonical text such as "80" or
 * "12.5", which crosses Temporal payloads unchanged.
 */
export type Percent = string;

const PERCENT = /^([0-9]{1,9})(?:\.([0-9]{1,9}))?%?$/;

/**
 * Parses "90", "90%" or "12.5%"; "0.5" is half a percent.
 *
 * @throws {RangeError} for any other text; the message says what would be valid.
 */
export function parsePercent(text: string): Percent {
  const match = PERCENT.exec(text.trim());
  if (match === null) {
    throw new RangeError(`"${text}" is not a percentage: write a number such as "80", "80%" or "12.5%"`);
  }
  const [, whole = '0', fraction = ''] = match;
  const canonicalWhole = whole.replace(/^0+(?=[0-9])/, '');
  const canonicalFraction = fraction.replace(/0+$/, '');
  return canonicalFraction === '' ? canonicalWhole : `${canonicalWhole}.${canonicalFraction}`;
}

/**
 * The percentage as an exact fraction of one: 12.5 % is 125/1000.
 *
 * @throws {RangeError} when the text is not a percentage.
 */
export function percentRatio(percent: Percent): { readonly numerator: bigint; readonly denominator: bigint } {
  const [whole = '0', fraction = ''] = parsePercent(percent).split('.');
  return { numerator: BigInt(whole + fraction), denominator: 100n * 10n ** BigInt(fraction.length) };
}

/** Whether a percentage is below another one. */
export function isLessPercent(a: Percent, b: Percent): boolean {
  const [left, right] = [percentRatio(a), percentRatio(b)];
  return left.numerator * right.denominator < right.numerator * left.denominator;
}

/** The greater of two percentages. */
export function maxPercent(a: Percent, b: Percent): Percent {
  return isLessPercent(a, b) ? b : a;
}

/**
 * The part in percent of the whole, rounded down to so many decimals, so that only what is full is 100: "80", "12.5"; null of a
 * whole that is 0.
 */
export function percentOf(part: Quantity, whole: Quantity, decimals = 1): Percent | null {
  if (whole.nano <= 0n) return null;
  const digits = `${(part.nano * 10n ** BigInt(2 + decimals)) / whole.nano}`.padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -decimals) : `${digits.slice(0, -decimals)}.${fraction}`;
}
