import { uuid4 } from '@temporalio/workflow';
import type { LeaseOutcome } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/pull-request/wording.ts';
import {
  type BatchedQuota,
  decidedLimits,
  FOUND_IN_GIT,
  type LockedDecision,
  withoutBatchedQuotas,
} from '../../domain/quota-resize/model/decision.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import { approvalRequirementOfDecision } from '../../domain/quota-resize/decide/approval-requirement.ts';
import type { ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import { asWritten, coveredBy } from '../../domain/quota-resize/sizing/requirement.ts';
import type { SourceObservation } from '../../domain/quota-resize/model/observation.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';

import { type ApplyOutcome, type Act, announce, block, currentOf } from './report.ts';

/**
 * Places the need in Git and takes the lock: everything that can fail for a reason fails before GitHub is written to.
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

  const { policy, candidates } = seen.quota;
  const limits = decidedLimits(verdict.proposal);
  const source = await observing.observeSource.executeWithOptions({ summary: brief(summary(verdict.proposal)) }, [
    { target, limits, candidates, ...currentOf(seen) },
  ]);
  if (source.kind === 'blocked') {
    const blocked = await block(target, seen, {
      reason: source.reason,
      message: source.message,
      key: verdict.blockedKey,
    });
    return (memory) => blocked(withRecommendation(memory));
  }
  const proposal = asWritten(verdict.proposal, source.limits, policy);
  const decision: LockedDecision = {
    id: uuid4().slice(0, 8),
    quotaUid: seen.quota.quota?.uid ?? '',
    decidedAt: Date.now(),
    changes: proposal.changes,
    evidence: proposal.evidence,
    demandByMessage: proposal.demandByMessage,
    ...(proposal.notes.length === 0 ? {} : { notes: proposal.notes }),
    ...(proposal.usageNotes === undefined ? {} : { usageNotes: proposal.usageNotes }),
    approvalRequirement: proposal.approvalRequirement,
    source: { repository: source.repository, base: source.base, how: source.how, placement: source.placement },
    pullRequest: null,
    merge: null,
  };
  if (coveredBy(proposal.changes, source.limits)) {
    const inGit = { sha: source.baseSha, at: Date.now(), by: FOUND_IN_GIT, limits: source.limits };
    return (memory) => applyOutcome.merged(requireState(withRecommendation(memory), 'Idle'), decision, inGit);
  }
  let located = await locateBatchedQuotas(target, verdict, source, seen);
  for (;;) {
    const paths = [...new Set([source.paths, ...located.map((one) => one.paths)].flat())];
    const files = paths.map((path) => ({ repository: source.repository, path }));
    const together = located.length === 0 ? decision : withBatchedQuotas(decision, located.map(batchedQuotaOf), policy);
    const lease = await ensuring.ensureLeaseAcquired.executeWithOptions({ summary: `decision ${decision.id}` }, [
      { target, decision: together, files },
    ]);
    // A batched quota's file in somebody else's hands is no reason for this quota to wait.
    const others = located.filter(({ paths: theirs }) => lease.kind !== 'fileBusy' || !theirs.includes(lease.path));
    if (lease.kind === 'fileBusy' && !source.paths.includes(lease.path) && others.length < located.length) {
      located = others;
      continue;
    }
    return locked(verdict, lease, together, withRecommendation);
  }
}

/** A batched quota with the files that raise it. */
interface LocatedBatchedQuota extends BatchedQuota {
  readonly paths: readonly string[];
}

function batchedQuotaOf(located: LocatedBatchedQuota): BatchedQuota {
  const { paths: _, ...batchedQuota } = located;
  return batchedQuota;
}

function withBatchedQuotas(
  decision: LockedDecision,
  batchedQuotas: readonly BatchedQuota[],
  policy: ResizePolicy,
): LockedDecision {
  const together = { ...decision, batchedQuotas };
  return { ...together, approvalRequirement: approvalRequirementOfDecision(policy, together) };
}

/** The batched quotas that can be raised by a pull request to the same branch; the others have their own episodes. */
async function locateBatchedQuotas(
  target: QuotaTarget,
  { batchedQuotas, proposal }: Extract<Act, { kind: 'propose' }>,
  own: Extract<SourceObservation, { kind: 'found' }>,
  seen: Seen,
): Promise<readonly LocatedBatchedQuota[]> {
  const located: LocatedBatchedQuota[] = [];
  for (const batchedQuota of batchedQuotas) {
    const { quota, changes, candidates } = batchedQuota;
    const otherQuota = seen.quota.otherQuotas.find(({ name }) => name === quota);
    if (otherQuota === undefined) continue;
    const source = await observing.observeSource.executeWithOptions(
      { summary: brief(`${quota}: ${summary(batchedQuota)}`) },
      [
        {
          target: { ...target, quota },
          limits: decidedLimits(batchedQuota),
          candidates,
          current: otherQuota.quota.hard,
        },
      ],
    );
    if (source.kind === 'blocked' || source.repository !== own.repository || source.base !== own.base) continue;
    if (coveredBy(changes, source.limits)) continue;
    const written = asWritten({ ...proposal, changes }, source.limits, otherQuota.policy);
    const { paths, placement } = source;
    located.push({
      ...batchedQuota,
      changes: written.changes,
      approvalRequirement: written.approvalRequirement,
      placement,
      paths,
    });
  }
  return located;
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
    case 'fileBusy': {
      const message = `${lease.path} is being changed by the pull request of ${lease.by}, one at a time.`;
      return (memory) =>
        applyOutcome.blocked(
          withRecommendation(memory),
          { reason: 'FileBusy', message, key: verdict.blockedKey },
          Date.now(),
        );
    }
  }
}
