import { equalLists, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import {
  approvedValues,
  type Decision,
  decidedLimits,
  type LockedDecision,
  type Merge,
  type PullRequestRef,
  type Rejection,
  type UnmergedDecision,
} from '../model/decision.ts';
import {
  type Approval,
  type Attempt,
  type BlockedReason,
  IDLE,
  type Idle,
  inState,
  type Locked,
  type Merged,
  NO_ATTEMPT,
  type Open,
  type ResizeMemory,
  type ResizeState,
  stateOf,
  type Unmerged,
} from '../model/memory.ts';
import type { Proposal } from '../model/verdict.ts';
import { isBeforePullRequest } from './approval-requirement.ts';

/** An episode says a few things; what it said long ago need not be known any more. */
const MAX_EMITTED = 30;
/** As many as the Lease keeps; older ones have long lost their effect. */
const MAX_REJECTIONS = 20;

/*
 * What an act leaves in the memory. Each function takes the memory before, in the states that the act is possible in, and
 * the outcome of the act, and returns the memory after; the workflow does nothing else to it.
 */

/** A recommendation was written. */
export function recommended<State extends ResizeState>(
  memory: ResizeMemory<State>,
  proposal: Pick<Proposal, 'changes'>,
  at: EpochMs,
): ResizeMemory<State> {
  return { ...effective(memory), lastRecommendation: { limits: decidedLimits(proposal), at } };
}

/** An Event was written, and the comment that belongs to it. */
export function emitted<State extends ResizeState>(memory: ResizeMemory<State>, about: string): ResizeMemory<State> {
  const all = [...memory.emitted.filter((existing) => existing !== about), about].slice(-MAX_EMITTED);
  return { ...effective(memory), emitted: all };
}

/** What was attempted cannot be done until a person or another decision moves. */
export function blocked<State extends ResizeState>(
  memory: ResizeMemory<State>,
  block: { readonly reason: BlockedReason; readonly message: string; readonly key: string },
  at: EpochMs,
): ResizeMemory<State> {
  return { ...memory, attempt: { kind: 'blocked', ...block, at } };
}

/** The lock is taken and the decision is in the Lease. */
export function acquired(memory: ResizeMemory<Idle>, decision: LockedDecision): ResizeMemory<Locked> {
  return { ...memory, state: stateOf(decision), attempt: NO_ATTEMPT, emitted: [] };
}

/** The decision has other limits, and nothing of it is on the forge yet: an approval for the earlier ones is void. */
export function revised(memory: ResizeMemory<Locked>, decision: LockedDecision): ResizeMemory<Locked> {
  const unapproved: LockedDecision = { ...decision, approvedBy: undefined };
  return inState(effective(memory), { ...memory.state, decision: unapproved, approval: null });
}

/** The pull request stands at a head: an approval that was given for another head or other limits is void. */
export function opened(
  memory: ResizeMemory<Unmerged>,
  decision: UnmergedDecision,
  pullRequest: PullRequestRef,
): ResizeMemory<Open> {
  const { state } = memory;
  const before = state.decision;
  const sameHead = before.pullRequest?.headSha === pullRequest.headSha;
  const sameLimits = equalLists(approvedValues(before), approvedValues(decision));
  // The head as it was cannot hold values that were decided since: somebody else's commit kept it from being rebuilt.
  const held = sameHead && !sameLimits ? before : decision;
  const approval = approvalAt(state.approval, decision, pullRequest, { sameHead, sameLimits });
  const updates = state.kind === 'Open' ? state.updates + (sameHead || sameLimits ? 0 : 1) : 0;
  const { attempt } = memory;
  return {
    ...memory,
    state: {
      ...state,
      kind: 'Open',
      decision: { ...held, approvedBy: approval?.by, pullRequest },
      approval,
      updates,
    },
    // What did not move the head had no effect, and is not repeated at once.
    attempt: sameHead && attempt.kind === 'tried' ? attempt : NO_ATTEMPT,
  };
}

/** What of an approval holds for the pull request at the head that it has now. */
function approvalAt(
  approval: Approval | null,
  { approvalRequirement }: UnmergedDecision,
  { headSha }: PullRequestRef,
  { sameHead, sameLimits }: { readonly sameHead: boolean; readonly sameLimits: boolean },
): Approval | null {
  if (approval === null || !sameLimits) return null;
  // What was approved before there was a pull request is approved for the head that Headroom made of it, and for every
  // later one with these values: the people agreed to the values, and no other commit is ours.
  if (isBeforePullRequest(approvalRequirement)) return { ...approval, headSha };
  return sameHead ? approval : null;
}

/** The values are in Git: merged by Headroom, by a person, or found there. */
export function merged(memory: ResizeMemory<Idle | Unmerged>, decision: Decision, merge: Merge): ResizeMemory<Merged> {
  return { ...memory, state: { kind: 'Merged', decision: { ...decision, merge }, overdue: null }, attempt: NO_ATTEMPT };
}

/** The sync is overdue: people were told, and Git was read again in case they changed their mind there. */
export function syncChecked(
  memory: ResizeMemory<Merged>,
  limits: ResourceList | null,
  at: EpochMs,
): ResizeMemory<Merged> {
  const { state } = memory;
  const { decision } = state;
  return inState(effective(memory), {
    ...state,
    decision: limits === null ? decision : { ...decision, merge: { ...decision.merge, limits } },
    overdue: { warnedAt: state.overdue?.warnedAt ?? at, checkedAt: at },
  });
}

/** The cluster shows what the merged file says: the cooldown begins. */
export function synced(memory: ResizeMemory<Merged>, at: EpochMs): ResizeMemory<Idle> {
  return { ...finished(memory), lastChange: at };
}

/** Nobody waits for the sync of the merged decision any more, and nothing is known of one. */
export function forgotten(memory: ResizeMemory<Merged>): ResizeMemory<Idle> {
  return finished(memory);
}

/** The decision is given up and the lock is free, by a person's no or because it is not wanted any more. */
export function closed(memory: ResizeMemory<Unmerged>, rejection: Rejection | null): ResizeMemory<Idle> {
  const { rejections } = memory;
  return {
    ...finished(memory),
    rejections: rejection === null ? rejections : [...rejections, rejection].slice(-MAX_REJECTIONS),
  };
}

function finished(memory: ResizeMemory<Unmerged | Merged>): ResizeMemory<Idle> {
  return { ...memory, state: IDLE, attempt: NO_ATTEMPT, finished: memory.state.decision.id, emitted: [] };
}

/** The act had an effect, so nothing is to be repeated with a distance. */
function effective<State extends ResizeState>(memory: ResizeMemory<State>): ResizeMemory<State> {
  const attempt: Attempt = memory.attempt.kind === 'tried' ? NO_ATTEMPT : memory.attempt;
  return { ...memory, attempt };
}
