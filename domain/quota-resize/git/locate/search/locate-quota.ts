/** Locates one quota by one candidate and reads as few files as possible. */
import { belowTheCluster, notFound, ofOtherReleases, conclude, remedyFor } from './conclude.ts';
import { isKustomizationFile } from '../kustomize/kustomization.ts';
import { locateByField } from './locate-field.ts';
import type { TreeSnapshot, LocatedValue } from '../location/location.ts';
import { looseMappings } from './loose-values.ts';
import { isManifestFile, isWithin, mentions, wordsOf } from '../tree/paths.ts';
import { searchIn, type Outcome } from './read-region.ts';
import { releaseProblem } from './release-object.ts';
import type { Resolution } from '../resolve/resolved.ts';
import {
  MAX_FILES,
  needs,
  type LocateAnswer,
  remedy,
  type Search,
  unlocated,
  type WantedQuota,
  where,
} from './search.ts';
import { withUnread } from './unread-answer.ts';
import type { ReleaseObject, SourceCandidate } from '../candidate/source-candidate.ts';
import { clusterOwnership } from './ownership.ts';
import { TreeReader } from '../tree/tree-reader.ts';

/**
 * The location of a quota in a tree, by one source candidate. When files are missing, the result names them; the caller
 * reads them and calls again. The result depends only on the texts.
 */
export function locateQuota(tree: TreeSnapshot, wanted: WantedQuota, candidate: SourceCandidate): LocateAnswer {
  if (candidate.problem !== undefined) {
    return unlocated('Unplaceable', candidate.problem);
  }
  const reader = new TreeReader(tree);
  const search: Search = { reader, wanted, candidate, path: candidate.path ?? '' };
  const ownership = candidate.from === 'annotation' ? clusterOwnership(search, search.path) : undefined;
  if (ownership?.kind === 'other') {
    return unlocated('Unplaceable', `${ownership.why}; ${remedy(search)}`);
  }
  const answer =
    candidate.field === undefined ? locateByFiles(search) : locateByField(search, candidate.field, locateByFiles);
  if (answer.kind !== 'missingFiles') {
    return withUnread(search, answer);
  }
  if (reader.asked > MAX_FILES) {
    return unlocated(
      'Unplaceable',
      `ResourceQuota ${wanted.namespace}/${wanted.name} would take more than ${MAX_FILES} files to find below ${where(search)}: ${remedy(search)}`,
    );
  }
  return answer;
}

function locateByFiles(search: Search): LocateAnswer {
  const { reader, path } = search;
  if (path !== '' && !reader.isFile(path) && !reader.isFolder(path)) {
    return notFound(search, 'there is no YAML file', []);
  }
  const stages = stagesOf(search);
  let last: Outcome | undefined;
  for (const files of stages) {
    if (files.length > MAX_FILES) {
      return notFound(
        search,
        `there are ${files.length} files to look at, more than the ${MAX_FILES} that are read`,
        [],
      );
    }
    const outcome = searchIn(search, files);
    if (outcome.kind === 'missingFiles') {
      return outcome;
    }
    const problem = releaseProblem(search, outcome.files);
    if (problem !== undefined) {
      return problem;
    }
    if (outcome.matches.length > 0) {
      return conclude(search, outcome);
    }
    last = outcome;
  }
  if (last === undefined || last.kind === 'missingFiles') {
    return notFound(search, 'there is no YAML file', []);
  }
  const loose = looseOf(search, last.files, valuesOfCharts(last.resolution));
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  if (loose?.kind === 'located') {
    const doubt = ofOtherReleases(search, loose.location) ?? belowTheCluster(search, loose.location);
    return doubt === undefined ? loose : unlocated('Unplaceable', `${doubt}; ${remedyFor(loose.location)}`);
  }
  return loose ?? conclude(search, last);
}

/** When the values files of a release are known, the last one that has such a mapping counts. */
function looseOf(search: Search, read: readonly string[], located: readonly LocatedValue[]): LocateAnswer | undefined {
  for (const file of search.candidate.valueFiles?.toReversed() ?? []) {
    const answer = looseMappings(search, [file], { located, read });
    if (answer !== undefined || search.reader.missing.size > 0) {
      return answer;
    }
  }
  return looseMappings(search, read, { located, read });
}

function valuesOfCharts({ quotas }: Resolution): readonly LocatedValue[] {
  return quotas.flatMap(({ layout, values }) =>
    layout === 'helm' ? [...values.values()].map(({ value }) => value) : [],
  );
}

/** Groups of files that are searched one after the other until the quota is found. */
function stagesOf(search: Search): readonly (readonly string[])[] {
  const { reader, path, wanted, candidate } = search;
  if (candidate.release !== undefined) {
    return [filesOfRelease(search, candidate.release)];
  }
  if (reader.isFile(path)) {
    return [[path]];
  }
  const { manifests, relevant } = filesOf(reader);
  const all = manifests.filter((file) => isWithin(file, path));
  const below = all.length <= MAX_FILES ? all : relevant.filter((file) => isWithin(file, path));
  if (below.length <= MAX_FILES) {
    return below.length === 0 ? [] : [below];
  }
  const named = below.filter((file) => mentions(file, wanted.namespace));
  const exactly = named.filter((file) => wordsOf(file).includes(wanted.namespace));
  const own = exactly.length > 0 ? exactly : named;
  const ofCluster = own.filter((file) => wanted.cluster !== undefined && mentions(file, wanted.cluster));
  const narrow = own.length > MAX_FILES && ofCluster.length > 0 ? ofCluster : own;
  const aboutQuotas = below.filter((file) => /quota/i.test(file) && !own.includes(file));
  return [narrow, aboutQuotas].filter((files) => files.length > 0);
}

/** The chart, and what the release's object is applied with; of a large folder those that are called like it. */
function filesOfRelease({ reader, path, wanted }: Search, release: ReleaseObject): readonly string[] {
  const { manifests } = filesOf(reader);
  const applied = manifests.filter((file) => isWithin(file, release.path));
  const own = (file: string): boolean => mentions(file, release.name) || mentions(file, wanted.namespace);
  const few = applied.length <= MAX_FILES ? applied : applied.filter((file) => isKustomizationFile(file) || own(file));
  const chart = path === release.path ? [] : manifests.filter((file) => isWithin(file, path));
  return [...new Set([...few, ...chart])];
}

interface TreeFiles {
  /** All files that may be read. */
  readonly manifests: readonly string[];
  /** The files that are read when there are many. */
  readonly relevant: readonly string[];
}

const filesByPaths = new WeakMap<readonly string[], TreeFiles>();

/** Cached by the tree's list of paths, which never changes; one tree is searched for many quotas. */
function filesOf({ tree: { paths } }: TreeReader): TreeFiles {
  const cached = filesByPaths.get(paths);
  if (cached !== undefined) {
    return cached;
  }
  const manifests = paths.filter((path) => isKustomizationFile(path) || isManifestFile(path));
  const files = { manifests, relevant: manifests.filter(isRelevant) };
  filesByPaths.set(paths, files);
  return files;
}

/** YAML, kustomizations, and JSON files that are not known to be something else. */
function isRelevant(path: string): boolean {
  const isJson = /\.json$/i.test(path);
  return (
    isKustomizationFile(path) || (isManifestFile(path) && (!isJson || /quota|namespace|manifest|\bns\b/i.test(path)))
  );
}
