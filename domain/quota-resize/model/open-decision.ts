/** What a decision that has not reached its end waits for, as the Lease of its quota has it. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ApprovalRequirement, LimitChange, PullRequestRef } from './decision.ts';
import type { QuotaLease } from './lease.ts';

/** A decision that holds the Lease of its quota, with what is shown of it. */
export interface OpenDecision {
  readonly namespace: string;
  readonly quota: string;
  readonly id: string;
  readonly decidedAt: EpochMs;
  readonly changes: readonly Pick<LimitChange, 'resource' | 'from' | 'to'>[];
  readonly pullRequest: Pick<PullRequestRef, 'number' | 'url' | 'headSha' | 'openedAt' | 'joinedTo'> | null;
  readonly waitsFor: AwaitedStep;
  readonly since: EpochMs;
}

/** The step that a decision waits for. */
type AwaitedStep =
  /** A person's approval. */
  | { readonly kind: 'approval'; readonly requirement: ApprovalRequirement }
  /** Its pull request, or a place for it. */
  | { readonly kind: 'pull-request' }
  /** The merge of its pull request. */
  | { readonly kind: 'merge' }
  /** The merge of another decision's pull request, which holds it too. */
  | { readonly kind: 'joined-merge'; readonly of: string }
  /** The merged limits in the cluster. */
  | { readonly kind: 'sync' };

/** The decision that holds a quota's Lease; null where there is none. */
export function openDecisionOf({ target, decision, approval }: QuotaLease): OpenDecision | null {
  if (decision === null) return null;
  const { id, decidedAt, pullRequest, merge, approvalRequirement } = decision;
  const open = {
    ...target,
    id,
    decidedAt,
    changes: decision.changes.map(({ resource, from, to }) => ({ resource, from, to })),
    pullRequest:
      pullRequest === null
        ? null
        : {
            number: pullRequest.number,
            url: pullRequest.url,
            headSha: pullRequest.headSha,
            openedAt: pullRequest.openedAt,
            ...(pullRequest.joinedTo === undefined ? {} : { joinedTo: pullRequest.joinedTo }),
          },
  };
  if (merge !== null) return { ...open, waitsFor: { kind: 'sync' }, since: merge.at };
  const isApproved = decision.approvedBy !== undefined || approval?.decision === id;
  const decided = decision.grownAt ?? decidedAt;
  if (approvalRequirement !== null && !isApproved) {
    const waitsFor = { kind: 'approval', requirement: approvalRequirement } as const;
    return { ...open, waitsFor, since: Math.max(decided, pullRequest?.openedAt ?? 0) };
  }
  if (pullRequest === null) return { ...open, waitsFor: { kind: 'pull-request' }, since: decided };
  const { joinedTo, pushedAt } = pullRequest;
  return joinedTo === undefined
    ? { ...open, waitsFor: { kind: 'merge' }, since: pushedAt }
    : { ...open, waitsFor: { kind: 'joined-merge', of: `${joinedTo.namespace}/${joinedTo.quota}` }, since: pushedAt };
}
