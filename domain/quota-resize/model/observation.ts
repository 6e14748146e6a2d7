import type { Mergeability } from '../../kernel/forge.ts';
import type { PauseInForce } from '../../kernel/pause.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { Unmeasured } from '../../quota-usage/calculate.ts';
import type { UsageMode } from '../../quota-usage/mode.ts';
import type { PolicyWarning, ResizePolicy } from '../policy/policy.ts';
import { type Decision, leaseHolder, type Rejection } from './decision.ts';
import type { Placement } from './placement.ts';
import type { SourceCandidate } from '../git/locate/source-candidate.ts';
import type { ResizeTimings } from './timings.ts';

/** The object that admission refused pods (or claims, or other objects) of. */
export interface WorkloadRef {
  readonly kind: string;
  readonly name: string;
  /** Tells workloads apart; names do not (db-primary and db-replica share a prefix). */
  readonly uid: string;
}

/** What one refused workload still misses of this quota. */
export interface WorkloadDemand {
  readonly workload: WorkloadRef;
  /**
   * `workload`: the owner's missing replicas × the charge of one. `message`: the denial's own numbers, where the owner
   * cannot be read.
   */
  readonly basis: 'workload' | 'message';
  /** How many pods (or objects) are missing; 1 for a message. */
  readonly missing: number;
  /** How many of them are the surge of a rolling update, and needed only while it lasts. */
  readonly surge: number;
  /**
   * How many more pods the rolling update is to replace after these; what they take beyond the old ones is in `total`.
   */
  readonly later?: number;
  /** The charge of what is missing, only keys of this quota's spec.hard. */
  readonly total: ResourceList;
  /** When admission last refused it. */
  readonly lastSeen: EpochMs;
}

/** The Lease of a quota as it was read: the memory that outlives a workflow run. */
export interface LeaseRecord {
  readonly name: string;
  /** `headroom/<decision id>`, `pr-N` of an earlier tool, anything of somebody else, or null when unlocked. */
  readonly holder: string | null;
  /** A `pr-N` holder whose pull request is closed: the lock of an earlier tool that may be taken over. */
  readonly holderIsAbandoned: boolean;
  /** The quota of the namespace whose decision holds this Lease, because its pull request raises this quota as well. */
  readonly carriedBy?: string | null;
  /** `resizer.io/last-modified`: the last time that a change of ours was merged. */
  readonly lastModified: EpochMs | null;
  readonly lastRecommendation: { readonly limits: ResourceList; readonly at: EpochMs } | null;
  readonly rejections: readonly Rejection[];
  /** The decision that holds the lock, or that was merged last and may still await its sync. */
  readonly decision: Decision | null;
  /**
   * Whether there is a decision that cannot be read, such as one of a later release. Whoever wrote it may have a pull request,
   * so the Lease counts as held, by another decision than any that is known.
   */
  readonly hasUnreadDecision?: boolean;
}

/**
 * Whether the lock is somebody else's, who may be at work: also whoever left a decision that cannot be read. A holder whose
 * pull request is closed has none.
 *
 * @param decisionId the decision that may hold it; null where none is in hand.
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

/** One look at the cluster, taken at the start of every wake-up. */
export interface QuotaObservation {
  readonly namespace: 'present' | 'terminating' | 'gone';
  readonly quota: {
    readonly uid: string;
    /** spec.hard, canonical quantities. */
    readonly hard: ResourceList;
    /**
     * status.used, only keys of spec.hard; absent while Kubernetes has not counted yet. In modes `audit` and `own` what
     * was counted has taken its place.
     */
    readonly used: ResourceList;
  } | null;
  /**
   * From the configuration of the worker that looked: in `audit` and `own` the starters are asked what they counted.
   */
  readonly usage: UsageMode;
  /** What they answered. Absent: nobody asked. */
  readonly counting?: Counting;
  readonly policy: ResizePolicy;
  readonly warnings: readonly PolicyWarning[];
  /** From the configuration of the worker that looked. */
  readonly timings: ResizeTimings;
  /** Of everything, the controller, the namespace or the quota; null when nothing is paused for it. */
  readonly pause: PauseInForce | null;
  readonly demand: readonly WorkloadDemand[];
  /** In mode `off`: numbers of `status.used` that the objects of the namespace contradict; empty where they agree. */
  readonly contradictions: readonly UsageContradiction[];
  /** Why nothing may be merged at the moment of the look, by a freeze or outside of every window; null when it may. */
  readonly mergeHold: MergeHold | null;
  /**
   * Other quotas of the namespace that miss room for the same refused workloads. Before the counted numbers are in: all
   * that count any of what was refused.
   */
  readonly otherQuotas: readonly OtherQuota[];
  /** Where to look for the quota in Git, in order. */
  readonly candidates: readonly SourceCandidate[];
  readonly lease: LeaseRecord;
}

/** `status.used` says one thing and the objects of the namespace another. */
export interface UsageContradiction {
  readonly resource: string;
  /** What `status.used` says. */
  readonly used: string;
  /** What the objects that are there are charged. */
  readonly counted: string;
}

/** What a starter counted for a quota, in place of `status.used`. */
export type Counting =
  | {
      readonly kind: 'counted';
      /** Where the quota's status says something else. */
      readonly differences: readonly UsageContradiction[];
      /** What could not be counted: there `status.used` counts. */
      readonly unmeasured: readonly Unmeasured[];
    }
  /** `why`: a clause for people, such as "no starter answered within 20 s". */
  | { readonly kind: 'unavailable'; readonly why: string };

export interface MergeHold {
  readonly reason: 'Frozen' | 'OutsideMergeWindow';
  /** When merging is allowed again; null where nothing says so. */
  readonly until: EpochMs | null;
  /** One sentence with the policy's layer and the moment. */
  readonly detail: string;
}

/** Another quota of the namespace with unmet demand, as much of it as a common pull request needs to know. */
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

/** Where the quota lives in Git, and what Git says today. */
export type SourceObservation =
  | {
      readonly kind: 'found';
      readonly repository: string;
      readonly base: string;
      readonly baseSha: string;
      readonly path: string;
      readonly line: number;
      /** Every file that the edit changes. */
      readonly paths: readonly string[];
      /** The values of the asked resources in Git. */
      readonly limits: ResourceList;
      /** How it was found, one sentence for the evidence. */
      readonly how: string;
      /** What is kept of it, so that it is not searched for again. */
      readonly placement: Placement;
    }
  | {
      readonly kind: 'blocked';
      readonly reason: SourceProblem;
      /** A sentence: what, where, and what would be right. */
      readonly message: string;
    };

/** Why the quota cannot be placed in Git with certainty. */
export type SourceProblem =
  | 'FileNotFound'
  | 'FoundTwice'
  | 'NotYaml'
  | 'Unplaceable'
  | 'RepositoryNotConfigured'
  | 'RepositoryNotFound';

/** A pull request and the checks on its head, as the forge says now. */
export interface PullRequestObservation {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'closed';
  readonly headSha: string;
  /** Whether the head is the commit that Headroom pushed for this decision, and nothing else is on the branch. */
  readonly headIsOurs: boolean;
  readonly mergeability: Mergeability;
  readonly checks: {
    readonly total: number;
    readonly pending: readonly string[];
    readonly failing: readonly string[];
  };
  /** Whether the base branch requires checks, which makes `clean` a proof. */
  readonly hasRequiredChecks: boolean;
  /** Whether the base branch is changed through a merge queue only; absent where it is not. */
  readonly mergeQueue?: boolean;
  /** Who closed or merged it, where the forge says; otherwise "unknown". */
  readonly closedBy: string;
  readonly merge: {
    readonly sha: string;
    readonly at: EpochMs;
    readonly by: string;
    /** What the merged file says for the resources of the decision; people may have changed it. */
    readonly limits: ResourceList;
  } | null;
}
