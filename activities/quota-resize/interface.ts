import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type {
  Decision,
  JoinedDecision,
  LimitChange,
  MergedDecision,
  PullRequestRef,
  Rejection,
  Relocation,
} from '../../domain/quota-resize/model/decision.ts';
import type { EventReason } from '../../domain/quota-resize/model/event-reasons.ts';
import type { BlockedReason } from '../../domain/quota-resize/model/memory.ts';
import type {
  PullRequestObservation,
  QuotaObservation,
  SourceObservation,
  SourceProblem,
} from '../../domain/quota-resize/model/observation.ts';
import type { EventOutcome } from '../../domain/quota-resize/model/run-warnings.ts';
import type { GuardrailInForce } from '../../domain/quota-resize/policy/guardrail.ts';
import type { ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import type { SourceCandidate } from '../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import type { QuotaEvent } from '../kernel/quota-event.ts';

/** An Event on the quota: information about the policy or the decision, or what blocks it. */
export type ResizeEvent = QuotaEvent & { readonly reason: EventReason | BlockedReason };

/** A step after which the quota is observed: the next pass may go by it, and asks nobody again. */
export interface Observing {
  /** Absent: nobody wants to know. */
  readonly observes?: true | undefined;
}

/** What such a step has seen of the quota, after all that it did. */
export interface Observed {
  /** Absent where nobody asked, and where it took long or failed: whoever needs it calls `observeQuota`. */
  readonly observation?: QuotaObservation;
  /** A moment before it was read, by the clock of Temporal's server; absent: when the step was asked to. */
  readonly readAfter?: EpochMs;
}

export type LeaseOutcome =
  /** `batchedQuotas`: those whose Leases were locked too; the Leases of others are held by somebody else. */
  | { readonly kind: 'acquired'; readonly batchedQuotas: readonly string[] }
  | { readonly kind: 'held'; readonly by: string };

/** How a pull request looks now, null where it has to be read; and its quota. */
export interface PullRequestChange extends Observed {
  readonly pullRequest: PullRequestObservation | null;
  /** The time is over, and it was just read: it is as before. */
  readonly isSame?: true;
}

/** What became of an Event. Histories of earlier versions have only the outcome, or none: it was written. */
interface EventAnswer extends Observed {
  readonly event: EventOutcome;
}

/** `event`: what became of the Event; absent where there was none to write. */
type ReleaseOutcome = Observed & Partial<EventAnswer>;

/** `recordedAt`: what the Lease has as the moment of the sync; null where it has none. Only where it has one there may be no observation. */
type SyncOutcome = Observed & { readonly recordedAt: EpochMs | null };

export type PullRequestOutcome =
  /**
   * `leftOut`: batched quotas that this pull request does not raise, so that their Leases must be released. Absent:
   * none, or unknown. `joined`: the decisions that joined it, as far as they could be written; absent where that did not
   * change.
   */
  | {
      readonly kind: 'open';
      readonly pullRequest: PullRequestRef;
      readonly leftOut?: readonly string[];
      readonly joined?: readonly JoinedDecision[];
      /** As `observePullRequest` sees it right then; absent where it has to be read: it could not, or it has more than this decision. */
      readonly seen?: PullRequestObservation;
      /** The Lease has the pull request, as by `ensureLeaseUpdated`; absent: it is still to be written. */
      readonly recorded?: Observed;
    }
  /** Git has the values meanwhile: there is nothing to open. */
  | { readonly kind: 'alreadyInGit'; readonly sha: string; readonly limits: ResourceList }
  /** A value stands in another place, or as another text, than the decision says: nothing was written. */
  | { readonly kind: 'relocated'; readonly relocation: Relocation }
  /** The decision's pull request exists and is closed or merged: observe it. */
  | {
      readonly kind: 'completed';
      readonly pullRequest: PullRequestRef;
      readonly seen?: PullRequestObservation;
      readonly recorded?: Observed;
    }
  | {
      readonly kind: 'blocked';
      /** `FileBusy`: pull requests of other quotas change a file; this one is in its queue. */
      readonly reason: SourceProblem | 'ForeignCommit' | 'FileBusy';
      readonly message: string;
    };

export type MergeOutcome =
  | {
      readonly kind: 'merged';
      readonly sha: string;
      readonly at: EpochMs;
      readonly by: string;
      /** Whether the account that opened the pull request merged it. */
      readonly isOwn: boolean;
      readonly limits: ResourceList;
      /** The Lease is released and the Event written, as by `ensureLeaseReleased`; absent: that is still to be done. */
      readonly concluded?: ReleaseOutcome;
    }
  /** The head or the mergeability changed since the observation: observe again. `why`: what is not as recorded, a clause. */
  | { readonly kind: 'moved'; readonly why?: string }
  /** It is in the merge queue of the base branch, or auto-merge is enabled, and may be so. */
  | { readonly kind: 'queued' }
  | { readonly kind: 'blocked'; readonly reason: 'MergeQueue' | 'NotMergeable'; readonly message: string };

export type DequeueOutcome =
  /** It is in no queue, or somebody else has put it there. */
  | { readonly kind: 'dequeued' }
  /** It is merged, or about to be merged: observe it. `why`: a clause. */
  | { readonly kind: 'moved'; readonly why: string };

/** An open pull request of Headroom's for a quota of this cluster, which no Lease records. */
export interface FoundOrphan {
  readonly target: QuotaTarget;
  readonly repository: string;
  readonly number: number;
}

export type OrphanOutcome =
  | { readonly kind: 'closed'; readonly why: string }
  /** Its quota's episode is to take it over. */
  | { readonly kind: 'requested' }
  | { readonly kind: 'left'; readonly why: string };

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

/** What people are told that a quota needs. */
export interface Recommendation {
  readonly quotaUid: string;
  readonly changes: readonly LimitChange[];
  readonly evidence: readonly string[];
  /**
   * How the policy changed the requirement, and where the quota's status differs from the count: after the values in
   * the Event, and a field of the log line.
   */
  readonly notes?: readonly string[];
  readonly mode: ResizePolicy['mode'];
  readonly at: EpochMs;
}

/**
 * The activities of the quota resizer. `observe…` only reads; `await…` polls by failing with a retryable `NotYet` and
 * returns when something has changed; `ensure…` writes, is idempotent, and looks for a write that timed out before it
 * tries again. Every `ensure…` checks the pauses first and fails with `GloballyPaused` or `Paused`.
 */
export interface QuotaResizeActivities {
  /**
   * The quota, its namespace, the policy in force, what was denied and is still missing, and the Lease.
   *
   * @param input.afterMs to wait before, in milliseconds: Temporal's server has no timers shorter than a second.
   */
  observeQuota(input: { target: QuotaTarget; afterMs?: number }): Promise<QuotaObservation>;

  /**
   * Locates the quota in Git and proves that the edit is possible, before anything is written.
   *
   * @param input.afterMs before this time has passed, in milliseconds, the quota is not observed.
   */
  observeSource(
    input: {
      target: QuotaTarget;
      limits: ResourceList;
      candidates: readonly SourceCandidate[];
      /** The limits in force in the cluster, which distinguish two mappings of one values file. */
      current?: ResourceList;
      /** The guardrail that a place has to be allowed by; absent: all are. */
      guardrail?: Pick<GuardrailInForce, 'name' | 'git'>;
      afterMs?: number;
    } & Observing,
  ): Promise<SourceObservation & Observed>;

  observePullRequest(input: { target: QuotaTarget; decision: Decision }): Promise<PullRequestObservation>;

  /**
   * Returns when the forge shows a pull request that differs from `lastSeen`: what was seen, or null where it has to be read. Only
   * where it is asked to observe the quota as well, it returns both.
   */
  awaitPullRequestChange(
    input: {
      target: QuotaTarget;
      decision: Decision;
      lastSeen: PullRequestObservation;
      /** Since when nothing has changed: polling slows down from then on, independent of wake-ups of the workflow. */
      quietSince: EpochMs;
      /** When `lastSeen` was read; absent: long ago. */
      seenAt?: EpochMs;
      /** Milliseconds after which it returns although nothing has changed; absent: never. */
      forMs?: number;
    } & Observing,
  ): Promise<PullRequestObservation | PullRequestChange | null>;

  /** Returns when the cluster's spec.hard is at least `limits`, or the quota is gone or replaced. */
  awaitSync(input: { target: QuotaTarget; quotaUid: string; limits: ResourceList }): Promise<void>;

  /** Writes a JSON log line, the Event `QuotaResizeRecommended`, and in the Lease what was recommended when. */
  ensureRecommendation(
    input: Recommendation & Observing & { readonly target: QuotaTarget },
  ): Promise<Observed | undefined>;

  /** Writes an Event for people on the quota. */
  ensureQuotaEvent(input: ResizeEvent & Observing): Promise<EventAnswer | EventOutcome | undefined>;

  /**
   * Locks the quota, and stores the decision, before the first write to the forge.
   *
   * @param input.recommendation is written beside it, as by `ensureRecommendation`.
   */
  ensureLeaseAcquired(input: {
    target: QuotaTarget;
    decision: Decision;
    recommendation?: Recommendation;
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
  ensureLeaseUpdated(input: { target: QuotaTarget; decision: Decision } & Observing): Promise<Observed | undefined>;

  /**
   * Unlocks the quota and the files. The Lease is kept: a merge sets last-modified, and a rejection is stored, and so
   * is the moment at which the decision was given up without a rejection.
   *
   * @param input.event is written after it, as by `ensureQuotaEvent`.
   * @returns undefined in histories of earlier versions, which wrote none.
   */
  ensureLeaseReleased(
    input: {
      target: QuotaTarget;
      decision: Decision;
      rejection: Rejection | null;
      withdrawnAt?: EpochMs;
      event?: ResizeEvent;
    } & Observing,
  ): Promise<ReleaseOutcome | undefined>;

  /**
   * After the cluster showed the merged limits: removes the decision from the Lease and sets last-modified to `at`.
   * Does nothing without a Lease.
   */
  ensureLeaseSynced(
    input: { target: QuotaTarget; decision: Decision; at: EpochMs } & Observing,
  ): Promise<Observed | undefined>;

  /**
   * Observes the quota of a merged decision. Where the cluster has followed (`hasFollowed`), that is recorded as by
   * `ensureLeaseSynced`, and the quota observed once more.
   */
  ensureSyncRecorded(input: { target: QuotaTarget; decision: MergedDecision; at: EpochMs }): Promise<SyncOutcome>;

  /**
   * Creates branch, commit and pull request of the decision from one base commit, or finds its own earlier ones. The files
   * are locked for it, and unlocked again where no pull request comes of it.
   */
  ensurePullRequest(
    input: {
      target: QuotaTarget;
      decision: Decision;
      policy: ResizePolicy;
      candidatesByQuota: readonly QuotaCandidates[];
      /** Whether the Lease gets the pull request too; absent in histories of earlier versions. */
      records?: true;
    } & Observing,
  ): Promise<PullRequestOutcome>;

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

  /**
   * Merges exactly the head that the Lease records; then the branch is deleted. Nothing is believed but the
   * target: the decision and its approval come from the Lease, and everything that allows the merge is checked again.
   *
   * Where the base branch has a merge queue, it is put there in place of a merge, after the same checks. Asked again, it
   * checks again, and takes it out where something forbids the merge by now.
   *
   * @param input.decision which decision is meant: another one in the Lease is not merged.
   * @param input.entersQueue absent in episodes of earlier versions, which know no `queued`.
   * @param input.isQueued whether Headroom has put it into the queue, or enabled auto-merge.
   * @param input.enablesAutoMerge the forge's own auto-merge is enabled in place of a merge, after the same checks: the base branch
   *   still asks for something. Once it is enabled, it is asked again as of a queue.
   * @param input.event the Lease is released once it is merged, and this is written; absent: neither is done.
   */
  ensureMerged(
    input: {
      target: QuotaTarget;
      decision: Pick<Decision, 'id'>;
      entersQueue?: boolean;
      isQueued?: boolean;
      enablesAutoMerge?: boolean;
      event?: ResizeEvent;
    } & Observing,
  ): Promise<MergeOutcome>;

  /**
   * Takes the pull request out of the merge queue where Headroom has put it there, or disables its auto-merge: also during a pause, which the queue does
   * not know of.
   */
  ensureDequeued(input: { target: QuotaTarget; decision: Decision }): Promise<DequeueOutcome>;

  /** Writes one comment on the decision's pull request; calls with the same `about` give one comment. */
  ensureComment(input: { target: QuotaTarget; decision: Decision; about: string; text: string }): Promise<void>;

  /** Closes the pull request with a comment that gives the reason, and deletes the branch if it has only our commit. */
  ensurePullRequestClosed(input: { target: QuotaTarget; decision: Decision; comment: string }): Promise<void>;

  /** Deletes the branch of a decision whose pull request a person merged or closed. */
  ensureBranchDeleted(input: { target: QuotaTarget; decision: Decision }): Promise<void>;
}

/** The activities of the search for open pull requests that no Lease records; as those of the resizer. */
export interface OrphanActivities {
  /** All open pull requests of Headroom's for quotas of the cluster that no Lease records: one request a repository. */
  observeOrphans(input: { cluster: string }): Promise<readonly FoundOrphan[]>;

  /** Lets the quota take it over, or closes it with a comment where nothing needs it; leaves it where people want that. */
  ensureOrphanEnded(input: FoundOrphan): Promise<OrphanOutcome>;
}
