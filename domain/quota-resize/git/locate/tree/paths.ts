/** Paths in a repository: relative to its root, separated by "/", without a slash at either end; "" is the root. */

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `relative` resolved against `folder` and normalized; undefined when the result leaves the repository. */
export function pathFrom(folder: string, relative: string): string | undefined {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of relative.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) {
        return undefined;
      }
    } else if (part !== '' && part !== '.') {
      parts.push(part);
    }
  }
  return parts.join('/');
}

/** Whether the path is the folder itself or below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** The file names that `kustomize build` tries in a folder, in this order. */
export const kustomizationNames: readonly string[] = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

export function isKustomizationFile(path: string): boolean {
  return kustomizationNames.includes(fileNameOf(path));
}

export function isManifestFile(path: string): boolean {
  return /\.(?:ya?ml|json)$/i.test(path);
}

/** The names of its folders and of its file without extension: names that may stand for a namespace or a cluster. */
export function wordsOf(path: string): readonly string[] {
  const parts = path.split('/');
  const last = parts.pop() ?? '';
  return [...parts, last.replace(/\.[^.]+$/, '')];
}

/**
 * Whether the path contains the word as a whole: `team-a` is in `values-team-a.yaml`, but not in `team-ab/quota.yaml`.
 */
export function mentions(path: string, word: string): boolean {
  if (word === '') {
    return false;
  }
  for (let at = path.indexOf(word); at >= 0; at = path.indexOf(word, at + 1)) {
    const before = path[at - 1];
    const after = path[at + word.length];
    if (!isNameCharacter(before) && !isNameCharacter(after)) {
      return true;
    }
  }
  return false;
}

// A dash separates words too, because of `values-team-a.yaml`. `team-a` is therefore also found in `team-a-dev`, which
// is why this check only narrows down what is read and never decides alone.
function isNameCharacter(character: string | undefined): boolean {
  return character !== undefined && /[a-z0-9]/i.test(character);
}
