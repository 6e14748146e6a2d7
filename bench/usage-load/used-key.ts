import { parseQuantity } from '../../domain/kernel/quantity.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';

/** The same few thousand amounts come again and again. */
const amounts = new Map<string, string>();

function amountOf(text: string): string {
  const existing = amounts.get(text);
  if (existing !== undefined) return existing;
  const amount = parseQuantity(text).nano.toString();
  amounts.set(text, amount);
  return amount;
}

/** A text that is the same for two lists exactly when they have the same keys with equal values, however they are spelled. */
export function usedKey(used: ResourceList): string {
  return Object.keys(used)
    .toSorted()
    .map((resource) => `${resource}=${amountOf(used[resource] ?? '0')}`)
    .join(' ');
}
