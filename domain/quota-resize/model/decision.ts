import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Placement } from './placement.ts';
import type { SourceCandidate } from '../git/locate/source-candidate.ts';

/** Why an approval by a person is needed. */
export interface ApprovalRequirement {
  readonly reason: 'MaxStepExceeded' | 'RaiseFromZero' | 'ApprovalRequired';
  /** A sentence with the resource, the step and the limit of the policy. */
  readonly message: string;
  /** Present where the approval is needed before there is a pull request, and not only before the merge. */
  readonly before?: 'pull-request';
}

/** Why one resource is raised: a row of the table in the pull request. */
export interface LimitChange {
  readonly resource: string;
  readonly from: string;
  readonly to: string;
  readonly used: string;
  /** Unmet demand counted for this resource; "0" where a threshold alone is the cause. */
  readonly demand: string;
  /** In words, with the numbers: "used 10 of 10 is 100 %, threshold 80 %". */
  readonly reason: string;
}

/** An open pull request of a decision, as Headroom left it. */
export interface PullRequestRef {
  readonly number: number;
  readonly url: string;
  readonly repository: string;
  readonly branch: string;
  readonly base: string;
  readonly path: string;
  /** The commit that Headroom pushed; the merge is pinned to it. */
  readonly headSha: string;
  readonly openedAt: EpochMs;
  /** When the head was pushed: `clean` needs a settle time from here on. */
  readonly pushedAt: EpochMs;
}

/** How the decided values came into the base branch. */
export interface Merge {
  readonly sha: string;
  readonly at: EpochMs;
  readonly by: string;
  /** What the merged file says for the resources of the decision; people may have changed it. */
  readonly limits: ResourceList;
}

/** What was decided, and why: the part of a decision that knows nothing of how far it has come. */
export interface DecisionFacts {
  /** Eight hexadecimal digits; part of the branch, the commit and the Lease's holder. */
  readonly id: string;
  readonly quotaUid: string;
  readonly decidedAt: EpochMs;
  readonly changes: readonly LimitChange[];
  /** Sentences: which workloads miss what, since when. */
  readonly evidence: readonly string[];
  /** A denial whose owner cannot be read is part of the need: it cannot be seen to have gone. */
  readonly demandByMessage: boolean;
  /** What the policy changed in the values, or what of the need is not believed: sentences. */
  readonly notes?: readonly string[];
  /** Where the quota's status says something else than was counted: sentences. */
  readonly usageNotes?: readonly string[];
  readonly approvalRequirement: ApprovalRequirement | null;
  /** Where it lives in Git: the pull request is opened there. Null in decisions of earlier versions. */
  readonly source?: DecisionSource | null;
  /** Other quotas of the namespace that the same pull request raises for the same workloads. */
  readonly batchedQuotas?: readonly BatchedQuota[] | undefined;
  /** Who approved it, once somebody did: approved writes go first. */
  readonly approvedBy?: string | undefined;
}

/** The lock is held, and nothing is known to be on the forge. */
export interface LockedDecision extends DecisionFacts {
  readonly pullRequest: null;
  readonly merge: null;
}

/** It has a pull request, which may be closed by now. */
export interface OpenDecision extends DecisionFacts {
  readonly pullRequest: PullRequestRef;
  readonly merge: null;
}

/** The values are in Git: through its pull request, or found there before there was one. */
export interface MergedDecision extends DecisionFacts {
  readonly pullRequest: PullRequestRef | null;
  readonly merge: Merge;
}

export type UnmergedDecision = LockedDecision | OpenDecision;

/**
 * One decision to raise a quota: at most one pull request and one commit exist for it. Kept in the Lease before
 * anything is written to the forge, so that a terminated or reset workflow finds its own work again.
 */
export type Decision = UnmergedDecision | MergedDecision;

/** Where a decision's quota was found in Git. */
interface DecisionSource {
  /** `owner/name`. */
  readonly repository: string;
  readonly base: string;
  /** How it was found, one sentence for the evidence. */
  readonly how: string;
  /** Absent in decisions of earlier versions: it is searched for then. */
  readonly placement?: Placement;
}

/** Another quota of the namespace that a decision raises as well; its Lease is locked for the decision. */
export interface BatchedQuota {
  readonly quota: string;
  readonly quotaUid: string;
  readonly changes: readonly LimitChange[];
  readonly usageNotes?: readonly string[];
  /** Whether its own policy wants a person to agree; whoever approves the pull request agrees to all of it. */
  readonly approvalRequirement: ApprovalRequirement | null;
  /** Where to look for it in Git. */
  readonly candidates: readonly SourceCandidate[];
  /**
   * Where it was found, in the repository and base of the decision. Absent before, and in decisions of earlier
   * versions.
   */
  readonly placement?: Placement;
}

/** A person's no: these values (or less) are not asked for again for a while. */
export interface Rejection {
  readonly limits: ResourceList;
  readonly at: EpochMs;
  readonly by: string;
  readonly reason: string;
}

/** `merge.by` where nobody merged: the values were found in Git. */
export const FOUND_IN_GIT = 'git';

/** The proposed value of every changed resource. */
export function decidedLimits(decision: Pick<DecisionFacts, 'changes'>): ResourceList {
  return Object.fromEntries(decision.changes.map((change) => [change.resource, change.to]));
}

/** The decision without some of the quotas that it was to raise as well. */
export function withoutBatchedQuotas<D extends Pick<DecisionFacts, 'batchedQuotas'>>(
  decision: D,
  leftOut: readonly string[],
): D {
  const others = (decision.batchedQuotas ?? []).filter(({ quota }) => !leftOut.includes(quota));
  return { ...decision, batchedQuotas: others.length === 0 ? undefined : others };
}

/**
 * Every value that an approval of the decision is about: its own by resource, a batched quota's with the quota's name
 * before it.
 */
export function approvedValues(decision: Pick<DecisionFacts, 'changes' | 'batchedQuotas'>): ResourceList {
  const others = (decision.batchedQuotas ?? []).flatMap(({ quota, changes }) =>
    changes.map(({ resource, to }) => [`quota ${quota}: ${resource}`, to] as const),
  );
  return { ...decidedLimits(decision), ...Object.fromEntries(others) };
}

/** `headroom/<decision id>`, the Lease's holderIdentity. */
export function leaseHolder(decisionId: string): string {
  return `headroom/${decisionId}`;
}
