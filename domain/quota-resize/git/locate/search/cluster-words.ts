/** What the words of a path or the keys of a field say about the cluster that a value is for. */
import type { Pointer } from '../../yaml/field-path.ts';
import { type ManifestDocument, nodeAt } from '../../yaml/documents.ts';
import { isMap, isScalar } from 'yaml';
import { isQuotaKey } from '../../../model/quota-key.ts';
import { mentions, wordsOf } from '../tree/paths.ts';
import { environmentOf, environmentOfCluster, isGeneral } from './identify.ts';
import type { WantedQuota } from './search.ts';

type Names = Pick<WantedQuota, 'cluster' | 'namespace' | 'name'>;

/** Words that are around names of clusters and namespaces, and name nothing themselves. */
const AFFIX = /^(?:values|quotas?|resource-?quotas?|limits?|namespace|ns|\d+)$/i;
const PLACES =
  /^(?:teams?|tenants?|tenancy|apps?|applications?|infra|infrastructure|platform|managed|live|gitops|projects?|releases?|services|workloads|policies|shared|v\d.*|.)$/i;

/** Whether a word is the name, apart from words that any name may have around it, such as `values` or the cluster. */
export function isOnly(word: string, name: string, others: readonly string[]): boolean {
  for (let at = word.indexOf(name); at >= 0; at = word.indexOf(name, at + 1)) {
    const around = [word.slice(0, at).replace(/[-._]$/, ''), word.slice(at + name.length).replace(/^[-._]/, '')];
    const joined = [word[at - 1], word[at + name.length]];
    const parted = joined.every((character) => character === undefined || /[-._]/.test(character));
    if (
      parted &&
      around.every(
        (part) => part === '' || others.includes(part) || AFFIX.test(part) || environmentOf(part) !== undefined,
      )
    ) {
      return true;
    }
  }
  return false;
}

/** Whether one of the words is the cluster's name: `eu1/`, `values-eu1.yaml`, `team-a-eu1.yaml`. */
export function nameCluster(words: readonly string[], { cluster, namespace, name }: Names): boolean {
  return (
    cluster !== undefined &&
    cluster !== namespace &&
    words.some((word) => word.includes(cluster) && isOnly(word, cluster, [namespace, name]))
  );
}

/**
 * Why words may be of another cluster, to follow "`path`": another environment in a part of one, or a name of the same
 * form as the cluster's. Words that are the namespace's or the quota's name say nothing.
 */
export function doubtfulCluster(words: readonly string[], wanted: Names): string | undefined {
  const { cluster } = wanted;
  if (cluster === undefined) return undefined;
  const own = environmentOfCluster(cluster);
  for (const word of restsOf(words, wanted)) {
    const environment = environmentOfCluster(word);
    if (own !== undefined && environment !== undefined && environment !== own) {
      return `has \`${word}\`, which may be the environment ${environment}, and not that of cluster ${cluster}`;
    }
    if (word !== cluster && isAlike(word, cluster) && !isGeneral(word, undefined)) {
      return `has \`${word}\`, which may be another cluster than ${cluster}`;
    }
  }
  return undefined;
}

/** Whether a word may be the name of a cluster, an environment or anything else in particular. */
export function nameSomething(words: readonly string[], wanted: Names): boolean {
  return restsOf(words, wanted).some(
    (word) =>
      environmentOf(word) !== undefined ||
      /^(?!ns)[a-z]{2}$/i.test(word) ||
      (!PLACES.test(word) && !isGeneral(word, undefined)),
  );
}

/** The words without the names of the namespace and the quota, and without what any name may have around it. */
function restsOf(words: readonly string[], { namespace, name }: Names): readonly string[] {
  return words.flatMap((word) => {
    const parts = [namespace, name]
      .filter((own) => own !== '' && mentions(word, own))
      .reduce((rest, own) => rest.replace(own, ''), word)
      .split(/[-._]/)
      .filter((part) => part !== '' && !AFFIX.test(part));
    const rest = parts.join('-');
    // A team may be called like an environment: its namespace then says so.
    return rest === '' || mentions(namespace, rest) ? [] : [rest];
  });
}

/** `us1` and `eu1`, `prod-us-2` and `prod-eu-1`: the same form with a digit, or the same number of parts and one in common. */
function isAlike(word: string, cluster: string): boolean {
  const form = (name: string): string => name.replace(/[A-Za-z]+/g, 'a').replace(/\d+/g, '0');
  const [parts, own] = [word.split(/[-_.]/), cluster.split(/[-_.]/)];
  const common = parts.some((part, index) => part === own[index]);
  return form(word) === form(cluster.replace(/[_.]/g, '-')) && (/\d/.test(cluster) || (parts.length > 1 && common));
}

const namedPaths = new WeakMap<readonly string[], Map<string, string | undefined>>();

/** A path of the tree that has the cluster's name. Cached by the list, which never changes. */
export function pathOfCluster(paths: readonly string[], wanted: Names): string | undefined {
  const cache = namedPaths.get(paths) ?? new Map<string, string | undefined>();
  namedPaths.set(paths, cache);
  const key = JSON.stringify([wanted.cluster, wanted.namespace, wanted.name]);
  if (!cache.has(key)) {
    const { cluster } = wanted;
    const found = paths.find(
      (path) => cluster !== undefined && path.includes(cluster) && nameCluster(wordsOf(path), wanted),
    );
    cache.set(key, found);
  }
  return cache.get(key);
}

/** The keys of a field that may name a cluster. */
export function clusterKeys(field: Pointer, { namespace }: Names): readonly string[] {
  return field.map(String).filter((key) => key !== namespace && !isQuotaKey(key));
}

/** Whether a key beside one of the field's is the cluster's name: the document has a part for each cluster. */
export function hasClusterBeside(document: ManifestDocument, field: Pointer, wanted: Names): boolean {
  return field.some((_, depth) => {
    const mapping = nodeAt(document, field.slice(0, depth));
    const keys = isMap(mapping) ? mapping.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : [];
    return nameCluster(keys, wanted);
  });
}
