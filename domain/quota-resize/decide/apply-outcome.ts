import { equalLists, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { approvedValues, type Decision, decidedLimits, type PullRequestRef, type Refusal } from '../model/decision.ts';
import { isBeforePullRequest } from './approval-requirement.ts';
import type { BlockedReason, ResizeMemory } from '../model/memory.ts';
import type { Proposal } from '../model/verdict.ts';

/** An episode says a few things; what it said long ago need not be known any more. */
const MAX_TOLD = 30;
/** As many as the Lease keeps; older ones have long lost their effect. */
const MAX_REFUSALS = 20;

/*
 * What an act leaves in the memory. Each function takes the memory before and the outcome of one act, and returns the
 * memory after; the workflow does nothing else to it.
 */

/** A recommendation was written. */
export function recommended(memory: ResizeMemory, proposal: Pick<Proposal, 'changes'>, at: EpochMs): ResizeMemory {
  return { ...memory, lastRecommendation: { limits: decidedLimits(proposal), at }, tried: null };
}

/** The lock is taken and the decision is in the Lease. */
export function acquired(memory: ResizeMemory, decision: Decision): ResizeMemory {
  return { ...cleared(memory), need: memory.need, decision, finished: memory.finished };
}

/** The decision has other limits, and nothing of it is on the forge yet: an approval for the earlier ones is void. */
export function revised(memory: ResizeMemory, decision: Decision): ResizeMemory {
  return { ...memory, decision: withApproval(decision, null), approval: null, tried: null };
}

/** People were told. */
export function said(memory: ResizeMemory, about: string): ResizeMemory {
  const told = [...memory.told.filter((known) => known !== about), about].slice(-MAX_TOLD);
  return { ...memory, told, tried: null };
}

function withApproval(decision: Decision, approval: ResizeMemory['approval']): Decision {
  const { approvedBy: _, ...rest } = decision;
  return approval === null ? rest : { ...rest, approvedBy: approval.by };
}

/** The decision cannot move until a person or another decision does. */
export function blocked(
  memory: ResizeMemory,
  block: { readonly reason: BlockedReason; readonly message: string; readonly key: string },
  at: EpochMs,
): ResizeMemory {
  return { ...memory, blocked: { ...block, at }, tried: null };
}

/** The pull request stands at a head: an approval that was given for another head or other limits is void. */
export function opened(memory: ResizeMemory, decision: Decision, pullRequest: PullRequestRef): ResizeMemory {
  const before = memory.decision;
  const sameHead = before?.pullRequest?.headSha === pullRequest.headSha;
  const sameLimits = before !== null && equalLists(approvedValues(before), approvedValues(decision));
  // The head as it was cannot hold values that were decided since: somebody else's commit kept it from being rebuilt.
  const held = sameHead && !sameLimits ? before : decision;
  // What was approved before there was a pull request is approved for the head that Headroom made of it, and for every
  // later one with these values: the people agreed to the values, and no other commit is ours.
  const forValues = isBeforePullRequest(decision.gate) && sameLimits;
  const kept = (sameHead && sameLimits) || forValues ? memory.approval : null;
  const approval = kept !== null && forValues ? { ...kept, headSha: pullRequest.headSha } : kept;
  return {
    ...memory,
    decision: { ...withApproval(held, approval), pullRequest },
    approval,
    updates: before?.pullRequest && !sameHead && !sameLimits ? memory.updates + 1 : memory.updates,
    blocked: null,
    tried: sameHead ? memory.tried : null,
  };
}

/** The values are in Git: merged by Headroom, by a person, or found there. */
export function merged(memory: ResizeMemory, decision: Decision, merge: NonNullable<Decision['merge']>): ResizeMemory {
  return {
    ...memory,
    decision: { ...decision, merge },
    approval: null,
    rejection: null,
    awaiting: null,
    blocked: null,
    need: null,
    closing: null,
    tried: null,
    syncWarnedAt: null,
    syncCheckedAt: null,
  };
}

/** The cluster shows what the merged file says: the cooldown begins. */
export function synced(memory: ResizeMemory, at: EpochMs): ResizeMemory {
  return { ...cleared(memory), lastChange: at };
}

/** The sync is overdue: people were told, and Git was read again in case they changed their mind there. */
export function syncChecked(memory: ResizeMemory, limits: ResourceList | null, at: EpochMs): ResizeMemory {
  const { decision } = memory;
  const merge = decision?.merge;
  return {
    ...memory,
    decision: decision && merge && limits ? { ...decision, merge: { ...merge, limits } } : decision,
    syncWarnedAt: memory.syncWarnedAt ?? at,
    syncCheckedAt: at,
    tried: null,
  };
}

/** The decision is given up and the lock is free, by a person's no or because it is not wanted any more. */
export function closed(memory: ResizeMemory, refusal: Refusal | null): ResizeMemory {
  return {
    ...cleared(memory),
    refusals: refusal === null ? memory.refusals : [...memory.refusals, refusal].slice(-MAX_REFUSALS),
  };
}

function cleared(memory: ResizeMemory): ResizeMemory {
  return {
    ...memory,
    decision: null,
    finished: memory.decision?.id ?? memory.finished,
    approval: null,
    rejection: null,
    need: null,
    needGoneSince: null,
    updates: 0,
    closing: null,
    tried: null,
    blocked: null,
    syncWarnedAt: null,
    syncCheckedAt: null,
    awaiting: null,
    told: [],
    yieldedSince: null,
  };
}
