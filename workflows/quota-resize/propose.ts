import { uuid4 } from '@temporalio/workflow';
import type { LeaseOutcome, Recommendation } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/decide/sentences.ts';
import {
  type BatchedQuota,
  decidedLimits,
  type LimitChange,
  type LockedDecision,
  withoutBatchedQuotas,
} from '../../domain/quota-resize/model/decision.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import { placeBatchedQuota, placeProposal, withPlacedQuotas } from '../../domain/quota-resize/decide/place-proposal.ts';
import type { SourceObservation } from '../../domain/quota-resize/model/observation.ts';
import { withoutGiven } from '../../domain/quota-resize/policy/totals.ts';
import type { Act } from '../../domain/quota-resize/model/verdict.ts';
import { brief } from '../kernel/visibility.ts';
import type { Acting } from './acting.ts';
import { ensuring, observing } from './activities.ts';
import { type ApplyOutcome, announce, block, currentOf, recommendationOf } from './report.ts';
import type { SourceInput } from './source-reader.ts';

/**
 * Finds where to write the change in Git and acquires the Lease, so that foreseeable failures happen before anything is
 * written to GitHub.
 */
export async function propose(acting: Acting, verdict: Extract<Act, { kind: 'propose' }>): Promise<ApplyOutcome> {
  const { target, seen, sources } = acting;
  const { proposal } = verdict;
  if (!verdict.announce) return await decideAndLock(acting, verdict, null);
  const at = Date.now();
  // Nothing else waits until people are told: the activity that locks tells them, where nothing can be in its way before.
  const isPlaced = sources.known(sourceInput(target, decidedLimits(proposal), seen))?.kind === 'found';
  const recommendation = isPlaced && verdict.batchedQuotas.length === 0 ? recommendationOf(proposal, seen, at) : null;
  const [apply] = await Promise.all([
    decideAndLock(acting, verdict, recommendation),
    recommendation === null ? announce(acting, proposal, at) : undefined,
  ]);
  return (memory) => apply(applyOutcome.recommended(memory, proposal, at));
}

async function decideAndLock(
  acting: Acting,
  verdict: Extract<Act, { kind: 'propose' }>,
  recommendation: Recommendation | null,
): Promise<ApplyOutcome> {
  const { target, seen, sources } = acting;
  const { policy } = seen.observation;
  const source = await sources.read(
    sourceInput(target, decidedLimits(verdict.proposal), seen),
    summary(verdict.proposal),
  );
  if (source.kind === 'blocked') {
    return await block(acting, { reason: source.reason, message: source.message, key: verdict.blockedKey });
  }
  const { cooldownSkippedAt } = verdict;
  const decided = { id: uuid4().slice(0, 8), at: Date.now(), cooldownSkippedAt };
  const proposal = placeProposal(seen.observation, verdict.proposal, source, decided);
  if (proposal.kind === 'unplaceable') {
    return await block(acting, { reason: 'Unplaceable', message: proposal.message, key: verdict.blockedKey });
  }
  if (proposal.kind === 'alreadyInGit') {
    const { decision } = proposal;
    if (recommendation !== null) await announce(acting, verdict.proposal, recommendation.at);
    return (memory) => applyOutcome.merged(requireState(memory, 'Idle'), decision, decision.merge);
  }
  const placed = await placeBatchedQuotas(target, verdict, { source, changes: proposal.decision.changes }, seen);
  const decision = withPlacedQuotas(proposal.decision, placed, policy);
  const lease = await ensuring.ensureLeaseAcquired.executeWithOptions({ summary: `decision ${decision.id}` }, [
    { target, decision, ...(recommendation === null ? {} : { recommendation }) },
  ]);
  return locked(verdict, lease, decision);
}

/** What is asked about the place of the own quota in Git. */
export function sourceInput(target: QuotaTarget, limits: ResourceList, seen: Seen): SourceInput {
  const { policy, candidates } = seen.observation;
  return { target, limits, candidates, ...currentOf(seen), guardrail: policy.guardrail };
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
    const hardOf = (name: string): ResourceList =>
      seen.observation.otherQuotas.find((other) => other.name === name)?.quota.hard ?? {};
    const policy = withoutGiven(otherQuota.policy, [
      { hard: seen.observation.quota?.hard ?? {}, changes: own.changes },
      ...placed.map(({ quota: name, changes }) => ({ hard: hardOf(name), changes })),
    ]);
    const placement = placeBatchedQuota({ batchedQuota, proposal, policy }, source, own.source);
    if (placement !== null) placed.push(placement);
  }
  return placed;
}

function locked(
  verdict: Extract<Act, { kind: 'propose' }>,
  lease: LeaseOutcome,
  decision: LockedDecision,
): ApplyOutcome {
  switch (lease.kind) {
    case 'acquired': {
      const others = (decision.batchedQuotas ?? []).map(({ quota }) => quota);
      const held = withoutBatchedQuotas(
        decision,
        others.filter((quota) => !lease.batchedQuotas.includes(quota)),
      );
      return (memory) => applyOutcome.acquired(requireState(memory, 'Idle'), held);
    }
    case 'held': {
      const message = `The Lease of this quota is held by ${lease.by}.`;
      return (memory) =>
        applyOutcome.blocked(memory, { reason: 'LeaseHeld', message, key: verdict.blockedKey }, Date.now());
    }
  }
}
