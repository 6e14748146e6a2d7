/** Whether an object is as it was applied. */
import { isRecord } from '../../kernel/record.ts';
import { compareQuantities, isQuantity, parseQuantity } from '../../kernel/quantity.ts';

/**
 * Whether an object has everything that is applied. It may have more: what the API server fills in, and what others add. An
 * apply that would change nothing is left out by this.
 */
export function hasAll(live: unknown, wanted: unknown): boolean {
  if (isRecord(wanted)) {
    // An empty object may be left out by the API server.
    if (Object.keys(wanted).length === 0) return live === undefined || isRecord(live);
    return isRecord(live) && Object.entries(wanted).every(([key, value]) => hasField(live[key], value, key));
  }
  if (Array.isArray(wanted)) return hasItems(Array.isArray(live) ? live : [], wanted);
  return live === wanted || isSameAmount(live, wanted);
}

/** Maps of any keys, which keep an empty value. */
const MAPS: ReadonlySet<string> = new Set(['labels', 'annotations', 'matchLabels', 'data']);

function hasField(live: unknown, wanted: unknown, key: string): boolean {
  if (isRecord(wanted) && MAPS.has(key) && Object.keys(wanted).length > 0) {
    return isRecord(live) && Object.entries(wanted).every(([name, value]) => hasAll(live[name], value));
  }
  // Of any other field, the API server may leave an empty text out.
  return (wanted === '' && live === undefined) || hasAll(live, wanted);
}

/**
 * Lists of named items, such as containers, may have more of them, and several of a name, such as a volume that is mounted at two
 * paths; of every other list the length counts.
 */
function hasItems(live: readonly unknown[], wanted: readonly unknown[]): boolean {
  if (wanted.length > 0 && wanted.every(isNamed)) {
    const byName = Map.groupBy(live.filter(isNamed), ({ name }) => name);
    return wanted.every((item) => byName.get(item.name)?.some((one) => hasAll(one, item)));
  }
  return live.length === wanted.length && wanted.every((item, at) => hasAll(live[at], item));
}

function isNamed(item: unknown): item is { readonly name: string } {
  return isRecord(item) && typeof item['name'] === 'string';
}

/** The API server stores `1000m` as `1`. */
function isSameAmount(live: unknown, wanted: unknown): boolean {
  if (typeof live !== 'string' || (typeof wanted !== 'string' && typeof wanted !== 'number')) return false;
  const text = String(wanted);
  return isQuantity(live) && isQuantity(text) && compareQuantities(parseQuantity(live), parseQuantity(text)) === 0;
}
