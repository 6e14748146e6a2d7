/**
 * The files that are likely to be asked for after others, so that they come with the same request. A guess that is wrong
 * costs some bytes; what is read is decided elsewhere.
 */
import { isKustomizationFile } from '../../domain/quota-resize/git/locate/kustomization.ts';
import { isManifestFile } from '../../domain/quota-resize/git/locate/paths.ts';

/** So many kustomizations are all read, to see who shares a base. */
const FEW_KUSTOMIZATIONS = 30;
const MAX_AHEAD = 60;
/** Where people keep what their overlays share. */
const SHARED_FOLDER = /(?:^|\/)(?:bases?|components?|common|shared)\//i;

const kustomizedOf = new WeakMap<readonly string[], readonly string[]>();

/**
 * @param all every path of the tree.
 * @param asked what is about to be read.
 */
export function readAhead(all: readonly string[], asked: readonly string[]): readonly string[] {
  if (!asked.some(isKustomizationFile)) return [];
  const cached = kustomizedOf.get(all) ?? kustomized(all);
  kustomizedOf.set(all, cached);
  return cached;
}

/** What kustomizations of a tree refer to, as far as names tell. */
function kustomized(all: readonly string[]): readonly string[] {
  const kustomizations = all.filter(isKustomizationFile);
  const shared = all.filter((path) => SHARED_FOLDER.test(path) && isManifestFile(path));
  const few = kustomizations.length <= FEW_KUSTOMIZATIONS ? kustomizations : [];
  return [...new Set([...few, ...shared])].slice(0, MAX_AHEAD);
}
