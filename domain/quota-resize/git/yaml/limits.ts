/** What a manifest file says of the limits of a ResourceQuota. */
import { isQuantity } from '../../../kernel/quantity.ts';
import type { ResourceList } from '../../../kernel/resource-list.ts';
import { type Leaf, partsOf, type QuotaObject, quotasIn } from './documents.ts';
import { writtenKey } from './other-name.ts';

/** A ResourceQuota by its name in the cluster. */
interface QuotaName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * What the file says today, as it is written (`2000m`, `1024Mi`), so that nobody writes below it and a new value can keep
 * its unit. A value that is no quantity is left out. Empty when the quota is not in the text (or there twice).
 *
 * @param resources the limits to read, under the names they are asked by; absent: every key of the file by its own name.
 */
export function valuesInGit(text: string, target: QuotaName, resources?: readonly string[]): ResourceList {
  const leaves = new Map((onlyQuota(text, target)?.hard ?? []).map((leaf): [string, Leaf] => [leaf.key, leaf]));
  const asked = resources ?? [...leaves.keys()];
  return Object.fromEntries(
    asked.flatMap((resource) => {
      const key = writtenKey(resource, asked, (name) => leaves.has(name));
      const value = key === undefined ? undefined : leaves.get(key)?.text;
      return typeof value === 'string' && isQuantity(value) ? [[resource, value]] : [];
    }),
  );
}

/** The one quota of the text by that name; undefined where there is none, or several are. */
function onlyQuota(text: string, { namespace, name }: QuotaName): QuotaObject | undefined {
  const named = partsOf('', text)
    // One file may have a thousand namespaces; only what may be the quota is parsed.
    .filter((part) => mayHold(part.text, name))
    .flatMap(({ documents }) => documents)
    .flatMap(quotasIn)
    .filter((quota) => quota.name === name && (quota.namespace ?? namespace) === namespace);
  // Those that name the namespace rule out those that name none.
  const exact = named.filter((quota) => quota.namespace === namespace);
  const [quota, second] = exact.length > 0 ? exact : named;
  return second === undefined ? quota : undefined;
}

/** Escapes may hide a name. */
function mayHold(text: string, name: string): boolean {
  return text.includes('\\') || text.includes(name);
}
