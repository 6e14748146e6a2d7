/**
 * Rules for a decision before its merge, with or without a pull request: whether it is still needed, and whether it has
 * to grow.
 */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import {
  approvedAs,
  type DecisionFacts,
  decidedLimits,
  type LockedDecision,
  type OpenDecision,
} from '../model/decision.ts';
import { inState, type Unmerged } from '../model/memory.ts';
import type { Intent, Phase, Proposal, StatusFields, Wait } from '../model/verdict.ts';
import { mergeChanges, outgrows } from '../sizing/requirement.ts';
import { approvalRequirementOfDecision, isBeforePullRequest } from './approval-requirement.ts';
import { grownBatchedQuotas, growthOf } from './batched-quotas.ts';
import { hold, type Intended } from './next-step.ts';
import type { Pass } from './pass.ts';
import { closeUnneeded } from './pull-request-closed.ts';
import { partRejected } from './rejection.ts';
import { withSkip } from './unattended-hold.ts';
import { recheckAt, quietUntil } from './wait.ts';

/** Whether the requirement includes a resource of the decision; other resources are no reason to keep it. */
export function concerns(
  requirement: Proposal | null,
  decision: Pick<DecisionFacts, 'changes'>,
): requirement is Proposal {
  const limits = decidedLimits(decision);
  return requirement !== null && requirement.changes.some((change) => Object.hasOwn(limits, change.resource));
}

/**
 * The decision with greater limits if its own requirement or that of a batched quota has outgrown it; null if it stays.
 */
export function grownBy<D extends LockedDecision | OpenDecision>(
  pass: Pass<Unmerged>,
  decision: D,
  requirement: Proposal,
): D | null {
  const { observation, memory, now } = pass;
  const { state } = memory;
  // People who approved before the pull request existed must not find greater values in it: the rest is left to the
  // next decision, which needs its own approval.
  if (state.kind === 'Open' && isBeforePullRequest(decision.approvalRequirement)) return null;
  const { wanted } = partRejected(requirement, pass);
  const grew = wanted !== null && outgrows(wanted, decidedLimits(decision), observation.policy);
  const changes = grew ? mergeChanges(decision.changes, wanted.changes, observation.policy) : decision.changes;
  const ownGrowth = growthOf(decision.changes, changes);
  const batchedQuotas = grownBatchedQuotas(observation, decision.batchedQuotas ?? [], ownGrowth, now);
  if (!grew && batchedQuotas === null) return null;
  const own = grew
    ? {
        changes,
        evidence: wanted.evidence.length > 0 ? wanted.evidence : decision.evidence,
        demandByMessage: decision.demandByMessage || wanted.demandByMessage,
        ...(wanted.notes.length === 0 ? {} : { notes: wanted.notes }),
        ...(wanted.usageNotes === undefined ? {} : { usageNotes: wanted.usageNotes }),
      }
    : {};
  const others = batchedQuotas === null ? {} : { batchedQuotas };
  const grown = { ...withSkip(decision, memory), ...own, ...others, ...approvedAs(null), grownAt: now };
  return { ...grown, approvalRequirement: approvalRequirementOfDecision(observation.policy, grown) };
}

/** Nothing needs the decision any more: it is held for a while, in case the demand comes back, and then given up. */
export function demandGone(pass: Pass<Unmerged>, phase: Phase, consequence: string): Intended {
  const { observation, memory, now } = pass;
  const { state } = memory;
  const since = state.demandGoneSince ?? now;
  const closeAt = since + observation.timings.needGone;
  const waiting = inState(memory, { ...state, demandGoneSince: since });
  const detail = `the demand has been gone since ${formatInstant(since)}`;
  if (now < closeAt) {
    const announced = `${detail}, ${consequence} at ${formatInstant(closeAt)} unless it comes back`;
    const watch = state.kind === 'Open' ? 'pullRequest' : undefined;
    const status = { phase, reason: 'DemandGone', detail: announced } as const;
    return [waiting, holdDecision(pass, status, { until: closeAt, watch })];
  }
  return [waiting, closeUnneeded(state.decision, detail)];
}

/** A hold for a decision. It always ends by itself, because no reconcile request announces that demand is gone. */
export function holdDecision(
  { observation: { timings }, now }: Pick<Pass, 'observation' | 'now'>,
  { phase, reason, detail }: StatusFields,
  end: { readonly until?: EpochMs | undefined; readonly watch?: Wait['watch'] } = {},
): Intent {
  const { until: atLatest = Number.POSITIVE_INFINITY, watch } = end;
  const until = Math.min(atLatest, recheckAt(timings, now));
  const quiet = Math.min(until, quietUntil(timings, now));
  return hold(phase, reason, detail, { until, quietUntil: quiet, ...(watch === undefined ? {} : { watch }) });
}
