/** Collects the files that affect a quota, and the quotas that they define. */
import { isChartFile, templateOf } from '../helm/chart.ts';
import { type Delivery, deliveriesIn } from '../delivery/delivery.ts';
import { valuesFilesIn } from '../helm/chart-quotas.ts';
import { isOfOtherCluster } from './identify.ts';
import { isKustomizationFile, kustomizationFileIn } from '../kustomize/kustomization.ts';
import type { MissingFiles } from '../location/location.ts';
import { type Match, matchesOf } from './match-quota.ts';
import { fileNameOf, folderOf, isManifestFile, isWithin } from '../tree/paths.ts';
import { deliveriesOfRelease } from './release-object.ts';
import { Renderer } from '../kustomize/render.ts';
import { type Region, resolve } from '../resolve/resolve.ts';
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
  const { reader } = search;
  const charts = new Set(files.flatMap((path) => chartsAround(reader, path)));
  const chartFiles = reader.tree.paths.filter((path) =>
    [...charts].some(
      (chart) => isWithin(path, chart) && (templateOf(reader, path) === chart || /values[^/]*\.ya?ml$/i.test(path)),
    ),
  );
  const all = [...new Set([...files, ...chartFiles])];
  for (const path of all) {
    reader.text(path);
  }
  const kustomizations = kustomizationsFor(search, all);
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  const resolution = resolve(reader, {
    kustomizations,
    manifests: all.filter(isManifestFile),
    values: valuesFilesIn(reader, all),
    deliveries: deliveriesOf(search, all),
    ...(search.path === '' || kustomizations.length === 0 ? {} : { root: rootOf(search) }),
    ...sharedOutside(search, kustomizations),
  });
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  return { kind: 'searched', files: all, resolution, matches: matchesOf(search, resolution.quotas) };
}

/**
 * What applies the files that are read: for configured candidates the Argo CD and Flux objects among the files;
 * otherwise the chart at the candidate's path, as far as its installation is known.
 */
function deliveriesOf(search: Search, files: readonly string[]): readonly Delivery[] {
  const { candidate, path, reader } = search;
  const { learntFrom, valueFiles, namespace, from, release } = candidate;
  if (release !== undefined) return deliveriesOfRelease(search, files, release);
  if (from === 'template' || from === 'scan') {
    return deliveriesIn(reader, files).filter((delivery) => !isOfOtherCluster(search, delivery.path));
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
          valueFiles,
          isOneOfMany: true,
        },
      ];
}

function sharedOutside(search: Search, kustomizations: readonly string[]): Pick<Region, 'sharedOutside'> {
  const { reader, path } = search;
  const read = new Set(kustomizations);
  const unread = kustomizationsOfTree(reader).filter((file) => !read.has(file) || reader.whyUnread(file) !== undefined);
  if (unread.length === 0) {
    return {};
  }
  const root = rootOf(search);
  return { sharedOutside: path === '' || unread.some((file) => isWithin(file, root)) ? 'overlay' : 'root' };
}

function rootOf({ reader, path }: Search): string {
  return reader.isFile(path) ? folderOf(path) : path;
}

function chartsAround(reader: TreeReader, path: string): readonly string[] {
  const chart = isChartFile(path) ? folderOf(path) : templateOf(reader, path);
  return chart === undefined ? [] : [chart];
}

const kustomizationsByPaths = new WeakMap<readonly string[], readonly string[]>();

function kustomizationsOfTree({ tree }: TreeReader): readonly string[] {
  const cached = kustomizationsByPaths.get(tree.paths) ?? tree.paths.filter(isKustomizationFile);
  kustomizationsByPaths.set(tree.paths, cached);
  return cached;
}

/**
 * The kustomizations that can affect the files: those among them, those in their folders, those above that change
 * objects below them, and, if the tree has few, all others, to find out who shares a base.
 */
function kustomizationsFor({ reader, path }: Search, files: readonly string[]): readonly string[] {
  const inTree = kustomizationsOfTree(reader);
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
