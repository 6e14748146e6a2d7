/**
 * Kubernetes resource quantities ("500m", "1.5Gi", "12e6"), read and printed as apimachinery does and held exactly.
 *
 * The value is a whole number of nanos, the finest step that Kubernetes keeps, so that sums and comparisons never pass
 * through a floating-point number.
 */

/** The family of suffixes a quantity is printed in: 12M, 12Mi, 12e6. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An exact amount. Two quantities are the same amount when their `nano` is the same, whatever their format. */
export interface Quantity {
  /** The amount in units of 10⁻⁹. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
  /**
   * The text it was read from, where Kubernetes goes on printing that text although it is not canonical ("+1Ki",
   * "5.444T"). Absent after any arithmetic.
   */
  readonly spelling?: string;
}

/** A text that is not a quantity. Its message is Kubernetes' own. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const NANO_EXPONENT = -9;
const NANOS_PER_UNIT = 10n ** 9n;

/** Kubernetes caps a binary quantity at the largest int64; decimal ones it leaves alone. */
const MAX_INT64 = 2n ** 63n - 1n;

/** Kubernetes keeps up to this many decimal digits as an int64, and longer numbers as a decimal of its own. */
const MAX_INT64_DIGITS = 18;

/**
 * The largest power of ten that is read. Kubernetes would try to expand 1e2000000000, and so would BigInt, for minutes;
 * nothing real comes near.
 */
const MAX_EXPONENT = 1000;

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

const FORMAT_MESSAGE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC_MESSAGE = 'unable to parse numeric part of quantity';
const SUFFIX_MESSAGE = "unable to parse quantity's suffix";

// What Kubernetes' scanner accepts, which is wider than the expression it quotes: "Ki" is a zero.
const SCANNER = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;
const EXPONENT_SUFFIX = /^[eE]([+-]?[0-9]+)$/;

type Scale =
  | { readonly base: 10; readonly exponent: number; readonly format: 'DecimalSI' | 'DecimalExponent' }
  | { readonly base: 2; readonly exponent: number; readonly format: 'BinarySI' };

/** The meaning of a suffix, or undefined when Kubernetes knows no such suffix. */
function scaleOf(suffix: string): Scale | undefined {
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix as (typeof DECIMAL_SUFFIXES)[number]);
  if (decimal >= 0) {
    return { base: 10, exponent: decimal * 3 + NANO_EXPONENT, format: 'DecimalSI' };
  }
  const binary = BINARY_SUFFIXES.indexOf(suffix as (typeof BINARY_SUFFIXES)[number]);
  if (binary > 0) {
    return { base: 2, exponent: binary * 10, format: 'BinarySI' };
  }
  const written = EXPONENT_SUFFIX.exec(suffix)?.[1];
  // Kubernetes reads an int64 and keeps its lower half: 1e4294967296 is 1.
  const exponent = written === undefined ? null : BigInt(written.replace('+', ''));
  if (exponent === null || BigInt.asIntN(64, exponent) !== exponent) return undefined;
  return { base: 10, exponent: Number(BigInt.asIntN(32, exponent)), format: 'DecimalExponent' };
}

/** `numerator / denominator` rounded away from zero; the denominator is positive. */
function divideAwayFromZero(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  if (numerator % denominator === 0n) {
    return quotient;
  }
  return numerator > 0n ? quotient + 1n : quotient - 1n;
}

/** `digits × 10^exponent` in nanos, rounded away from zero. */
function decimalToNano(digits: bigint, exponent: number): bigint {
  const shift = exponent - NANO_EXPONENT;
  return shift >= 0 ? digits * 10n ** BigInt(shift) : divideAwayFromZero(digits, 10n ** BigInt(-shift));
}

/** Whether Kubernetes holds the number in an int64, its fast path, and not in a decimal of any length. */
function fitsInt64(scale: Scale, whole: string, fraction: string): boolean {
  if (scale.base === 2) {
    // 2^10 is about three decimal digits, and one more is kept in reserve.
    return fraction === '' && 15 - whole.length - (scale.exponent / 10) * 3 - 1 >= 0;
  }
  return whole.length + fraction.length <= MAX_INT64_DIGITS && scale.exponent - fraction.length >= NANO_EXPONENT;
}

/**
 * Whether Kubernetes prints such a number as it was written, because it looks canonical at a glance (ParseQuantity in
 * apimachinery).
 */
function keepsSpelling(scale: Scale, whole: string, fraction: string): boolean {
  if (scale.base === 2) {
    return (BigInt(whole) & 7n) !== 0n;
  }
  const digits = whole + fraction;
  return (scale.exponent - fraction.length) % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

/** The texts that were read last: a cluster has few different ones, and each is read again with every change of usage. */
const read = new Map<string, Quantity>();
/** So many are kept, and none that is longer than those that controllers write: who writes one may make up any text. */
const MAX_KEPT = 200;
const MAX_KEPT_LENGTH = 24;

/**
 * Reads a quantity as Kubernetes does: an amount finer than a nano is rounded away from zero to one, a binary amount is
 * capped at ±(2⁶³−1), and a binary amount below one becomes decimal.
 *
 * @throws {QuantityError} with Kubernetes' own message when the text is not a quantity.
 */
export function parseQuantity(text: string): Quantity {
  const kept = read.get(text);
  if (kept !== undefined) return kept;
  const quantity = newQuantity(text);
  if (text.length > MAX_KEPT_LENGTH) return quantity;
  if (read.size >= MAX_KEPT) read.clear();
  read.set(text, quantity);
  return quantity;
}

/** What a text says, before it is calculated. */
export interface QuantityParts {
  readonly isNegative: boolean;
  /** Without leading zeros. */
  readonly whole: string;
  readonly fraction: string;
  readonly scale: Scale;
  /** Whether Kubernetes holds it in an int64. */
  readonly isShort: boolean;
}

/** @throws {QuantityError} with Kubernetes' own message when the text is not a quantity. */
export function quantityParts(text: string): QuantityParts {
  const match = text === '' ? null : SCANNER.exec(text);
  if (match === null) {
    throw new QuantityError(FORMAT_MESSAGE);
  }
  const [, sign = '', rawWhole = '', fraction = '', suffix = ''] = match;
  const scale = scaleOf(suffix);
  if (scale === undefined) {
    throw new QuantityError(SUFFIX_MESSAGE);
  }
  const whole = rawWhole.replace(/^0+/, '') || '0';
  const isShort = fitsInt64(scale, whole, fraction);
  if (rawWhole + fraction === '' && !isShort) {
    throw new QuantityError(NUMERIC_MESSAGE);
  }
  return { isNegative: sign === '-', whole, fraction, scale, isShort };
}

function newQuantity(text: string): Quantity {
  const { isNegative, whole, fraction, scale, isShort } = quantityParts(text);
  if (Math.abs(scale.exponent) > MAX_EXPONENT) {
    throw new QuantityError(SUFFIX_MESSAGE);
  }
  const digits = BigInt(whole + fraction);
  const exponent = (scale.base === 10 ? scale.exponent : 0) - fraction.length;
  const scaled = scale.base === 2 ? digits << BigInt(scale.exponent) : digits;
  let magnitude = decimalToNano(scaled, exponent);
  let format: QuantityFormat = scale.format;
  if (format === 'BinarySI') {
    const cap = MAX_INT64 * NANOS_PER_UNIT;
    magnitude = magnitude > cap ? cap : magnitude;
    format = magnitude > 0n && magnitude < NANOS_PER_UNIT ? 'DecimalSI' : format;
  }
  const nano = isNegative ? -magnitude : magnitude;
  const canonical: Quantity = { nano, format };
  const spelled = isShort && keepsSpelling(scale, whole, fraction) && formatQuantity(canonical) !== text;
  return spelled ? { ...canonical, spelling: text } : canonical;
}

/** The quantity of a text; null when it is none, or one like 1e1002, which Kubernetes accepts and nobody here reads. */
export function quantityOrNull(text: string): Quantity | null {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) {
      return null;
    }
    throw error;
  }
}

/** Whether the text is a quantity that can be read. */
export function isQuantity(text: string): boolean {
  return quantityOrNull(text) !== null;
}

/** Whether two texts are the same amount; those that cannot be read are only when they are the same text. */
export function isSameAmount(a: string, b: string): boolean {
  return a === b || (quantityOrNull(a)?.nano ?? a) === (quantityOrNull(b)?.nano ?? b);
}

/** The quantity of so many whole units, such as a count of pods or of bytes. */
export function quantityOf(units: bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
  return { nano: units * NANOS_PER_UNIT, format };
}

function formatBinary(units: bigint): string {
  let mantissa = units;
  let step = 0;
  while (mantissa % 1024n === 0n && step < BINARY_SUFFIXES.length - 1) {
    mantissa /= 1024n;
    step += 1;
  }
  return `${mantissa}${BINARY_SUFFIXES[step]}`;
}

/**
 * The canonical text: no fraction, the largest suffix that divides the amount. A binary amount below 1024 or with a
 * fraction is printed with decimal suffixes, so that nothing is lost.
 */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) {
    return '0';
  }
  if (format === 'BinarySI' && nano % NANOS_PER_UNIT === 0n) {
    const units = nano / NANOS_PER_UNIT;
    if (units >= 1024n || units <= -1024n) {
      return formatBinary(units);
    }
  }
  let mantissa = nano;
  let step = 0;
  const lastStep = format === 'DecimalExponent' ? Number.POSITIVE_INFINITY : DECIMAL_SUFFIXES.length - 1;
  while (mantissa % 1000n === 0n && step < lastStep) {
    mantissa /= 1000n;
    step += 1;
  }
  if (format !== 'DecimalExponent') {
    return `${mantissa}${DECIMAL_SUFFIXES[step]}`;
  }
  const exponent = step * 3 + NANO_EXPONENT;
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

/** −1, 0 or 1 as `a` is less than, equal to or greater than `b`, by value. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (a.nano === b.nano) {
    return 0;
  }
  return a.nano < b.nano ? -1 : 1;
}

/** The greater of the two by value; `a` when they are equal. */
export function maxQuantity(a: Quantity, b: Quantity): Quantity {
  return compareQuantities(a, b) >= 0 ? a : b;
}

export function isZero(quantity: Quantity): boolean {
  return quantity.nano === 0n;
}

/** A sum keeps the format of its left operand, unless that is zero: then it takes the right one's, as in Kubernetes. */
function formatOfSum(a: Quantity, b: Quantity): QuantityFormat {
  return isZero(a) ? b.format : a.format;
}

/** a + b, exactly. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: formatOfSum(a, b) };
}

/** a − b, exactly; it may be negative. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano - b.nano, format: formatOfSum(a, b) };
}

/**
 * quantity × numerator / denominator, exactly, and rounded away from zero only where it would be finer than a nano.
 *
 * @throws {RangeError} when the denominator is not positive.
 */
export function multiplyByRatio(quantity: Quantity, numerator: bigint, denominator: bigint): Quantity {
  if (denominator <= 0n) {
    throw new RangeError(`a ratio needs a positive denominator, got ${denominator}`);
  }
  return { nano: divideAwayFromZero(quantity.nano * numerator, denominator), format: quantity.format };
}

/**
 * The smallest multiple of `step` that is not below the quantity.
 *
 * @throws {RangeError} when the step is not positive.
 */
export function ceilTo(quantity: Quantity, step: Quantity): Quantity {
  if (step.nano <= 0n) {
    throw new RangeError(`a step must be positive, got ${formatQuantity(step)}`);
  }
  const floor = quantity.nano / step.nano;
  const steps = quantity.nano > 0n && quantity.nano % step.nano !== 0n ? floor + 1n : floor;
  return { nano: steps * step.nano, format: quantity.format };
}

/** quantity ÷ 10^exponent as a whole number, rounded away from zero: `scaledValue(q, -3)` is its milli-units. */
export function scaledValue(quantity: Quantity, exponent: number): bigint {
  const shift = exponent - NANO_EXPONENT;
  return shift <= 0 ? quantity.nano * 10n ** BigInt(-shift) : divideAwayFromZero(quantity.nano, 10n ** BigInt(shift));
}

/** The quantity rounded away from zero to a multiple of 10^exponent; exponents below −9 change nothing. */
export function roundUp(quantity: Quantity, exponent: number): Quantity {
  if (exponent <= NANO_EXPONENT) {
    return quantity;
  }
  const step = 10n ** BigInt(exponent - NANO_EXPONENT);
  return quantity.nano % step === 0n
    ? quantity
    : { nano: divideAwayFromZero(quantity.nano, step) * step, format: quantity.format };
}
