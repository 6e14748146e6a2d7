import { equalLists, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import {
  type Approval,
  approvedAs,
  approvedPlaces,
  approvedValues,
  type Decision,
  decidedLimits,
  equalPlaces,
  type Relocation,
  relocated as inNewPlaces,
  type LockedDecision,
  type Merge,
  type PullRequestRef,
  type Rejection,
  type UnmergedDecision,
} from '../model/decision.ts';
import {
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
  withDecision,
  type Unmerged,
} from '../model/memory.ts';
import { keptRejections } from '../model/rejections.ts';
import type { Proposal } from '../model/verdict.ts';
import { isOfRefusal } from './refused-merge.ts';
import { isBeforePullRequest } from './approval-requirement.ts';

/** An episode writes few Events; older keys are not needed to avoid repetitions. */
const MAX_EMITTED = 30;

/* The effect of each act on the memory. Each function takes the memory in a state in which the act is possible and the outcome of the act, and returns the new memory. The workflow changes the memory in no other way. */

/** After the recommendation was written. */
export function recommended<State extends ResizeState>(
  memory: ResizeMemory<State>,
  proposal: Pick<Proposal, 'changes'>,
  at: EpochMs,
): ResizeMemory<State> {
  return { ...effective(memory), lastRecommendation: { limits: decidedLimits(proposal), at } };
}

/** After the Event was written, and the comment with it if there is one. */
export function emitted<State extends ResizeState>(memory: ResizeMemory<State>, about: string): ResizeMemory<State> {
  const all = [...memory.emitted.filter((existing) => existing !== about), about].slice(-MAX_EMITTED);
  return { ...(isOfRefusal(about) ? memory : effective(memory)), emitted: all };
}

/**
 * After a worker had no room for the Event: it is not told, is tried again after a backoff, and takes nothing away from what
 * else is to be told in this hour.
 */
export function putOff<State extends ResizeState>(memory: ResizeMemory<State>): ResizeMemory<State> {
  const why = 'there are enough Warnings of this reason in this hour';
  return withoutEffect({ ...memory, notified: memory.notified.slice(0, -1) }, why);
}

/** After an act that failed and cannot succeed until a person acts or another decision ends. */
export function blocked<State extends ResizeState>(
  memory: ResizeMemory<State>,
  block: { readonly reason: BlockedReason; readonly message: string; readonly key: string },
  at: EpochMs,
): ResizeMemory<State> {
  return { ...memory, attempt: { kind: 'blocked', ...block, at } };
}

/** After the Lease was acquired and holds the decision. */
export function acquired(memory: ResizeMemory<Idle>, decision: LockedDecision): ResizeMemory<Locked> {
  return { ...memory, state: stateOf(decision), attempt: NO_ATTEMPT, emitted: [] };
}

/**
 * After the decision was changed without a write to the forge: an approval of other limits is void. A decision that left
 * the pull request of another one has none any more.
 */
export function revised(memory: ResizeMemory<Unmerged>, decision: UnmergedDecision): ResizeMemory<Unmerged> {
  const { state } = memory;
  const isSame = equalLists(approvedValues(state.decision), approvedValues(decision));
  const approval = isSame ? state.approval : null;
  const now = { ...decision, ...approvedAs(approval) };
  const review = { ...state, approval };
  return inState(
    effective(memory),
    now.pullRequest === null
      ? { ...review, kind: 'Locked', decision: now }
      : { ...review, kind: 'Open', decision: now },
  );
}

/**
 * After the values were found in another place, or over another text, than was decided: nothing was written, and an
 * approval from before the pull request is void.
 */
export function relocated(memory: ResizeMemory<Unmerged>, relocation: Relocation): ResizeMemory<Unmerged> {
  const { state } = memory;
  return inState(memory, withDecision(state, { ...inNewPlaces(state.decision, relocation), ...approvedAs(null) }));
}

/** After an act that was not done because what it is about is not as it was decided: it is tried again after a backoff. */
export function withoutEffect<State extends ResizeState>(
  memory: ResizeMemory<State>,
  why: string | undefined,
): ResizeMemory<State> {
  const { attempt } = memory;
  return why === undefined || attempt.kind !== 'tried' ? memory : { ...memory, attempt: { ...attempt, why } };
}

/** After the pull request was opened or rebuilt: an approval of another head commit or of other limits is void. */
export function opened(
  memory: ResizeMemory<Unmerged>,
  decision: UnmergedDecision,
  pullRequest: PullRequestRef,
): ResizeMemory<Open> {
  const { state } = memory;
  const before = state.decision;
  const sameHead = before.pullRequest?.headSha === pullRequest.headSha;
  const sameLimits =
    equalLists(approvedValues(before), approvedValues(decision)) &&
    equalPlaces(approvedPlaces(before), approvedPlaces(decision));
  // An unchanged head cannot contain newly decided limits: a commit by somebody else prevented the rebuild. The old
  // decision stays.
  const held = sameHead && !sameLimits ? before : decision;
  const approval = approvalAt(state.approval, decision, pullRequest, { sameHead, sameLimits });
  const { attempt } = memory;
  return {
    ...memory,
    state: {
      ...state,
      kind: 'Open',
      decision: { ...held, ...approvedAs(approval), pullRequest },
      approval,
    },
    // An act that did not change the head had no effect; the record of the attempt stays so that it is repeated only
    // after a backoff.
    attempt: sameHead && attempt.kind === 'tried' ? attempt : NO_ATTEMPT,
  };
}

/** The approval as far as it is still valid for the pull request's current head. */
function approvalAt(
  approval: Approval | null,
  { approvalRequirement }: UnmergedDecision,
  { headSha }: PullRequestRef,
  { sameHead, sameLimits }: { readonly sameHead: boolean; readonly sameLimits: boolean },
): Approval | null {
  if (approval === null || !sameLimits) return null;
  // People who approved before the pull request existed agreed to the values. Their approval therefore holds for every
  // head with these values, because a foreign commit is never merged.
  if (isBeforePullRequest(approvalRequirement)) return { ...approval, headSha };
  return sameHead ? approval : null;
}

/** After the pull request was put into the merge queue, or may stay there. */
export function queued(memory: ResizeMemory<Open>, at: EpochMs): ResizeMemory<Open> {
  return { ...effective(memory), state: { ...memory.state, queuedAt: at } };
}

/** After it was taken out of the merge queue: what took it out is done next. */
export function dequeued(memory: ResizeMemory<Open>): ResizeMemory<Open> {
  const { queuedAt: _, ...state } = memory.state;
  return { ...effective(memory), state };
}

/** After the values reached Git: merged by Headroom or by a person, or already there. */
export function merged(memory: ResizeMemory<Idle | Unmerged>, decision: Decision, merge: Merge): ResizeMemory<Merged> {
  return { ...memory, state: { kind: 'Merged', decision: { ...decision, merge }, overdue: null }, attempt: NO_ATTEMPT };
}

/** After an overdue sync: people were warned, and Git was read again because they may have reverted the change. */
export function syncChecked(
  memory: ResizeMemory<Merged>,
  limits: ResourceList | null,
  at: EpochMs,
  { isWarned = true } = {},
): ResizeMemory<Merged> {
  const { state } = memory;
  const { decision } = state;
  return inState(effective(memory), {
    ...state,
    decision: limits === null ? decision : { ...decision, merge: { ...decision.merge, limits } },
    overdue: { warnedAt: state.overdue?.warnedAt ?? (isWarned ? at : null), checkedAt: at },
  });
}

/** After the cluster showed the merged limits: the cooldown begins. */
export function synced(memory: ResizeMemory<Merged>, at: EpochMs): ResizeMemory<Idle> {
  return { ...finished(memory), lastChange: at };
}

/** After Headroom stopped waiting for the sync of a merged decision; whether the sync happened is unknown. */
export function forgotten(memory: ResizeMemory<Merged>): ResizeMemory<Idle> {
  return finished(memory);
}

/**
 * After the decision was given up, because a person rejected it or nobody needs it any more, and the Lease was
 * released.
 *
 * @param withdrawnAt when it was given up without a rejection; the cooldown runs from then.
 */
export function closed(
  memory: ResizeMemory<Unmerged>,
  rejection: Rejection | null,
  withdrawnAt: EpochMs | null = null,
): ResizeMemory<Idle> {
  const { rejections, lastWithdrawal } = memory;
  return {
    ...finished(memory),
    lastWithdrawal: withdrawnAt ?? lastWithdrawal,
    rejections: rejection === null ? rejections : keptRejections([...rejections, rejection]),
  };
}

function finished(memory: ResizeMemory<Unmerged | Merged>): ResizeMemory<Idle> {
  return { ...memory, state: IDLE, attempt: NO_ATTEMPT, finished: memory.state.decision.id, emitted: [] };
}

/** The memory after an act that had an effect: the backoff for repetitions is reset. */
function effective<State extends ResizeState>(memory: ResizeMemory<State>): ResizeMemory<State> {
  const attempt: Attempt = memory.attempt.kind === 'tried' ? NO_ATTEMPT : memory.attempt;
  return { ...memory, attempt };
}
