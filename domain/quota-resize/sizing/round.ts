/** Rounds a limit as a person would: up to the resource's natural step, in the unit of the manifest. */
import {
  ceilTo,
  compareQuantities,
  formatQuantity,
  isQuantity,
  maxQuantity,
  multiplyByRatio,
  parseQuantity,
  type Quantity,
  quantityOf,
  scaledValue,
} from '../../kernel/quantity.ts';

const BINARY_UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const DECIMAL_UNITS = ['k', 'M', 'G', 'T', 'P', 'E'] as const;

const BYTES = /^(?:(?:requests|limits)\.)?(?:memory|storage|ephemeral-storage|hugepages-.+)$/;

type Nature = 'cpu' | 'bytes' | 'count';

function natureOf(resource: string): Nature {
  // Limits of a storage class: gold.storageclass.storage.k8s.io/requests.storage
  const name = resource.replace(/^[^/]+\.storageclass\.storage\.k8s\.io\//, '');
  if (/^(?:(?:requests|limits)\.)?cpu$/.test(name)) {
    return 'cpu';
  }
  return BYTES.test(name) ? 'bytes' : 'count';
}

/**
 * Whether the resource is counted in whole pieces: objects, ports and extended resources such as GPUs, unlike cpu and
 * bytes.
 */
export function isCountable(resource: string): boolean {
  return natureOf(resource) === 'count';
}

function suffixOf(written: string): string {
  return written.trim().replace(/^[+-]?[0-9.]+/, '');
}

/** Whole cores if possible, otherwise milli-cores; a limit in milli-cores stays in milli-cores. */
function roundCpu(exact: Quantity, suffix: string): string {
  const milli = scaledValue(ceilTo(exact, parseQuantity('1m')), -3);
  const inMilli = suffix === 'm' || suffix === 'u' || suffix === 'n';
  return inMilli || milli % 1000n !== 0n ? `${milli}m` : `${milli / 1000n}`;
}

/** Huge pages can only be used as a whole. */
function wholePages(resource: string, exact: Quantity): Quantity {
  const page = /hugepages-(.+)$/.exec(resource)?.[1];
  if (page === undefined || !isQuantity(page) || parseQuantity(page).nano <= 0n) {
    return exact;
  }
  return ceilTo(exact, parseQuantity(page));
}

/**
 * A whole number of `units[written]` if the amount is one, otherwise rounded up to a whole number of the next smaller
 * unit. The mega unit is the smallest one used: an amount in it is rounded up.
 */
function roundInUnits(exact: Quantity, units: readonly string[], written: number): string {
  const unit = units[written] ?? '';
  const size = parseQuantity(`1${unit}`);
  const rounded = ceilTo(exact, size);
  if (rounded.nano === exact.nano || written <= 1) {
    return `${rounded.nano / size.nano}${unit}`;
  }
  const below = units[written - 1] ?? '';
  const step = parseQuantity(`1${below}`);
  return `${ceilTo(exact, step).nano / step.nano}${below}`;
}

function roundBytes(resource: string, exact: Quantity, suffix: string): string {
  const amount = wholePages(resource, exact);
  const binary = BINARY_UNITS.findIndex((unit) => unit === suffix);
  if (binary >= 0) {
    return roundInUnits(amount, BINARY_UNITS, binary);
  }
  const decimal = DECIMAL_UNITS.findIndex((unit) => unit === suffix);
  if (decimal >= 0) {
    return roundInUnits(amount, DECIMAL_UNITS, decimal);
  }
  if (/^[eE]/.test(suffix)) {
    return formatQuantity({ ...ceilTo(amount, parseQuantity('1M')), format: 'DecimalExponent' });
  }
  // Bytes and thousandths of bytes are too small to be useful units.
  return formatQuantity({ ...ceilTo(amount, parseQuantity('1Mi')), format: 'BinarySI' });
}

/**
 * The text for a limit of at least `exact`.
 *
 * Natural steps: a thousandth of a core; a mebibyte, or a megabyte in a manifest with decimal units; one piece of
 * anything else. The unit is that of `written`, the limit's text in the manifest ("2", "2000m", "10Gi", "10G"), or the
 * next smaller one if that avoids a fraction: 10Gi raised by a fifth is 12Gi, and 1Gi is 1229Mi.
 */
export function roundLimitUp(resource: string, exact: Quantity, written: string): string {
  const suffix = suffixOf(written);
  const nature = natureOf(resource);
  if (nature === 'cpu') {
    return roundCpu(exact, suffix);
  }
  if (nature === 'bytes') {
    return roundBytes(resource, exact, suffix);
  }
  const unit = quantityOf(1n);
  return `${ceilTo(exact, unit).nano / unit.nano}`;
}

/**
 * The most that a file has for a limit of `exact`: where it takes whole numbers only, the next one without a unit. No unit of
 * the file counts, since it is whoever writes the limit that chooses it.
 */
export function inWholeNumbers(resource: string, exact: Quantity): Quantity {
  return maxQuantity(ceilTo(exact, quantityOf(1n)), parseQuantity(roundLimitUp(resource, exact, '')));
}

/** A round number may exceed the requirement by at most a twentieth. */
const TIDY_SHARE = 20n;

const POWERS_OF_TEN = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((exponent) => 10n ** BigInt(exponent));
const POWERS_OF_TWO = Array.from({ length: 41 }, (_, index) => 2n ** BigInt(40 - index));

/** Steps that make round numbers of a resource, the coarsest first, the natural step last. */
function tidySteps(resource: string, suffix: string): readonly Quantity[] {
  const steps = (unit: string, factors: readonly bigint[]): readonly Quantity[] =>
    factors.map((factor) => multiplyByRatio(parseQuantity(unit), factor, 1n));
  const nature = natureOf(resource);
  // No rounding for pieces, each of which may be expensive (a GPU, a load balancer), or for huge pages, which have
  // their own step.
  if (nature === 'count' || /hugepages-/.test(resource)) {
    return [];
  }
  if (nature === 'cpu') {
    return steps('1m', POWERS_OF_TEN);
  }
  const isDecimal = DECIMAL_UNITS.some((unit) => unit === suffix) || /^[eE]/.test(suffix);
  return isDecimal ? steps('1M', POWERS_OF_TEN) : steps('1Mi', POWERS_OF_TWO);
}

/**
 * A round number of at least `exact`: a multiple of the largest step (a power of ten of milli-cores or megabytes, a
 * power of two of mebibytes) that adds at most a twentieth. 3751m becomes 3800m, 4.8Gi becomes 5Gi; pieces are not
 * rounded.
 *
 * @param written the limit's text in the manifest, for its family of units.
 */
export function tidyUp(resource: string, exact: Quantity, written: string): Quantity {
  const isTidy = (rounded: Quantity): boolean => (rounded.nano - exact.nano) * TIDY_SHARE <= exact.nano;
  return (
    tidySteps(resource, suffixOf(written))
      .map((step) => ceilTo(exact, step))
      .find(isTidy) ?? exact
  );
}

/** The text for a limit of at least `exact` and at most `maximum`; the maximum may need a finer unit. */
export function roundLimitWithin(resource: string, exact: Quantity, written: string, maximum: Quantity): string {
  const text = roundLimitUp(resource, exact, written);
  if (compareQuantities(parseQuantity(text), maximum) <= 0) {
    return text;
  }
  return isCountable(resource) ? `${maximum.nano / quantityOf(1n).nano}` : formatQuantity(maximum);
}

/**
 * Formats a multiple of the step: in the manifest's unit if it stays a multiple there, otherwise in the step's unit.
 * Example: in a manifest that uses G, 12Gi is no whole number of G or M, so rounding would miss a step of 4Gi.
 */
export function inSteps(resource: string, multiple: Quantity, step: Quantity, written: string): string {
  const texts = [written, formatQuantity(step)].map((unit) => roundLimitUp(resource, multiple, unit));
  return texts.find((text) => parseQuantity(text).nano % step.nano === 0n) ?? texts[0] ?? '';
}
