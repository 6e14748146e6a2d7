/** What the keys above a value say about whose it is, where no chart of the tree shows what it feeds. */
import type { Pointer } from '../../yaml/field-path.ts';
import { mentions } from '../tree/paths.ts';
import { nameCluster } from './cluster-words.ts';
import { environmentOf, environmentOfCluster } from './identify.ts';
import type { Search, WantedQuota } from './search.ts';

/** Keys with a part for each namespace. */
const LISTS = /^(?:teams?|namespaces?|tenants?|projects?|quotas?|namespace-?quotas?|resource-?quotas?|values|global)$/i;

/**
 * Whether the values are sorted by namespace, and these are the namespace's: its name is the first key, after one that
 * lists namespaces and those of the cluster. Deeper, a key of that name may be anything of another team.
 */
export function isKeyedFor({ wanted }: Pick<Search, 'wanted'>, keys: Pointer): boolean {
  const { namespace, cluster } = wanted;
  const above = keys.slice(0, keys.indexOf(namespace)).map(String);
  if (!keys.includes(namespace)) return false;
  const environment = cluster === undefined ? undefined : environmentOfCluster(cluster);
  const lists = above.filter(
    (key) =>
      !nameCluster([key], wanted) &&
      !(environment !== undefined && environmentOf(key) === environment) &&
      !/^(?:clusters?|env(?:ironment)?s?)$/i.test(key),
  );
  return lists.length === 0 || (lists.length === 1 && LISTS.test(lists[0] ?? ''));
}

/** Words that a mapping with limits of a quota may have in its name, whatever the quota is called. */
const WORDS = /^(?:quotas?|resources?|namespaces?|ns|hard|specs?|limits?|teams?|tenants?|projects?|defaults?|values?)$/;

/**
 * A key that says that the mapping is of another quota, such as `storageQuota` or `quotas.storage` for the quota
 * compute, or of a container: `resources`.
 */
export function otherMapping(
  { namespace, name }: Pick<WantedQuota, 'namespace' | 'name'>,
  mapping: Pointer,
): string | undefined {
  const keys = mapping.map(String).filter((key) => key !== namespace);
  const isOwn = (key: string): boolean =>
    mentions(name, key) ||
    mentions(key, name) ||
    wordsOfKey(key).every((word) => WORDS.test(word) || mentions(name, word) || mentions(namespace, word));
  const quotas = keys.findIndex((key) => /quota/i.test(key));
  if (quotas < 0) return keys.find((key) => /^resources$/i.test(key));
  return keys.find((key, index) => (/quota/i.test(key) || index === quotas + 1) && !/^\d+$/.test(key) && !isOwn(key));
}

/** `storageQuota` and `storage-quota`: storage and quota. */
function wordsOfKey(key: string): readonly string[] {
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
