/** What the paths of a tree say, worked out once for all lookups: which files are in a folder, and which are called how. */
import { fileNameOf, folderOf, isKustomizationFile, isManifestFile, mentions } from './paths.ts';

const indexes = new WeakMap<readonly string[], TreeIndex>();

export class TreeIndex {
  /** Sorted. */
  readonly #paths: readonly string[];
  readonly #files: ReadonlySet<string>;
  readonly #folders: ReadonlySet<string>;
  readonly #manifestsBelow = new Map<string, readonly string[]>();
  #manifestsByWord: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> | undefined;
  #manifestsByName: ReadonlyMap<string, readonly string[]> | undefined;
  #kustomizations: readonly string[] | undefined;
  #namesIn: ReadonlyMap<string, readonly string[]> | undefined;

  /** @param paths sorted; they never change. */
  private constructor(paths: readonly string[]) {
    this.#paths = paths;
    this.#files = new Set(paths);
    this.#folders = foldersOf(paths);
  }

  /** The index of a list, which is made once. */
  static of(paths: readonly string[]): TreeIndex {
    const index = indexes.get(paths) ?? new TreeIndex(paths);
    indexes.set(paths, index);
    return index;
  }

  isFile(path: string): boolean {
    return this.#files.has(path);
  }

  isFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  /** All files below a folder; "" is the root. */
  below(folder: string): readonly string[] {
    if (folder === '') return this.#paths;
    // "0" follows "/", so every path below the folder is between the two.
    return this.#paths.slice(this.#positionOf(`${folder}/`), this.#positionOf(`${folder}0`));
  }

  /** The files below a folder that may be read: YAML, JSON and kustomizations. Always the same list for a folder. */
  manifestsBelow(folder: string): readonly string[] {
    const manifests =
      this.#manifestsBelow.get(folder) ??
      this.below(folder).filter((path) => isManifestFile(path) || isKustomizationFile(path));
    this.#manifestsBelow.set(folder, manifests);
    return manifests;
  }

  /** All manifests of the tree whose file is called so. */
  manifestsNamed(fileName: string): readonly string[] {
    this.#manifestsByName ??= Map.groupBy(this.#paths.filter(isManifestFile), fileNameOf);
    return this.#manifestsByName.get(fileName) ?? [];
  }

  /** All kustomizations of the tree. */
  get kustomizations(): readonly string[] {
    this.#kustomizations ??= this.#paths.filter(isKustomizationFile);
    return this.#kustomizations;
  }

  /** The files in a folder, not those of folders in it. */
  filesIn(folder: string): readonly string[] {
    this.#namesIn ??= Map.groupBy(this.#paths, folderOf);
    return this.#namesIn.get(folder) ?? [];
  }

  /** The manifests that have the word in their path as a whole, as `mentions` says it, in the order of the paths. */
  manifestsMentioning(word: string): readonly string[] {
    this.#manifestsByWord ??= byWord(this.manifestsBelow(''));
    const byPart = this.#manifestsByWord;
    const segments = wordsIn(word).map((part) => byPart.get(part) ?? NO_SEGMENTS);
    // The rarest part of the word says most.
    const rarest = segments.toSorted((a, b) => a.size - b.size)[0];
    if (rarest === undefined) return this.manifestsBelow('').filter((path) => mentions(path, word));
    const found = new Set<string>();
    for (const [segment, paths] of rarest) {
      // No name of a folder has a slash, but who asks may.
      if (!word.includes('/') && !mentions(segment, word)) continue;
      for (const path of paths) if (mentions(path, word)) found.add(path);
    }
    return [...found].toSorted();
  }

  /** The position of the first path that is not before the text. */
  #positionOf(text: string): number {
    let [low, high] = [0, this.#paths.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#paths[middle] ?? '') < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NO_SEGMENTS: ReadonlyMap<string, readonly string[]> = new Map();

function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>(['']);
  for (const path of paths) {
    for (let folder = folderOf(path); !folders.has(folder); folder = folderOf(folder)) folders.add(folder);
  }
  return folders;
}

/** The letters and digits of a name between other characters. */
function wordsIn(name: string): readonly string[] {
  return name.match(/[a-z0-9]+/gi) ?? [];
}

/** By each word, the names of folders and files with it, and the paths with each name. */
function byWord(paths: readonly string[]): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const bySegment = new Map<string, string[]>();
  for (const path of paths) {
    for (const segment of new Set([...folderOf(path).split('/'), fileNameOf(path)])) {
      const there = bySegment.get(segment);
      if (there === undefined) bySegment.set(segment, [path]);
      else there.push(path);
    }
  }
  const words = new Map<string, Map<string, readonly string[]>>();
  for (const [segment, there] of bySegment) {
    for (const word of new Set(wordsIn(segment))) {
      const segments = words.get(word) ?? new Map<string, readonly string[]>();
      segments.set(segment, there);
      words.set(word, segments);
    }
  }
  return words;
}
