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
import type { SourceCandidate } from '../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import type { QuotaEvent } from '../kernel/quota-event.ts';

/** An Event on the quota: information about the policy or the decision, or what blocks it. */
export type ResizeEvent = QuotaEvent & { readonly reason: EventReason | BlockedReason };

export type LeaseOutcome =
  /** `batchedQuotas`: those whose Leases were locked too; the Leases of others are held by somebody else. */
  | { readonly kind: 'acquired'; readonly batchedQuotas: readonly string[] }
  | { readonly kind: 'held'; readonly by: string }
  /** Another quota's open pull request changes the same file. */
  | { readonly kind: 'fileBusy'; readonly path: string; readonly by: string };

export type PullRequestOutcome =
  /**
   * `leftOut`: batched quotas that this pull request does not raise, so that their Leases must be released. Absent:
   * none, or unknown.
   */
  | { readonly kind: 'open'; readonly pullRequest: PullRequestRef; readonly leftOut?: readonly string[] }
  /** Git has the values meanwhile: there is nothing to open. */
  | { readonly kind: 'alreadyInGit'; readonly sha: string; readonly limits: ResourceList }
  /** The decision's pull request exists and is closed or merged: observe it. */
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
  /** The head or the mergeability changed since the observation: observe again. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'blocked'; readonly reason: 'MergeQueue' | 'NotMergeable'; readonly message: string };

/** The source candidates of a quota that a decision raises; the decision's own quota is first. */
export interface QuotaCandidates {
  readonly quota: string;
  readonly candidates: readonly SourceCandidate[];
  /**
   * The limits in force in the cluster, which distinguish two mappings of one values file. Absent: those of the
   * decision.
   */
  readonly current?: ResourceList;
}

/**
 * The activities of the quota resizer. `observe…` only reads; `await…` polls by failing with a retryable `NotYet` and
 * returns when something has changed; `ensure…` writes, is idempotent, and looks for a write that timed out before it
 * tries again. Every `ensure…` checks the pauses first and fails with `GloballyPaused` or `Paused`.
 */
export interface QuotaResizeActivities {
  /** The quota, its namespace, the policy in force, what was denied and is still missing, and the Lease. */
  observeQuota(input: { target: QuotaTarget }): Promise<QuotaObservation>;

  /** Locates the quota in Git and proves that the edit is possible, before anything is written. */
  observeSource(input: {
    target: QuotaTarget;
    limits: ResourceList;
    candidates: readonly SourceCandidate[];
    /** The limits in force in the cluster, which distinguish two mappings of one values file. */
    current?: ResourceList;
  }): Promise<SourceObservation>;

  observePullRequest(input: { target: QuotaTarget; decision: Decision }): Promise<PullRequestObservation>;

  /** Returns when the forge shows a pull request that differs from `lastSeen`. */
  awaitPullRequestChange(input: {
    target: QuotaTarget;
    decision: Decision;
    lastSeen: PullRequestObservation;
    /** Since when nothing has changed: polling slows down from then on, independent of wake-ups of the workflow. */
    quietSince: EpochMs;
  }): Promise<void>;

  /** Returns when the cluster's spec.hard is at least `limits`, or the quota is gone or replaced. */
  awaitSync(input: { target: QuotaTarget; quotaUid: string; limits: ResourceList }): Promise<void>;

  /** Writes a JSON log line, the Event `QuotaResizeRecommended`, and in the Lease what was recommended when. */
  ensureRecommendation(input: {
    target: QuotaTarget;
    quotaUid: string;
    changes: readonly LimitChange[];
    evidence: readonly string[];
    /**
     * How the policy changed the requirement, and where the quota's status differs from the count: after the values in
     * the Event, and a field of the log line.
     */
    notes?: readonly string[];
    mode: ResizePolicy['mode'];
    at: EpochMs;
  }): Promise<void>;

  /** Writes an Event for people on the quota. */
  ensureQuotaEvent(input: ResizeEvent): Promise<void>;

  /** Locks the files and the quota, and stores the decision, before the first write to the forge. */
  ensureLeaseAcquired(input: {
    target: QuotaTarget;
    decision: Decision;
    files: readonly { repository: string; path: string }[];
  }): Promise<LeaseOutcome>;

  /**
   * Unlocks the Leases of batched quotas that the decision's pull request does not raise, as if they had never been
   * locked.
   */
  ensureBatchedQuotasReleased(input: {
    target: QuotaTarget;
    decision: Decision;
    quotas: readonly string[];
  }): Promise<void>;

  /** Stores the present decision (with its pull request or new limits) in the Lease that it holds. */
  ensureLeaseUpdated(input: { target: QuotaTarget; decision: Decision }): Promise<void>;

  /** Unlocks the quota and the files. The Lease is kept: a merge sets last-modified, and a rejection is stored. */
  ensureLeaseReleased(input: { target: QuotaTarget; decision: Decision; rejection: Rejection | null }): Promise<void>;

  /**
   * After the cluster showed the merged limits: removes the decision from the Lease and sets last-modified to `at`.
   * Does nothing without a Lease.
   */
  ensureLeaseSynced(input: { target: QuotaTarget; decision: Decision; at: EpochMs }): Promise<void>;

  /** Creates branch, commit and pull request of the decision from one base commit, or finds its own earlier ones. */
  ensurePullRequest(input: {
    target: QuotaTarget;
    decision: Decision;
    policy: ResizePolicy;
    candidatesByQuota: readonly QuotaCandidates[];
  }): Promise<PullRequestOutcome>;

  /**
   * Rebuilds the branch from the present base with the decision's limits, and the title and description, replacing only
   * our own commit. A foreign head is left alone and returned.
   */
  ensurePullRequestRebuilt(input: {
    target: QuotaTarget;
    decision: Decision;
    policy: ResizePolicy;
    candidatesByQuota: readonly QuotaCandidates[];
    /** The reason, for the comment: the demand grew, the base moved, a conflict. */
    why: string;
  }): Promise<PullRequestOutcome>;

  /** Squash merge of exactly `decision.pullRequest.headSha`; then the branch is deleted. */
  ensureMerged(input: { target: QuotaTarget; decision: Decision }): Promise<MergeOutcome>;

  /** Writes one comment on the decision's pull request; calls with the same `about` give one comment. */
  ensureComment(input: { target: QuotaTarget; decision: Decision; about: string; text: string }): Promise<void>;

  /** Closes the pull request with a comment that gives the reason, and deletes the branch if it has only our commit. */
  ensurePullRequestClosed(input: { target: QuotaTarget; decision: Decision; comment: string }): Promise<void>;

  /** Deletes the branch of a decision whose pull request a person merged or closed. */
  ensureBranchDeleted(input: { target: QuotaTarget; decision: Decision }): Promise<void>;
}
