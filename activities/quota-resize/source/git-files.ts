/** The files of a repository at one commit: what is in its tree, and what of it can be read. */
import { submodule, symbolicLink, type UnreadFile } from '../../../domain/quota-resize/git/locate/tree/unread.ts';
import type { TreeEntry } from '../../forge/forge.ts';

const SYMBOLIC_LINK = '120000';

export interface GitFiles {
  /** The plain files, by path. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** All paths, sorted; also of what is not read. */
  readonly paths: readonly string[];
  readonly unread: ReadonlyMap<string, UnreadFile>;
}

/** Cached by the tree's listing: a tree of 25,000 files is indexed once. */
const filesByListing = new WeakMap<readonly TreeEntry[], GitFiles>();

export function filesOf(listing: readonly TreeEntry[]): GitFiles {
  const cached = filesByListing.get(listing);
  if (cached !== undefined) return cached;
  const entries = new Map<string, TreeEntry>();
  const unread = new Map<string, UnreadFile>();
  for (const entry of listing) {
    if (entry.type === 'commit') unread.set(entry.path, submodule);
    else if (entry.mode === SYMBOLIC_LINK) unread.set(entry.path, symbolicLink);
    else if (entry.type === 'blob') entries.set(entry.path, entry);
  }
  const files = { entries, unread, paths: [...entries.keys(), ...unread.keys()].toSorted() };
  filesByListing.set(listing, files);
  return files;
}
