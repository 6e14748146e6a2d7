import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Decision, LimitChange, PullRequestRef, Rejection } from '../../domain/quota-resize/model/decision.ts';
import type { EventReason } from '../../domain/quota-resize/model/event-reasons.ts';
import type { BlockedReason } from '../../domain/quota-resize/model/memory.ts';
import type {
  PullRequestObservation,
  QuotaObservation,
  SourceObservation,
  SourceProblem,
} from '../../domain/quota-resize/model/observation.ts';
import type { ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import type { SourceCandidate } from '../../domain/quota-resize/git/locate/source-candidate.ts';
import type { QuotaEvent } from '../kernel/quota-event.ts';

/** An Event on the quota: what a policy or a person must be told, or what blocks the decision. */
export type ResizeEvent = QuotaEvent & { readonly reason: EventReason | BlockedReason };

export type LeaseOutcome =
  /** `batchedQuotas`: those whose Lease is locked too; others are in somebody else's hands. */
  | { readonly kind: 'acquired'; readonly batchedQuotas: readonly string[] }
  | { readonly kind: 'held'; readonly by: string }
  /** Another quota's open pull request changes the same file. */
  | { readonly kind: 'fileBusy'; readonly path: string; readonly by: string };

export type PullRequestOutcome =
  /**
   * `leftOut`: batched quotas that this pull request does not raise; their Leases need no lock. Absent: none, or not
   * known.
   */
  | { readonly kind: 'open'; readonly pullRequest: PullRequestRef; readonly leftOut?: readonly string[] }
  /** Git came to hold the values in the meantime: there is nothing to open. */
  | { readonly kind: 'alreadyInGit'; readonly sha: string; readonly limits: ResourceList }
  /** The decision's pull request exists and is closed or merged already: observe it. */
  | { readonly kind: 'completed'; readonly pullRequest: PullRequestRef }
  | {
      readonly kind: 'blocked';
      readonly reason: SourceProblem | 'ForeignCommit';
      readonly message: string;
    };

export type MergeOutcome =
  | {
      readonly kind: 'merged';
      readonly sha: string;
      readonly at: EpochMs;
      readonly by: string;
      readonly limits: ResourceList;
    }
  /** The head or the mergeability changed since it was looked at: observe again. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'blocked'; readonly reason: 'MergeQueue' | 'NotMergeable'; readonly message: string };

/** Where to look for a quota that a decision raises: its own first, then its batched quotas. */
export interface QuotaCandidates {
  readonly quota: string;
  readonly candidates: readonly SourceCandidate[];
  /**
   * The limits in force in the cluster, which tell two mappings of one values file apart. Absent: those of the
   * decision.
   */
  readonly current?: ResourceList;
}

/**
 * The activities of the quota resizer. `observe…` only reads; `await…` reads until something is different and then
 * returns, by failing with a retryable `NotYet`; `ensure…` writes, can be called twice, and looks for a write that
 * timed out before it tries again. Every `ensure…` checks the global pause first and fails with `GloballyPaused` when
 * it is set.
 */
export interface QuotaResizeActivities {
  /** The quota, its namespace, the policy in force, what is refused and still missing, and the Lease. */
  observeQuota(input: { target: QuotaTarget }): Promise<QuotaObservation>;

  /** Finds the quota in Git and proves that the edit is possible, before anything is written. */
  observeSource(input: {
    target: QuotaTarget;
    limits: ResourceList;
    candidates: readonly SourceCandidate[];
    /** The limits in force in the cluster, which tell two mappings of one values file apart. */
    current?: ResourceList;
  }): Promise<SourceObservation>;

  observePullRequest(input: { target: QuotaTarget; decision: Decision }): Promise<PullRequestObservation>;

  /** Returns when GitHub says something else than `known` about the pull request. */
  awaitPullRequestChange(input: {
    target: QuotaTarget;
    decision: Decision;
    lastSeen: PullRequestObservation;
    /** Since when nothing has changed: the poll slows down from then on, whatever wakes the workflow meanwhile. */
    quietSince: EpochMs;
  }): Promise<void>;

  /** Returns when the cluster's spec.hard holds at least `limits`, or the quota is gone or another object. */
  awaitSync(input: { target: QuotaTarget; quotaUid: string; limits: ResourceList }): Promise<void>;

  /** The JSON log line and the Event `QuotaResizeRecommended`, and in the Lease what was recommended when. */
  ensureRecommendation(input: {
    target: QuotaTarget;
    quotaUid: string;
    changes: readonly LimitChange[];
    evidence: readonly string[];
    /**
     * What the policy changed about the need, and where the quota's status says something else than was counted: after
     * the values in the Event, and a field of the log line.
     */
    notes?: readonly string[];
    mode: ResizePolicy['mode'];
    at: EpochMs;
  }): Promise<void>;

  /** What a policy or a person must be told on the quota itself. */
  ensureQuotaEvent(input: ResizeEvent): Promise<void>;

  /** Takes the lock of the file and of the quota, and writes the decision down, before the first write to GitHub. */
  ensureLeaseAcquired(input: {
    target: QuotaTarget;
    decision: Decision;
    files: readonly { repository: string; path: string }[];
  }): Promise<LeaseOutcome>;

  /**
   * Unlocks the Leases of batched quotas that the decision's pull request does not raise; they are as if never locked.
   */
  ensureBatchedQuotasReleased(input: {
    target: QuotaTarget;
    decision: Decision;
    quotas: readonly string[];
  }): Promise<void>;

  /** Writes the decision as it is now (its pull request, its new limits) into the Lease that it holds. */
  ensureLeaseUpdated(input: { target: QuotaTarget; decision: Decision }): Promise<void>;

  /** Unlocks the quota and the file. Keeps the Lease: a merge sets last-modified, a rejection is remembered. */
  ensureLeaseReleased(input: { target: QuotaTarget; decision: Decision; rejection: Rejection | null }): Promise<void>;

  /**
   * The cluster followed the merge: forgets the decision in the Lease and sets last-modified to `at`. Without a Lease,
   * nothing.
   */
  ensureLeaseSynced(input: { target: QuotaTarget; decision: Decision; at: EpochMs }): Promise<void>;

  /** Branch, commit and pull request of the decision, from one base commit; finds its own earlier work. */
  ensurePullRequest(input: {
    target: QuotaTarget;
    decision: Decision;
    policy: ResizePolicy;
    candidatesByQuota: readonly QuotaCandidates[];
  }): Promise<PullRequestOutcome>;

  /**
   * Rebuilds the branch from the base as it is now with the decision's limits, and its title and body, over our own
   * commit only. A head that is not ours is left alone and reported as it is.
   */
  ensurePullRequestRebuilt(input: {
    target: QuotaTarget;
    decision: Decision;
    policy: ResizePolicy;
    candidatesByQuota: readonly QuotaCandidates[];
    /** Why, for the comment: the need grew, the base moved, a conflict. */
    why: string;
  }): Promise<PullRequestOutcome>;

  /** Squash merge pinned to `decision.pullRequest.headSha`; then the branch is deleted. */
  ensureMerged(input: { target: QuotaTarget; decision: Decision }): Promise<MergeOutcome>;

  /** One comment on the decision's pull request; `about` makes it one, however often it is asked for. */
  ensureComment(input: { target: QuotaTarget; decision: Decision; about: string; text: string }): Promise<void>;

  /** Closes the pull request with a comment that says why, and deletes the branch if it holds only our commit. */
  ensurePullRequestClosed(input: { target: QuotaTarget; decision: Decision; comment: string }): Promise<void>;

  /** Deletes the branch of a decision whose pull request a person merged or closed. */
  ensureBranchDeleted(input: { target: QuotaTarget; decision: Decision }): Promise<void>;
}
