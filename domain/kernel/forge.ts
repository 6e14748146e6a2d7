/** Terms for services that host Git repositories. */
import type { EpochMs } from './time.ts';

export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
  /** The branch to change; absent: the repository's default branch. */
  readonly baseBranch?: string | undefined;
}

/** Whether an open pull request can be merged; each forge's adapter maps the forge's own states to these. */
export type Mergeability =
  /** The forge knows of no obstacle. */
  | 'clean'
  /** The forge does not know yet. */
  | 'computing'
  | 'draft'
  /** The base changed the same lines. */
  | 'conflict'
  /** The base moved, and the branch must contain it before a merge. */
  | 'behind'
  /** A rule of the base prevents the merge: a review, a required check, a merge queue. */
  | 'blocked'
  /** A check that is not required has not passed. */
  | 'unstable'
  /** A state of the forge that this version does not know. */
  | 'unrecognised';

/** How a forge brings the commits of a pull request into its base branch. */
export type MergeMethod =
  /** One new commit with all changes. */
  | 'squash'
  /** Each commit anew on the base, without a merge commit. */
  | 'rebase'
  /** The commits as they are, and a merge commit. */
  | 'merge';

/** In the order in which one is taken where nobody chose: one commit for a pull request, then a straight history. */
export const mergeMethods = ['squash', 'rebase', 'merge'] as const satisfies readonly MergeMethod[];

/** What the forge merges by itself: a place in the merge queue of a branch, or its own auto-merge, enabled for a pull request. */
export interface QueueEntry {
  /** Of auto-merge: how it is going to be merged. Absent: a place in a merge queue. */
  readonly autoMerge?: MergeMethod;
  /** The account that put it there, or enabled auto-merge. */
  readonly by: string;
  /** Whether that is Headroom's. */
  readonly isOwn: boolean;
  readonly at: EpochMs;
  readonly state: 'waiting' | 'checking' | 'mergeable' | 'unmergeable';
  /** From 1; null where the forge does not say. */
  readonly position: number | null;
}

/** That a pull request left the queue unmerged, or auto-merge was disabled, and neither was undone since. */
export interface QueueRemoval {
  /** Auto-merge was disabled. Absent: it left a merge queue. */
  readonly autoMerge?: true;
  /** The account that did so; null where the forge did. */
  readonly by: string | null;
  /** Whether that is Headroom's. */
  readonly isOwn?: boolean;
  /** When it had been put there; null where the forge does not say. */
  readonly enteredAt?: EpochMs | null;
  readonly at: EpochMs;
  readonly kind: 'checks' | 'conflict' | 'other';
  /** In the forge's words; may be empty. */
  readonly reason: string;
}

/** A review that requests changes, and that neither its author's later approval nor a dismissal has ended. */
export interface ChangeRequest {
  /** The account that requests them. */
  readonly by: string;
  /** The head that was reviewed; null where the forge does not say. */
  readonly headSha: string | null;
  readonly at: EpochMs;
}

/** The requests for changes that hold a merge. `unread`: there are more reviews than are read, so there may be some. */
export type ChangeRequests = readonly ChangeRequest[] | 'unread';

/** The most bytes that are read of a repository. */
export interface ReadLimits {
  readonly fileBytes: number;
  /** Of all files together that one lookup reads. */
  readonly lookupBytes: number;
}

/** The limits, unless the settings say otherwise. */
export const DEFAULT_READ_LIMITS: ReadLimits = { fileBytes: 1_000_000, lookupBytes: 20_000_000 };
