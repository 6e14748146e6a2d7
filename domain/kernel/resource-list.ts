/**
 * Amounts by resource name, as in a ResourceQuota's `hard` and `used`, with the arithmetic of Kubernetes'
 * `pkg/quota/v1`. The amounts are canonical quantity texts, because lists cross Temporal payloads as JSON; every
 * comparison is by value.
 */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  isSameAmount,
  isZero,
  multiplyByRatio,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from './quantity.ts';

export type ResourceList = Readonly<Record<string, string>>;

/** Each key of the list with its amount; keys sorted, so that what is built from them has one order. */
export function resourceEntries(list: ResourceList): readonly (readonly [resource: string, amount: Quantity])[] {
  return Object.keys(list)
    .toSorted()
    .map((resource) => [resource, quantityIn(list, resource)]);
}

const ZERO: Quantity = { nano: 0n, format: 'DecimalSI' };

/**
 * The amount of a resource in the list, zero when it is not there.
 *
 * @throws {QuantityError} when the text in the list is no quantity.
 */
export function quantityIn(list: ResourceList, resource: string): Quantity {
  const text = Object.hasOwn(list, resource) ? list[resource] : undefined;
  return text === undefined ? ZERO : parseQuantity(text);
}

/** A list from amounts, canonical and with its keys sorted. */
export function resourceList(entries: Iterable<readonly [string, Quantity]>): ResourceList {
  const texts = [...entries].map(([resource, amount]) => [resource, formatQuantity(amount)] as const);
  return Object.fromEntries(texts.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function union(a: ResourceList, b: ResourceList): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

/** a + b over the keys of both. */
export function addLists(a: ResourceList, b: ResourceList): ResourceList {
  return resourceList(union(a, b).map((key) => [key, addQuantities(quantityIn(a, key), quantityIn(b, key))]));
}

/** a − b over the keys of both: a key that only `b` has becomes negative. */
export function subtractLists(a: ResourceList, b: ResourceList): ResourceList {
  return resourceList(union(a, b).map((key) => [key, subtractQuantities(quantityIn(a, key), quantityIn(b, key))]));
}

/** a − b over the keys of both, with zero in place of every negative amount. */
export function subtractListsToZero(a: ResourceList, b: ResourceList): ResourceList {
  return resourceList(
    resourceEntries(subtractLists(a, b)).map(([key, amount]) => [key, amount.nano < 0n ? ZERO : amount]),
  );
}

/** Every amount of the list times a whole number: what so many of one thing are charged. */
export function multiplyList(list: ResourceList, times: number): ResourceList {
  return resourceList(resourceEntries(list).map(([key, amount]) => [key, multiplyByRatio(amount, BigInt(times), 1n)]));
}

/** The greater amount of each key (the right one where they are equal); a key that one list lacks has the other's amount. */
export function maxLists(a: ResourceList, b: ResourceList): ResourceList {
  return resourceList(
    union(a, b).map((key) => {
      if (!Object.hasOwn(a, key)) {
        return [key, quantityIn(b, key)];
      }
      const left = quantityIn(a, key);
      const right = quantityIn(b, key);
      return [key, Object.hasOwn(b, key) && compareQuantities(right, left) >= 0 ? right : left];
    }),
  );
}

/** The list with only the named keys. */
export function maskList(list: ResourceList, names: Iterable<string>): ResourceList {
  const kept = new Set(names);
  const named = Object.keys(list).filter((key) => kept.has(key));
  return resourceList(named.map((key) => [key, quantityIn(list, key)]));
}

/** The list without what cannot be read: a quota may have any amount that Kubernetes takes, and one key stops no other. */
export function readableList(list: ResourceList): ResourceList {
  return maskList(
    list,
    Object.keys(list).filter((key) => isQuantity(list[key] ?? '')),
  );
}

/** The keys of `a` whose amount is above that of `b`; a key that either list lacks is never exceeded. */
export function exceededKeys(a: ResourceList, b: ResourceList): readonly string[] {
  return resourceEntries(a)
    .filter(([key, amount]) => Object.hasOwn(b, key) && compareQuantities(amount, quantityIn(b, key)) > 0)
    .map(([key]) => key);
}

/** Whether the lists have the same keys, with equal values; a value that cannot be read equals its own text only. */
export function equalLists(a: ResourceList, b: ResourceList): boolean {
  return (
    Object.keys(a).length === Object.keys(b).length &&
    Object.entries(a).every(([key, text]) => Object.hasOwn(b, key) && isSameAmount(text, b[key] ?? ''))
  );
}

/** The list without the keys whose amount is zero. */
export function withoutZeros(list: ResourceList): ResourceList {
  return resourceList(resourceEntries(list).filter(([, amount]) => !isZero(amount)));
}

/** The keys whose amount is below zero. */
export function negativeKeys(list: ResourceList): readonly string[] {
  return resourceEntries(list)
    .filter(([, amount]) => amount.nano < 0n)
    .map(([key]) => key);
}

/** A list as numbers, for chains of sums that would else read and print every step of the way. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** The amounts of a list, each text read once. */
export function amountsIn(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([key, text]) => [key, parseQuantity(text)]));
}

/** As `addLists`. */
export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a);
  for (const [key, amount] of b) {
    const present = sum.get(key);
    sum.set(key, present === undefined ? amount : addQuantities(present, amount));
  }
  return sum;
}

/** As `maxLists`. */
export function maxAmounts(a: Amounts, b: Amounts): Amounts {
  const max = new Map(a);
  for (const [key, amount] of b) {
    const present = max.get(key);
    if (present === undefined || compareQuantities(amount, present) >= 0) {
      max.set(key, amount);
    }
  }
  return max;
}
