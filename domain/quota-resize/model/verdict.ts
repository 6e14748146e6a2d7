import type { EpochMs } from '../../kernel/time.ts';
import type {
  BatchedQuota,
  Decision,
  ApprovalRequirement,
  LimitChange,
  LockedDecision,
  MergedDecision,
  OpenDecision,
  Rejection,
  UnmergedDecision,
} from './decision.ts';
import type { EventReason } from './event-reasons.ts';

/** Where an episode stands; the value of the search attribute `HeadroomPhase`. */
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

/** Why a verdict is what it is: one word that is the same in details, Events, logs, metrics and tests. */
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
  | 'MaxStepExceeded'
  | 'RaiseFromZero'
  | 'ApprovalRequired'
  | 'ApprovalTimedOut'
  | 'Frozen'
  | 'OutsideMergeWindow'
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
  | 'Draft'
  | 'Conflict'
  | 'Behind'
  | 'BatchedQuotaLeft'
  | 'HeadMoved'
  | 'ReadyToMerge'
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
  | 'Unplaceable'
  | 'RepositoryNotConfigured'
  | 'RepositoryNotFound'
  | 'ForgeRejected'
  | 'MergeQueue'
  | 'NotMergeable'
  // the cluster follows
  | 'AlreadyInGit'
  | 'SyncPending'
  | 'SyncOverdue'
  | 'Synced';

/** What ends a wait, besides an operator's command or a change of the quota, its namespace or its policy. */
export interface Wait {
  /** Look again at this moment, whatever happens. */
  readonly until?: EpochMs;
  /** Read on until this is different. */
  readonly watch?: 'pullRequest' | 'sync' | 'resume';
  /** New pressure before this moment is noted but wakes nobody; infinite where pressure has no say at all. */
  readonly quietUntil?: EpochMs;
}

interface StatusFields {
  readonly phase: Phase;
  readonly reason: Reason;
  /** One sentence for people: what is so, and what it waits for. */
  readonly detail: string;
}

type Rest = { readonly kind: 'hold'; readonly wait: Wait } | { readonly kind: 'end' };

type Action =
  | { readonly kind: 'recommend'; readonly proposal: Proposal }
  /** `announce`: the recommendation is news and is written first. */
  | {
      readonly kind: 'propose';
      readonly proposal: Proposal;
      readonly announce: boolean;
      /** Other quotas of the namespace that the same pull request is to raise. */
      readonly batchedQuotas: readonly BatchedQuota[];
    }
  /** The decision's limits as they are now, in the Lease; the forge is not touched. */
  | { readonly kind: 'revise'; readonly decision: LockedDecision; readonly released?: readonly string[] }
  /** A word to people, once for each `about`: an Event on the quota, and a comment where there is a pull request. */
  | {
      readonly kind: 'notify';
      readonly decision: Decision | null;
      readonly about: string;
      readonly comment: string | null;
      readonly event: { readonly reason: EventReason; readonly message: string };
    }
  | { readonly kind: 'open'; readonly decision: UnmergedDecision }
  /** The branch made anew with the decision's limits; opened if there is no pull request yet. */
  | {
      readonly kind: 'rebuild';
      readonly decision: UnmergedDecision;
      readonly why: string;
      /** Quotas that the decision carried and carries no more: their Leases are unlocked. */
      readonly released?: readonly string[];
    }
  | { readonly kind: 'merge'; readonly decision: OpenDecision }
  | {
      readonly kind: 'close';
      readonly decision: UnmergedDecision;
      readonly comment: string;
      readonly rejection: Rejection | null;
    }
  /** Forget the decision and unlock its Lease, and leave the forge as it is. */
  | { readonly kind: 'release'; readonly decision: UnmergedDecision; readonly rejection: Rejection | null }
  /** A person merged the pull request; the branch is deleted where Headroom may write to the forge. */
  | { readonly kind: 'mergedByPerson'; readonly decision: MergedDecision; readonly deletesBranch: boolean }
  /** A person closed the pull request, or one that an operator rejected is closed already. */
  | {
      readonly kind: 'closedByPerson';
      readonly decision: OpenDecision;
      readonly rejection: Rejection;
      readonly deletesBranch: boolean;
    }
  /** The cluster shows what was merged: the cooldown begins. */
  | { readonly kind: 'synced'; readonly decision: MergedDecision }
  /** Nobody waits any more for the cluster to show what was merged: the quota is gone, or its namespace opted out. */
  | { readonly kind: 'forget'; readonly decision: MergedDecision }
  | { readonly kind: 'warnSync'; readonly decision: MergedDecision; readonly warn: boolean };

/** One thing to do, before it is known whether the same was tried a moment ago. */
export type IntendedAct = StatusFields & Action;

/** What the ladder of guards asks for. */
export type Intent = (StatusFields & Rest) | IntendedAct;

/** One thing to do, and what a block of it would be about: with another path or other values it is tried at once. */
export type Act = IntendedAct & { readonly blockedKey: string };

/** What to do now. An act is followed by a fresh pass. */
export type Verdict = (StatusFields & Rest) | Act;

/** A need turned into values, before it is placed in Git. */
export interface Proposal {
  readonly changes: readonly LimitChange[];
  readonly evidence: readonly string[];
  /** Sentences about what the proposal leaves out, by a maximum or because the quota's usage is contradicted. */
  readonly notes: readonly string[];
  /** Sentences about resources whose status says something else than was counted. */
  readonly usageNotes?: readonly string[];
  /** Whether something was refused and is still missing, and not only a threshold reached. */
  readonly unmetDemand: boolean;
  readonly demandByMessage: boolean;
  /** Nothing but the policy's minimum asks for it. */
  readonly belowMinimum?: boolean;
  readonly approvalRequirement: ApprovalRequirement | null;
}
