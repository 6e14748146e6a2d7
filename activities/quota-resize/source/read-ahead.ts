/**
 * Guesses the files that will be needed after others, so that one request reads them together. A wrong guess only costs
 * some bytes; it does not affect any result.
 */
import { isKustomizationFile, isManifestFile } from '../../../domain/quota-resize/git/locate/tree/paths.ts';

/** Up to this number of kustomizations all are read, to find out who shares a base. */
const FEW_KUSTOMIZATIONS = 30;
const MAX_AHEAD = 60;
/** Usual names of folders that overlays share. */
const SHARED_FOLDER = /(?:^|\/)(?:bases?|components?|common|shared)\//i;

const kustomizedOf = new WeakMap<readonly string[], readonly string[]>();

/**
 * @param all all paths of the tree.
 * @param asked the paths about to be read.
 */
export function readAhead(all: readonly string[], asked: readonly string[]): readonly string[] {
  if (!asked.some(isKustomizationFile)) return [];
  const cached = kustomizedOf.get(all) ?? kustomized(all);
  kustomizedOf.set(all, cached);
  return cached;
}

/** The files that kustomizations probably refer to, judged by their names. */
function kustomized(all: readonly string[]): readonly string[] {
  const kustomizations = all.filter(isKustomizationFile);
  const shared = all.filter((path) => SHARED_FOLDER.test(path) && isManifestFile(path));
  const few = kustomizations.length <= FEW_KUSTOMIZATIONS ? kustomizations : [];
  return [...new Set([...few, ...shared])].slice(0, MAX_AHEAD);
}
