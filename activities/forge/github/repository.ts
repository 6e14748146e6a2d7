/** One repository of a credential, as what asks GitHub about it shares it. */
import type { GitHubClient } from './client.ts';
import { ObjectCache } from './cache.ts';
import type { TreeEntry } from '../forge.ts';

/** Entries of trees that are cached: a handful of repositories states of 20,000 files. */
const CACHED_TREE_ENTRIES = 400_000;
/** Characters of files that are cached. */
const CACHED_FILE_CHARACTERS = 64 * 1024 * 1024;
/** An entry of a cache costs something even when its value is empty. */
const ENTRY_WEIGHT = 200;

/** Trees and files by their SHA, which is the same in every repository. */
export class GitObjects {
  /** Null for a tree that GitHub cut off. */
  readonly trees = new ObjectCache<readonly TreeEntry[] | null>(CACHED_TREE_ENTRIES, (tree) => (tree?.length ?? 0) + 1);
  /** Null for a file that is not UTF-8. */
  readonly blobs = new ObjectCache<string | null>(CACHED_FILE_CHARACTERS, (text) => (text?.length ?? 0) + ENTRY_WEIGHT);
}

export interface GitHubRepositoryOptions {
  /** Of this repository. */
  readonly client: GitHubClient;
  /** The branch to change; absent: the repository's default branch. */
  readonly baseBranch?: string | null | undefined;
}

/** A repository with its client, and where it is on GitHub. */
export interface GitHubRepository {
  readonly client: GitHubClient;
  readonly where: { readonly owner: string; readonly repo: string };
  /** `owner/name`. */
  readonly name: string;
  readonly configuredBase: string | null;
  readonly objects: GitObjects;
}

/** @param shared the objects of another repository of the same credential. */
export function gitHubRepository(
  { client, baseBranch }: GitHubRepositoryOptions,
  shared: GitObjects = new GitObjects(),
): GitHubRepository {
  return {
    client,
    where: { owner: client.owner, repo: client.repo },
    name: client.repository,
    configuredBase: baseBranch ?? null,
    objects: shared,
  };
}
