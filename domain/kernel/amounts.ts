import { parseQuantity, QuantityError, scaledValue } from './quantity.ts';
import { isRecord, ownValue } from './record.ts';

/**
 * Amounts of resources as kube-scheduler calculates with them: `cpu` in millicores, everything else in whole units (bytes,
 * pods, devices), rounded up. A resource that is not named is 0.
 */
export type Amounts = Readonly<Record<string, number>>;

const MILLI = -3;

/** Texts are few and repeat in thousands of pods. */
const known = new Map<string, number>();
const MOST_KNOWN = 10_000;

/**
 * An amount as kube-scheduler calculates with it: `cpu` in millicores, everything else in whole units, rounded up. What is not
 * a quantity counts as 0: the API server stores none.
 */
function amountOf(resource: string, text: unknown): number {
  const key = `${resource === 'cpu' ? 'm' : ''}${String(text)}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const amount = read(resource, String(text));
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, amount);
  return amount;
}

function read(resource: string, text: string): number {
  try {
    return Number(scaledValue(parseQuantity(text), resource === 'cpu' ? MILLI : 0));
  } catch (error) {
    if (error instanceof QuantityError) return 0;
    throw error;
  }
}

/** The amounts of a resource list in an object of Kubernetes. */
export function amountsOf(list: unknown): Amounts {
  if (!isRecord(list)) return {};
  return Object.fromEntries(Object.entries(list).map(([resource, text]) => [resource, amountOf(resource, text)]));
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return merged(a, b, (x, y) => x + y);
}

export function maxAmounts(a: Amounts, b: Amounts): Amounts {
  return merged(a, b, Math.max);
}

function merged(a: Amounts, b: Amounts, pick: (x: number, y: number) => number): Amounts {
  const more = Object.entries(b).map(
    ([resource, amount]) => [resource, pick(ownValue(a, resource) ?? 0, amount)] as const,
  );
  return { ...a, ...Object.fromEntries(more) };
}
