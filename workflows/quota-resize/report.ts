/** Events on the quota that an act writes. */
import type {
  Observed,
  Observing,
  QuotaResizeActivities,
  Recommendation,
  ResizeEvent,
} from '../../activities/quota-resize/interface.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { summary } from '../../domain/quota-resize/decide/sentences.ts';
import type { BlockedReason, ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import { type EventReason, eventTypes } from '../../domain/quota-resize/model/event-reasons.ts';
import type { Proposal } from '../../domain/quota-resize/model/verdict.ts';
import { brief } from '../kernel/visibility.ts';
import type { Acting } from './acting.ts';
import { ensuring } from './activities.ts';
import { stepsObserve } from './quota-reader.ts';

/**
 * How an act changes the memory. Applied when the act has finished, because commands may change the memory meanwhile.
 */
export type ApplyOutcome = (memory: ResizeMemory) => ResizeMemory;

/** The quota's current limits. They tell which of two mappings in one values file belongs to the quota. */
export function currentOf({ observation: { quota } }: Seen): { readonly current?: ResourceList } {
  return quota === null ? {} : { current: quota.hard };
}

export async function announce(
  { target, seen }: Pick<Acting, 'target' | 'seen'>,
  proposal: Proposal,
  at: EpochMs,
  asks: Observing = {},
): Promise<Observed | undefined> {
  const recommendation = recommendationOf(proposal, seen, at);
  if (recommendation === null) return undefined;
  return await ensuring.ensureRecommendation.executeWithOptions({ summary: brief(summary(proposal)) }, [
    { target, ...recommendation, ...asks },
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
  acting: Acting,
  blocked: { readonly reason: BlockedReason; readonly message: string; readonly key: string },
): Promise<ApplyOutcome> {
  await writeEvent(acting, onQuota(acting, { ...blocked, type: 'Warning' }));
  const at = Date.now();
  return (memory) => applyOutcome.blocked(memory, blocked, at);
}

/** What people are told of a decision. The same `key` is the same Event, however often it is written. */
export interface DecisionEvent {
  readonly reason: EventReason;
  readonly message: string;
  readonly key: string;
}

/** Returns whether a worker had room for it. */
export async function emitEvent(acting: Acting, event: DecisionEvent): Promise<boolean> {
  return await writeEvent(acting, eventOf(acting, event));
}

async function writeEvent(acting: Acting, event: ResizeEvent | null): Promise<boolean> {
  if (event === null) return true;
  const about = { summary: brief(`${event.reason}: ${event.message}`) };
  const outcome = await ensuring.ensureQuotaEvent.executeWithOptions(about, [{ ...event, ...acting.quota.asks() }]);
  // Earlier versions returned what became of it, and nothing else.
  if (typeof outcome !== 'object') return outcome !== 'putOff';
  acting.quota.found(outcome);
  return outcome.event !== 'putOff';
}

/**
 * Releases the Lease of a decision, and writes the Event that says what became of it.
 *
 * @param after.event null: there is nothing to say.
 * @param after.meanwhile is done before the Event, where a worker of an earlier version has released the Lease and wrote none.
 */
export async function releaseWithEvent(
  acting: Acting,
  released: Omit<Parameters<QuotaResizeActivities['ensureLeaseReleased']>[0], 'target' | 'event' | 'observes'>,
  {
    reason,
    event,
    meanwhile,
  }: { readonly reason: string; readonly event: DecisionEvent | null; readonly meanwhile?: () => Promise<void> },
): Promise<void> {
  const { target, quota } = acting;
  const writes = event !== null && stepsObserve() ? eventOf(acting, event) : null;
  const input = { target, ...released, ...(writes === null ? {} : { event: writes }), ...quota.asks() };
  const outcome = await ensuring.ensureLeaseReleased.executeWithOptions({ summary: reason }, [input]);
  quota.found(outcome);
  await meanwhile?.();
  if (event !== null && outcome?.event === undefined) await emitEvent(acting, event);
}

type EventText = Pick<ResizeEvent, 'type' | 'reason' | 'message' | 'key'>;

/** Null where there is no quota to write it on. */
export function eventOf(acting: Acting, event: DecisionEvent): ResizeEvent | null {
  return onQuota(acting, { ...event, type: eventTypes[event.reason] });
}

function onQuota({ target, seen }: Acting, { type, reason, message, key }: EventText): ResizeEvent | null {
  const quotaUid = seen.observation.quota?.uid;
  return quotaUid === undefined ? null : { target, quotaUid, type, reason, message, key };
}
