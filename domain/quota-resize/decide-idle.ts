import { equalLists } from '../kernel/resource-list.ts';
import { type EpochMs, formatInstant, formatSpan } from '../kernel/time.ts';
import { decidedLimits, type Refusal } from './decision.ts';
import type { ResizeMemory } from './memory.ts';
import { computeNeed, needDigest } from './need.ts';
import type { QuotaObservation } from './observation.ts';
import { end, hold, type Planned } from './plan.ts';
import { latest } from './recall.ts';
import { partRefused } from './refusal.ts';
import type { Plan, Proposal, Reason } from './verdict.ts';
import { quietUntil } from './wait.ts';
import { leaseHeldDetail, summary } from './wording.ts';

const MINUTE_MS = 60_000;

/** No decision in hand: is there a need, and may it be acted on? */
export function decideIdle(look: QuotaObservation, memory: ResizeMemory, now: EpochMs): Planned {
  const { policy, timings } = look;
  const observing = policy.mode === 'observe';
  const need = computeNeed(look, memory.lastChange);

  const restUntil = cooldownEnd(look, memory, observing);
  if (restUntil !== null && now < restUntil) {
    const pressure = need === null ? '' : `; pressure in this time holds (${summary(need)})`;
    const detail = `cooling down until ${formatInstant(restUntil)}${pressure}`;
    return [memory, hold('CoolingDown', 'CoolingDown', detail, { until: restUntil, quietUntil: restUntil })];
  }
  if (need === null) {
    return [
      { ...memory, need: null, blocked: null },
      end('BelowThreshold', 'every resource is below its threshold and nothing refused is missing'),
    ];
  }

  const { wanted, refusal } = partRefused(need, look, memory, now);
  if (wanted === null) return [memory, refusedHold(look, need, refusal, now)];
  const settled = settleNeed(memory, needDigest(wanted), now);
  const stableAt = settled.since + timings.demandSettle;
  // A rollout that never stands still must not hold the decision back for ever.
  const latestAt = settled.firstSeen + 5 * timings.demandSettle;
  if (now < stableAt && now < latestAt) {
    const until = Math.min(stableAt, latestAt);
    const detail = `${summary(wanted)}: looking again in ${formatSpan(until - now)}, so that a rollout in full swing is seen whole`;
    return [{ ...memory, need: settled }, hold('Detecting', 'DemandSettling', detail, { until, quietUntil: until })];
  }

  // From here on another need is a new one, and waits until it stands still in its turn.
  const settledMemory = { ...memory, need: { ...settled, firstSeen: now } };
  const reason = needReason(wanted);
  if (observing) {
    const repeatAt = repeatFrom(look, memory, wanted);
    if (now < repeatAt) {
      // It rests instead of ending: under lasting pressure every hint would only start it again.
      const cooldown = policy.cooldownMinutes * MINUTE_MS;
      const until = Math.min(repeatAt, now + Math.max(cooldown, timings.holdRetry));
      const quiet = Math.min(until, Math.max(now + cooldown, quietUntil(timings, now)));
      const detail = `${summary(wanted)} is recommended already, and is said again at ${formatInstant(repeatAt)} unless the need changes`;
      return [settledMemory, hold('CoolingDown', 'AlreadyRecommended', detail, { until, quietUntil: quiet })];
    }
    return [
      settledMemory,
      { kind: 'recommend', phase: 'Recommending', reason, detail: summary(wanted), proposal: wanted },
    ];
  }
  const { lease } = look;
  if (lease.holder !== null && !lease.holderIsAbandoned) {
    const until = now + timings.holdRetry;
    return [settledMemory, hold('Blocked', 'LeaseHeld', leaseHeldDetail(look), { until, quietUntil: until })];
  }
  const announce = now >= repeatFrom(look, memory, wanted);
  return [
    settledMemory,
    { kind: 'propose', phase: 'OpeningPullRequest', reason, detail: summary(wanted), proposal: wanted, announce },
  ];
}

function cooldownEnd(look: QuotaObservation, memory: ResizeMemory, observing: boolean): EpochMs | null {
  const starts = [memory.lastChange, observing ? (memory.lastRecommendation?.at ?? null) : null];
  const last = starts.reduce<EpochMs | null>((a, b) => latest(a, b), null);
  if (last === null) return null;
  if (memory.cooldownSkippedAt !== null && memory.cooldownSkippedAt >= last) return null;
  return last + look.policy.cooldownMinutes * MINUTE_MS;
}

/** What people refused holds, until the need is greater by an increment. */
function refusedHold(look: QuotaObservation, need: Proposal, refusal: Refusal | null, now: EpochMs): Plan {
  if (refusal === null)
    throw new Error(`nothing is left of the need (${summary(need)}) and no refusal stands against it`);
  const until = refusal.at + look.timings.rejectionCooldown;
  const why = refusal.reason === '' ? '' : ` (${refusal.reason})`;
  const detail = `${summary(need)} was refused by ${refusal.by} at ${formatInstant(refusal.at)}${why}; not asked for again before ${formatInstant(until)} unless the need grows`;
  return hold('CoolingDown', 'Refused', detail, { until, quietUntil: Math.min(until, now + look.timings.holdRetry) });
}

/** From when on this need may be recommended (again): one recommendation for each changed value and cooldown. */
function repeatFrom(look: QuotaObservation, memory: ResizeMemory, need: Proposal): EpochMs {
  const last = memory.lastRecommendation;
  if (last === null || !equalLists(last.limits, decidedLimits(need))) return 0;
  return last.at + Math.max(look.timings.recommendationRepeat, look.policy.cooldownMinutes * MINUTE_MS);
}

function settleNeed(memory: ResizeMemory, digest: string, now: EpochMs): NonNullable<ResizeMemory['need']> {
  if (memory.need === null) return { digest, since: now, firstSeen: now };
  return memory.need.digest === digest ? memory.need : { ...memory.need, digest, since: now };
}

function needReason(need: Proposal): Reason {
  return need.unmetDemand ? 'UnmetDemand' : 'ThresholdReached';
}
