import type { Signature } from './git/objects.ts';
import { NO_OBJECT, type GitRepository, type TreeChange } from './git/repository.ts';

/** A commit of some files on top of a branch. */
export interface FileCommit {
  readonly branch: string;
  /** The branch's tip; undefined makes the branch. */
  readonly parent: string | undefined;
  readonly changes: ReadonlyMap<string, TreeChange>;
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
}

/** Writes the commit and moves the branch to it. @throws RefMovedError when the branch was moved meanwhile */
export async function commitFiles(git: GitRepository, wanted: FileCommit): Promise<string> {
  const base = wanted.parent ? (await git.commit(wanted.parent)).tree : undefined;
  const sha = await git.writeCommit({
    tree: await git.editTree(base, wanted.changes),
    parents: wanted.parent ? [wanted.parent] : [],
    author: wanted.author,
    committer: wanted.committer,
    message: wanted.message,
  });
  await git.updateRef(`refs/heads/${wanted.branch}`, sha, wanted.parent ?? NO_OBJECT);
  return sha;
}
