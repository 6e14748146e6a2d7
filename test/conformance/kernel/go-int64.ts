/**
 * What the accessors of Go's `resource.Quantity` return where they leave exact arithmetic: its int64 conversions, which
 * overflow, and the number of decimals it happens to carry. Headroom has no such accessors; the cases ask for them.
 */
import { parseQuantity, quantityOf, type Quantity } from '../../../domain/kernel/quantity.ts';

const NANO_DIGITS = 9;
const MAX_INT64 = 2n ** 63n - 1n;

/** A quantity as Go holds it: an int64 with a power of ten, or a decimal of any length. */
interface GoQuantity {
  readonly unscaled: bigint;
  readonly exponent: number;
  readonly inDecimal: boolean;
}

/** The power of ten of a decimal suffix or exponent; binary suffixes have none. */
function exponentOf(suffix: string): number {
  const known = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].indexOf(suffix);
  return known >= 0 ? known * 3 - NANO_DIGITS : Number(suffix.slice(1));
}

function goQuantity(text: string): GoQuantity {
  const { nano } = parseQuantity(text);
  const [, rawWhole = '', fraction = '', suffix = ''] = /^[+-]?([0-9]*)(?:\.([0-9]*))?(.*)$/.exec(text) ?? [];
  const whole = rawWhole.replace(/^0+/, '') || '0';
  const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].indexOf(suffix) + 1;
  const exponent = (binary > 0 ? 0 : exponentOf(suffix)) - fraction.length;
  const short =
    binary > 0
      ? fraction === '' && 14 - whole.length - 3 * binary >= 0
      : whole.length + fraction.length <= 18 && exponent >= -NANO_DIGITS;
  if (short) {
    const digits = BigInt(whole + fraction) * (binary > 0 ? 1024n ** BigInt(binary) : 1n);
    return { unscaled: text.startsWith('-') ? -digits : digits, exponent, inDecimal: false };
  }
  if (nano === 0n) {
    return { unscaled: 0n, exponent, inDecimal: true };
  }
  const capped = binary > 0 && (nano === quantityOf(MAX_INT64).nano || nano === quantityOf(-MAX_INT64).nano);
  return capped
    ? { unscaled: nano < 0n ? -MAX_INT64 : MAX_INT64, exponent: 0, inDecimal: true }
    : { unscaled: nano, exponent: -NANO_DIGITS, inDecimal: true };
}

const int64 = (value: bigint) => BigInt.asIntN(64, value);

/** int64 × 10^shift as Go's scale helpers do it: some powers wrap around, the others give 0 on overflow. */
function scaleUp(value: bigint, shift: number): bigint {
  const scaled = value * 10n ** BigInt(shift);
  const wraps = [0, 1, 2, 3, 6, 9].includes(shift);
  return wraps || int64(scaled) === scaled ? int64(scaled) : 0n;
}

/** int64 ÷ 10^shift, rounded away from zero. */
function scaleDown(value: bigint, shift: number): bigint {
  const divisor = 10n ** BigInt(shift);
  const rounded = value / divisor;
  if (value % divisor === 0n) {
    return rounded;
  }
  return value > 0n ? rounded + 1n : rounded - 1n;
}

/** `ScaledValue(exponent)`: a decimal is rounded up even where it is negative, and cut to 64 bits. */
export function goScaledValue(text: string, exponent: number): bigint {
  const held = goQuantity(text);
  const shift = held.exponent - exponent;
  if (!held.inDecimal) {
    return shift >= 0 ? scaleUp(held.unscaled, shift) : scaleDown(held.unscaled, -shift);
  }
  if (shift >= 0) {
    return int64(int64(held.unscaled) * 10n ** BigInt(shift));
  }
  const divisor = 10n ** BigInt(-shift);
  if (held.unscaled < MAX_INT64) {
    const cut = int64(held.unscaled);
    return cut % divisor === 0n ? cut / divisor : cut / divisor + 1n;
  }
  return int64(held.unscaled / divisor + (held.unscaled % divisor === 0n ? 0n : 1n));
}

/** `AsDec().String()`. */
export function goDecimalText(text: string): string {
  const { unscaled, exponent } = goQuantity(text);
  const sign = unscaled < 0n ? '-' : '';
  const digits = `${unscaled < 0n ? -unscaled : unscaled}`;
  if (exponent >= 0) {
    return unscaled === 0n ? '0' : sign + digits + '0'.repeat(exponent);
  }
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** The power of ten that a decimal suffix stands for. */
export function suffixExponent(suffix: string): number {
  return exponentOf(suffix);
}

/** unscaled × 10^exponent as a quantity of that format. */
export function scaledQuantity(unscaled: bigint, exponent: number, format: Quantity['format']): Quantity {
  const shift = exponent + NANO_DIGITS;
  const nano = shift >= 0 ? unscaled * 10n ** BigInt(shift) : scaleDown(unscaled, -shift);
  return { nano, format };
}
