/** When an answer is the expected one. */
import { isDeepStrictEqual } from 'node:util';
import { compareQuantities, isQuantity, parseQuantity } from '../../domain/kernel/quantity.ts';

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same JSON, whatever the order of keys. */
export function sameJson(expected: unknown, got: unknown): boolean {
  return isDeepStrictEqual(expected, got);
}

/** The same JSON for every key that is expected; what else the answer says is not asked about. */
export function sameExpectedKeys(expected: unknown, got: unknown): boolean {
  return (
    isRecord(expected) && isRecord(got) && Object.entries(expected).every(([key, value]) => sameJson(value, got[key]))
  );
}

/** The same amount: a quantity is compared by value, never as a text. */
export function sameAmount(expected: unknown, got: unknown): boolean {
  return (
    typeof expected === 'string' &&
    typeof got === 'string' &&
    isQuantity(expected) &&
    isQuantity(got) &&
    compareQuantities(parseQuantity(expected), parseQuantity(got)) === 0
  );
}

/** The same keys with the same amounts. */
export function sameAmounts(expected: unknown, got: unknown): boolean {
  return (
    isRecord(expected) &&
    isRecord(got) &&
    isDeepStrictEqual(Object.keys(expected).toSorted(), Object.keys(got).toSorted()) &&
    Object.entries(expected).every(([key, value]) => sameAmount(value, got[key]))
  );
}

function sorted(values: readonly unknown[]): readonly string[] {
  return values.map((value) => JSON.stringify(value)).toSorted();
}

/** The same members, whatever their order. */
export function sameMembers(expected: unknown, got: unknown): boolean {
  return Array.isArray(expected) && Array.isArray(got) && isDeepStrictEqual(sorted(expected), sorted(got));
}
