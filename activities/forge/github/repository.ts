/** State of one repository that the GitHub modules share. */
import { DEFAULT_READ_LIMITS, type ReadLimits } from '../../../domain/kernel/forge.ts';
import type { GitHubClient } from './client.ts';
import { BoundedCache, ObjectCache } from './cache.ts';
import type { Commit, FileChange, TreeEntry } from '../forge.ts';
import { blobSha } from '../git-blob.ts';
import { treeWith } from '../tree-sha.ts';

/** Maximum of cached tree entries: a handful of repository states with 20,000 files each. */
const CACHED_TREE_ENTRIES = 400_000;
/** Maximum of cached characters of files. */
const CACHED_FILE_CHARACTERS = 64 * 1024 * 1024;
const CACHED_COMMITS = 2000;
/** Pull requests that were opened and are not merged yet. */
const OWN_CHANGES = 100;
/** The weight of a cache entry with an empty value. */
const ENTRY_WEIGHT = 200;

/** Trees and files by their SHA, which is the same in every repository. */
export class GitObjects {
  /** Null for a tree that GitHub truncated. */
  readonly trees = new ObjectCache<readonly TreeEntry[] | null>(CACHED_TREE_ENTRIES, (tree) => (tree?.length ?? 0) + 1);
  /** Null for a file that is not UTF-8. */
  readonly blobs = new ObjectCache<string | null>(CACHED_FILE_CHARACTERS, (text) => (text?.length ?? 0) + ENTRY_WEIGHT);

  /** All entries of a whole tree, if they are known. */
  wholeTree(sha: string): readonly TreeEntry[] | undefined {
    return this.trees.peek(wholeTreeKey(sha)) ?? undefined;
  }

  /**
   * The entries of a listing; those that a tree that is known has as well are the same objects, so that the next state of a large
   * repository, with a few changed files, takes hardly any memory.
   *
   * @param from the SHA of that tree.
   */
  sharing(entries: readonly TreeEntry[], from: string): readonly TreeEntry[] {
    const known = new Map(this.wholeTree(from)?.map((entry) => [entry.path, entry]));
    return entries.map((entry) => {
      const same = known.get(entry.path);
      return same?.sha === entry.sha && same.mode === entry.mode ? same : entry;
    });
  }

  /**
   * Notes a tree that is another one with files written into it, so that it need not be asked for. Its SHA proves it:
   * where it is another one, somebody changed more, and nothing is noted.
   */
  noteTree(sha: string, from: string, files: readonly FileChange[]): void {
    if (this.wholeTree(sha) !== undefined) return;
    const entries = this.wholeTree(from);
    if (entries === undefined) return;
    const made = treeWith(entries, files);
    if (made.sha === sha) this.trees.set(wholeTreeKey(sha), made.entries);
  }

  noteText(text: string): void {
    this.blobs.set(blobSha(text), text);
  }
}

/** The key of a tree that was listed with all below it. */
export function wholeTreeKey(sha: string): string {
  return `${sha} whole`;
}

export interface GitHubRepositoryOptions {
  /** The client of this repository. */
  readonly client: GitHubClient;
  /** The branch to change; absent: the repository's default branch. */
  readonly baseBranch?: string | null | undefined;
  /** The most bytes that are read; absent: the defaults. */
  readonly limits?: ReadLimits | undefined;
}

/** A repository with its client, and where it is on GitHub. */
export interface GitHubRepository {
  readonly client: GitHubClient;
  readonly where: { readonly owner: string; readonly repo: string };
  /** `owner/name`. */
  readonly name: string;
  readonly configuredBase: string | null;
  readonly limits: ReadLimits;
  readonly objects: GitObjects;
  readonly commits: ObjectCache<Commit>;
  /** The files of commits that this process made, by the SHA of the commit. */
  readonly ownChanges: BoundedCache<readonly FileChange[]>;
  /** The id by which GraphQL's mutations name the repository; null until it was read, with a base branch. */
  nodeId: string | null;
  /** The ids of pull requests that were read with GraphQL, by their numbers. */
  readonly pullIds: BoundedCache<string>;
}

/** @param shared the git objects of another repository of the same credential. */
export function gitHubRepository(
  { client, baseBranch, limits = DEFAULT_READ_LIMITS }: GitHubRepositoryOptions,
  shared: GitObjects = new GitObjects(),
): GitHubRepository {
  return {
    client,
    where: { owner: client.owner, repo: client.repo },
    name: client.repository,
    configuredBase: baseBranch ?? null,
    limits,
    objects: shared,
    commits: new ObjectCache(CACHED_COMMITS, () => 1),
    ownChanges: new BoundedCache(OWN_CHANGES),
    nodeId: null,
    pullIds: new BoundedCache(OWN_CHANGES),
  };
}
