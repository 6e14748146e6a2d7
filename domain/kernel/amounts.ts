import { type Int64Quantity, int64Quantity, int64Value } from './int64-quantity.ts';
import { isRecord, ownValue } from './record.ts';

/**
 * Amounts of resources as kube-scheduler calculates with them: `cpu` in millicores, everything else in whole units (bytes,
 * pods, devices), rounded up. A resource that is not named is 0. All are finite, within an int64, and exact up to 2⁵³.
 */
export type Amounts = Readonly<Record<string, number>>;

const MILLI = -3;
/** The largest number below 2⁶³, which is what int64 ends at. */
const MOST = 2 ** 63 - 1024;

/** The amounts of a resource list in an object of Kubernetes. */
export function amountsOf(list: unknown): Amounts {
  return readAmounts(quantitiesOf(list));
}

/** The quantities of a resource list, for those who calculate with them as kube-scheduler does before it reads amounts. */
export function quantitiesOf(list: unknown): ReadonlyMap<string, Int64Quantity> {
  if (!isRecord(list)) return new Map();
  return new Map(Object.entries(list).map(([resource, text]) => [resource, int64Quantity(String(text))]));
}

/** What kube-scheduler reads from quantities. */
export function readAmounts(quantities: ReadonlyMap<string, Int64Quantity>): Amounts {
  return Object.fromEntries(
    [...quantities].map(([resource, quantity]) => [
      resource,
      finiteAmount(Number(int64Value(quantity, resource === 'cpu' ? MILLI : 0))),
    ]),
  );
}

/** A number of another origin, such as a provider's answer, as an amount. */
export function finiteAmount(value: number): number {
  return Number.isNaN(value) ? 0 : Math.trunc(Math.min(MOST, Math.max(-MOST, value)));
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  const more = Object.entries(b).map(
    ([resource, amount]) => [resource, (ownValue(a, resource) ?? 0) + amount] as const,
  );
  return { ...a, ...Object.fromEntries(more) };
}
