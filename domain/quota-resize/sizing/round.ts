/** A limit as a person would write it: rounded up to the resource's natural step, in the unit of the manifest. */
import {
  ceilTo,
  compareQuantities,
  formatQuantity,
  isQuantity,
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
  // A storage class's own limits: gold.storageclass.storage.k8s.io/requests.storage
  const name = resource.replace(/^[^/]+\.storageclass\.storage\.k8s\.io\//, '');
  if (/^(?:(?:requests|limits)\.)?cpu$/.test(name)) {
    return 'cpu';
  }
  return BYTES.test(name) ? 'bytes' : 'count';
}

/** Whether the resource comes in whole pieces: objects, ports and extended resources such as GPUs, unlike cpu and bytes. */
export function isCountable(resource: string): boolean {
  return natureOf(resource) === 'count';
}

function suffixOf(written: string): string {
  return written.trim().replace(/^[+-]?[0-9.]+/, '');
}

/** Whole cores where it comes out so, else milli-cores; milli-cores stay milli-cores. */
function roundCpu(exact: Quantity, suffix: string): string {
  const milli = scaledValue(ceilTo(exact, parseQuantity('1m')), -3);
  const inMilli = suffix === 'm' || suffix === 'u' || suffix === 'n';
  return inMilli || milli % 1000n !== 0n ? `${milli}m` : `${milli / 1000n}`;
}

/** Huge pages are handed out whole. */
function wholePages(resource: string, exact: Quantity): Quantity {
  const page = /hugepages-(.+)$/.exec(resource)?.[1];
  if (page === undefined || !isQuantity(page) || parseQuantity(page).nano <= 0n) {
    return exact;
  }
  return ceilTo(exact, parseQuantity(page));
}

/**
 * A whole number of `units[written]` where the amount is one, else rounded up to a whole number of the unit below. The
 * mega unit is fine enough for any limit: from there on it is rounded up in the unit itself.
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
  // Plain bytes, or thousandths of them, are nobody's unit.
  return formatQuantity({ ...ceilTo(amount, parseQuantity('1Mi')), format: 'BinarySI' });
}

/**
 * The text to write for a limit of at least `exact`.
 *
 * Natural steps: a thousandth of a core; a mebibyte, or a megabyte where the manifest counts in decimal units; one
 * piece of anything else. The unit is that of `written`, the limit's text in the manifest ("2", "2000m", "10Gi", "10G");
 * in a unit that would need a fraction, the next smaller one: 10Gi raised by a fifth is 12Gi, and 1Gi is 1229Mi.
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
  const one = quantityOf(1n);
  return `${ceilTo(exact, one).nano / one.nano}`;
}

/** How much more than needed a tidy number may be: a twentieth of it. */
const TIDY_SHARE = 20n;

const POWERS_OF_TEN = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((exponent) => 10n ** BigInt(exponent));
const POWERS_OF_TWO = Array.from({ length: 41 }, (_, index) => 2n ** BigInt(40 - index));

/** The steps that make round numbers of a resource, the coarsest first, the natural one last. */
function tidySteps(resource: string, suffix: string): readonly Quantity[] {
  const steps = (unit: string, factors: readonly bigint[]): readonly Quantity[] =>
    factors.map((factor) => multiplyByRatio(parseQuantity(unit), factor, 1n));
  const nature = natureOf(resource);
  // Every piece may be dear, a GPU or a load balancer, and huge pages have a step of their own.
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
 * A round number of at least `exact`: a multiple of the largest step (a power of ten of milli-cores or megabytes, a power of
 * two of mebibytes) that adds no more than a twentieth. 3751m is 3800m, 4.8Gi is 5Gi; pieces stay as they are.
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

/** The text to write for a limit of at least `exact` and never above `maximum`, which may need a finer unit. */
export function roundLimitWithin(resource: string, exact: Quantity, written: string, maximum: Quantity): string {
  const text = roundLimitUp(resource, exact, written);
  if (compareQuantities(parseQuantity(text), maximum) <= 0) {
    return text;
  }
  return isCountable(resource) ? `${maximum.nano / quantityOf(1n).nano}` : formatQuantity(maximum);
}
