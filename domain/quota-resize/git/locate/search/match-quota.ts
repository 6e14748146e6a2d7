/** Selects the wanted quota among those that the files define. */
import { isWithin, mentions, wordsOf } from '../tree/paths.ts';
import {
  clusterFit,
  foldersOfNamespace,
  isGeneral,
  type IdentifiedNamespace,
  namespaceByFolder,
  namespaceByTemplate,
  templatesOf,
} from './identify.ts';
import type { ResolvedQuota } from '../resolve/resolved.ts';
import { identifyingLimits, isCurrent, type Search } from './search.ts';
import { clusterOwnership, namespaceOwnership, type Ownership, worst } from './ownership.ts';

export interface Match {
  readonly quota: ResolvedQuota;
  readonly identity: IdentifiedNamespace;
  readonly named: boolean;
  /** Whether what an annotation named is this cluster's and this namespace's. */
  readonly ownership: Ownership;
}

export function matchesOf(search: Search, quotas: readonly ResolvedQuota[]): readonly Match[] {
  const { reader, wanted, candidate, path } = search;
  const { named, asNamespace } = namedIn(quotas, wanted.cluster);
  const ofName = named.get(wanted.name);
  // A quota with a computed name is considered only when none has the exact name.
  const likely = ofName === undefined ? quotas.filter((quota) => mayBeNamed(search, quota)) : likelyIn(search, ofName);
  // What a person named is judged by `ownershipOf`, which is stricter about the cluster and laxer about templates.
  const templates = candidate.from === 'annotation' ? [] : templatesOf(candidate);
  const matches = likely.flatMap((quota): readonly Match[] => {
    const identity = identifyNamespace(search, quota);
    if (identity?.namespace !== wanted.namespace) {
      return [];
    }
    const options = { templates, below: path, asNamespace, namespace: identity.namespace };
    const fit = clusterFit(reader, wanted.cluster, quota.paths, options);
    const trusted = candidate.path !== undefined && reader.isFile(path);
    return fit === 'other' && !trusted
      ? []
      : [
          {
            quota: { ...withoutRivals(search, asOwn(search, quota)), name: wanted.name },
            identity,
            named: fit === 'named',
            ownership: ownershipOf(search, quota, asNamespace),
          },
        ];
  });
  const own = preferred(matches);
  const allowed = own.filter(({ ownership }) => ownership.kind !== 'other');
  return allowed.length > 0 ? allowed : own.slice(0, 1);
}

interface Named {
  /** The quotas by name, and those of a name by namespace. */
  readonly named: ReadonlyMap<string, ReadonlyMap<string | undefined, readonly Placed[]>>;
  readonly asNamespace: ReadonlySet<string>;
}

/** A quota, and its position among all. */
interface Placed {
  readonly quota: ResolvedQuota;
  readonly at: number;
}

const namedLists = new WeakMap<readonly ResolvedQuota[], Map<string | undefined, Named>>();

/** What all searches in the same quotas have in common. */
function namedIn(quotas: readonly ResolvedQuota[], cluster: string | undefined): Named {
  const byCluster = namedLists.get(quotas) ?? new Map<string | undefined, Named>();
  namedLists.set(quotas, byCluster);
  const cached = byCluster.get(cluster);
  if (cached !== undefined) return cached;
  const placed = quotas.map((quota, at) => ({ quota, at }));
  const byName = [...Map.groupBy(placed, ({ quota }) => quota.name)];
  const named = {
    named: new Map(byName.map(([name, all]) => [name, Map.groupBy(all, ({ quota }) => quota.namespace)])),
    asNamespace: foldersOfNamespace(quotas, cluster),
  };
  byCluster.set(cluster, named);
  return named;
}

/** The quotas that may be of the namespace, in their order: those that name no other one, or all where that is replaced. */
function likelyIn(
  { wanted, candidate }: Search,
  ofName: ReadonlyMap<string | undefined, readonly Placed[]>,
): readonly ResolvedQuota[] {
  const replaces = candidate.from === 'flux' && candidate.namespace !== undefined;
  const groups = replaces ? [...ofName.values()] : [ofName.get(wanted.namespace) ?? [], ofName.get(undefined) ?? []];
  return groups
    .flat()
    .toSorted((a, b) => a.at - b.at)
    .map(({ quota }) => quota);
}

/** Only annotations are the tenants' to write: what else leads to a path is the platform's. */
function ownershipOf(search: Search, { namespace, paths }: ResolvedQuota, asNamespace: ReadonlySet<string>): Ownership {
  const { from } = search.candidate;
  if (from !== 'annotation' && from !== 'scan') return { kind: 'own' };
  const [root = ''] = paths;
  const ofCluster = clusterOwnership(search, root, asNamespace);
  // What a search found was selected by its cluster and its namespace; only what is left open about the cluster counts.
  if (from === 'scan') return ofCluster.kind === 'doubtful' ? ofCluster : { kind: 'own' };
  return namespace === undefined ? worst([namespaceOwnership(search, root), ofCluster]) : ofCluster;
}

/** Quotas in the cluster's own folder are preferred. */
function preferred<T extends { readonly named?: boolean }>(group: readonly T[]): readonly T[] {
  const own = group.filter(({ named }) => named === true);
  return own.length > 0 ? own : group;
}

/**
 * Whether a computed name may be the wanted one: the literal parts of the name fit, and either Argo CD or Flux applies
 * it or it has the limits in force.
 */
function mayBeNamed({ wanted, candidate }: Search, { name, namePattern, values }: ResolvedQuota): boolean {
  if (name !== '' || namePattern?.matches(wanted.name) !== true) {
    return false;
  }
  const current = identifyingLimits(wanted);
  const inForce =
    current !== undefined &&
    wanted.resources.every((resource) => isCurrent(values.get(resource)?.value.text ?? '', current[resource]));
  return inForce || candidate.from === 'argocd' || candidate.from === 'flux';
}

/**
 * Adds an obstacle to a chart that takes its namespace from the release: it may be installed for other namespaces with
 * the same values.
 */
function asOwn({ wanted, candidate, path }: Search, quota: ResolvedQuota): ResolvedQuota {
  const own =
    quota.layout !== 'helm' ||
    (quota.namespace !== undefined && candidate.namespace === undefined) ||
    candidate.from === 'annotation' ||
    candidate.valueFiles?.includes(quota.paths[0] ?? '') === true ||
    [path, ...quota.paths].some((text) => mentions(text, wanted.namespace));
  return own
    ? quota
    : {
        ...quota,
        obstacles: [
          ...quota.obstacles,
          {
            path: quota.path,
            line: quota.line,
            message: 'is a template that other namespaces may use with the same values',
          },
        ],
      };
}

/**
 * Uses the limits in force to decide which values file counts: the chart's own, if it has these limits and no other
 * file has them. An edit of the wrong file would have no effect, or would change another release.
 */
function withoutRivals({ wanted }: Search, quota: ResolvedQuota): ResolvedQuota {
  const { rivals = [], ...rest } = quota;
  const { resources } = wanted;
  const current = identifyingLimits(wanted) ?? {};
  const isOwn =
    resources.every((resource) => isCurrent(quota.values.get(resource)?.value.text ?? '', current[resource])) &&
    !rivals.some(({ key, text }) => isCurrent(text, current[key]));
  return isOwn ? rest : quota;
}

/** The namespace that a quota names, that it is applied into, or that its path stands for. */
function identifyNamespace(search: Search, quota: ResolvedQuota): IdentifiedNamespace | undefined {
  const { wanted, candidate } = search;
  const by = `known from ${candidate.learntFrom}`;
  // Quotas outside of the candidate's path were read only to find out who shares a base.
  const applied = isWithin(rootOfQuota(search, quota), search.path) ? candidate.namespace : undefined;
  if (candidate.from === 'flux' && applied !== undefined) {
    // What several deliveries apply is there once for each of them.
    const isDelivered = quota.delivery !== undefined && quota.namespaceBy === quota.delivery.learntFrom;
    return { namespace: isDelivered ? (quota.namespace ?? applied) : applied, by };
  }
  if (quota.namespace !== undefined) {
    return { namespace: quota.namespace, by: '' };
  }
  if (applied !== undefined) {
    return { namespace: applied, by };
  }
  return impliesNamespace(search, quota)
    ? { namespace: wanted.namespace, by }
    : (namespaceByTemplate(templatesOf(candidate), quota.paths, wanted.cluster) ??
        namespaceByFolder(new Set([wanted.namespace]), quota.paths, { cluster: wanted.cluster, quota: wanted.name }));
}

/** The path that is applied to create a quota; for a chart with given values files it is the template. */
function rootOfQuota({ candidate }: Search, { paths }: ResolvedQuota): string {
  const [root = ''] = paths;
  return candidate.valueFiles?.includes(root) === true ? (paths.at(-1) ?? root) : root;
}

/**
 * Whether the candidate implies the namespace: a path that was named for this namespace, or from which the quota is
 * applied, belongs to it, except for folders below that have another specific name.
 */
function impliesNamespace(search: Search, quota: ResolvedQuota): boolean {
  const { reader, wanted, candidate, path } = search;
  const named = wordsOf(path).some((word) => word !== wanted.cluster && mentions(word, wanted.namespace));
  const explicit = candidate.path !== undefined && ['annotation', 'argocd', 'flux'].includes(candidate.from);
  const root = rootOfQuota(search, quota);
  if (!(explicit || named) || reader.isFile(path) || path === '') {
    return explicit || named;
  }
  const words = wordsOf(isWithin(root, path) ? root.slice(path.length + 1) : root);
  const general = (word: string): boolean =>
    word === wanted.name || isGeneral(word, wanted.cluster) || mentions(word, wanted.namespace);
  return words.slice(0, -1).every(general) && (named || general(words.at(-1) ?? ''));
}
