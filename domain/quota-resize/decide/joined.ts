/**
 * Decisions of several quotas in one pull request, because they change the same file (ADR 36): each has a commit, a Lease
 * and an approval of its own; the decision that opened the pull request is its owner.
 */
import { equalLists } from '../../kernel/resource-list.ts';
import { isSameQuota, targetName } from '../../kernel/target.ts';
import type { EpochMs } from '../../kernel/time.ts';
import {
  type Decision,
  decidedLimits,
  type DecisionRef,
  isHeldIn,
  type JoinedDecision,
  type OpenDecision,
} from '../model/decision.ts';
import type { LeaseRecord, QuotaObservation, SharingDecision } from '../model/observation.ts';
import type { Intent } from '../model/verdict.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import { linkTo } from './sentences.ts';
import { isAsFree } from './batched-quotas.ts';
import { notProvedOf } from './left-to-people.ts';
import { countedSkip, unattendedHold } from './unattended-hold.ts';

/** A decision with the policy in force for its quota. */
interface Governed {
  readonly decision: Decision;
  readonly policy: ResizePolicy;
}

/** One that may join, with what its quota's Lease remembers. */
interface Joining extends Governed {
  readonly lease: Pick<LeaseRecord, 'lastModified' | 'lastWithdrawal' | 'rejections'>;
}

/**
 * Whether a decision may join the pull request of another: the same rules and people decide about both, both go to the same
 * branch, and it does not have the owner wait for a person, or for its own rest, where that would not.
 */
export function mayJoin(joining: Joining, owner: Governed, now: EpochMs): boolean {
  const { policy, decision } = joining;
  const { pullRequest } = owner.decision;
  const { source } = decision;
  if (!policy.enabled || policy.mode !== 'propose' || policy.guardrail.name !== owner.policy.guardrail.name)
    return false;
  if (!isAsFree(policy, owner.policy) || !source?.placement || pullRequest === null) return false;
  const isSamePlace =
    source.repository.toLowerCase() === pullRequest.repository.toLowerCase() && source.base === pullRequest.base;
  return (
    isSamePlace &&
    decision.isApart !== true &&
    !rests(joining, now) &&
    decision.batchedQuotas === undefined &&
    source.placement.branchBy === owner.decision.source?.placement?.branchBy &&
    (notProvedOf(decision) === null || notProvedOf(owner.decision) !== null) &&
    (decision.approvalRequirement === null || owner.decision.approvalRequirement !== null || !policy.autoMerge.allowed)
  );
}

/** Whether it would have to leave again right away, because Headroom does not merge it yet and nobody is asked about it. */
function rests({ decision, policy, lease }: Joining, now: EpochMs): boolean {
  if (decision.approvalRequirement !== null || !policy.autoMerge.allowed) return false;
  const { changes } = decision;
  return unattendedHold({ changes, policy, lease, skippedAt: countedSkip(decision, policy) }, now) !== null;
}

/** How the pull request of a decision has to change for other decisions. */
interface SharingChange {
  readonly joined: readonly JoinedDecision[];
  /** Whether it holds what is not to be merged any more. */
  readonly isUrgent: boolean;
  /** A clause. */
  readonly why: string;
}

/**
 * What other decisions want of the pull request, where it holds something else.
 *
 * @param isOpen whether others may still join it.
 */
export function sharingChange(
  { sharing }: Pick<QuotaObservation, 'sharing'>,
  { joined = [] }: OpenDecision,
  { isOpen }: { readonly isOpen: boolean },
): SharingChange | null {
  const others = sharing?.kind === 'owner' ? sharing.others : [];
  const left: JoinedDecision[] = [];
  const grown: JoinedDecision[] = [];
  const staying = joined.map((before): JoinedDecision => {
    if (!isHeldIn(before)) return before;
    const now = others.find(({ decision }) => decision === before.decision);
    if (now === undefined) {
      left.push(before);
      return { ...before, leftOut: true };
    }
    if (equalLists(now.limits, before.limits)) return before;
    grown.push(before);
    return joinedAs(now);
  });
  // A quota that has left does not come back: nobody has the approvals of others asked for again and again.
  const coming = (isOpen ? others : [])
    .filter((other) => !joined.some((before) => isSameQuota(before, other)))
    .map(joinedAs);
  if (left.length + coming.length + grown.length === 0) return null;
  const clauses = [
    ...(left.length === 0 ? [] : [`${namesOf(left)} ${left.length === 1 ? 'is' : 'are'} no longer raised in it`]),
    ...(coming.length === 0 ? [] : [`${namesOf(coming)} ${coming.length === 1 ? 'joins' : 'join'} it`]),
    ...(grown.length === 0 ? [] : [`the demand of ${namesOf(grown)} grew`]),
  ];
  return { joined: [...staying, ...coming], isUrgent: left.length > 0, why: clauses.join('; ') };
}

function joinedAs({ namespace, quota, decision, limits }: SharingDecision): JoinedDecision {
  return { namespace, quota, decision, limits };
}

/** The decisions in the pull request that do not let it be merged yet, as a clause; null when there are none. */
export function unreadyClause(
  { sharing }: Pick<QuotaObservation, 'sharing'>,
  { joined = [], pullRequest }: OpenDecision,
): string | null {
  const others = sharing?.kind === 'owner' ? sharing.others : [];
  const unready = joined.filter(
    (one) => isHeldIn(one) && others.find(({ decision }) => decision === one.decision)?.readyAt !== pullRequest.headSha,
  );
  return unready.length === 0
    ? null
    : `it waits for ${namesOf(unready)}, which it raises as well and whose status says why`;
}

/** With which quotas a decision shares its pull request: `, shared with team-b/compute`; nothing where with none. */
export function sharedWith({ pullRequest, joined = [] }: Pick<Decision, 'pullRequest' | 'joined'>): string {
  const { joinedTo } = pullRequest ?? {};
  const others = joinedTo === undefined ? joined.filter(isHeldIn) : [joinedTo];
  return others.length === 0 ? '' : `, shared with ${namesOf(others)}`;
}

/** Names of quotas, as they follow "for". */
export function namesOf(decisions: readonly DecisionRef[]): string {
  return decisions.map(targetName).join(' and ');
}

/**
 * What a decision that joined another's pull request does in place of an intent: it writes nothing there, and its owner
 * has to know that it goes.
 */
export function withoutForge(intent: Intent): Intent {
  if (!('decision' in intent) || !intent.decision?.pullRequest?.joinedTo) return intent;
  const { joinedTo } = intent.decision.pullRequest;
  switch (intent.kind) {
    case 'close': {
      const { comment: _, ...rest } = intent;
      return { ...rest, kind: 'release', wakes: joinedTo };
    }
    case 'release':
      return { ...intent, wakes: joinedTo };
    case 'mergedByPerson':
    case 'closedByPerson':
      return { ...intent, deletesBranch: false };
    default:
      return intent;
  }
}

/** The owner of the pull request goes on without the decision, which nobody is to wait for. */
export function standApart(decision: OpenDecision, why: string): Intent {
  const { joinedTo } = decision.pullRequest;
  return {
    kind: 'revise',
    phase: 'AwaitingMerge',
    reason: 'RaisedWithOtherQuota',
    detail: `${linkTo(decision.pullRequest)} goes on without this quota: ${why}`,
    decision: { ...decision, readyAt: undefined, isApart: true },
    ...(joinedTo === undefined ? {} : { wakes: joinedTo }),
  };
}

/** The decision leaves the pull request of another one, which does not raise it any more, and is opened by itself. */
export function leave({ pullRequest, ...decision }: OpenDecision, why: string): Intent {
  return {
    kind: 'revise',
    phase: 'OpeningPullRequest',
    reason: 'RaisedWithOtherQuota',
    detail: `${linkTo(pullRequest)} ${why}, so decision ${decision.id} gets another one`,
    decision: { ...decision, readyAt: undefined, pullRequest: null },
  };
}

/** What a decision's commit raises, as its owner records it. */
export function joinedDecision(
  target: Omit<DecisionRef, 'decision'>,
  decision: Pick<Decision, 'id' | 'changes'>,
): JoinedDecision {
  const { namespace, quota } = target;
  return { namespace, quota, decision: decision.id, limits: decidedLimits(decision) };
}
