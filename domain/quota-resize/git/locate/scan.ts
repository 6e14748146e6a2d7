/** Every quota of a repository, as `headroom sources` lists them. */
import { parsePathTemplate, defaultPathTemplate, type PathTemplate } from './path-template.ts';
import type { SourceProblem } from '../../model/observation.ts';
import { isChartFile, looksLikeValues } from './chart.ts';
import { deliveriesIn, mentionsDelivery } from './delivery.ts';
import { textAt } from '../yaml/documents.ts';
import { valuesFilesIn } from './helm.ts';
import {
  clusterFit,
  foldersOfNamespace,
  type KnownNamespace,
  namespaceByFolder,
  namespaceByTemplate,
} from './identify.ts';
import { isKustomizationFile } from './kustomization.ts';
import { isManifestFile } from './paths.ts';
import type { Candidate, KnownTree, NeedsFiles, QuotaPlace } from './location.ts';
import { resolve } from './resolve.ts';
import type { ResolvedQuota } from './resolved.ts';
import type { SourceNote } from './limit-location.ts';
import { TreeReader } from './tree-reader.ts';

export interface ScanOptions {
  readonly cluster?: string;
  /** A path template; the built-in one is tried as well. */
  readonly template?: string;
  /** Namespaces that are known to be there, besides those that the tree declares. */
  readonly namespaces?: readonly string[];
}

/** A quota, or a file that may hold some, that cannot be placed with certainty. */
interface UnplacedSource {
  readonly namespace: string | null;
  readonly name: string | null;
  readonly path: string;
  readonly line: number;
  readonly reason: SourceProblem;
  readonly message: string;
  readonly candidates: readonly Candidate[];
}

export interface Scan {
  readonly kind: 'scanned';
  readonly quotas: readonly QuotaPlace[];
  readonly unplaced: readonly UnplacedSource[];
}

const DECLARES_NAMESPACE = /^[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?Namespace["']?[ \t]*,?[ \t]*(?:#.*)?\r?$/m;

/** Whether a scan has to know a file's text from the start; others are asked for when something refers to them. */
export function mattersToScan(path: string, text: string): boolean {
  return (
    isKustomizationFile(path) ||
    isChartFile(path) ||
    (isManifestFile(path) &&
      (text.includes('ResourceQuota') ||
        looksLikeValues(path) ||
        mentionsDelivery(text) ||
        DECLARES_NAMESPACE.test(text)))
  );
}

/**
 * Every quota of the tree with the place of each value, and every one that cannot be placed, with the reason.
 *
 * @param tree with the texts of at least the files that `mattersToScan`.
 * @throws {GitPathError} when the template is not right.
 */
export function scanQuotas(tree: KnownTree, options: ScanOptions = {}): NeedsFiles | Scan {
  const reader = new TreeReader(tree, { complete: true });
  const templates = [
    ...(options.template === undefined ? [] : [parsePathTemplate(options.template)]),
    parsePathTemplate(defaultPathTemplate),
  ];
  const deliveries = deliveriesIn(reader);
  const { quotas, notes } = resolve(reader, {
    kustomizations: tree.paths.filter(isKustomizationFile),
    manifests: [...tree.texts].flatMap(([path, text]) =>
      text !== null && isManifestFile(path) && text.includes('ResourceQuota') ? [path] : [],
    ),
    values: valuesFilesIn(reader, [...tree.texts.keys()]),
    deliveries,
  });
  const named = identified(reader, quotas, templates, options);
  if (reader.missing.size > 0) {
    return { kind: 'needs', paths: [...reader.missing].toSorted() };
  }
  const ofCluster = options.cluster === undefined ? named : ofThisCluster(reader, named, templates, options.cluster);
  return { kind: 'scanned', ...sorted(ofCluster, notes) };
}

interface Identified {
  readonly quota: ResolvedQuota;
  readonly known: KnownNamespace | undefined;
  /** It lies in a folder of the wanted cluster. */
  readonly named?: boolean;
}

function identified(
  reader: TreeReader,
  quotas: readonly ResolvedQuota[],
  templates: readonly PathTemplate[],
  options: ScanOptions,
): readonly Identified[] {
  let declared: ReadonlySet<string> | undefined;
  return quotas.map((quota) => {
    if (quota.namespace !== undefined) {
      return { quota, known: { namespace: quota.namespace, by: '' } };
    }
    declared ??= new Set([...(options.namespaces ?? []), ...declaredNamespaces(reader)]);
    return {
      quota,
      known:
        namespaceByTemplate(templates, quota.paths, options.cluster) ??
        namespaceByFolder(declared, quota.paths, { cluster: options.cluster, quota: quota.name }),
    };
  });
}

function declaredNamespaces(reader: TreeReader): readonly string[] {
  return [...reader.tree.texts].flatMap(([path, text]) =>
    text !== null && isManifestFile(path) && DECLARES_NAMESPACE.test(text)
      ? reader
          .documents(path, 'Namespace')
          .flatMap((document) =>
            textAt(document, ['kind']) === 'Namespace' ? (textAt(document, ['metadata', 'name']) ?? []) : [],
          )
      : [],
  );
}

function ofThisCluster(
  reader: TreeReader,
  quotas: readonly Identified[],
  templates: readonly PathTemplate[],
  cluster: string,
): readonly Identified[] {
  const asNamespace = foldersOfNamespace(
    quotas.map(({ quota }) => quota),
    cluster,
  );
  return quotas.flatMap((one) => {
    const namespace = one.known?.namespace;
    const fit = clusterFit(reader, cluster, one.quota.paths, { templates, below: '', asNamespace, namespace });
    return fit === 'other' ? [] : [{ ...one, named: fit === 'named' }];
  });
}

function sorted(
  quotas: readonly Identified[],
  notes: readonly SourceNote[],
): { readonly quotas: readonly QuotaPlace[]; readonly unplaced: readonly UnplacedSource[] } {
  const places: QuotaPlace[] = [];
  const unplaced: UnplacedSource[] = [];
  for (const [, group] of grouped(quotas)) {
    const chosen = preferred(group);
    const [one] = chosen;
    const problem = chosen.length > 1 ? foundTwice(chosen) : one === undefined ? undefined : obstacle(one);
    if (problem !== undefined) {
      unplaced.push(problem);
    } else if (one?.known !== undefined) {
      places.push(placeOf(one.quota, one.known));
      unplaced.push(...one.quota.unreadable.map(({ note }) => fromNote(note, one)));
    }
  }
  unplaced.push(...notes.map((note) => fromNote(note)));
  const distinct = new Map(
    unplaced.map((one) => [JSON.stringify([one.namespace, one.name, one.path, one.line, one.message]), one]),
  );
  return { quotas: places.toSorted(byPlace), unplaced: [...distinct.values()].toSorted(byPlace) };
}

function byPlace(a: { path: string; line: number }, b: { path: string; line: number }): number {
  return a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1;
}

/** By namespace and name; one without a namespace is alone. */
function grouped(quotas: readonly Identified[]): ReadonlyMap<string, readonly Identified[]> {
  const groups = new Map<string, Identified[]>();
  for (const [index, one] of quotas.entries()) {
    const key = one.known === undefined ? `?${index}` : `${one.known.namespace}/${one.quota.name}`;
    const group = groups.get(key) ?? [];
    group.push(one);
    groups.set(key, group);
  }
  return groups;
}

/** What lies in the cluster's own folder goes before the rest. */
export function preferred<T extends { readonly named?: boolean }>(group: readonly T[]): readonly T[] {
  const own = group.filter(({ named }) => named === true);
  return own.length > 0 ? own : group;
}

export function candidateOf({ quota, known }: Pick<Identified, 'quota' | 'known'>): Candidate {
  const name = quota.name === '' ? null : quota.name;
  return { path: quota.path, line: quota.line, namespace: known?.namespace ?? null, name };
}

function foundTwice(group: readonly Identified[]): UnplacedSource {
  const candidates = group.map(candidateOf);
  const [first] = candidates;
  return {
    namespace: first?.namespace ?? null,
    name: first?.name ?? null,
    path: first?.path ?? '',
    line: first?.line ?? 1,
    reason: 'FoundTwice',
    message: twiceMessage(
      candidates,
      group.map(({ quota }) => quota.paths[0] ?? quota.path),
    ),
    candidates,
  };
}

/** @param from where each is applied from. */
export function twiceMessage(candidates: readonly Candidate[], from: readonly string[]): string {
  const [first] = candidates;
  const places = candidates.map(({ path, line }, index) => {
    const root = from[index] ?? path;
    return root === path ? `${path}:${line}` : `${path}:${line} (through ${root})`;
  });
  return `ResourceQuota ${first?.namespace ?? '?'}/${first?.name ?? '?'} stands in ${candidates.length} places: ${places.join(', ')}; keep one, or name its file or folder with the annotation resizer.io/git-path on the namespace`;
}

/** Why a quota that is there once cannot be placed all the same. */
function obstacle(one: Identified): UnplacedSource | undefined {
  const { quota, known } = one;
  const reason = obstacleOf(quota);
  if (known === undefined) {
    const unnamed =
      quota.layout === 'helm'
        ? `${labelOf(quota)} gets its namespace from its release, which nothing here says: install the chart with an Application or a HelmRelease, or give a path template such as namespaces/{{ .Namespace }}`
        : `${labelOf(quota)} names no namespace, and neither a kustomization nor its path does: write metadata.namespace, or give a path template such as namespaces/{{ .Namespace }}`;
    return unplacedBecause(one, quota.name === '' && reason !== undefined ? reason : unnamed);
  }
  return reason === undefined ? undefined : unplacedBecause(one, reason);
}

/** Why the values of a quota cannot be placed; undefined where they can. */
export function obstacleOf(quota: ResolvedQuota): string | undefined {
  const [note] = quota.obstacles;
  if (note !== undefined) {
    return `what ${labelOf(quota)} says is not certain: ${note.path} ${note.message}`;
  }
  const rival = quota.rivals?.[0];
  if (rival !== undefined) {
    const own = quota.values.get(rival.key)?.value;
    const said = own === undefined ? quota.path : `${own.path}:${own.line} (${own.text})`;
    return `the value of ${rival.key} of ${labelOf(quota)} may be that of ${said} or of ${rival.path}:${rival.line} (${rival.text}), which nothing names as values of its chart`;
  }
  const edits = [...quota.values.values()].map(({ edit }) => edit);
  const [first] = edits;
  if (first?.kind === 'none' && edits.every(({ kind }) => kind === 'none')) {
    return first.message;
  }
  return quota.values.size === 0 && quota.unreadable.length === 0
    ? `${labelOf(quota)} sets no limit: write spec.hard`
    : undefined;
}

function labelOf({ name }: Pick<ResolvedQuota, 'name'>): string {
  return name === '' ? 'the ResourceQuota' : `ResourceQuota ${name}`;
}

function unplacedBecause(one: Identified, message: string): UnplacedSource {
  const { path, line, namespace, name } = candidateOf(one);
  return { namespace, name, path, line, reason: 'Unplaceable', message, candidates: [candidateOf(one)] };
}

function fromNote(note: SourceNote, one?: Identified): UnplacedSource {
  return {
    namespace: note.namespace ?? one?.known?.namespace ?? null,
    name: note.name ?? one?.quota.name ?? null,
    path: note.path,
    line: note.line,
    reason: note.reason ?? 'Unplaceable',
    message: note.message,
    candidates: one === undefined ? [] : [candidateOf(one)],
  };
}

export function placeOf(quota: ResolvedQuota, known: KnownNamespace, said?: string): QuotaPlace {
  return {
    namespace: known.namespace,
    name: quota.name,
    path: quota.path,
    line: quota.line,
    layout: quota.layout,
    values: Object.fromEntries([...quota.values].map(([key, { value }]) => [key, value])),
    edits: Object.fromEntries([...quota.values].map(([key, { edit }]) => [key, edit])),
    how: howPlaced(quota, known, said),
  };
}

function howPlaced(quota: ResolvedQuota, known: KnownNamespace, said: string | undefined): string {
  const by = said === undefined ? '' : ` by ${said}`;
  const root = quota.paths[0];
  const through =
    root === undefined || root === quota.path
      ? ''
      : quota.layout === 'helm'
        ? ` with the values of \`${root}\``
        : ` through \`${root}\``;
  const namespace =
    known.by !== ''
      ? `. Its namespace is ${known.by}`
      : quota.namespaceBy === undefined
        ? ''
        : `. Its namespace is set by ${quota.namespaceBy}`;
  return `found in \`${quota.path}:${quota.line}\`${through}${by}${namespace}`;
}
