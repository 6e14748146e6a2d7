import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Placement } from './placement.ts';
import type { SourceCandidate } from '../git/locate/candidate/source-candidate.ts';

/** Why a person has to approve. */
export interface ApprovalRequirement {
  readonly reason: 'MaxStepExceeded' | 'RaiseFromZero' | 'GuardrailExceeded' | 'ApprovalRequired' | 'DemandByMessage';
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

/** A decision by the quota whose it is; the cluster is that of whoever refers to it. */
export interface DecisionRef {
  readonly namespace: string;
  readonly quota: string;
  readonly decision: string;
}

/** A decision of another quota that this decision's pull request holds too, as a commit of its own. */
export interface JoinedDecision extends DecisionRef {
  /** What its commit raises. */
  readonly limits: ResourceList;
  /** Whether it left, or could not be written together with the others: the pull request does not hold it then. */
  readonly leftOut?: boolean;
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
  /**
   * Where this decision joined the pull request of another one: that one alone writes to the branch, merges and closes
   * it.
   */
  readonly joinedTo?: DecisionRef;
}

/** How the decided values reached the base branch. */
export interface Merge {
  readonly sha: string;
  readonly at: EpochMs;
  readonly by: string;
  /** Whether an account of Headroom's merged it. Absent in decisions of earlier versions. */
  readonly isOwn?: boolean;
  /** The merged limits for the resources of the decision, which people may have changed. */
  readonly limits: ResourceList;
}

/** What was decided and why; independent of the progress of the decision. */
export interface DecisionFacts {
  /** Eight hexadecimal digits; used in the branch, the commit and the Lease's holder. */
  readonly id: string;
  readonly quotaUid: string;
  readonly decidedAt: EpochMs;
  /** When its limits grew last; absent while they are as they were decided first. */
  readonly grownAt?: EpochMs | undefined;
  readonly changes: readonly LimitChange[];
  /** Sentences: which workloads lack what, and since when. */
  readonly evidence: readonly string[];
  /**
   * Whether the demand includes a denial whose owner cannot be read, so that Headroom cannot see whether it still
   * exists.
   */
  readonly demandByMessage: boolean;
  /** A cooldown that began before this moment counted as over when it was decided, by an operator's command. */
  readonly cooldownSkippedAt?: EpochMs | undefined;
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
  /** Who has verified that name; absent for a claimed one. */
  readonly approvalVerifiedBy?: Verifier | undefined;
  /** The approval that the merge is based on: it is stored with the decision before the merge. */
  readonly approval?: Approval | undefined;
  /** Decisions of other quotas that joined the pull request, in the order of their commits. */
  readonly joined?: readonly JoinedDecision[] | undefined;
  /** Of a decision that joined another's pull request: the head that it lets the other one merge. */
  readonly readyAt?: string | undefined;
  /** Whether it is raised by itself from now on, so that nobody waits for it. */
  readonly isApart?: boolean | undefined;
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
 * One decision to raise a quota: it has at most one commit, in at most one pull request. The decision is stored in the
 * Lease before anything is written to the forge, so that a terminated or reset workflow finds its own work again.
 */
export type Decision = UnmergedDecision | MergedDecision;

/** A decision of which nothing is known but its id. */
export function unrecordedDecision(id: string): LockedDecision {
  return {
    id,
    quotaUid: '',
    decidedAt: 0,
    changes: [],
    evidence: [],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest: null,
    merge: null,
  };
}

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
  /** As of the decision itself; absent when not, and in decisions of earlier versions. */
  readonly demandByMessage?: boolean;
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

/** Whether its demand includes a denial that only a message tells of; decisions of earlier versions say so by the approval. */
export function isDemandByMessage({ demandByMessage, approvalRequirement }: BatchedQuota): boolean {
  return demandByMessage ?? approvalRequirement?.reason === 'DemandByMessage';
}

/** A person's rejection: these values (or smaller ones) are not proposed again for a while. */
export interface Rejection {
  readonly limits: ResourceList;
  readonly at: EpochMs;
  readonly by: string;
  readonly reason: string;
  /** Present where the forge says who closed the pull request, and not a command only. */
  readonly verified?: Extract<Verifier, 'forge'>;
}

/** An operator's command, and who gave it. */
export interface OperatorWord {
  readonly by: string;
  readonly at: EpochMs;
  readonly reason: string;
}

/** Who has verified the name in an approval: the API server of the cluster, or the forge. */
export type Verifier = 'kubernetes' | 'forge';

/** An approval; valid only for the limits and the head that it was given for. */
export interface Approval extends OperatorWord {
  readonly limits: ResourceList;
  /** Absent where the name is only claimed, as in a signal. */
  readonly verified?: Verifier;
  /** "" when the approval was given before the pull request existed. */
  readonly headSha: string;
  /** What is written where, see `approvedPlaces`. Absent in approvals of earlier versions. */
  readonly places?: Readonly<Record<string, string>>;
}

/** Value of `merge.by` when nobody merged: the values were found in Git. */
export const FOUND_IN_GIT = 'git';

/** The proposed limit of each changed resource. */
export function decidedLimits(decision: Pick<DecisionFacts, 'changes'>): ResourceList {
  return Object.fromEntries(decision.changes.map((change) => [change.resource, change.to]));
}

/**
 * The limits that the cluster has to show after the merge: what the merged file says, and for what it does not say what
 * was decided. Nothing read is never nothing to wait for.
 */
export function awaitedLimits({ changes, merge }: Pick<MergedDecision, 'changes' | 'merge'>): ResourceList {
  return { ...decidedLimits({ changes }), ...merge.limits };
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

/**
 * Where an approval lets which text become which: repository, branch, file, field, old and new text of each value. Empty
 * for decisions of earlier versions, whose place is not stored.
 */
export function approvedPlaces({
  source,
  changes,
  batchedQuotas = [],
}: Pick<DecisionFacts, 'source' | 'changes' | 'batchedQuotas'>): Readonly<Record<string, string>> {
  const of = (label: string, all: readonly LimitChange[], placement: Placement | undefined) =>
    all.flatMap(({ resource, to }) => {
      const value = placement?.values[resource];
      if (!source || value === undefined) return [];
      const { path, field, text } = value;
      return [
        [`${label}${resource}`, `${source.repository} ${source.base} ${path} ${field}: ${text} → ${to}`] as const,
      ];
    });
  return Object.fromEntries([
    ...of('', changes, source?.placement),
    ...batchedQuotas.flatMap(({ quota, changes: theirs, placement }) => of(`quota ${quota}: `, theirs, placement)),
  ]);
}

/** Whether the pull request holds a commit of the decision. */
export function isHeldIn({ leftOut = false }: JoinedDecision): boolean {
  return !leftOut;
}

/** Whether two records of places are the same, in whatever order. */
export function equalPlaces(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** The files that a decision changes, as far as it says so: others may come with them, such as a kustomization. */
export function filesOfDecision({
  source,
  batchedQuotas = [],
  pullRequest,
}: Pick<Decision, 'source' | 'batchedQuotas' | 'pullRequest'>): readonly {
  readonly repository: string;
  readonly path: string;
}[] {
  const opened = pullRequest === null ? [] : [{ repository: pullRequest.repository, path: pullRequest.path }];
  if (!source) return opened;
  const { repository, placement } = source;
  const placements = [placement, ...batchedQuotas.map((other) => other.placement)];
  const placed = placements.flatMap((one) =>
    Object.values(one?.values ?? {}).map(({ path }) => ({ repository, path })),
  );
  return [...opened, ...placed];
}

/** The places of a decision as they are found when they are about to be written. */
export interface Relocation {
  readonly placement: Placement;
  /** By batched quota. */
  readonly batched: Readonly<Record<string, Placement>>;
}

/** The decision with its values in other places, or with other texts there. */
export function relocated<D extends Pick<DecisionFacts, 'source' | 'batchedQuotas'>>(
  decision: D,
  { placement, batched }: Relocation,
): D {
  const { source, batchedQuotas } = decision;
  const others = batchedQuotas?.map((other): BatchedQuota => {
    const now = batched[other.quota];
    return now === undefined ? other : { ...other, placement: now };
  });
  return {
    ...decision,
    ...(source ? { source: { ...source, placement } } : {}),
    ...(others === undefined ? {} : { batchedQuotas: others }),
  };
}

/** What a decision says of its approval; null: nobody has approved it. */
export function approvedAs(approval: Approval | null): Pick<DecisionFacts, 'approvedBy' | 'approvalVerifiedBy'> {
  return { approvedBy: approval?.by, approvalVerifiedBy: approval?.verified };
}

/** The Lease's holderIdentity: `headroom/<decision id>`. */
export function leaseHolder(decisionId: string): string {
  return `headroom/${decisionId}`;
}
