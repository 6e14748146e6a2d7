/**
 * Which keys of quotas bound the same thing, and so belong into one sum: what Kubernetes counts under two names (`cpu` and
 * `requests.cpu`, `pods` and `count/pods`), and the parts of a whole (claims of a storage class).
 */
import { addQuantities, isQuantity, maxQuantity, parseQuantity, type Quantity } from '../../kernel/quantity.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';

/** Short keys, whose full names begin with `requests.`. */
const REQUESTED = /^(?:cpu|memory|storage|ephemeral-storage|hugepages-.+)$/;
/** Objects that had a key of their own before there was `count/`. */
const COUNTED =
  /^count\/(pods|services|secrets|configmaps|persistentvolumeclaims|replicationcontrollers|resourcequotas)$/;
/** Claims of a class. Each claim has at most one class of a kind. */
const OF_CLASS =
  /\.(storageclass|volumeattributesclass)\.storage\.k8s\.io\/(requests\.storage|persistentvolumeclaims)$/;

/** The name of what a key bounds, which is the same for each of its spellings. */
export function sumOf(key: string): string {
  if (REQUESTED.test(key)) return `requests.${key}`;
  return COUNTED.exec(key)?.[1] ?? key;
}

/** The sums that a key belongs to: its own, and that of the whole that it is a part of. */
export function sumsOf(key: string): readonly string[] {
  const whole = OF_CLASS.exec(key)?.[2];
  return whole === undefined ? [sumOf(key)] : [key, whole];
}

/** The total of a sum, by its most specific name: `limits.cpu` before its family `cpu`. */
export function totalOf(totals: ResourceList, sum: string): string | undefined {
  const spelled = Object.keys(totals).filter((key) => sumOf(key) === sum);
  const family = /^limits\.(cpu|memory|ephemeral-storage)$/.exec(sum)?.[1] ?? '';
  const name = [sum, ...spelled, family].find((key) => Object.hasOwn(totals, key));
  return name === undefined ? undefined : totals[name];
}

/** The keys of a list that together make up a sum: where the whole has no bound of its own, the parts of one kind. */
interface Summed {
  /** Each bounds all of it. */
  readonly whole: readonly string[];
  /** Lists of keys that are added up. */
  readonly parts: readonly (readonly string[])[];
}

function keysOf(list: ResourceList, sum: string): Summed {
  const whole = Object.keys(list).filter((key) => sumOf(key) === sum);
  if (whole.length > 0) return { whole, parts: [] };
  const parts = Object.keys(list).filter((key) => sumsOf(key).includes(sum));
  const kinds = Map.groupBy(parts, (key) => OF_CLASS.exec(key)?.[1]);
  return { whole, parts: [...kinds.values()] };
}

/** The keys of the same quota that use up what is left for one of them. */
export function sharing(list: ResourceList, sum: string, key: string): readonly string[] {
  const kind = keysOf(list, sum).parts.find((keys) => keys.includes(key)) ?? [];
  return kind.filter((other) => other !== key);
}

/** Whether a raise of the key changes how much of the sum the quota has. */
export function bounds(list: ResourceList, sum: string, key: string): boolean {
  const { whole, parts } = keysOf(list, sum);
  return whole.includes(key) || parts.some((keys) => keys.includes(key));
}

const ZERO = parseQuantity('0');

/** How much of a sum a quota has, or the first of its keys that cannot be read. */
export function amountIn(list: ResourceList, sum: string): Quantity | { readonly unreadable: string } {
  const { whole, parts } = keysOf(list, sum);
  const unreadable = [...whole, ...parts.flat()].find((key) => !isQuantity(list[key] ?? ''));
  if (unreadable !== undefined) return { unreadable };
  const amount = (key: string): Quantity => parseQuantity(list[key] ?? '0');
  return [...whole.map(amount), ...parts.map((keys) => keys.map(amount).reduce(addQuantities, ZERO))].reduce(
    maxQuantity,
    ZERO,
  );
}
