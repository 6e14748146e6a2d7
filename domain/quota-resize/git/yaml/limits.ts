/** Reads the limits of a ResourceQuota from a manifest file. */
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
 * The present limits as written in the file (`2000m`, `1024Mi`), so that nothing lower is written and a new value keeps
 * the unit. Values that are not quantities are omitted. Empty when the quota is not in the text, or is there twice.
 *
 * @param resources the limits to read, under the requested names; absent: every key of the file by its own name.
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

/** The only quota of the text with that name; undefined when there is none or more than one. */
function onlyQuota(text: string, { namespace, name }: QuotaName): QuotaObject | undefined {
  const named = partsOf('', text)
    // A file may have a thousand namespaces; only parts that may contain the quota are parsed.
    .filter((part) => mayHold(part.text, name))
    .flatMap(({ documents }) => documents)
    .flatMap(quotasIn)
    .filter((quota) => quota.name === name && (quota.namespace ?? namespace) === namespace);
  // Quotas that name the namespace are preferred over those that name none.
  const exact = named.filter((quota) => quota.namespace === namespace);
  const [quota, second] = exact.length > 0 ? exact : named;
  return second === undefined ? quota : undefined;
}

/** Text with escapes may contain the name in another spelling. */
function mayHold(text: string, name: string): boolean {
  return text.includes('\\') || text.includes(name);
}
