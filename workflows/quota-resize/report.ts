/** Events on the quota that an act writes. */
import type { Recommendation, ResizeEvent } from '../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/decide/sentences.ts';
import type { BlockedReason, ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import { type EventReason, eventTypes } from '../../domain/quota-resize/model/event-reasons.ts';
import type { Proposal } from '../../domain/quota-resize/model/verdict.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring } from './activities.ts';

/**
 * How an act changes the memory. Applied when the act has finished, because commands may change the memory meanwhile.
 */
export type ApplyOutcome = (memory: ResizeMemory) => ResizeMemory;

/** The quota's current limits. They tell which of two mappings in one values file belongs to the quota. */
export function currentOf({ observation: { quota } }: Seen): { readonly current?: ResourceList } {
  return quota === null ? {} : { current: quota.hard };
}

export async function announce(target: QuotaTarget, proposal: Proposal, seen: Seen, at: EpochMs): Promise<void> {
  const recommendation = recommendationOf(proposal, seen, at);
  if (recommendation === null) return;
  await ensuring.ensureRecommendation.executeWithOptions({ summary: brief(summary(proposal)) }, [
    { target, ...recommendation },
  ]);
}

/** What people are told of a proposal; null where there is no quota. */
export function recommendationOf(proposal: Proposal, seen: Seen, at: EpochMs): Recommendation | null {
  const { quota, policy } = seen.observation;
  if (quota === null) return null;
  const notes = [...proposal.notes, ...(proposal.usageNotes ?? [])];
  return {
    quotaUid: quota.uid,
    changes: proposal.changes,
    evidence: proposal.evidence,
    ...(notes.length === 0 ? {} : { notes }),
    mode: policy.mode,
    at,
  };
}

/** Writes an Event that says why the decision is blocked, and stores the reason until the next try. */
export async function block(
  target: QuotaTarget,
  seen: Seen,
  blocked: { readonly reason: BlockedReason; readonly message: string; readonly key: string },
): Promise<ApplyOutcome> {
  await writeEvent(target, seen, { ...blocked, type: 'Warning' });
  const at = Date.now();
  return (memory) => applyOutcome.blocked(memory, blocked, at);
}

/** The same `key` is the same Event, however often it is written. Returns whether a worker had room for it. */
export async function emitEvent(
  target: QuotaTarget,
  seen: Seen,
  event: { readonly reason: EventReason; readonly message: string; readonly key: string },
): Promise<boolean> {
  return await writeEvent(target, seen, { ...event, type: eventTypes[event.reason] });
}

async function writeEvent(
  target: QuotaTarget,
  seen: Seen,
  { type, reason, message, key }: Pick<ResizeEvent, 'type' | 'reason' | 'message' | 'key'>,
): Promise<boolean> {
  const uid = seen.observation.quota?.uid;
  if (uid === undefined) return true;
  const about = { summary: brief(`${reason}: ${message}`) };
  const event = { target, quotaUid: uid, type, reason, message, key };
  const outcome = await ensuring.ensureQuotaEvent.executeWithOptions(about, [event]);
  return outcome !== 'putOff';
}
