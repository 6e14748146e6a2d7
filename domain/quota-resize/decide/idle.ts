import { equalLists } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { batchedQuotasFor, batchOwnerFor } from './batched-quotas.ts';
import { usageNotes } from '../demand/counted-usage.ts';
import { decidedLimits, type Rejection } from '../model/decision.ts';
import { type Attempt, type Idle, IDLE, inState, NO_ATTEMPT, type ResizeMemory } from '../model/memory.ts';
import { cappedRequirement, computeRequirement } from '../sizing/requirement.ts';
import { isHeldByOthers, type QuotaObservation } from '../model/observation.ts';
import { end, hold, type Intended } from './next-step.ts';
import { notifyOnce } from './notify-once.ts';
import { type Pass, passIn } from './pass.ts';
import { lastRejection, partRejected } from './rejection.ts';
import { restUntil } from './rest.ts';
import { settledDemand, settling } from './settling.ts';
import { staleRequirement } from '../demand/stale-usage.ts';
import { withoutCounts } from './usage-not-counted.ts';
import type { Intent, Proposal, Reason, StatusFields, Wait } from '../model/verdict.ts';
import { quietUntil } from './wait.ts';
import { leaseHeldDetail, summary, wholeSummary } from './sentences.ts';

/**
 * How long a quota waits for the batch owner to raise it, in debounce periods: the owner needs time for its own
 * observation and its own proposal, and debounces before each.
 */
const YIELD_DEBOUNCES = 4;
const YIELD_MS = 15_000;
/** How often a waiting quota checks whether the batch owner has raised it. */
const YIELD_RECHECK_MS = 2_000;

/** Why nothing is raised, a clause. */
export const NOTHING_NEEDED = 'every resource is below its threshold, and no workload needs more';

/** The episode has no decision: is there a requirement, and may it be acted on? */
export function decideIdle(pass: Pass<Idle>): Intended {
  const { observation, memory, now } = pass;
  const { state } = memory;
  const { policy } = observation;
  const observing = policy.mode === 'observe';
  const requirement = computeRequirement(observation, memory.lastChange);

  const restUntil = cooldownEnd(pass, observing ? [memory.lastRecommendation?.at] : [memory.lastWithdrawal]);
  if (restUntil !== null) return [memory, coolingDown(restUntil, requirement)];
  const uncounted = withoutCounts(
    observation,
    inState(memory, { ...state, demand: null }),
    null,
    (phase, reason, detail) => hold(phase, reason, detail, retryWait(observation, now)),
  );
  if (uncounted !== null) return uncounted;
  if (requirement === null)
    return withoutRequirement({ ...pass, memory: { ...memory, state: IDLE, attempt: withoutBlock(memory.attempt) } });

  const { wanted, rejection } = partRejected(requirement, pass);
  if (wanted === null) return [memory, rejectedHold(observation, requirement, rejection, now)];
  // What nobody has rejected waits for the cooldown after a rejection too.
  const rejectedUntil = observing ? null : cooldownEnd(pass, [lastRejection(memory.rejections)]);
  if (rejectedUntil !== null) return [memory, coolingDown(rejectedUntil, wanted)];
  const { demand, isDone, nextAt, quietUntil, waits } = settling(state.demand, observation, wanted, now);
  if (!isDone) {
    const detail = `${summary(wanted)}. Headroom ${waits} before it decides, so that it sees all pods of a rollout`;
    return [
      inState(memory, { ...state, demand }),
      hold('Detecting', 'DemandDebouncing', detail, {
        until: nextAt,
        quietUntil,
        ...(observing ? {} : { placing: decidedLimits(wanted) }),
      }),
    ];
  }

  const settled = passIn<Pass, Idle>(pass, { ...state, demand: settledDemand(demand, now) });
  return observing ? recommend(settled, wanted) : proposeInTurn(settled, wanted);
}

/** In observer mode: the recommendation, or the rest until it is made again. */
function recommend({ observation, memory, now }: Pass<Idle>, wanted: Proposal): Intended {
  const { policy, timings } = observation;
  const repeatAt = repeatFrom(observation, memory, wanted);
  if (now < repeatAt) {
    // The episode waits instead of ending: under lasting pressure every reconcile request would start a new one.
    const { cooldown } = policy;
    const until = Math.min(repeatAt, now + Math.max(cooldown, timings.holdRetry));
    const quiet = Math.min(until, Math.max(now + cooldown, quietUntil(timings, now)));
    const detail = `${summary(wanted)} is recommended already. Headroom recommends it again at ${formatInstant(repeatAt)} unless the demand changes`;
    return [memory, hold('CoolingDown', 'AlreadyRecommended', detail, { until, quietUntil: quiet })];
  }
  const reason = requirementReason(wanted);
  return [memory, { kind: 'recommend', phase: 'Recommending', reason, detail: summary(wanted), proposal: wanted }];
}

/** The proposal, unless somebody else holds the Lease or another quota of the namespace takes this one along. */
function proposeInTurn({ observation, memory, now }: Pass<Idle>, wanted: Proposal): Intended {
  const { timings } = observation;
  const { state } = memory;
  if (isHeldByOthers(observation.lease, null)) return [memory, lockedHold(observation, now)];
  const batchOwner = batchOwnerFor(observation, wanted, now);
  const yieldedSince = batchOwner === null ? null : (state.yieldedSince ?? now);
  const ownTurnAt = (yieldedSince ?? now) + YIELD_DEBOUNCES * timings.demandSettle + YIELD_MS;
  const next = inState(memory, { ...state, yieldedSince });
  if (batchOwner !== null && now < ownTurnAt) {
    const detail = `${summary(wanted)}: quota ${batchOwner.name} lacks room for the same workloads, and one pull request raises both. This quota gets its own if that does not happen by ${formatInstant(ownTurnAt)}`;
    const until = Math.min(ownTurnAt, now + Math.max(timings.demandSettle, YIELD_RECHECK_MS));
    return [next, hold('Detecting', 'OtherQuotaFirst', detail, { until, quietUntil: until })];
  }
  const batchedQuotas = batchOwner === null ? batchedQuotasFor(observation, wanted, now) : [];
  return [
    next,
    {
      kind: 'propose',
      phase: 'OpeningPullRequest',
      reason: requirementReason(wanted),
      detail: wholeSummary({ ...wanted, batchedQuotas }),
      proposal: wanted,
      announce: now >= repeatFrom(observation, memory, wanted),
      batchedQuotas,
      ...(memory.cooldownSkippedAt === null ? {} : { cooldownSkippedAt: memory.cooldownSkippedAt }),
    },
  ];
}

/** Nothing to raise: everything is fine, or the requirement is contradicted or not allowed. */
function withoutRequirement(pass: Pass): Intended {
  const { observation, memory } = pass;
  const contradicted = staleRequirement(observation, memory.lastChange);
  if (contradicted.length > 0) {
    const detail = `${contradicted.join(' ')} Headroom raises nothing on such numbers, and checks again`;
    const resources = observation.contradictions.map(({ resource }) => resource).join(',');
    const status = { phase: 'Detecting', reason: 'UsageContradicted', detail } as const;
    return emitOnce(pass, `contradicted|${resources}`, status);
  }
  const capped = cappedRequirement(observation, memory.lastChange);
  if (capped.length > 0) {
    const detail = capped.join(' ');
    // Only a maximum that prevents what was denied is worth reporting; usage up to the maximum is what people
    // configured.
    if (observation.demand.length === 0) return [memory, end('AtMaximum', detail)];
    return emitOnce(pass, `maximum|${detail}`, { phase: 'Blocked', reason: 'AtMaximum', detail });
  }
  return [
    memory,
    end('BelowThreshold', [`${NOTHING_NEEDED}.`, ...usageNotes(observation, memory.lastChange)].join(' ')),
  ];
}

/** A hold that is reported once, in a Warning Event on the quota. */
function emitOnce(
  { observation, memory, now }: Pass,
  about: string,
  status: StatusFields & { readonly reason: 'AtMaximum' | 'UsageContradicted' },
): Intended {
  const { phase, reason, detail } = status;
  const event = { reason, message: detail } as const;
  const notice = notifyOnce(memory, status, { decision: null, about, comment: null, event });
  return [memory, notice ?? hold(phase, reason, detail, retryWait(observation, now))];
}

/** Waits for the retry interval; a reconcile request ends the wait after one minute at the earliest. */
function retryWait({ timings }: QuotaObservation, now: EpochMs): Wait {
  const until = now + timings.holdRetry;
  return { until, quietUntil: Math.min(until, quietUntil(timings, now)) };
}

/** The Lease is held by another quota whose pull request raises this one too, or by somebody else. */
function lockedHold(observation: QuotaObservation, now: EpochMs): Intent {
  const until = now + observation.timings.holdRetry;
  const { carriedBy } = observation.lease;
  if (carriedBy === undefined || carriedBy === null) {
    return hold('Blocked', 'LeaseHeld', leaseHeldDetail(observation), { until, quietUntil: until });
  }
  const detail = `the pull request of quota ${carriedBy} raises this quota too. Headroom waits until it is merged or closed`;
  return hold('AwaitingMerge', 'RaisedWithOtherQuota', detail, { until, quietUntil: until });
}

/** When the cooldown after Headroom's last change or the last of these moments ends; null where it is over. */
function cooldownEnd(
  { observation, memory, now }: Pass,
  ends: readonly (EpochMs | null | undefined)[],
): EpochMs | null {
  const { lastChange, cooldownSkippedAt: skippedAt } = memory;
  return restUntil(observation.policy.cooldown, [lastChange, ...ends], { skippedAt, now });
}

function coolingDown(until: EpochMs, requirement: Proposal | null): Intent {
  const pressure =
    requirement === null
      ? ''
      : `. The quota still needs more, and Headroom acts after the cooldown (${summary(requirement)})`;
  const detail = `cooling down until ${formatInstant(until)}${pressure}`;
  return hold('CoolingDown', 'CoolingDown', detail, { until, quietUntil: until });
}

/** A person's rejection holds until the requirement is greater by one increment. */
function rejectedHold(
  observation: QuotaObservation,
  requirement: Proposal,
  rejection: Rejection | null,
  now: EpochMs,
): Intent {
  if (rejection === null)
    throw new Error(`nothing is left of the demand (${summary(requirement)}), and no rejection covers it`);
  const until = rejection.at + observation.policy.rejectionCooldown;
  const why = rejection.reason === '' ? '' : ` (${rejection.reason})`;
  const detail = `${summary(requirement)} was rejected by ${rejection.by} at ${formatInstant(rejection.at)}${why}. Headroom does not ask for it again before ${formatInstant(until)} unless the demand grows`;
  return hold('CoolingDown', 'PreviouslyRejected', detail, {
    until,
    quietUntil: Math.min(until, now + observation.timings.holdRetry),
  });
}

/** When the requirement may be recommended again: at most once per changed value and cooldown. */
function repeatFrom(observation: QuotaObservation, memory: ResizeMemory, requirement: Proposal): EpochMs {
  const last = memory.lastRecommendation;
  if (last === null || !equalLists(last.limits, decidedLimits(requirement))) return 0;
  return last.at + Math.max(observation.timings.recommendationRepeat, observation.policy.cooldown);
}

/** The memory without the record of a block, because the blocked act is not wanted any more. */
function withoutBlock(attempt: Attempt): Attempt {
  return attempt.kind === 'blocked' ? NO_ATTEMPT : attempt;
}

function requirementReason(requirement: Proposal): Reason {
  if (requirement.unmetDemand) return 'UnmetDemand';
  return requirement.belowMinimum === true ? 'BelowMinimum' : 'ThresholdReached';
}
