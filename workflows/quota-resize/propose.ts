import { uuid4 } from '@temporalio/workflow';
import type { LeaseOutcome } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/pull-request/wording.ts';
import {
  type BatchedQuota,
  decidedLimits,
  type LimitChange,
  type LockedDecision,
  withoutBatchedQuotas,
} from '../../domain/quota-resize/model/decision.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import { placeBatchedQuota, placeProposal, withPlacedQuotas } from '../../domain/quota-resize/decide/place-proposal.ts';
import type { SourceObservation } from '../../domain/quota-resize/model/observation.ts';
import { withoutGiven } from '../../domain/quota-resize/policy/totals.ts';
import type { Act } from '../../domain/quota-resize/model/verdict.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';

import { type ApplyOutcome, announce, block, currentOf } from './report.ts';

/**
 * Finds where to write the change in Git and acquires the Lease, so that foreseeable failures happen before anything is
 * written to GitHub.
 */
export async function propose(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'propose' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const at = Date.now();
  if (verdict.announce) await announce(target, verdict.proposal, seen, at);
  const withRecommendation: ApplyOutcome = (memory) =>
    verdict.announce ? applyOutcome.recommended(memory, verdict.proposal, at) : memory;

  const { policy, candidates } = seen.observation;
  const limits = decidedLimits(verdict.proposal);
  const source = await observing.observeSource.executeWithOptions({ summary: brief(summary(verdict.proposal)) }, [
    { target, limits, candidates, ...currentOf(seen), guardrail: policy.guardrail },
  ]);
  if (source.kind === 'blocked') {
    const blocked = await block(target, seen, {
      reason: source.reason,
      message: source.message,
      key: verdict.blockedKey,
    });
    return (memory) => blocked(withRecommendation(memory));
  }
  const decided = { id: uuid4().slice(0, 8), at: Date.now() };
  const proposal = placeProposal(seen.observation, verdict.proposal, source, decided);
  if (proposal.kind === 'alreadyInGit') {
    const { decision } = proposal;
    return (memory) => applyOutcome.merged(requireState(withRecommendation(memory), 'Idle'), decision, decision.merge);
  }
  const placed = await placeBatchedQuotas(target, verdict, { source, changes: proposal.decision.changes }, seen);
  const decision = withPlacedQuotas(proposal.decision, placed, policy);
  const lease = await ensuring.ensureLeaseAcquired.executeWithOptions({ summary: `decision ${decision.id}` }, [
    { target, decision },
  ]);
  return locked(verdict, lease, decision, withRecommendation);
}

/** The own quota of a decision, with its place and its limits there. */
interface PlacedQuota {
  readonly source: Extract<SourceObservation, { kind: 'found' }>;
  readonly changes: readonly LimitChange[];
}

/** The batched quotas that can be raised by a pull request to the same branch. */
async function placeBatchedQuotas(
  target: QuotaTarget,
  { batchedQuotas, proposal }: Extract<Act, { kind: 'propose' }>,
  own: PlacedQuota,
  seen: Seen,
): Promise<readonly BatchedQuota[]> {
  const placed: BatchedQuota[] = [];
  for (const batchedQuota of batchedQuotas) {
    const { quota, candidates } = batchedQuota;
    const otherQuota = seen.observation.otherQuotas.find(({ name }) => name === quota);
    if (otherQuota === undefined) continue;
    const limits = decidedLimits(batchedQuota);
    const source = await observing.observeSource.executeWithOptions(
      { summary: brief(`${quota}: ${summary(batchedQuota)}`) },
      [
        {
          target: { ...target, quota },
          limits,
          candidates,
          current: otherQuota.quota.hard,
          guardrail: otherQuota.policy.guardrail,
        },
      ],
    );
    const policy = withoutGiven(
      otherQuota.policy,
      [own, ...placed].flatMap(({ changes }) => changes),
    );
    const placement = placeBatchedQuota({ batchedQuota, proposal, policy }, source, own.source);
    if (placement !== null) placed.push(placement);
  }
  return placed;
}

function locked(
  verdict: Extract<Act, { kind: 'propose' }>,
  lease: LeaseOutcome,
  decision: LockedDecision,
  withRecommendation: ApplyOutcome,
): ApplyOutcome {
  switch (lease.kind) {
    case 'acquired': {
      const others = (decision.batchedQuotas ?? []).map(({ quota }) => quota);
      const held = withoutBatchedQuotas(
        decision,
        others.filter((quota) => !lease.batchedQuotas.includes(quota)),
      );
      return (memory) => applyOutcome.acquired(requireState(withRecommendation(memory), 'Idle'), held);
    }
    case 'held': {
      const message = `The Lease of this quota is held by ${lease.by}.`;
      return (memory) =>
        applyOutcome.blocked(
          withRecommendation(memory),
          { reason: 'LeaseHeld', message, key: verdict.blockedKey },
          Date.now(),
        );
    }
  }
}
