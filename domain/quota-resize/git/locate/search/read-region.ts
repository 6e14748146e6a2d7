/** Collects the files that affect a quota, and the quotas that they define. */
import { isChartFile, templateOf } from '../helm/chart.ts';
import { type Delivery, deliveriesIn } from '../delivery/delivery.ts';
import { valuesFilesIn } from '../helm/chart-quotas.ts';
import { isOfOtherCluster } from './identify.ts';
import { kustomizationFileIn } from '../kustomize/kustomization.ts';
import type { MissingFiles } from '../location/location.ts';
import { type Match, matchesOf } from './match-quota.ts';
import { fileNameOf, folderOf, isKustomizationFile, isManifestFile } from '../tree/paths.ts';
import { deliveriesOfRelease } from './release-object.ts';
import { Renderer } from '../kustomize/render.ts';
import { resolve } from '../resolve/resolve.ts';
import type { Resolution } from '../resolve/resolved.ts';
import { needs, type Search } from './search.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** Up to this number, all kustomizations of the tree are read, to find out which of them share a base. */
const FEW_KUSTOMIZATIONS = 30;

export type Outcome =
  | MissingFiles
  | {
      readonly kind: 'searched';
      readonly files: readonly string[];
      readonly resolution: Resolution;
      readonly matches: readonly Match[];
    };

/** The quotas that the files define, and which of them match the wanted one. */
export function searchIn(search: Search, files: readonly string[]): Outcome {
  const { reader, shared, applied, path } = search;
  const { all, kustomizations } = shared.once(reader, files, `read ${path}`, (own) => readRegion(own, path, files));
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  const deliveries = deliveriesOf(search, all);
  const resolution = shared.once(reader, all, `resolve ${path} ${applied.key} ${deliveriesKey(deliveries)}`, (own) =>
    resolve(own, {
      kustomizations,
      manifests: all.filter(isManifestFile),
      values: valuesFilesIn(own, all),
      deliveries,
      applied,
      ...(path === '' || kustomizations.length === 0 ? {} : { root: rootOf(own, path) }),
      sharedOutside: (isFollowed) => sharedOutside(own, path, isFollowed),
    }),
  );
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  return { kind: 'searched', files: all, resolution, matches: matchesOf(search, resolution.quotas) };
}

/** The files of a search with those of their charts, and the kustomizations that can affect them. */
function readRegion(
  reader: TreeReader,
  path: string,
  files: readonly string[],
): { readonly all: readonly string[]; readonly kustomizations: readonly string[] } {
  const charts = new Set(files.flatMap((file) => chartsAround(reader, file)));
  const chartFiles = [...charts].flatMap((chart) =>
    reader.index.below(chart).filter((file) => templateOf(reader, file) === chart || /values[^/]*\.ya?ml$/i.test(file)),
  );
  const all = [...new Set([...files, ...(charts.size > 1 ? chartFiles.toSorted() : chartFiles)])];
  for (const file of all) {
    reader.text(file);
  }
  return { all, kustomizations: kustomizationsFor(reader, path, all) };
}

/** All that distinguishes deliveries, but for the texts that they are written in. */
function deliveriesKey(deliveries: readonly Delivery[]): string {
  return JSON.stringify(deliveries.map(({ document: _document, values: _values, ...delivery }) => delivery));
}

/**
 * What applies the files that are read: for configured candidates the Argo CD and Flux objects among the files;
 * otherwise the chart at the candidate's path, as far as its installation is known.
 */
function deliveriesOf(search: Search, files: readonly string[]): readonly Delivery[] {
  const { candidate, path, reader, shared } = search;
  const { learntFrom, valueFiles, namespace, from, release } = candidate;
  if (release !== undefined) return deliveriesOfRelease(search, files, release);
  if (from === 'template' || from === 'scan') {
    return shared
      .once(reader, files, 'deliveries', (own) => deliveriesIn(own, files))
      .filter((delivery) => !isOfOtherCluster(search, delivery.path));
  }
  return valueFiles === undefined
    ? []
    : [
        {
          learntFrom,
          path,
          line: 1,
          folder: path,
          ...(namespace === undefined ? {} : { namespace }),
          overrides: from === 'flux' && namespace !== undefined,
          recurses: false,
          valueFiles,
          isOneOfMany: true,
        },
      ];
}

function sharedOutside(
  reader: TreeReader,
  path: string,
  isFollowed: (kustomization: string) => boolean,
): 'root' | 'overlay' | undefined {
  const isUnknown = (file: string): boolean => isKustomizationFile(file) && !isFollowed(file);
  if (!reader.index.kustomizations.some(isUnknown)) {
    return undefined;
  }
  return path === '' || reader.index.manifestsBelow(rootOf(reader, path)).some(isUnknown) ? 'overlay' : 'root';
}

function rootOf(reader: TreeReader, path: string): string {
  return reader.isFile(path) ? folderOf(path) : path;
}

function chartsAround(reader: TreeReader, path: string): readonly string[] {
  const chart = isChartFile(path) ? folderOf(path) : templateOf(reader, path);
  return chart === undefined ? [] : [chart];
}

/**
 * The kustomizations that can affect the files: those among them, those in their folders, those above that change
 * objects below them, and, if the tree has few, all others, to find out who shares a base.
 */
function kustomizationsFor(reader: TreeReader, path: string, files: readonly string[]): readonly string[] {
  const inTree = reader.index.kustomizations;
  if (inTree.length === 0) {
    return [];
  }
  const near = new Set(files.filter(isKustomizationFile));
  for (const folder of new Set(files.map(folderOf))) {
    const file = kustomizationFileIn(reader, folder);
    if (file !== undefined) {
      near.add(file);
    }
  }
  for (let folder = reader.isFile(path) ? folderOf(path) : path; folder !== ''; ) {
    folder = folderOf(folder);
    const file = kustomizationFileIn(reader, folder);
    if (file !== undefined && changesWhatIsBelow(reader, file)) {
      near.add(file);
    }
  }
  const all = near.size > 0 && inTree.length <= FEW_KUSTOMIZATIONS ? inTree : [...near];
  for (const file of all) {
    reader.text(file);
  }
  return all;
}

/** Whether a kustomization changes anything and does not only include others. */
function changesWhatIsBelow(reader: TreeReader, path: string): boolean {
  const kustomization = new Renderer(reader).kustomization(path);
  if (kustomization === undefined || !('resources' in kustomization)) {
    return kustomization !== undefined;
  }
  const { namespace, prefix, suffix, patches, components, opaque, resources } = kustomization;
  return (
    namespace !== undefined ||
    prefix !== '' ||
    suffix !== '' ||
    patches.length + components.length + opaque.length > 0 ||
    resources.some((resource) => /\.ya?ml$/i.test(fileNameOf(resource)))
  );
}
