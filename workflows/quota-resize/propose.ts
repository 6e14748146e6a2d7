import { uuid4 } from '@temporalio/workflow';
import type { LeaseOutcome } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as absorb from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/pull-request/wording.ts';
import {
  type Companion,
  decidedLimits,
  FOUND_IN_GIT,
  type LockedDecision,
  type UnmergedDecision,
} from '../../domain/quota-resize/model/decision.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import { gateOfDecision } from '../../domain/quota-resize/decide/approval-requirement.ts';
import type { ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import { asWritten, coveredBy } from '../../domain/quota-resize/sizing/requirement.ts';
import type { SourceObservation } from '../../domain/quota-resize/model/observation.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring, observing } from './activities.ts';

import { type Absorb, type Act, announce, block, currentOf } from './report.ts';

/** Places the need in Git and takes the lock: everything that can fail for a reason fails before GitHub is written to. */
export async function propose(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'propose' }>,
  seen: Seen,
): Promise<Absorb> {
  const at = Date.now();
  if (verdict.announce) await announce(target, verdict.proposal, seen, at);
  const told: Absorb = (memory) => (verdict.announce ? absorb.recommended(memory, verdict.proposal, at) : memory);

  const { policy, hints } = seen.quota;
  const limits = decidedLimits(verdict.proposal);
  const source = await observing.observeSource.executeWithOptions({ summary: brief(summary(verdict.proposal)) }, [
    { target, limits, hints, ...currentOf(seen) },
  ]);
  if (source.kind === 'blocked') {
    const blocked = await block(target, seen, {
      reason: source.reason,
      message: source.message,
      key: verdict.blockedKey,
    });
    return (memory) => blocked(told(memory));
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
    gate: proposal.gate,
    source: { repository: source.repository, base: source.base, how: source.how, placement: source.placement },
    pullRequest: null,
    merge: null,
  };
  if (coveredBy(proposal.changes, source.limits)) {
    const inGit = { sha: source.baseSha, at: Date.now(), by: FOUND_IN_GIT, limits: source.limits };
    return (memory) => absorb.merged(requireState(told(memory), 'Idle'), decision, inGit);
  }
  let placed = await placeCompanions(target, verdict, source, seen);
  for (;;) {
    const paths = [...new Set([source.paths, ...placed.map((one) => one.paths)].flat())];
    const files = paths.map((path) => ({ repository: source.repository, path }));
    const together = placed.length === 0 ? decision : withCompanions(decision, placed.map(companionOf), policy);
    const lease = await ensuring.ensureLeaseAcquired.executeWithOptions({ summary: `decision ${decision.id}` }, [
      { target, decision: together, files },
    ]);
    // A companion's file in somebody else's hands is no reason for this quota to wait.
    const others = placed.filter(({ paths: theirs }) => lease.kind !== 'fileBusy' || !theirs.includes(lease.path));
    if (lease.kind === 'fileBusy' && !source.paths.includes(lease.path) && others.length < placed.length) {
      placed = others;
      continue;
    }
    return locked(verdict, lease, together, told);
  }
}

/** A companion with the files that raise it. */
interface PlacedCompanion extends Companion {
  readonly paths: readonly string[];
}

function companionOf(placed: PlacedCompanion): Companion {
  const { paths: _, ...companion } = placed;
  return companion;
}

export function withoutCompanions<D extends UnmergedDecision>(decision: D, quotas: readonly string[]): D {
  const left = (decision.companions ?? []).filter(({ quota }) => !quotas.includes(quota));
  return { ...decision, companions: left.length === 0 ? undefined : left };
}

function withCompanions(
  decision: LockedDecision,
  companions: readonly Companion[],
  policy: ResizePolicy,
): LockedDecision {
  const together = { ...decision, companions };
  return { ...together, gate: gateOfDecision(policy, together) };
}

/** The companions that can be raised by a pull request to the same branch; the others have their own episodes. */
async function placeCompanions(
  target: QuotaTarget,
  { companions, proposal }: Extract<Act, { kind: 'propose' }>,
  own: Extract<SourceObservation, { kind: 'found' }>,
  seen: Seen,
): Promise<readonly PlacedCompanion[]> {
  const placed: PlacedCompanion[] = [];
  for (const companion of companions) {
    const { quota, changes, hints } = companion;
    const sibling = seen.quota.siblings.find(({ name }) => name === quota);
    if (sibling === undefined) continue;
    const source = await observing.observeSource.executeWithOptions(
      { summary: brief(`${quota}: ${summary(companion)}`) },
      [{ target: { ...target, quota }, limits: decidedLimits(companion), hints, current: sibling.quota.hard }],
    );
    if (source.kind === 'blocked' || source.repository !== own.repository || source.base !== own.base) continue;
    if (coveredBy(changes, source.limits)) continue;
    const written = asWritten({ ...proposal, changes }, source.limits, sibling.policy);
    const { paths, placement } = source;
    placed.push({ ...companion, changes: written.changes, gate: written.gate, placement, paths });
  }
  return placed;
}

function locked(
  verdict: Extract<Act, { kind: 'propose' }>,
  lease: LeaseOutcome,
  decision: LockedDecision,
  told: Absorb,
): Absorb {
  switch (lease.kind) {
    case 'acquired': {
      const others = (decision.companions ?? []).map(({ quota }) => quota);
      const held = withoutCompanions(
        decision,
        others.filter((quota) => !lease.companions.includes(quota)),
      );
      return (memory) => absorb.acquired(requireState(told(memory), 'Idle'), held);
    }
    case 'held': {
      const message = `The Lease of this quota is held by ${lease.by}.`;
      return (memory) =>
        absorb.blocked(told(memory), { reason: 'LeaseHeld', message, key: verdict.blockedKey }, Date.now());
    }
    case 'fileBusy': {
      const message = `${lease.path} is being changed by the pull request of ${lease.by}, one at a time.`;
      return (memory) =>
        absorb.blocked(told(memory), { reason: 'FileBusy', message, key: verdict.blockedKey }, Date.now());
    }
  }
}
