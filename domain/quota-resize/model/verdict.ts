import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type {
  BatchedQuota,
  Decision,
  DecisionRef,
  ApprovalRequirement,
  LimitChange,
  MergedDecision,
  OpenDecision,
  Rejection,
  UnmergedDecision,
} from './decision.ts';
import type { EventReason } from './event-reasons.ts';

/** The phase of an episode; the value of the search attribute `HeadroomPhase`. */
export type Phase =
  | 'Detecting'
  | 'Recommending'
  | 'OpeningPullRequest'
  | 'AwaitingChecks'
  | 'AwaitingApproval'
  | 'AwaitingMerge'
  | 'Merging'
  | 'AwaitingSync'
  | 'CoolingDown'
  | 'Blocked'
  | 'Paused'
  | 'Ended';

/** The reason of a verdict: one word that is the same in details, Events, logs, metrics and tests. */
export type Reason =
  // nothing to do
  | 'BelowThreshold'
  | 'AlreadyRecommended'
  | 'OptedOut'
  | 'QuotaGone'
  | 'NamespaceGone'
  | 'QuotaReplaced'
  // stopped by people or by policy
  | 'Paused'
  | 'GloballyPaused'
  | 'CoolingDown'
  | 'PreviouslyRejected'
  | 'ObserverMode'
  | 'AutoMergeOff'
  | 'NamespaceAutoMergeOff'
  | 'GuardrailExceeded'
  | 'MaxStepExceeded'
  | 'RaiseFromZero'
  | 'ApprovalRequired'
  | 'DemandByMessage'
  | 'ApprovalTimedOut'
  | 'NotProved'
  | 'BranchNotProtected'
  | 'Frozen'
  | 'OutsideMergeWindow'
  | 'MoreThanNeeded'
  | 'AtMaximum'
  | 'ForeignCommit'
  // acting
  | 'UnmetDemand'
  | 'ThresholdReached'
  | 'BelowMinimum'
  | 'DemandDebouncing'
  | 'UsageContradicted'
  | 'UsageNotCounted'
  | 'OtherQuotaFirst'
  | 'RaisedWithOtherQuota'
  | 'Approved'
  | 'DemandGrew'
  | 'DemandGone'
  | 'Adopted'
  // waiting for the forge
  | 'MergeabilityComputing'
  | 'ChecksPending'
  | 'ChecksFailing'
  | 'NoChecksYet'
  | 'ReviewRequired'
  | 'ChangesRequested'
  | 'Draft'
  | 'Conflict'
  | 'Behind'
  | 'BatchedQuotaLeft'
  | 'HeadMoved'
  | 'ReadyToMerge'
  | 'InMergeQueue'
  | 'RemovedFromQueue'
  | 'AutoMergeEnabled'
  | 'AutoMergeDisabled'
  | 'UpdateDue'
  | 'MergedByHuman'
  | 'ClosedByHuman'
  | 'Rejected'
  // blocked until a person or another decision moves
  | 'LeaseHeld'
  | 'FileBusy'
  | 'FileNotFound'
  | 'FoundTwice'
  | 'NotYaml'
  | 'ContentTooCostly'
  | 'OutsideGuardrail'
  | 'Unplaceable'
  | 'RepositoryNotConfigured'
  | 'RepositoryNotFound'
  | 'ForgeRejected'
  | 'MergeQueue'
  | 'NotMergeable'
  // waiting for the cluster to show the merged limits
  | 'AlreadyInGit'
  | 'SyncPending'
  | 'SyncOverdue'
  | 'Synced';

/** What ends a hold, besides an operator's command or a change of the quota, its namespace or its policy. */
export interface Wait {
  /** The latest moment of the next pass. */
  readonly until?: EpochMs;
  /** What to watch: a change of it ends the wait. */
  readonly watch?: 'pullRequest' | 'sync' | 'resume';
  /** Whose sync is watched; absent: the sync of the decision's own quota. */
  readonly syncOf?: AwaitedSync;
  /**
   * Reconcile requests for new pressure before this moment are noted but do not end the wait; infinite when pressure
   * never ends it.
   */
  readonly quietUntil?: EpochMs;
  /** The limits that will probably be proposed next: their place in Git is looked up meanwhile. */
  readonly placing?: ResourceList;
}

/** A batched quota that does not have its merged limits yet. */
export interface AwaitedSync {
  readonly quota: string;
  readonly quotaUid: string;
  readonly limits: ResourceList;
}

/** What people are shown of a verdict. */
export interface StatusFields {
  readonly phase: Phase;
  readonly reason: Reason;
  /** One sentence for people: the situation, and what is waited for. */
  readonly detail: string;
}

type Rest = { readonly kind: 'hold'; readonly wait: Wait } | { readonly kind: 'end' };

type Action =
  | { readonly kind: 'recommend'; readonly proposal: Proposal }
  /** `announce`: the recommendation is new and is written first. */
  | {
      readonly kind: 'propose';
      readonly proposal: Proposal;
      readonly announce: boolean;
      /** Other quotas of the namespace that the same pull request raises. */
      readonly batchedQuotas: readonly BatchedQuota[];
      /** When an operator last skipped the cooldown; absent when nobody did. */
      readonly cooldownSkippedAt?: EpochMs;
    }
  /**
   * Writes the changed decision to the Lease; nothing is written to the forge. A decision that leaves another's pull
   * request has none any more.
   */
  | {
      readonly kind: 'revise';
      readonly decision: UnmergedDecision;
      readonly released?: readonly string[];
      /** The decision whose pull request it shares, and which has to know. */
      readonly wakes?: DecisionRef;
    }
  /** Notifies people, once for each `about`: by an Event on the quota, and by a comment if there is a pull request. */
  | {
      readonly kind: 'notify';
      readonly decision: Decision | null;
      readonly about: string;
      readonly comment: string | null;
      readonly event: { readonly reason: EventReason; readonly message: string };
    }
  | { readonly kind: 'open'; readonly decision: UnmergedDecision }
  /** Rebuilds the branch with the decision's limits; opens the pull request if there is none yet. */
  | {
      readonly kind: 'rebuild';
      readonly decision: UnmergedDecision;
      readonly why: string;
      /** Batched quotas that the decision no longer raises: their Leases are released. */
      readonly released?: readonly string[];
    }
  /**
   * Where the base branch has a merge queue: puts the pull request there, or asks whether it may stay.
   *
   * `enablesAutoMerge`: what the base branch asks for is still missing, and the forge merges as soon as it is there.
   */
  | { readonly kind: 'merge'; readonly decision: OpenDecision; readonly enablesAutoMerge?: true }
  /** Takes the pull request out of the merge queue, or disables auto-merge, whatever comes then. */
  | { readonly kind: 'dequeue'; readonly decision: OpenDecision }
  | {
      readonly kind: 'close';
      readonly decision: UnmergedDecision;
      readonly comment: string;
      readonly rejection: Rejection | null;
    }
  /** Drops the decision and releases its Lease; the forge is left as it is. */
  | {
      readonly kind: 'release';
      readonly decision: UnmergedDecision;
      readonly rejection: Rejection | null;
      /** The decision whose pull request it shared, and which has to go on without it. */
      readonly wakes?: DecisionRef;
    }
  /** A person merged the pull request; the branch is deleted if Headroom may write to the forge. */
  | { readonly kind: 'mergedByPerson'; readonly decision: MergedDecision; readonly deletesBranch: boolean }
  /**
   * A person closed the pull request, or it was already closed when Headroom came to close it after an operator's
   * rejection.
   */
  | {
      readonly kind: 'closedByPerson';
      readonly decision: OpenDecision;
      readonly rejection: Rejection;
      readonly deletesBranch: boolean;
    }
  /** The cluster shows the merged limits: the cooldown begins. */
  | { readonly kind: 'synced'; readonly decision: MergedDecision }
  /** Headroom stops waiting for the sync: the quota is gone, or its namespace opted out. */
  | { readonly kind: 'forget'; readonly decision: MergedDecision }
  | {
      readonly kind: 'warnSync';
      readonly decision: MergedDecision;
      readonly warn: boolean;
      /** Present where the decision's own quota is synced, and this one is not. */
      readonly syncOf?: AwaitedSync;
    };

/** An act, before it is known whether the same act was tried a moment ago. */
export type IntendedAct = StatusFields & Action;

/** What the guards ask for. */
export type Intent = (StatusFields & Rest) | IntendedAct;

/**
 * An act with the key of its retry backoff: an act with another path or other values has another key and is tried at
 * once.
 */
export type Act = IntendedAct & { readonly blockedKey: string };

/** What to do now. After an act the next pass begins at once. */
export type Verdict = (StatusFields & Rest) | Act;

/** A requirement as proposed limits, before the quota's place in Git is known. */
export interface Proposal {
  readonly changes: readonly LimitChange[];
  readonly evidence: readonly string[];
  /** Sentences about what the proposal omits because of a maximum or contradicted usage. */
  readonly notes: readonly string[];
  /** Sentences about resources whose status differs from the counted usage. */
  readonly usageNotes?: readonly string[];
  /** Whether something was denied and is still missing; false when only a threshold was reached. */
  readonly unmetDemand: boolean;
  readonly demandByMessage: boolean;
  /** Whether the policy's minimum is the only reason. */
  readonly belowMinimum?: boolean;
  readonly approvalRequirement: ApprovalRequirement | null;
}
