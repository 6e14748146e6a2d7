/**
 * Modes `audit` and `own`: a decision goes by what Headroom counted from the objects themselves, and says where the
 * quota's status says something else.
 */
import { compareQuantities } from '../../kernel/quantity.ts';
import { quantityText } from '../../kernel/quantity-text.ts';
import { maskList, quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { UsageCount } from '../../quota-usage/calculate.ts';
import type { CachedQuota } from '../../quota-usage/observation.ts';
import type { Counting, QuotaObservation, UsageContradiction } from '../model/observation.ts';
import { contradictionsOf } from './stale-usage.ts';
import { assessWith, isExceeded, unmetDemand } from './unmet-demand.ts';

/** A quota as a starter's cache has it, with what was counted for it. */
interface Counted {
  readonly quota: CachedQuota;
  readonly count: UsageCount;
}

type Limits = NonNullable<QuotaObservation['quota']>;

/**
 * The observation with what was counted in place of `status.used`, of the quota and of the other quotas of its
 * namespace; a resource that was not counted keeps the status' number. Of the other quotas of the namespace those stay
 * that lack room by the same numbers.
 *
 * @param counts of every quota of the namespace, or why they are not to be had.
 */
export function withCounts(observation: QuotaObservation, counts: readonly Counted[] | string): QuotaObservation {
  if (observation.quota === null) return observation;
  const own = countedLimits(observation.quota, counts);
  const isShort = isExceeded(own.quota, observation.demand);
  const otherQuotas = observation.otherQuotas.map((otherQuota) => ({
    ...otherQuota,
    ...countedLimits(otherQuota.quota, counts),
  }));
  return {
    ...observation,
    ...own,
    otherQuotas: otherQuotas.filter(({ quota, demand }) => isShort && isExceeded(quota, demand)),
  };
}

function countedLimits(
  quota: Limits,
  counts: readonly Counted[] | string,
): { readonly quota: Limits; readonly counting: Counting } {
  if (typeof counts === 'string') return { quota, counting: { kind: 'unavailable', why: counts } };
  const found = counts.find((one) => one.quota.uid === quota.uid);
  if (found === undefined) {
    return { quota, counting: { kind: 'unavailable', why: 'the starter that answered does not know the quota yet' } };
  }
  const counted = maskList(found.count.used, Object.keys(quota.hard));
  const { unmeasured } = found.count;
  const differences = differencesOf(counted, quota.used, found.quota.status.used ?? {});
  return {
    quota: { ...quota, used: { ...quota.used, ...counted } },
    counting: { kind: 'counted', differences, unmeasured },
  };
}

/**
 * Where the status differs from the count, both as it was read now and as the cache that was counted from has it: a
 * status that agrees in one of them is only on its way.
 */
function differencesOf(counted: ResourceList, read: ResourceList, cached: ResourceList): readonly UsageContradiction[] {
  return contradictionsOf(read, counted).filter(
    ({ resource }) =>
      !Object.hasOwn(cached, resource) ||
      compareQuantities(quantityIn(cached, resource), quantityIn(counted, resource)) !== 0,
  );
}

/** Why nothing may be decided for want of the counted numbers, a sentence for people; null when it may. */
export function uncountedDetail({ usage, counting }: QuotaObservation): string | null {
  if (counting?.kind !== 'unavailable') return null;
  return `the usage of the namespace could not be counted: ${counting.why}. In mode ${usage} nothing is decided by the quota's status alone, so Headroom checks again`;
}

/**
 * What of the counting bears on the decision, a sentence each: a resource that is raised, or would be by the status
 * alone, and whose numbers differ or could not be counted.
 *
 * @param since the last change of ours; see `unmetDemand`.
 */
export function usageNotes(observation: QuotaObservation, since: EpochMs | null): readonly string[] {
  const { counting, quota } = observation;
  if (counting?.kind !== 'counted' || quota === null) return [];
  const { differences, unmeasured } = counting;
  if (differences.length === 0 && unmeasured.length === 0) return [];
  const demand = unmetDemand(observation, since);
  const status = Object.fromEntries(differences.map(({ resource, used }) => [resource, used]));
  const raised = new Set(
    [quota.used, { ...quota.used, ...status }]
      .flatMap((used) => assessWith(observation, demand, used))
      .flatMap(({ resource, proposed }) => (proposed === null ? [] : [resource])),
  );
  return [
    ...differences.filter(({ resource }) => raised.has(resource)).map((one) => describeDifference(observation, one)),
    ...unmeasured.flatMap(({ keys, reason }) =>
      keys
        .filter((key) => raised.has(key))
        .map((key) => `${key} could not be counted: ${reason}. Headroom goes by the quota's status.`),
    ),
  ];
}

/**
 * What people are shown of the counting while the episode runs, a sentence each. In `own` the status follows the count
 * by a moment, so only what bears on the decision is said.
 */
export function usageFacts(observation: QuotaObservation, since: EpochMs | null): readonly string[] {
  const notes = usageNotes(observation, since);
  if (observation.usage !== 'audit' || observation.counting?.kind !== 'counted') return notes;
  return [
    ...new Set([...notes, ...observation.counting.differences.map((one) => describeDifference(observation, one))]),
  ];
}

function describeDifference({ usage }: QuotaObservation, { resource, used, counted }: UsageContradiction): string {
  const claim = usage === 'own' ? "the quota's status still says" : "the quota's status says";
  return `${resource}: ${claim} ${quantityText(resource, used)}, but the objects add up to ${quantityText(resource, counted)}. Headroom goes by its own count.`;
}
