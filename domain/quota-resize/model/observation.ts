import type { ChangeRequests, Mergeability, QueueEntry, QueueRemoval } from '../../kernel/forge.ts';
import type { PauseInForce } from '../../kernel/pause.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { Unmeasured } from '../../quota-usage/calculate.ts';
import type { UsageMode } from '../../quota-usage/mode.ts';
import type { PolicyWarning, ResizePolicy } from '../policy/policy.ts';
import { type Decision, type JoinedDecision, leaseHolder, type Rejection } from './decision.ts';
import type { LeaseApproval } from './lease-approval.ts';
import type { Placement } from './placement.ts';
import type { SourceCandidate } from '../git/locate/candidate/source-candidate.ts';
import type { ResizeTimings } from './timings.ts';

/** The owner of pods (or claims, or other objects) that admission denied. */
export interface WorkloadRef {
  readonly kind: string;
  readonly name: string;
  /** Identifies the workload; names may not (db-primary and db-replica share a prefix). */
  readonly uid: string;
}

/** What one denied workload still lacks of this quota. */
export interface WorkloadDemand {
  readonly workload: WorkloadRef;
  /**
   * `workload`: computed as the owner's missing replicas × the charge of one. `message`: taken from the denial, when
   * the owner cannot be read.
   */
  readonly basis: 'workload' | 'message';
  /** How many workloads this is the sum of; then `workload` has their kind alone. Absent for one workload. */
  readonly alike?: number;
  /** How many pods (or objects) are missing; 1 for a message. */
  readonly missing: number;
  /** How many of the missing pods are the surge of a rolling update, needed only while it lasts. */
  readonly surge: number;
  /**
   * How many more pods the rolling update will replace afterwards; `total` includes what they need beyond the old pods.
   */
  readonly later?: number;
  /** The charge of everything missing; only keys of this quota's spec.hard. */
  readonly total: ResourceList;
  /** When admission last denied the workload. */
  readonly lastSeen: EpochMs;
}

/** An Event that is not believed, and does not count. */
export interface DoubtedDenial {
  /**
   * `InFuture`: it is dated later than now. `NoObject`: the object that it names does not exist. `TooMany`: there are newer
   * ones, as many as are read.
   */
  readonly reason: 'InFuture' | 'NoObject' | 'TooMany';
  /** A sentence that names the object. */
  readonly message: string;
}

/** The Lease of a quota as read: the memory that outlives a workflow run. */
export interface LeaseRecord {
  readonly name: string;
  /** `headroom/<decision id>`, `pr-N` of the earlier tool, any text of another holder, or null when unlocked. */
  readonly holder: string | null;
  /** The holder is `pr-N` and that pull request is closed: the earlier tool's lock may be taken over. */
  readonly holderIsAbandoned: boolean;
  /** The quota of the namespace whose decision holds this Lease, because its pull request raises this quota too. */
  readonly carriedBy?: string | null;
  /** `resizer.io/last-modified`: when a change by Headroom was last merged. */
  readonly lastModified: EpochMs | null;
  /** `resizer.io/last-withdrawal`: when a decision was last given up without a rejection; absent when never. */
  readonly lastWithdrawal?: EpochMs;
  readonly lastRecommendation: { readonly limits: ResourceList; readonly at: EpochMs } | null;
  readonly rejections: readonly Rejection[];
  /** The decision that holds the Lease, or the last merged one, which may still wait for its sync. */
  readonly decision: Decision | null;
  /**
   * Whether the Lease has a decision that cannot be parsed, such as one of a later release. Its writer may have a pull
   * request, so the Lease counts as held by somebody else.
   */
  readonly hasUnreadDecision?: boolean;
  /** An approval whose author the API server has verified; absent without one. */
  readonly approval?: LeaseApproval;
}

/**
 * Whether somebody else holds the Lease and may be active; the writer of a decision that cannot be parsed counts as
 * such. The earlier tool's holder with a closed pull request does not.
 *
 * @param decisionId the decision that may hold the Lease; null when there is none.
 */
export function isHeldByOthers(
  {
    holder,
    holderIsAbandoned,
    hasUnreadDecision = false,
  }: Pick<LeaseRecord, 'holder' | 'holderIsAbandoned' | 'hasUnreadDecision'>,
  decisionId: string | null,
): boolean {
  if (decisionId !== null && holder === leaseHolder(decisionId)) return false;
  return hasUnreadDecision || (holder !== null && !holderIsAbandoned);
}

/** One observation of the cluster, made at the start of a pass. */
export interface QuotaObservation {
  readonly namespace: 'present' | 'terminating' | 'gone';
  readonly quota: {
    readonly uid: string;
    /** spec.hard, canonical quantities. */
    readonly hard: ResourceList;
    /**
     * status.used, only keys of spec.hard; absent while Kubernetes has not counted yet. In the modes `audit` and `own`
     * the counted usage replaces it.
     */
    readonly used: ResourceList;
  } | null;
  /** From the configuration of the observing worker: in `audit` and `own` the usage comes from the starters. */
  readonly usage: UsageMode;
  /** The result of counting. Absent when the mode does not ask for it. */
  readonly counting?: Counting;
  readonly policy: ResizePolicy;
  readonly warnings: readonly PolicyWarning[];
  /** From the configuration of the observing worker. */
  readonly timings: ResizeTimings;
  /** The pause of everything, the controller, the namespace or the quota; null when none applies. */
  readonly pause: PauseInForce | null;
  readonly demand: readonly WorkloadDemand[];
  /** How many milliseconds before the end of the observation the demand was read; absent where there is none. */
  readonly demandAge?: number;
  /**
   * Owners whose controllers are not done, so that more or less may be missing a moment later: at most a few; absent when
   * there are none.
   */
  readonly unsettled?: readonly WorkloadRef[];
  /** Events of denials that are not believed; absent when there are none. */
  readonly doubted?: readonly DoubtedDenial[];
  /** In mode `off`: values of `status.used` that the objects of the namespace contradict; empty when they agree. */
  readonly contradictions: readonly UsageContradiction[];
  /**
   * Why nothing may be merged at the moment of the observation: a freeze, no open merge window, or a rest of the quota; null
   * when merging is allowed.
   */
  readonly mergeHold: MergeHold | null;
  /** When the next of the open merge windows closes; absent where none is open, or the decision has no pull request. */
  readonly mergeWindowClosesAt?: EpochMs;
  /**
   * Other quotas of the namespace that lack room for the same denied workloads. Before the counts are included: all
   * quotas that count any of the denied objects.
   */
  readonly otherQuotas: readonly OtherQuota[];
  /** The quotas that the merged decision in the Lease raised too; absent when there are none. */
  readonly batched?: readonly { readonly quota: string; readonly uid: string; readonly hard: ResourceList }[];
  /** Where to look for the quota in Git, in order. */
  readonly candidates: readonly SourceCandidate[];
  readonly lease: LeaseRecord;
  /** Which decisions share the pull request of the decision in the Lease; absent when none do. */
  readonly sharing?: Sharing;
}

/** What of an observation says how much of it a quota needs. */
export type DemandFacts = Pick<
  QuotaObservation,
  'usage' | 'quota' | 'policy' | 'demand' | 'contradictions' | 'counting'
>;

export type Sharing =
  /** The decision's own pull request: who may join it, and who has. */
  | { readonly kind: 'owner'; readonly others: readonly SharingDecision[] }
  /** The pull request of another decision. `isJoined`: that one still holds this one's commit. */
  | { readonly kind: 'joined'; readonly isJoined: boolean };

/** A decision of another quota that wants to be in the pull request, as its Lease says it now. */
export interface SharingDecision extends JoinedDecision {
  /** The head that it lets the owner merge; absent while something is in the way. */
  readonly readyAt?: string;
}

/** A resource whose `status.used` differs from the objects of the namespace. */
export interface UsageContradiction {
  readonly resource: string;
  /** The value in `status.used`. */
  readonly used: string;
  /** The charge of the existing objects. */
  readonly counted: string;
}

/** The result of asking the starters to count the usage of a quota. */
export type Counting =
  | {
      readonly kind: 'counted';
      /** Resources whose status differs from the count. */
      readonly differences: readonly UsageContradiction[];
      /** Resources that could not be counted: `status.used` is used for them. */
      readonly unmeasured: readonly Unmeasured[];
    }
  /** `why`: a clause for people, such as "no starter answered within 20 s". */
  | { readonly kind: 'unavailable'; readonly why: string };

export interface MergeHold {
  readonly reason: 'Frozen' | 'OutsideMergeWindow' | 'CoolingDown' | 'PreviouslyRejected' | 'MoreThanNeeded';
  /** When merging is allowed again; null when this is unknown. */
  readonly until: EpochMs | null;
  /** One sentence with the policy's layer and the moment. */
  readonly detail: string;
  /** Present where it holds no merge that a person has approved. */
  readonly isUnattended?: true;
}

/** Another quota of the namespace with unmet demand: the data that a common pull request needs. */
export interface OtherQuota {
  readonly name: string;
  readonly quota: NonNullable<QuotaObservation['quota']>;
  readonly policy: ResizePolicy;
  readonly demand: readonly WorkloadDemand[];
  readonly contradictions: readonly UsageContradiction[];
  readonly counting?: Counting;
  readonly candidates: readonly SourceCandidate[];
  readonly lease: LeaseRecord;
}

/** The quota's place in Git, and its present limits there. */
export type SourceObservation =
  | {
      readonly kind: 'found';
      readonly repository: string;
      readonly base: string;
      readonly baseSha: string;
      readonly path: string;
      readonly line: number;
      /** All files that the edit changes. */
      readonly paths: readonly string[];
      /** The present limits of the requested resources in Git. */
      readonly limits: ResourceList;
      /** Limits that have to be greater than requested, because only whole numbers can be written there; absent: none. */
      readonly rounded?: ResourceList;
      /** How the quota was found; one sentence for the evidence. */
      readonly how: string;
      /** Stored with the decision, so that the quota need not be searched for again. */
      readonly placement: Placement;
    }
  | {
      readonly kind: 'blocked';
      readonly reason: SourceProblem;
      /** A sentence: the problem, its place, and what would be right. */
      readonly message: string;
    };

/** Why the quota cannot be located in Git with certainty. */
export type SourceProblem =
  | 'FileNotFound'
  | 'FoundTwice'
  | 'NotYaml'
  /** A file that is too large or takes too long to read. */
  | 'ContentTooCostly'
  | 'OutsideGuardrail'
  | 'Unplaceable'
  | 'RepositoryNotConfigured'
  | 'RepositoryNotFound';

/** A pull request and the checks of its head, as the forge shows them now. */
export interface PullRequestObservation {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'closed';
  readonly headSha: string;
  /** Whether the head is the commit that Headroom pushed for this decision and the branch has no other commits. */
  readonly headIsOurs: boolean;
  readonly mergeability: Mergeability;
  readonly checks: {
    readonly total: number;
    readonly pending: readonly string[];
    readonly failing: readonly string[];
  };
  /** Whether the base branch requires checks; then `clean` proves that they passed. */
  readonly hasRequiredChecks: boolean;
  /** Whether the base branch asks for a review or a check; absent when not. */
  readonly baseIsProtected?: boolean;
  /** Whether the base branch may only be changed through a merge queue; absent when not. */
  readonly mergeQueue?: boolean;
  /** Whether the repository allows the forge's own auto-merge; absent when not. */
  readonly autoMergeIsAllowed?: boolean;
  /** Its place in the merge queue, or auto-merge that is enabled; absent while there is neither. */
  readonly queueEntry?: QueueEntry;
  /** Present where it left the merge queue and is not there again, or auto-merge was disabled. */
  readonly queueRemoval?: QueueRemoval;
  /**
   * Who approves the present head by a review, of people who may write to the repository. Absent where no approval is
   * asked for, and in observations of earlier versions.
   */
  readonly approvals?: readonly { readonly by: string; readonly at: EpochMs }[];
  /** Who requests changes, of any head. Absent where nobody does, and in observations of earlier versions. */
  readonly changesRequested?: ChangeRequests;
  /** Who closed or merged the pull request, if the forge says so; otherwise "unknown". */
  readonly closedBy: string;
  /** Of a decision that joined it: whether it was closed by an account of Headroom's; absent when not. */
  readonly isClosedByOwn?: boolean;
  /** Of a decision that joined it: whether it has no commit of the decision any more; absent when it has. */
  readonly isWithoutOwn?: boolean;
  readonly merge: {
    readonly sha: string;
    readonly at: EpochMs;
    readonly by: string;
    /** Whether an account of Headroom's merged it. */
    readonly isOwn: boolean;
    /** The merged limits for the resources of the decision, which people may have changed. */
    readonly limits: ResourceList;
  } | null;
}
