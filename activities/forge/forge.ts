/**
 * What the resizer needs from the service that hosts a GitOps repository: base branch and files, branches, pull
 * requests and checks, in terms of this product. One object per repository. Every method throws an `ApplicationFailure`
 * for a result that it does not return as an outcome.
 */
import type { EpochMs } from '../../domain/kernel/time.ts';
import type {
  ChangeRequests,
  Mergeability,
  MergeMethod,
  QueueEntry,
  QueueRemoval,
  ReadLimits,
} from '../../domain/kernel/forge.ts';

/** The base branch at one commit. */
export interface BaseBranch {
  readonly kind: 'branch';
  readonly name: string;
  readonly sha: string;
  readonly treeSha: string;
}

export interface MissingBase {
  readonly kind: 'missing';
  /** A repository may exist and be hidden from the credential; a repository without commits has no branch. */
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
}

/** The content of a file in a new commit. */
export interface FileChange {
  readonly path: string;
  /** Six digits, as in the tree; for a new file 100644. */
  readonly mode: string;
  /** The blob of the present file; null for a new file. */
  readonly blobSha: string | null;
  readonly text: string;
}

/** A commit on top of a branch's tip. */
export interface NewCommit {
  readonly branch: string;
  readonly parent: Pick<BaseBranch, 'sha' | 'treeSha'>;
  readonly files: readonly FileChange[];
  readonly message: string;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly sha: string; readonly at: EpochMs }
  /** The branch does not point to the expected commit. */
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
  /** The number of commits of the pull request. */
  readonly commits: number;
  readonly labels: readonly string[];
  /** Requested reviewers who have not reviewed yet; teams by their slug. */
  readonly requestedReviewers: readonly string[];
  /** The forge's own auto-merge, with who enabled it; absent where it is not enabled, or `PullRequestState.queue` tells of it. */
  readonly autoMerge?: { readonly by: string; readonly method: MergeMethod };
}

/** That somebody reopened a pull request. */
export interface Reopening {
  /** Differs for each reopening, also for two within one second. */
  readonly id: string;
  readonly by: string;
  readonly at: EpochMs;
}

/** A branch of the repository with an open pull request. */
export interface OpenBranch {
  readonly branch: string;
  readonly number: number;
}

export interface Checks {
  readonly total: number;
  readonly pending: readonly string[];
  readonly failing: readonly string[];
}

/** A branch compared with a base commit. */
export interface Comparison {
  /** Number of commits of the base that the branch lacks. */
  readonly behind: number;
  /** Commits of the branch that the base lacks, oldest first (GitHub lists at most 250). */
  readonly ahead: readonly Pick<Commit, 'sha' | 'message' | 'committedAt'>[];
}

/** A commit of a pull request. */
export type ListedCommit = Pick<Commit, 'sha' | 'message' | 'committedAt' | 'committer'>;

/** A person's approval of a pull request, as the forge keeps it. */
export interface ForgeApproval {
  /** The person's account. */
  readonly by: string;
  /** The head that was approved; later ones were not seen. */
  readonly headSha: string;
  readonly at: EpochMs;
}

export interface MergeRequest {
  readonly number: number;
  readonly headSha: string;
  readonly method: MergeMethod;
  /** Of the new commit; a rebase makes none. */
  readonly title: string;
  readonly message: string;
}

export type MergeOutcome =
  | { readonly kind: 'merged'; readonly sha: string }
  /** The head has changed, or the forge is busy with another operation on it. */
  | { readonly kind: 'moved' }
  /** The forge's reason; `needsMergeQueue`: the base may only be changed through a merge queue. */
  | { readonly kind: 'rejected'; readonly message: string; readonly needsMergeQueue: boolean };

export type EnqueueOutcome =
  | { readonly kind: 'queued' }
  /** The forge's reason. */
  | { readonly kind: 'rejected'; readonly message: string };

/** Where a pull request is in the merge queue of its base branch, or that auto-merge is enabled, or what ended either. */
export interface QueueState {
  readonly entry: Omit<QueueEntry, 'isOwn'> | null;
  /** `by`: the account that took it out, if it is not the queue itself; null where it is not out of it unmerged. */
  readonly removal: QueueRemoval | null;
}

/** The rules of a branch that affect a merge. */
export interface BranchRules {
  /** Changes require passed checks. */
  readonly requiresChecks: boolean;
  /** Changes require a merge queue. */
  readonly mergeQueue: boolean;
  /**
   * Changes require an approving review or a passed check, as far as the forge tells it to this credential. A rule against
   * anything else, such as force pushes, keeps nobody from merging.
   */
  readonly isProtected: boolean;
  /** What the rules leave of the methods to merge, as far as the forge tells it to this credential. */
  readonly mergeMethods: readonly MergeMethod[];
}

/**
 * A pull request with what decides about its merge: read at one moment as far as the forge can, and the rest when it is
 * asked for.
 */
export interface PullRequestState {
  readonly pull: PullRequest;
  /** Of its head. */
  checks(): Promise<Checks>;
  /** Null where the forge does not say. */
  readonly queue: QueueState | null;
  /** Of its base branch. */
  rules(): Promise<BranchRules>;
  /** What the settings of its repository allow of merges, as far as the forge tells it to this credential. */
  mergeMethods(): Promise<readonly MergeMethod[]>;
  readonly autoMergeIsAllowed: boolean;
  /** As `ForgePullRequests.approvals`. */
  approvals(): Promise<readonly ForgeApproval[]>;
  /** As `ForgePullRequests.changeRequests`. */
  changeRequests(): Promise<ChangeRequests>;
  /** Null when it is not closed, or the forge does not say. */
  closedBy(): Promise<string | null>;
  /** The commit that its branch points to; null when there is no such branch. */
  branchHead(): Promise<string | null>;
  /** A file as the merge left it; null where it is not there, or nothing is merged. */
  mergedFile(path: string): Promise<FileAtCommit | null>;
}

/** A file at a branch or a commit. Its text is null when it is too large, or no UTF-8. */
export interface FileAtCommit {
  readonly sha: string;
  readonly text: string | null;
}

export type OpenOutcome =
  | { readonly kind: 'opened'; readonly pull: PullRequest }
  | { readonly kind: 'exists' }
  | { readonly kind: 'rejected'; readonly message: string };

/** What becomes of a branch, a commit and a pull request that are asked for together. */
export type OpenAtOnceOutcome =
  | {
      readonly kind: 'opened';
      readonly pull: PullRequest;
      readonly commit: { readonly sha: string; readonly at: EpochMs };
    }
  /** Some or all of it is not there, or not as it was asked for: it has to be looked for. With the forge's reasons. */
  | { readonly kind: 'incomplete'; readonly message: string };

/** The mode of an ordinary file in a tree. */
export const PLAIN_FILE = '100644';

export interface Forge {
  /** The name of the service, for people: `GitHub`. */
  readonly service: string;
  /** `owner/name`. */
  readonly repository: string;
  readonly files: ForgeFiles;
  readonly branches: ForgeBranches;
  readonly pullRequests: ForgePullRequests;
}

/** What is needed next of a base branch that is read. */
export interface Alongside {
  /** The beginning of the names of branches whose open pull requests `pullRequests.ownOpen` gives; empty: of none. */
  readonly beginning: string;
  /** A file or folder whose files are likely to be read. */
  readonly path?: string | undefined;
}

/** The base branch and its files. */
export interface ForgeFiles {
  /** The most bytes that are read. */
  readonly limits: ReadLimits;
  /**
   * @param maxAgeMs how old a cached result may be; 0, the default, always asks (a conditional request, which costs no
   *   rate limit when nothing changed).
   * @param ref the branch; absent: the configured one, or the repository's default branch.
   * @param alongside what is read with the same request.
   */
  base(maxAgeMs?: number, ref?: string, alongside?: Alongside): Promise<BaseBranch | MissingBase>;
  /** Must be called when the base branches have moved (by a merge) or were deleted. */
  forgetBase(): void;
  /** All entries at and below a path of a tree, with full paths. */
  entriesBelow(treeSha: string, path: string): Promise<readonly TreeEntry[]>;
  /** The text of a file by its blob; null when it is not UTF-8. A byte order mark is kept. */
  fileText(sha: string): Promise<string | null>;
  /**
   * The texts of files by their blobs, as `fileText`; blobs that are not cached are read with as few requests as
   * possible.
   *
   * @param ahead files that may be needed next: they fill up a request that is made anyway.
   */
  fileTexts(files: readonly BlobEntry[], ahead?: readonly BlobEntry[]): Promise<ReadonlyMap<string, string | null>>;
  /** A file at a branch or commit; null when there is none. */
  fileAt(path: string, ref: string): Promise<FileAtCommit | null>;
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
  /** Compares a branch or commit with a base commit; null when either does not exist. */
  compare(base: string, head: string): Promise<Comparison | null>;
  commit(sha: string): Promise<Commit>;
  /** Commits changed files to a branch whose tip is `parent`, in one commit; `conflict` when the tip is another commit. */
  commitFiles(input: NewCommit): Promise<CommitOutcome>;
  /** Creates a commit with changed files on top of another commit, without a branch. */
  commitOnto(input: {
    readonly parent: string;
    readonly parentTree: string;
    readonly files: readonly FileChange[];
    readonly message: string;
  }): Promise<{ readonly sha: string; readonly treeSha: string; readonly at: EpochMs }>;
}

export interface ForgePullRequests {
  /** Costs no rate limit where the forge has conditional requests and nothing changed. */
  get(number: number): Promise<PullRequest>;
  /**
   * @param ahead what is surely asked for: the approvals, and a file of the merge.
   */
  state(
    number: number,
    ahead?: { readonly approvals?: boolean; readonly mergedFile?: string },
  ): Promise<PullRequestState>;
  /**
   * The number of the pull request of a branch of this repository, preferring an open one; null when there never was
   * one.
   */
  ofBranch(branch: string): Promise<number | null>;
  /**
   * The open pull requests that the account of this credential opened from branches whose names begin like this, newest
   * first. Empty where the credential may not ask for them.
   *
   * @param maxAgeMs how old a result may be that was read with the base branch.
   */
  ownOpen(beginning: string, maxAgeMs: number): Promise<readonly OpenBranch[]>;
  /** As `ownOpen`, of any number, and read now. */
  allOwnOpen(beginning: string): Promise<readonly OpenBranch[]>;
  /** The last time that a pull request was reopened; null where nobody did, or the forge does not say. */
  reopened(number: number): Promise<Reopening | null>;
  open(input: {
    readonly branch: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
  }): Promise<OpenOutcome>;
  /**
   * Whether `openAtOnce` can make these changes, and a base branch was read a moment ago with the branches of this
   * beginning, among which the branch was not.
   */
  opensAtOnce(files: readonly FileChange[], branch: string, beginning: string): boolean;
  /**
   * Makes a branch at `parent` with one commit, and opens its pull request, all with one request. The forge may do a part
   * of it; what it did is not undone.
   */
  openAtOnce(
    input: NewCommit & { readonly base: string; readonly title: string; readonly body: string },
  ): Promise<OpenAtOnceOutcome>;
  edit(number: number, change: { title?: string; body?: string; state?: 'closed' }): Promise<void>;
  addLabels(number: number, labels: readonly string[]): Promise<void>;
  /**
   * Requests reviews from people and teams (`org/team`).
   *
   * @returns the forge's message if it rejects the request; then nobody on the list was asked.
   */
  requestReviewers(number: number, names: readonly string[]): Promise<'requested' | { readonly rejected: string }>;
  /** Who has reviewed a pull request. */
  reviewersOf(number: number): Promise<readonly string[]>;
  /**
   * The approving reviews that hold: of each person the last word (a request for changes, or a dismissal, takes an
   * approval back), of people who may write to the repository, and never of the author or of an app. Empty where the
   * pull request has more reviews than are read.
   */
  approvals(number: number): Promise<readonly ForgeApproval[]>;
  /**
   * The requests for changes that stand, whatever was pushed since: of each account the last word (its approval, or a
   * dismissal, ends it), of people who may write to the repository now, and of apps, which the repository's administrators
   * let review.
   */
  changeRequests(number: number): Promise<ChangeRequests>;
  /** The commits of a pull request, oldest first. */
  commitsOf(number: number): Promise<readonly ListedCommit[]>;
  /** The paths that a pull request changes (the first hundred). */
  filesOf(number: number): Promise<readonly string[]>;
  /** Our own comments that contain a text: whoever may comment can write the same. */
  ownCommentsWith(number: number, text: string): Promise<readonly string[]>;
  comment(number: number, body: string): Promise<void>;
  /** The account that writes here; null where the forge does not say. */
  ownAccount(): Promise<string | null>;
  /** Who closed a pull request; null when the forge does not say. */
  closedBy(number: number): Promise<string | null>;
  /** All kinds of checks of a commit. */
  checks(sha: string): Promise<Checks>;
  /** What the settings of the repository allow. */
  mergeMethods(): Promise<readonly MergeMethod[]>;
  /** Merges, only if the head is still `headSha`. */
  merge(input: MergeRequest): Promise<MergeOutcome>;
  /** Has the forge merge it as soon as the rules of the base branch are met, only if the head is still `headSha`. */
  enableAutoMerge(input: MergeRequest): Promise<EnqueueOutcome>;
  /** What the forge answers proves nothing: the state tells whether auto-merge is disabled. */
  disableAutoMerge(number: number): Promise<void>;
  /** Puts it into the merge queue of its base branch, only if the head is still `headSha`. */
  enqueue(input: { number: number; headSha: string }): Promise<EnqueueOutcome>;
  /** Takes it out. What the forge answers proves nothing: the state tells whether it is out. */
  dequeue(number: number): Promise<void>;
}

/** `quota-owners` of `platform/quota-owners`: only teams of the repository's own organisation can be asked. */
export function teamSlug(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
