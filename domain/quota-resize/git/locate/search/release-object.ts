/** The HelmRelease that a candidate names, in the files of the tree. */
import { type ManifestDocument, textAt } from '../../yaml/documents.ts';
import { type Delivery, deliveriesIn } from '../delivery/delivery.ts';
import type { Unlocated } from '../location/location.ts';
import { isKustomizationFile, isManifestFile, isWithin } from '../tree/paths.ts';
import { remedy, type Search, unlocated } from './search.ts';
import type { ReleaseObject } from '../candidate/source-candidate.ts';

export function isReleaseObject(document: ManifestDocument, { name }: Pick<ReleaseObject, 'name'>): boolean {
  return (
    document.error === undefined &&
    textAt(document, ['kind']) === 'HelmRelease' &&
    textAt(document, ['apiVersion'])?.startsWith('helm.toolkit.fluxcd.io/') === true &&
    textAt(document, ['metadata', 'name']) === name
  );
}

/** The release as its object in the files says it. Other releases of the chart may be elsewhere. */
export function deliveriesOfRelease(
  { reader }: Search,
  files: readonly string[],
  release: ReleaseObject,
): readonly Delivery[] {
  return deliveriesIn(reader, files)
    .filter(({ document }) => document !== undefined && isReleaseObject(document, release))
    .map((delivery) => ({ ...delivery, namespace: release.namespace, isOneOfMany: true }));
}

/** Why the object in the files does not say what the release is; undefined where it does. */
export function releaseProblem(search: Search, files: readonly string[]): Unlocated | undefined {
  const { reader, candidate } = search;
  const { release } = candidate;
  if (release === undefined) return undefined;
  const own = files.filter((file) => isWithin(file, release.path));
  const objects = own
    .filter((file) => isManifestFile(file) && reader.text(file)?.includes('HelmRelease') === true)
    .flatMap((file) => reader.documents(file))
    .filter((document) => isReleaseObject(document, release));
  const label = `the HelmRelease ${release.name}`;
  const [object, second] = objects;
  if (object === undefined) {
    return unlocated('FileNotFound', `no file below "${release.path}" has ${label}; ${remedy(search)}`);
  }
  if (second !== undefined) {
    const candidates = objects.map((object) => ({
      path: object.path,
      line: object.lineOf(object.root),
      namespace: null,
      name: null,
    }));
    const places = candidates.map(({ path, line }) => `${path}:${line}`).join(', ');
    const why = `${label} is in ${objects.length} places, of which one may change another: ${places}`;
    return unlocated('FoundTwice', `${why}; ${remedy(search)}`, candidates);
  }
  const patching = own.find((file) => isKustomizationFile(file) && reader.text(file)?.includes('HelmRelease') === true);
  return patching === undefined
    ? undefined
    : unlocated(
        'Unplaceable',
        `${patching} changes HelmReleases, which may outweigh the values of ${label}; ${remedy(search)}`,
      );
}
