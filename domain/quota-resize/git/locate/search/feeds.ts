/** What a value that an annotation names feeds: this quota, something else, or nothing that can be followed. */
import { isMap } from 'yaml';
import { nodeAt, type Leaf, type ManifestDocument, type Pointer, textAt } from '../../yaml/documents.ts';
import { chartFile } from '../helm/chart.ts';
import { folderOf, isManifestFile, mentions } from '../tree/paths.ts';
import { writtenKey } from '../../yaml/other-name.ts';
import { isOfQuota } from './loose-values.ts';
import { isKeyedFor, otherMapping } from './values-keys.ts';
import { searchIn } from './read-region.ts';
import type { ResolvedQuota } from '../resolve/resolved.ts';
import type { Search } from './search.ts';
import { isNamedFor, type Ownership } from './ownership.ts';
import type { DocumentValues } from './values-document.ts';

const OWN: Ownership = { kind: 'own' };

/** An object of Kubernetes in a document, with its place. */
interface Enclosing {
  readonly pointer: Pointer;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

/** The object that a field belongs to; in values of a chart there may be one inside another. */
export function enclosingObject(document: ManifestDocument, field: Pointer): Enclosing | undefined {
  for (let depth = field.length; depth >= 0; depth -= 1) {
    const pointer = field.slice(0, depth);
    const node = nodeAt(document, pointer);
    const kind = isMap(node) ? textAt(document, [...pointer, 'kind']) : undefined;
    const apiVersion = kind === undefined ? undefined : textAt(document, [...pointer, 'apiVersion']);
    if (kind !== undefined && apiVersion !== undefined && !(apiVersion === 'v1' && kind.endsWith('List'))) {
      return {
        pointer,
        apiVersion,
        kind,
        name: textAt(document, [...pointer, 'metadata', 'name']) ?? '',
        namespace: textAt(document, [...pointer, 'metadata', 'namespace']),
      };
    }
  }
  return undefined;
}

export function isQuotaObject({ kind, apiVersion }: Enclosing): boolean {
  return kind === 'ResourceQuota' && apiVersion === 'v1';
}

/** Objects that install a chart or fill in values: the fields with the values, and where the namespace is. */
const DELIVERING: readonly {
  readonly group: string;
  readonly kind: string;
  readonly values: (field: Pointer) => boolean;
  readonly into: readonly Pointer[];
  /** The fields that name another cluster than the one the object is in. */
  readonly cluster: readonly Pointer[];
}[] = [
  {
    group: 'helm.toolkit.fluxcd.io/',
    kind: 'HelmRelease',
    values: ([spec, values]) => spec === 'spec' && values === 'values',
    into: [
      ['spec', 'targetNamespace'],
      ['metadata', 'namespace'],
    ],
    cluster: [['spec', 'kubeConfig', 'secretRef', 'name']],
  },
  {
    group: 'argoproj.io/',
    kind: 'Application',
    values: (field) => field.includes('helm') && (field.includes('valuesObject') || field.includes('parameters')),
    into: [['spec', 'destination', 'namespace']],
    cluster: [
      ['spec', 'destination', 'name'],
      ['spec', 'destination', 'server'],
    ],
  },
  {
    group: 'kustomize.toolkit.fluxcd.io/',
    kind: 'Kustomization',
    values: ([spec, build, substitute]) => spec === 'spec' && build === 'postBuild' && substitute === 'substitute',
    into: [['spec', 'targetNamespace']],
    cluster: [['spec', 'kubeConfig', 'secretRef', 'name']],
  },
];

/** Whether a field of an object other than a ResourceQuota may feed the wanted quota. */
export function ownershipInObject(
  search: Search,
  { document, leaves }: DocumentValues,
  field: Pointer,
  object: Enclosing,
): Ownership {
  const { wanted } = search;
  const label = `ResourceQuota ${wanted.namespace}/${wanted.name}`;
  const place = `${document.path}:${leaves[0]?.line ?? 1}`;
  const delivering = DELIVERING.find(
    ({ group, kind }) => object.apiVersion.startsWith(group) && object.kind === kind && object.pointer.length === 0,
  );
  if (delivering?.values(field) !== true) {
    const why = `${place} is a field of the ${object.kind} ${object.name}, and not a limit of ${label}`;
    return { kind: 'other', why };
  }
  const isKeyed = isKeyedFor(search, field.slice(field.findIndex((step) => VALUES.test(String(step))) + 1));
  const into = delivering.into.map((pointer) => textAt(document, pointer)).find((text) => text !== undefined);
  if (into !== wanted.namespace && into !== undefined && !isKeyed) {
    const why = `${place} is a value of the ${object.kind} ${object.name}, which installs into namespace ${into}, and not a limit of ${label}`;
    return { kind: 'other', why };
  }
  if (into !== wanted.namespace) {
    const why = into === undefined ? '' : `: the ${object.kind} ${object.name} installs into namespace ${into}`;
    return { kind: 'doubtful', why: `nothing shows that ${place} feeds ${label}${why}` };
  }
  const remote = delivering.cluster.map((pointer) => textAt(document, pointer)).find((text) => text !== undefined);
  return remote === undefined || isOwnCluster(search, remote)
    ? ownershipByKeys(search, { document, leaves }, field)
    : { kind: 'doubtful', why: `the ${object.kind} ${object.name} of ${place} installs into cluster ${remote}` };
}

/** Below these keys an object has the values that it gives to a chart. */
const VALUES = /^(?:values|valuesObject|parameters|substitute)$/;

/** Whether what Argo CD or Flux call a cluster may be the own one; who leads to the object themselves names it rightly. */
function isOwnCluster({ wanted: { cluster }, candidate: { from } }: Search, remote: string): boolean {
  return (
    cluster === undefined ||
    from === 'argocd' ||
    from === 'flux' ||
    /^(?:in-cluster|https:\/\/kubernetes\.default(?:\.svc)?(?::\d+)?)\/?$/.test(remote) ||
    mentions(remote, cluster)
  );
}

/** Whether values in a place of the namespace look like limits: quota keys for exactly the wanted resources. */
function ownershipByKeys(
  { wanted }: Pick<Search, 'wanted'>,
  { document, leaves }: Pick<DocumentValues, 'document' | 'leaves'>,
  field: Pointer,
): Ownership {
  const mapping = isMap(nodeAt(document, field)) ? field : field.slice(0, -1);
  const written = wanted.resources.every((resource) => {
    const leaf = leafFor({ wanted }, leaves, resource);
    return leaf !== undefined && leaf.pointer.at(-1) === leaf.key;
  });
  const other = otherMapping(wanted, mapping);
  if (written && other === undefined && isOfQuota({ wanted }, { leaves, pointer: mapping })) return OWN;
  const why = `nothing shows that ${document.path}:${leaves[0]?.line ?? 1} feeds ResourceQuota ${wanted.namespace}/${wanted.name}`;
  return { kind: 'doubtful', why: other === undefined ? why : `${why}: it is below \`${other}\`` };
}

/**
 * Whether a field of a values file feeds the wanted quota, by the chart that the file lies in; without a chart by its
 * place, its keys and nothing else. `missing`: files have to be read first.
 */
export function ownershipInValues(search: Search, holder: DocumentValues, field: Pointer): Ownership | 'missing' {
  const { reader, wanted } = search;
  const { document } = holder;
  const chart = chartAround(search, document.path);
  if (chart === undefined) {
    const isPlaced = isKeyedFor(search, field) || isNamedFor(document.path, wanted) || isDelivered(search);
    const why = `nothing but ${search.candidate.learntFrom} says that \`${document.path}\` has values of namespace ${wanted.namespace}`;
    return isPlaced ? ownershipByKeys(search, holder, field) : { kind: 'doubtful', why };
  }
  const files = reader.index.below(chart).filter(isManifestFile);
  const { field: _field, ...candidate } = search.candidate;
  const outcome = searchIn({ ...search, candidate, path: chart }, [...new Set([document.path, ...files])]);
  if (outcome.kind === 'missingFiles') return 'missing';
  const named = wanted.resources.flatMap((resource) => leafFor(search, holder.leaves, resource) ?? []);
  const users = named.flatMap((leaf) =>
    outcome.resolution.quotas.flatMap((quota) => (usesLeaf(quota, document, leaf) ? [{ quota, leaf }] : [])),
  );
  return users.length === 0
    ? withoutUser(search, chart, holder)
    : ownershipByUsers(search, document, users, named.length);
}

/** Argo CD or Flux give the file to what they install into the namespace. */
function isDelivered({ candidate: { from, namespace }, wanted }: Search): boolean {
  return (from === 'argocd' || from === 'flux') && namespace === wanted.namespace;
}

/** The value for a resource, which may have another name for it. */
function leafFor({ wanted }: Pick<Search, 'wanted'>, leaves: readonly Leaf[], resource: string): Leaf | undefined {
  const key = writtenKey(resource, wanted.resources, (name) => leaves.some((leaf) => leaf.key === name));
  return leaves.find((leaf) => leaf.key === key);
}

function chartAround({ reader }: Search, path: string): string | undefined {
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    if (reader.isFile(chartFile(folder))) return folder;
    if (folder === '') return undefined;
  }
}

/** Whether a limit of the quota is written in this leaf. */
function usesLeaf({ layout, values }: ResolvedQuota, { path, part, index }: ManifestDocument, leaf: Leaf): boolean {
  if (layout !== 'helm') return false;
  return [...values.values()].some(({ value, edit }) =>
    edit.kind === 'replace'
      ? edit.at.path === path &&
        edit.at.part === part &&
        edit.at.index === index &&
        JSON.stringify(edit.pointer) === JSON.stringify(leaf.pointer)
      : value.path === path && value.line === leaf.line,
  );
}

function ownershipByUsers(
  { wanted }: Search,
  document: ManifestDocument,
  users: readonly { readonly quota: ResolvedQuota; readonly leaf: Leaf }[],
  named: number,
): Ownership {
  const label = `ResourceQuota ${wanted.namespace}/${wanted.name}`;
  for (const { quota, leaf } of users) {
    const place = `${document.path}:${leaf.line}`;
    const isNamed = quota.name === '' ? quota.namePattern?.matches(wanted.name) === true : quota.name === wanted.name;
    if (!isNamed || (quota.namespace ?? wanted.namespace) !== wanted.namespace) {
      const other = `${quota.namespace ?? '?'}/${quota.name || '?'}`;
      return { kind: 'other', why: `${place} feeds ResourceQuota ${other}, and not ${label}` };
    }
    const [key, value] =
      [...quota.values].find(([, { value: at }]) => at.path === document.path && at.line === leaf.line) ?? [];
    if (value?.edit.kind === 'none') return { kind: 'other', why: value.edit.message };
    if (value?.doubt !== undefined) return { kind: 'doubtful', why: value.doubt };
    const [obstacle] = quota.obstacles.filter(({ message }) => !message.startsWith('computes the name'));
    if (obstacle !== undefined) return { kind: 'doubtful', why: `${obstacle.path} ${obstacle.message}` };
    if (key !== leaf.key) {
      return {
        kind: 'doubtful',
        why: `${place} is the ${key ?? 'unknown limit'} of ${label}, and the field is called ${leaf.key}`,
      };
    }
    if (quota.namespace === undefined && !isNamedFor(document.path, wanted)) {
      return {
        kind: 'doubtful',
        why: `nothing shows that the chart of ${place} is installed for namespace ${wanted.namespace}`,
      };
    }
  }
  return new Set(users.map(({ leaf }) => leaf)).size === named
    ? OWN
    : { kind: 'doubtful', why: `nothing shows that all of these values feed ${label}` };
}

/** No limit of a quota is written there: the chart may compute it, or have no quota at all. */
function withoutUser({ reader, wanted }: Search, chart: string, { document, leaves }: DocumentValues): Ownership {
  const place = `${document.path}:${leaves[0]?.line ?? 1}`;
  const texts = reader.index.below(chart).map((path) => reader.tree.texts.get(path) ?? '');
  const definition = reader.text(chartFile(chart)) ?? '';
  const hasOthers =
    /^dependencies:/m.test(definition) ||
    reader.isFolder(chart === '' ? 'charts' : `${chart}/charts`) ||
    reader.isFile(chart === '' ? 'requirements.yaml' : `${chart}/requirements.yaml`);
  const label = `ResourceQuota ${wanted.namespace}/${wanted.name}`;
  if (!hasOthers && !texts.some((text) => text.includes('ResourceQuota'))) {
    const name = chart === '' ? 'at the root' : chart;
    return {
      kind: 'other',
      why: `${place} is a value of the chart ${name}, which has no ResourceQuota, and not a limit of ${label}`,
    };
  }
  return {
    kind: 'doubtful',
    why: `nothing in the chart shows that ${place} is a limit of ${label}: it may be computed`,
  };
}
