/**
 * Quantities as Kubernetes' own code calculates with them: int64 with a power of ten as long as that is enough, then a decimal of
 * any length. Which of the two holds an amount decides what is read from it where an int64 is too small: `1e19` is 0 to
 * kube-scheduler, `10000000000000000000` is −8446744073709551616, and `16Ei` is the largest int64. Written after
 * k8s.io/apimachinery/pkg/api/resource 0.35 (`ParseQuantity`, `Add`, `Cmp`, `ScaledValue`).
 *
 * Quotas count exactly, and have `quantity.ts`.
 */
import { quantityParts, QuantityError } from './quantity.ts';

/** `unscaled` × 10^`exponent`. */
export interface Int64Quantity {
  readonly unscaled: bigint;
  readonly exponent: number;
  /** Whether it is held in a decimal of any length. */
  readonly isLong: boolean;
}

const NANO = -9;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** The largest power of ten that fits an int64. */
const INT64_EXPONENT = 18;
/** Powers of ten by which Kubernetes multiplies at once, without a look at what is lost. */
const FAST_SHIFTS: ReadonlySet<number> = new Set([1, 2, 3, 6, 9]);
/**
 * A power of ten from 64 on leaves nothing in the lower 64 bits, so a larger one is taken for this. Kubernetes calculates all digits,
 * and does not end with 1e2000000000.
 */
const MAX_EXPONENT = 1000;

const ZERO: Int64Quantity = { unscaled: 0n, exponent: 0, isLong: false };

/** Texts are few and repeat in thousands of pods. */
const known = new Map<string, Int64Quantity>();
const MOST_KNOWN = 10_000;
/** Longer ones are not kept: a tenant may write a megabyte. */
const MOST_LETTERS = 24;

/** What the text is; nothing where it is no quantity, because the API server stores none. */
export function int64Quantity(text: string): Int64Quantity {
  const before = known.get(text);
  if (before !== undefined) return before;
  const quantity = read(text);
  if (text.length > MOST_LETTERS) return quantity;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, quantity);
  return quantity;
}

function read(text: string): Int64Quantity {
  try {
    return parsed(text);
  } catch (error) {
    if (error instanceof QuantityError) return ZERO;
    throw error;
  }
}

function parsed(text: string): Int64Quantity {
  const { isNegative, whole, fraction, scale, isShort } = quantityParts(text);
  const sign = isNegative ? -1n : 1n;
  const isBinary = scale.base === 2;
  const digits = BigInt(whole + fraction) << BigInt(isBinary ? scale.exponent : 0);
  const exponent = (isBinary ? 0 : scale.exponent) - fraction.length;
  if (isShort) return { unscaled: sign * digits, exponent, isLong: false };
  if (digits === 0n) return { unscaled: 0n, exponent: Math.max(exponent, -MAX_EXPONENT), isLong: true };
  const nanos = nanosOf(digits, exponent);
  // A binary amount beyond an int64 becomes the largest int64.
  if (isBinary && nanos > MAX_INT64 * 10n ** 9n) return { unscaled: sign * MAX_INT64, exponent: 0, isLong: true };
  return { unscaled: sign * nanos, exponent: NANO, isLong: true };
}

/** Rounded up: whatever is asked for is at least a nano. */
function nanosOf(digits: bigint, exponent: number): bigint {
  const shift = Math.min(exponent, MAX_EXPONENT) - NANO;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  // Less than one: a power of ten with billions of digits is not calculated for that.
  return -shift > digits.toString().length ? 1n : dividedUp(digits, 10n ** BigInt(-shift));
}

function dividedUp(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  if (numerator % denominator === 0n) return quotient;
  return numerator > 0n ? quotient + 1n : quotient - 1n;
}

export function addInt64(a: Int64Quantity, b: Int64Quantity): Int64Quantity {
  if (!a.isLong && !b.isLong) {
    if (b.unscaled === 0n) return a;
    if (a.unscaled === 0n) return b;
    const exponent = Math.min(a.exponent, b.exponent);
    const [x, y] = [multiplied(a, exponent), multiplied(b, exponent)];
    if (x !== null && y !== null && isInt64(x + y)) return { unscaled: x + y, exponent, isLong: false };
  }
  const [x, y, exponent] = aligned(a, b);
  return { unscaled: x + y, exponent, isLong: true };
}

/** The larger one; `a` where they are equal. What is compared with a long decimal becomes one. */
export function maxInt64(a: Int64Quantity, b: Int64Quantity): Int64Quantity {
  const [x, y] = aligned(a, b);
  if (x >= y) return a;
  return a.isLong ? { ...b, isLong: true } : b;
}

/**
 * `Value()` for the exponent 0, `MilliValue()` for −3: rounded up. Where an int64 is too small, the lower 64 bits are left, or 0 of an
 * int64 that was to be multiplied by most powers of ten.
 */
export function int64Value({ unscaled, exponent, isLong }: Int64Quantity, scale: number): bigint {
  const shift = exponent - scale;
  if (isLong) return BigInt.asIntN(64, longValue(unscaled, shift));
  if (shift < 0) return dividedUp(unscaled, 10n ** BigInt(-shift));
  const product = multiplied({ unscaled, exponent }, scale);
  if (product !== null) return product;
  return FAST_SHIFTS.has(shift) ? BigInt.asIntN(64, unscaled * 10n ** BigInt(shift)) : 0n;
}

function longValue(unscaled: bigint, shift: number): bigint {
  // The power of ten is a floating-point number there; amd64 makes the least int64 of one that is too large.
  if (shift > INT64_EXPONENT) return unscaled * MIN_INT64;
  if (shift >= 0) return unscaled * 10n ** BigInt(shift);
  const isFast = unscaled < MAX_INT64 && -shift <= INT64_EXPONENT;
  const whole = isFast ? BigInt.asIntN(64, unscaled) : unscaled;
  const divisor = 10n ** BigInt(-shift);
  const isRounded = whole % divisor !== 0n && (isFast || whole > 0n);
  return whole / divisor + (isRounded ? 1n : 0n);
}

/** With a lower exponent, as an int64; null where that is too small. */
function multiplied({ unscaled, exponent }: Omit<Int64Quantity, 'isLong'>, lower: number): bigint | null {
  if (unscaled === 0n) return 0n;
  if (exponent - lower > INT64_EXPONENT) return null;
  const product = unscaled * 10n ** BigInt(exponent - lower);
  return isInt64(product) ? product : null;
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** Both with the lower of their exponents. */
function aligned(a: Int64Quantity, b: Int64Quantity): readonly [x: bigint, y: bigint, exponent: number] {
  const [ofA, ofB] = [Math.min(a.exponent, MAX_EXPONENT), Math.min(b.exponent, MAX_EXPONENT)];
  const exponent = Math.min(ofA, ofB);
  return [a.unscaled * 10n ** BigInt(ofA - exponent), b.unscaled * 10n ** BigInt(ofB - exponent), exponent];
}
