/** Helpers for the keys of mappings. */
import { isScalar, type Node, type Pair, type YAMLMap } from 'yaml';

/**
 * Whether a pair is a merge (`<<: *defaults`). The library represents a plain `<<` as a symbol; a quoted one is an
 * ordinary key.
 */
export function isMergeKey({ key }: Pair): boolean {
  return isScalar(key) && typeof key.value === 'symbol';
}

/** The pair of a mapping with exactly this key, quoted or not. Merges are not resolved. */
export function pairOf(map: YAMLMap, key: string | number): Pair<Node, Node | null> | undefined {
  return (map.items as Pair<Node, Node | null>[]).find((pair) => keyText(pair.key) === String(key));
}

/** A key as in JSON; undefined for a merge and for a key that is not a scalar. */
export function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) {
    return undefined;
  }
  switch (typeof key.value) {
    case 'string':
      return key.value;
    case 'number':
    case 'boolean':
      return String(key.value);
    case 'object':
      return key.value === null ? '' : undefined;
    default:
      return undefined;
  }
}
