/** What lookups in one tree have in common: the same files are evaluated once for all quotas that are searched in them. */
import type { TreeSnapshot } from '../location/location.ts';
import { TreeReader } from '../tree/tree-reader.ts';
import type { UnreadFile } from '../tree/unread.ts';

interface Result {
  readonly value: unknown;
  /** What the work asked for and did not get. */
  readonly missing: ReadonlySet<string>;
  readonly unread: ReadonlyMap<string, UnreadFile>;
}

/** Valid as long as no text of the tree changes and none is added. */
export class SharedWork {
  readonly #tree: TreeSnapshot;
  readonly #results = new WeakMap<readonly string[], Map<string, Result>>();

  constructor(tree: TreeSnapshot) {
    this.#tree = tree;
  }

  /**
   * The result of a piece of work, which is done once for a list of files and a key. Who gets it is told what it asked for
   * as if it had been done with this reader.
   *
   * @param files by identity.
   * @param key everything else that the result depends on.
   */
  once<T>(reader: TreeReader, files: readonly string[], key: string, work: (reader: TreeReader) => T): T {
    const ofFiles = this.#results.get(files) ?? new Map<string, Result>();
    this.#results.set(files, ofFiles);
    let result = ofFiles.get(key);
    if (result === undefined) {
      const own = new TreeReader(this.#tree);
      result = { value: work(own), missing: own.missing, unread: own.unread };
      ofFiles.set(key, result);
    }
    for (const path of result.missing) reader.missing.add(path);
    for (const [path, why] of result.unread) reader.unread.set(path, why);
    return result.value as T;
  }
}
