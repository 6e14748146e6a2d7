/**
 * What the resizer asks of the service that keeps a GitOps repository: its base branch and files, branches, pull requests
 * and checks, in the terms of this product. One repository each. Every method throws an `ApplicationFailure` for whatever it
 * does not name as an outcome.
 */
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Mergeability } from '../../domain/kernel/forge.ts';

/** The base branch at one commit. */
export interface BaseBranch {
  readonly kind: 'branch';
  readonly name: string;
  readonly sha: string;
  readonly treeSha: string;
}

export interface MissingBase {
  readonly kind: 'missing';
  /** A repository may be there and not be shown; one without any commit has no branch. */
  readonly what: 'repository' | 'branch' | 'commit';
  /** A sentence: what is missing, and what would be right. */
  readonly message: string;
}

export interface TreeEntry {
  readonly path: string;
  /** Six digits: 100644 for a file. */
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  /** In bytes; absent for folders. */
  readonly size?: number | undefined;
}

export type BlobEntry = Pick<TreeEntry, 'sha' | 'size'>;

export interface Commit {
  readonly sha: string;
  readonly message: string;
  readonly parents: readonly string[];
  readonly treeSha: string;
  readonly committedAt: EpochMs;
  /** The committer's account, where the forge knows one. */
  readonly committer: string | null;
  /** The paths that it changes against its first parent (GitHub gives 300 at most). */
  readonly files: readonly string[];
}

/** A file as a commit is to have it. */
export interface FileChange {
  readonly path: string;
  /** Six digits, as the tree has it; a new file: 100644. */
  readonly mode: string;
  /** The file as it is; null: it is new. */
  readonly blobSha: string | null;
  readonly text: string;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly sha: string; readonly at: EpochMs }
  /** The branch is not what it was taken for. */
  | { readonly kind: 'conflict'; readonly message: string };

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'closed';
  readonly title: string;
  readonly body: string;
  readonly user: string | null;
  readonly headSha: string;
  readonly headRef: string;
  readonly baseRef: string;
  readonly createdAt: EpochMs;
  readonly mergedAt: EpochMs | null;
  readonly mergedBy: string | null;
  readonly mergeSha: string | null;
  readonly mergeability: Mergeability;
  /** How many commits it has. */
  readonly commits: number;
  readonly labels: readonly string[];
  /** Who was asked to review and has not answered yet, teams by their slug. */
  readonly requestedReviewers: readonly string[];
}

export interface Checks {
  readonly total: number;
  readonly pending: readonly string[];
  readonly failing: readonly string[];
}

/** How the branch stands to a base commit. */
export interface Comparison {
  /** Commits that the base has and the branch has not. */
  readonly behind: number;
  /** Commits that the branch has and the base has not, oldest first (GitHub gives 250 at most). */
  readonly ahead: readonly { readonly sha: string; readonly message: string; readonly committedAt: EpochMs }[];
}

export type MergeOutcome =
  | { readonly kind: 'merged'; readonly sha: string }
  /** The head is another one, or the forge is in the middle of something. */
  | { readonly kind: 'moved' }
  /** With the forge's reason; `needsMergeQueue`: only a merge queue may change the base. */
  | { readonly kind: 'rejected'; readonly message: string; readonly needsMergeQueue: boolean };
/** The rules of a branch that bear on a merge. */
export interface BranchRules {
  /** It may only be changed after checks have passed. */
  readonly requiresChecks: boolean;
  /** It may only be changed through a merge queue. */
  readonly mergeQueue: boolean;
}

export type OpenOutcome =
  | { readonly kind: 'opened'; readonly pull: PullRequest }
  | { readonly kind: 'exists' }
  | { readonly kind: 'rejected'; readonly message: string };

/** The mode of an ordinary file in a tree. */
export const PLAIN_FILE = '100644';

export interface Forge {
  /** `owner/name`. */
  readonly repository: string;
  readonly files: ForgeFiles;
  readonly branches: ForgeBranches;
  readonly pullRequests: ForgePullRequests;
}

/** The base branch and its files. */
export interface ForgeFiles {
  /**
   * @param maxAgeMs how old an answer of before may be; 0, the default, asks again (for nothing of the limit when nothing
   *   changed).
   * @param ref the branch; absent: the configured one, or the repository's default.
   */
  base(maxAgeMs?: number, ref?: string): Promise<BaseBranch | MissingBase>;
  /** The base branches are known to have moved (by a merge) or to be gone. */
  forgetBase(): void;
  /** Every entry at and below a path of a tree, with whole paths. */
  entriesBelow(treeSha: string, path: string): Promise<readonly TreeEntry[]>;
  /** The text of a file by its blob; null when it is not UTF-8. A byte order mark stays in the text. */
  fileText(sha: string): Promise<string | null>;
  /**
   * The texts of files by their blobs, as `fileText`: those that are not cached in as few requests as possible.
   *
   * @param ahead files that may be asked for next: read along where there is something to read, and where they fit in.
   */
  fileTexts(files: readonly BlobEntry[], ahead?: readonly BlobEntry[]): Promise<ReadonlyMap<string, string | null>>;
  /** A file at a branch or commit; null when there is none. */
  fileAt(path: string, ref: string): Promise<{ readonly sha: string; readonly text: string | null } | null>;
}

/** Branches and commits. */
export interface ForgeBranches {
  rules(branch: string): Promise<BranchRules>;
  create(branch: string, sha: string): Promise<'created' | 'exists'>;
  /** The commit that a branch points to; null when there is no such branch. */
  head(branch: string): Promise<string | null>;
  move(branch: string, sha: string, force: boolean): Promise<'moved' | { readonly rejected: string }>;
  /** True when this call deleted it; false when there was nothing to delete. */
  delete(branch: string): Promise<boolean>;
  /** How a branch or commit stands to a base commit; null when either does not exist. */
  compare(base: string, head: string): Promise<Comparison | null>;
  commit(sha: string): Promise<Commit>;
  /** Changed files on a branch whose tip is `parent`, in one commit; `conflict` when the branch is somewhere else. */
  commitFiles(input: {
    readonly branch: string;
    readonly parent: Pick<BaseBranch, 'sha' | 'treeSha'>;
    readonly files: readonly FileChange[];
    readonly message: string;
  }): Promise<CommitOutcome>;
  /** A commit with changed files on top of another commit, on no branch yet. */
  commitOnto(input: {
    readonly parent: string;
    readonly parentTree: string;
    readonly files: readonly FileChange[];
    readonly message: string;
  }): Promise<{ readonly sha: string; readonly at: EpochMs }>;
}

export interface ForgePullRequests {
  get(number: number): Promise<PullRequest>;
  /** The number of the pull request of a branch of this repository, an open one first; null when there never was one. */
  ofBranch(branch: string): Promise<number | null>;
  open(input: {
    readonly branch: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
  }): Promise<OpenOutcome>;
  edit(number: number, change: { title?: string; body?: string; state?: 'closed' }): Promise<void>;
  addLabels(number: number, labels: readonly string[]): Promise<void>;
  /**
   * Asks people, and teams (`org/team`), to review.
   *
   * @returns the forge's words where it rejects them: nobody of the list is asked then.
   */
  requestReviewers(number: number, names: readonly string[]): Promise<'requested' | { readonly rejected: string }>;
  /** Who has reviewed a pull request. */
  reviewersOf(number: number): Promise<readonly string[]>;
  /** The commits of a pull request, oldest first. */
  commitsOf(number: number): Promise<Comparison['ahead']>;
  /** The paths that a pull request changes (the first hundred). */
  filesOf(number: number): Promise<readonly string[]>;
  commentsOf(number: number): Promise<readonly string[]>;
  comment(number: number, body: string): Promise<void>;
  /** Who closed a pull request; null where the forge does not say. */
  closedBy(number: number): Promise<string | null>;
  /** The checks of a commit, of every kind that the forge has. */
  checks(sha: string): Promise<Checks>;
  /** Squash merge, only if the head still is `headSha`. */
  merge(input: { number: number; headSha: string; title: string; message: string }): Promise<MergeOutcome>;
}

/** `quota-owners` of `platform/quota-owners`: only a team of the repository's own organisation can be asked. */
export function teamSlug(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
