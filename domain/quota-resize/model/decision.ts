import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Placement } from './placement.ts';
import type { SourceCandidate } from '../git/locate/candidate/source-candidate.ts';

/** Why a person has to approve. */
export interface ApprovalRequirement {
  readonly reason: 'MaxStepExceeded' | 'RaiseFromZero' | 'ApprovalRequired';
  /** A sentence with the resource, the step and the limit of the policy. */
  readonly message: string;
  /** Present when the approval is required before the pull request is opened, and not only before the merge. */
  readonly before?: 'pull-request';
}

/** Why one resource is raised; one row of the table in the pull request. */
export interface LimitChange {
  readonly resource: string;
  readonly from: string;
  readonly to: string;
  readonly used: string;
  /** Unmet demand for this resource; "0" when the threshold is the only reason. */
  readonly demand: string;
  /** In words, with the numbers: "used 10 of 10 is 100 %, threshold 80 %". */
  readonly reason: string;
}

/** An open pull request of a decision, as Headroom last wrote it. */
export interface PullRequestRef {
  readonly number: number;
  readonly url: string;
  readonly repository: string;
  readonly branch: string;
  readonly base: string;
  readonly path: string;
  /** The commit that Headroom pushed; only this commit is merged. */
  readonly headSha: string;
  readonly openedAt: EpochMs;
  /** When the head was pushed: the time after which `clean` counts is measured from here. */
  readonly pushedAt: EpochMs;
}

/** How the decided values reached the base branch. */
export interface Merge {
  readonly sha: string;
  readonly at: EpochMs;
  readonly by: string;
  /** The merged limits for the resources of the decision, which people may have changed. */
  readonly limits: ResourceList;
}

/** What was decided and why; independent of the progress of the decision. */
export interface DecisionFacts {
  /** Eight hexadecimal digits; used in the branch, the commit and the Lease's holder. */
  readonly id: string;
  readonly quotaUid: string;
  readonly decidedAt: EpochMs;
  readonly changes: readonly LimitChange[];
  /** Sentences: which workloads lack what, and since when. */
  readonly evidence: readonly string[];
  /**
   * Whether the demand includes a denial whose owner cannot be read, so that Headroom cannot see whether it still
   * exists.
   */
  readonly demandByMessage: boolean;
  /** Sentences: how the policy changed the values, and which part of the requirement is contradicted. */
  readonly notes?: readonly string[];
  /** Sentences: where the quota's status differs from the counted usage. */
  readonly usageNotes?: readonly string[];
  readonly approvalRequirement: ApprovalRequirement | null;
  /** The quota's place in Git, where the pull request is opened. Null in decisions of earlier versions. */
  readonly source?: DecisionSource | null;
  /** Other quotas of the namespace that the same pull request raises for the same workloads. */
  readonly batchedQuotas?: readonly BatchedQuota[] | undefined;
  /** Who approved the decision: approved writes have a higher priority. */
  readonly approvedBy?: string | undefined;
}

/** A decision that holds the Lease and has no known pull request. */
export interface LockedDecision extends DecisionFacts {
  readonly pullRequest: null;
  readonly merge: null;
}

/** A decision with a pull request, which may be closed by now. */
export interface OpenDecision extends DecisionFacts {
  readonly pullRequest: PullRequestRef;
  readonly merge: null;
}

/** A decision whose values are in Git: merged with its pull request, or found there before there was one. */
export interface MergedDecision extends DecisionFacts {
  readonly pullRequest: PullRequestRef | null;
  readonly merge: Merge;
}

export type UnmergedDecision = LockedDecision | OpenDecision;

/**
 * One decision to raise a quota: it has at most one pull request with one commit. The decision is stored in the Lease
 * before anything is written to the forge, so that a terminated or reset workflow finds its own work again.
 */
export type Decision = UnmergedDecision | MergedDecision;

/** The place in Git where a decision's quota was found. */
interface DecisionSource {
  /** `owner/name`. */
  readonly repository: string;
  readonly base: string;
  /** How the quota was found; one sentence for the evidence. */
  readonly how: string;
  /** Absent in decisions of earlier versions: the quota is then searched for again. */
  readonly placement?: Placement;
}

/** Another quota of the namespace that a decision also raises; its Lease is locked for the decision. */
export interface BatchedQuota {
  readonly quota: string;
  readonly quotaUid: string;
  readonly changes: readonly LimitChange[];
  readonly usageNotes?: readonly string[];
  /**
   * The approval that the batched quota's own policy requires; approving the pull request approves all of its quotas.
   */
  readonly approvalRequirement: ApprovalRequirement | null;
  /** The source candidates of the batched quota. */
  readonly candidates: readonly SourceCandidate[];
  /**
   * The placement in the decision's repository and base branch. Absent until it is known, and in decisions of earlier
   * versions.
   */
  readonly placement?: Placement;
}

/** A person's rejection: these values (or smaller ones) are not proposed again for a while. */
export interface Rejection {
  readonly limits: ResourceList;
  readonly at: EpochMs;
  readonly by: string;
  readonly reason: string;
}

/** Value of `merge.by` when nobody merged: the values were found in Git. */
export const FOUND_IN_GIT = 'git';

/** The proposed limit of each changed resource. */
export function decidedLimits(decision: Pick<DecisionFacts, 'changes'>): ResourceList {
  return Object.fromEntries(decision.changes.map((change) => [change.resource, change.to]));
}

/** The decision without some of its batched quotas. */
export function withoutBatchedQuotas<D extends Pick<DecisionFacts, 'batchedQuotas'>>(
  decision: D,
  leftOut: readonly string[],
): D {
  const others = (decision.batchedQuotas ?? []).filter(({ quota }) => !leftOut.includes(quota));
  return { ...decision, batchedQuotas: others.length === 0 ? undefined : others };
}

/**
 * All values that an approval covers: the decision's own by resource, those of batched quotas prefixed with the quota's
 * name.
 */
export function approvedValues(decision: Pick<DecisionFacts, 'changes' | 'batchedQuotas'>): ResourceList {
  const others = (decision.batchedQuotas ?? []).flatMap(({ quota, changes }) =>
    changes.map(({ resource, to }) => [`quota ${quota}: ${resource}`, to] as const),
  );
  return { ...decidedLimits(decision), ...Object.fromEntries(others) };
}

/** The Lease's holderIdentity: `headroom/<decision id>`. */
export function leaseHolder(decisionId: string): string {
  return `headroom/${decisionId}`;
}
