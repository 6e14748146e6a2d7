/**
 * Reads a tree whose files are not all known yet: missing files are recorded, the caller reads them and repeats the
 * search.
 */
import { type FilePart, type ManifestDocument, partsOf } from '../../yaml/documents.ts';
import type { TreeSnapshot } from '../location/location.ts';
import { TreeIndex } from './tree-index.ts';
import type { UnreadFile } from './unread.ts';

interface ReadFile {
  readonly text: string;
  readonly parts: readonly FilePart[];
}

// Cached because a tree is searched many times.
const parsed = new WeakMap<TreeSnapshot['texts'], Map<string, ReadFile>>();

export class TreeReader {
  readonly tree: TreeSnapshot;
  readonly index: TreeIndex;
  /** Files that have to be read before the result is valid. */
  readonly missing = new Set<string>();
  /** Files that the search asked for and that are not read, with the reasons. */
  readonly unread = new Map<string, UnreadFile>();
  readonly #complete: boolean;
  readonly #read: Map<string, ReadFile>;

  /**
   * @param options.complete `texts` contains every file that mentions a ResourceQuota, so a file without text need not
   *   be read to know that it has none. Default false.
   */
  constructor(tree: TreeSnapshot, options: { readonly complete?: boolean } = {}) {
    this.tree = tree;
    this.#complete = options.complete ?? false;
    this.index = TreeIndex.of(tree.paths);
    const read = parsed.get(tree.texts) ?? new Map<string, ReadFile>();
    parsed.set(tree.texts, read);
    this.#read = read;
  }

  isFile(path: string): boolean {
    return this.index.isFile(path);
  }

  isFolder(path: string): boolean {
    return this.index.isFolder(path);
  }

  /** Why the file is not read; undefined for one that is, or will be. */
  whyUnread(path: string): UnreadFile | undefined {
    return this.tree.unread?.get(path);
  }

  /**
   * The file's text; null for a file that is not text or not read; undefined for a file that does not exist or was not read yet (it
   * is then recorded as missing).
   */
  text(path: string): string | null | undefined {
    const unread = this.whyUnread(path);
    if (unread !== undefined) {
      this.unread.set(path, unread);
      return null;
    }
    const text = this.tree.texts.get(path);
    if (text === undefined && this.isFile(path)) {
      this.missing.add(path);
    }
    return text;
  }

  /** The parts of the file between `---` lines; none when its text is not known or it is not text. */
  parts(path: string): readonly FilePart[] {
    const text = this.text(path);
    if (text === undefined || text === null) {
      return [];
    }
    const cached = this.#read.get(path);
    if (cached?.text === text) {
      return cached.parts;
    }
    const parts = partsOf(path, text);
    this.#read.set(path, { text, parts });
    return parts;
  }

  /** The file's documents that mention a ResourceQuota. */
  quotaDocuments(path: string): readonly ManifestDocument[] {
    return this.#complete && !this.tree.texts.has(path) ? [] : this.documents(path, 'ResourceQuota');
  }

  /** The file's documents whose text contains the word. */
  documents(path: string, word = ''): readonly ManifestDocument[] {
    return this.parts(path).flatMap((part) => (part.text.includes(word) ? part.documents : []));
  }
}
