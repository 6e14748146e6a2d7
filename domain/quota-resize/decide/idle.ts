import { equalLists } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant, formatSpan } from '../../kernel/time.ts';
import { companionsFor, leaderFor } from './batched-quotas.ts';
import { usageNotes } from '../demand/counted-usage.ts';
import { decidedLimits, type Refusal } from '../model/decision.ts';
import {
  type Attempt,
  type Idle,
  IDLE,
  inState,
  NO_ATTEMPT,
  type ResizeMemory,
  type SteadyDemand,
} from '../model/memory.ts';
import { cappedNeed, computeNeed, needDigest } from '../sizing/requirement.ts';
import type { QuotaObservation } from '../model/observation.ts';
import { end, hold, type Planned } from './next-step.ts';
import { latest } from './hydrate.ts';
import { partRefused } from './rejection.ts';
import { staleNeed } from '../demand/stale-usage.ts';
import { withoutCounts } from './usage-not-counted.ts';
import type { Phase, Plan, Proposal, Reason, Wait } from '../model/verdict.ts';
import { quietUntil } from './wait.ts';
import { leaseHeldDetail, summary, wholeSummary } from '../pull-request/wording.ts';

const MINUTE_MS = 60_000;

/**
 * How long a quota leaves the first word to a sibling: as long as the sibling's own look and proposal may take, each of
 * which waits until the demand stands still.
 */
const YIELD_SETTLES = 4;
const YIELD_MS = 15_000;
/** How often it looks meanwhile whether the sibling has taken it along. */
const YIELD_LOOK_MS = 2_000;

/** No decision in hand: is there a need, and may it be acted on? */
export function decideIdle(look: QuotaObservation, memory: ResizeMemory<Idle>, now: EpochMs): Planned {
  const { state } = memory;
  const { policy, timings } = look;
  const observing = policy.mode === 'observe';
  const need = computeNeed(look, memory.lastChange);

  const restUntil = cooldownEnd(look, memory, observing);
  if (restUntil !== null && now < restUntil) {
    const pressure = need === null ? '' : `; pressure in this time holds (${summary(need)})`;
    const detail = `cooling down until ${formatInstant(restUntil)}${pressure}`;
    return [memory, hold('CoolingDown', 'CoolingDown', detail, { until: restUntil, quietUntil: restUntil })];
  }
  const uncounted = withoutCounts(look, inState(memory, { ...state, demand: null }), null, (phase, reason, detail) =>
    hold(phase, reason, detail, retryWait(look, now)),
  );
  if (uncounted !== null) return uncounted;
  if (need === null) return withoutNeed(look, { ...memory, state: IDLE, attempt: withoutBlock(memory.attempt) }, now);

  const { wanted, refusal } = partRefused(need, look, memory, now);
  if (wanted === null) return [memory, refusedHold(look, need, refusal, now)];
  const settled = steadyDemand(state.demand, needDigest(wanted), now);
  const stableAt = settled.since + timings.demandSettle;
  // A rollout that never stands still must not hold the decision back for ever.
  const latestAt = settled.firstSeen + 5 * timings.demandSettle;
  if (now < stableAt && now < latestAt) {
    const until = Math.min(stableAt, latestAt);
    const detail = `${summary(wanted)}: looking again in ${formatSpan(until - now)}, so that a rollout in full swing is seen whole`;
    return [
      inState(memory, { ...state, demand: settled }),
      hold('Detecting', 'DemandSettling', detail, { until, quietUntil: until }),
    ];
  }

  // From here on another need is a new one, and waits until it stands still in its turn.
  const asked: Idle = { ...state, demand: { ...settled, firstSeen: now } };
  const settledMemory = inState(memory, asked);
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
  if (lease.holder !== null && !lease.holderIsAbandoned) return [settledMemory, lockedHold(look, now)];
  const leader = leaderFor(look, wanted, now);
  const yieldedSince = leader === null ? null : (state.yieldedSince ?? now);
  const ownTurnAt = (yieldedSince ?? now) + YIELD_SETTLES * timings.demandSettle + YIELD_MS;
  if (leader !== null && now < ownTurnAt) {
    const detail = `${summary(wanted)}: quota ${leader.name} misses room for the same workloads and raises both in one pull request; this one has its own if that does not happen by ${formatInstant(ownTurnAt)}`;
    const until = Math.min(ownTurnAt, now + Math.max(timings.demandSettle, YIELD_LOOK_MS));
    const wait = { until, quietUntil: until };
    return [inState(memory, { ...asked, yieldedSince }), hold('Detecting', 'SiblingFirst', detail, wait)];
  }
  const announce = now >= repeatFrom(look, memory, wanted);
  const companions = leader === null ? companionsFor(look, wanted, now) : [];
  return [
    inState(memory, { ...asked, yieldedSince }),
    {
      kind: 'propose',
      phase: 'OpeningPullRequest',
      reason,
      detail: wholeSummary({ ...wanted, companions }),
      proposal: wanted,
      announce,
      companions,
    },
  ];
}

/** Nothing to raise: because all is well, or because what would be raised is not believed or not allowed. */
function withoutNeed(look: QuotaObservation, memory: ResizeMemory, now: EpochMs): Planned {
  const contradicted = staleNeed(look, memory.lastChange);
  if (contradicted.length > 0) {
    const detail = `${contradicted.join('; ')}; nothing is raised on such numbers, looking again`;
    const resources = look.contradictions.map(({ resource }) => resource).join(',');
    return told(look, memory, 'Detecting', 'UsageContradicted', `contradicted|${resources}`, detail, now);
  }
  const capped = cappedNeed(look, memory.lastChange);
  if (capped.length > 0) {
    const detail = capped.join('; ');
    // Only a maximum in the way of what was refused is news; a limit that is used up to it is as people want it.
    if (look.demand.length === 0) return [memory, end('AtMaximum', detail)];
    return told(look, memory, 'Blocked', 'AtMaximum', `maximum|${detail}`, detail, now);
  }
  const calm = 'every resource is below its threshold and nothing refused is missing';
  return [memory, end('BelowThreshold', [calm, ...usageNotes(look, memory.lastChange)].join('; '))];
}

/** A hold that people are told about once, in a Warning Event on the quota. */
function told(
  look: QuotaObservation,
  memory: ResizeMemory,
  phase: Phase,
  reason: Reason,
  about: string,
  detail: string,
  now: EpochMs,
): Planned {
  if (!memory.emitted.includes(about)) {
    const event = { type: 'Warning', reason, message: detail } as const;
    return [memory, { kind: 'say', phase, reason, detail, decision: null, about, comment: null, event }];
  }
  return [memory, hold(phase, reason, detail, retryWait(look, now))];
}

/** Looks again after a while, or when it is hinted after the next minute. */
function retryWait({ timings }: QuotaObservation, now: EpochMs): Wait {
  const until = now + timings.holdRetry;
  return { until, quietUntil: Math.min(until, quietUntil(timings, now)) };
}

/** Somebody else has the lock: another quota whose pull request raises this one too, or a stranger. */
function lockedHold(look: QuotaObservation, now: EpochMs): Plan {
  const until = now + look.timings.holdRetry;
  const { carriedBy } = look.lease;
  if (carriedBy === undefined || carriedBy === null) {
    return hold('Blocked', 'LeaseHeld', leaseHeldDetail(look), { until, quietUntil: until });
  }
  const detail = `the pull request of quota ${carriedBy} raises this quota as well, waiting until it is merged or closed`;
  return hold('AwaitingMerge', 'CarriedBySibling', detail, { until, quietUntil: until });
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
  const until = refusal.at + look.policy.rejectionCooldown;
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

/** The demand as it was, if it is the same still; otherwise it stands since now. */
function steadyDemand(known: SteadyDemand | null, digest: string, now: EpochMs): SteadyDemand {
  if (known === null) return { digest, since: now, firstSeen: now };
  return known.digest === digest ? known : { ...known, digest, since: now };
}

/** What was blocked is not asked for any more. */
function withoutBlock(attempt: Attempt): Attempt {
  return attempt.kind === 'blocked' ? NO_ATTEMPT : attempt;
}

function needReason(need: Proposal): Reason {
  if (need.unmetDemand) return 'UnmetDemand';
  return need.belowMinimum === true ? 'BelowMinimum' : 'ThresholdReached';
}
