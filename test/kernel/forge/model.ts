/** What the forge does by itself for the head of each pull request: a check run named `ci` with that end, or none. */
export type CheckMode = 'pass' | 'fail' | 'pending' | 'none';

export type CheckConclusion =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'cancelled'
  | 'skipped'
  | 'timed_out'
  | 'action_required';

export type CommitState = 'error' | 'failure' | 'pending' | 'success';

export type MergeMethod = 'merge' | 'squash' | 'rebase';

export interface PullRequest {
  readonly number: number;
  readonly id: number;
  title: string;
  body: string | null;
  readonly user: string;
  readonly headRef: string;
  headSha: string;
  baseRef: string;
  /** The base branch's tip when the head was last pushed; GitHub shows that and not the newest. */
  baseSha: string;
  /** The merge base of these two, from which the diff is taken. */
  mergeBaseSha: string;
  state: 'open' | 'closed';
  draft: boolean;
  labels: string[];
  /** Logins. */
  requestedReviewers: string[];
  /** Slugs of the owner's teams. */
  requestedTeams: string[];
  readonly createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  closedBy: string | null;
  /** The last time only. */
  reopened?: { readonly by: string; readonly at: string; readonly times: number };
  mergedAt: string | null;
  mergedBy: string | null;
  mergeCommitSha: string | null;
  /** Present while it is in a merge queue. */
  queueEntry?: QueueEntry;
  /** Present while GitHub's auto-merge is enabled. */
  autoMerge?: AutoMerge;
  /** When it was put into a merge queue and left it, and auto-merge was enabled and disabled, the oldest first. */
  queueEvents?: readonly (MergeQueueEvent | AutoMergeEvent)[];
}

/** A place in the merge queue of a branch. */
export interface QueueEntry {
  readonly id: number;
  readonly by: string;
  readonly at: string;
  state: 'QUEUED' | 'AWAITING_CHECKS' | 'MERGEABLE' | 'UNMERGEABLE' | 'LOCKED';
}

interface AutoMerge {
  readonly by: string;
  readonly at: string;
  readonly method: MergeMethod;
  readonly title: string;
  readonly message: string;
}

/** What GitHub's timeline says of auto-merge. Of a merge it says nothing more. */
export type AutoMergeEvent =
  | { readonly kind: 'enabled'; readonly by: string; readonly at: string; readonly method: MergeMethod }
  /** `reason`: null where a person did it. */
  | { readonly kind: 'disabled'; readonly by: string; readonly at: string; readonly reason: string | null };

/** What GitHub's timeline says of a merge queue. A merge is a removal as well. */
export type MergeQueueEvent =
  | { readonly kind: 'added'; readonly by: string; readonly at: string }
  | { readonly kind: 'removed'; readonly by: string; readonly at: string; readonly reason: string };

export interface Review {
  readonly id: number;
  readonly pull: number;
  readonly user: string;
  /** A pending review is its author's alone until it is submitted; a dismissed one no longer counts. */
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'PENDING' | 'DISMISSED';
  body: string;
  readonly commitId: string;
  submittedAt: string;
}

export interface IssueComment {
  readonly id: number;
  readonly issue: number;
  readonly user: string;
  body: string;
  readonly createdAt: string;
  updatedAt: string;
}

export interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
  readonly description: string;
}

export interface CheckRun {
  readonly id: number;
  readonly name: string;
  readonly headSha: string;
  status: 'queued' | 'in_progress' | 'completed' | 'waiting' | 'requested' | 'pending';
  conclusion: CheckConclusion | null;
  externalId: string;
  detailsUrl: string | null;
  title: string | null;
  summary: string | null;
  text: string | null;
  startedAt: string;
  completedAt: string | null;
}

export interface CommitStatus {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: CommitState;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly creator: string;
  readonly createdAt: string;
}

/** What a branch asks of a pull request before it may be merged into it. */
export interface Protection {
  /** Names of check runs or contexts of commit statuses that must pass. */
  readonly requiredChecks: readonly string[];
  /** "Require branches to be up to date before merging". */
  readonly requireUpToDate: boolean;
  /** How many approving reviews; 0 for none. */
  readonly requiredReviews: number;
  /** A push that changes the pull request's diff dismisses its approvals. */
  readonly dismissStaleReviews: boolean;
  /** An owner of each changed file that has owners must approve. */
  readonly requireCodeOwnerReviews: boolean;
  readonly mergeQueue: boolean;
  /** How the merge queue merges; absent: by squash. */
  readonly queueMethod?: MergeMethod;
  /** "Require linear history": nothing is merged with a merge commit. */
  readonly requireLinearHistory: boolean;
  /** How a ruleset lets pull requests be merged; absent: as the repository does. */
  readonly allowedMergeMethods?: readonly MergeMethod[];
  /** A classic branch protection or a ruleset: they show in different endpoints. A merge queue shows in the rules always. */
  readonly as: 'protection' | 'ruleset';
}

/** What the repository's settings allow of merges. */
export interface MergeSettings {
  readonly methods: readonly MergeMethod[];
  /** "Allow auto-merge". Absent: no, as in a new repository. */
  readonly autoMerge?: boolean;
}

/** A webhook of the repository. */
export interface Hook {
  readonly id: number;
  url: string;
  secret: string | null;
  contentType: 'json' | 'form';
  insecureSsl: '0' | '1';
  /** GitHub's names of events; `*` for all. */
  events: readonly string[];
  active: boolean;
  readonly createdAt: string;
  updatedAt: string;
}

/** Everything about the repository that git does not hold. */
export interface ForgeState {
  readonly version: 1;
  readonly createdAt: string;
  pushedAt: string;
  nextNumber: number;
  nextId: number;
  readonly pulls: PullRequest[];
  readonly reviews: Review[];
  readonly comments: IssueComment[];
  readonly labels: Label[];
  readonly checkRuns: CheckRun[];
  readonly statuses: CommitStatus[];
  readonly protections: Record<string, Protection>;
  mergeSettings: MergeSettings;
  readonly hooks: Hook[];
  /** The commits that were made on the web or for an app, which GitHub signs. */
  readonly signedCommits: string[];
}
