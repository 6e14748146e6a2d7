/** Which files are searched for a quota, one group after the other until it is found. */
import { kustomizationFileIn } from '../kustomize/kustomization.ts';
import { isKustomizationFile, isManifestFile, isWithin, mentions, wordsOf } from '../tree/paths.ts';
import type { TreeIndex } from '../tree/tree-index.ts';
import type { ReleaseObject } from '../candidate/source-candidate.ts';
import { MAX_FILES, type Search } from './search.ts';

/** A group that many quotas have is always the same list, so that it is evaluated once for all of them. */
export function* stagesOf({ reader, path, wanted, candidate }: Search): Generator<readonly string[], void> {
  const { index } = reader;
  if (candidate.release !== undefined) {
    yield filesOfRelease(index, { path, namespace: wanted.namespace, release: candidate.release });
    return;
  }
  if (reader.isFile(path)) {
    yield [path];
    return;
  }
  const all = index.manifestsBelow(path);
  const { relevant, aboutQuotas } = narrowed(all);
  const below = all.length <= MAX_FILES ? all : relevant;
  if (below.length <= MAX_FILES) {
    if (below.length > 0) yield below;
    return;
  }
  const named = index
    .manifestsMentioning(wanted.namespace)
    .filter((file) => isWithin(file, path) && (below === all || isRelevant(file)));
  const exactly = named.filter((file) => wordsOf(file).includes(wanted.namespace));
  const own = exactly.length > 0 ? exactly : named;
  const { cluster } = wanted;
  const ofCluster = cluster === undefined ? [] : own.filter((file) => mentions(file, cluster));
  const narrow = own.length > MAX_FILES && ofCluster.length > 0 ? ofCluster : own;
  // What is applied is what the kustomization of the folder names, wherever that is.
  const isApplied = candidate.from === 'argocd' || candidate.from === 'flux';
  const applied = isApplied ? kustomizationFileIn(reader, path) : undefined;
  const first = applied === undefined ? narrow : [...new Set([applied, ...narrow])];
  if (first.length > 0) yield first;
  const others = own.some(isAboutQuotas) ? without(aboutQuotas, own) : aboutQuotas;
  if (others.length > 0) yield others;
}

function without(files: readonly string[], left: readonly string[]): readonly string[] {
  const out = new Set(left);
  return files.filter((file) => !out.has(file));
}

interface Narrowed {
  /** The files that are read when there are many. */
  readonly relevant: readonly string[];
  /** Those of them that are called like quotas. */
  readonly aboutQuotas: readonly string[];
}

const narrowedLists = new WeakMap<readonly string[], Narrowed>();

function narrowed(manifests: readonly string[]): Narrowed {
  const cached = narrowedLists.get(manifests);
  if (cached !== undefined) return cached;
  const relevant = manifests.filter(isRelevant);
  const lists = { relevant, aboutQuotas: relevant.filter(isAboutQuotas) };
  narrowedLists.set(manifests, lists);
  return lists;
}

function isAboutQuotas(file: string): boolean {
  return /quota/i.test(file);
}

/** YAML, kustomizations, and JSON files that are not known to be something else. */
function isRelevant(path: string): boolean {
  const isJson = /\.json$/i.test(path);
  return (
    isKustomizationFile(path) || (isManifestFile(path) && (!isJson || /quota|namespace|manifest|\bns\b/i.test(path)))
  );
}

/** The chart, and what the release's object is applied with; of a large folder those that are called like it. */
function filesOfRelease(
  index: TreeIndex,
  { path, namespace, release }: { readonly path: string; readonly namespace: string; readonly release: ReleaseObject },
): readonly string[] {
  const applied = index.manifestsBelow(release.path);
  const own = (file: string): boolean => mentions(file, release.name) || mentions(file, namespace);
  const few = applied.length <= MAX_FILES ? applied : applied.filter((file) => isKustomizationFile(file) || own(file));
  const chart = path === release.path ? [] : index.manifestsBelow(path);
  return [...new Set([...few, ...chart])];
}
