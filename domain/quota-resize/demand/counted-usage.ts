/**
 * In the modes `audit` and `own` a decision uses the usage that Headroom counted from the objects, and mentions where
 * the quota's status differs.
 */
import { compareQuantities } from '../../kernel/quantity.ts';
import { quantityText } from '../../kernel/quantity-text.ts';
import { maskList, quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { UsageCount } from '../../quota-usage/calculate.ts';
import type { CachedQuota } from '../../quota-usage/observation.ts';
import type { Counting, DemandFacts, QuotaObservation, UsageContradiction } from '../model/observation.ts';
import { contradictionsOf } from './stale-usage.ts';
import { assessWith, isExceeded, unmetDemand } from './unmet-demand.ts';

/** A quota from a starter's cache, with its counted usage. */
interface Counted {
  readonly quota: CachedQuota;
  readonly count: UsageCount;
}

type Limits = NonNullable<QuotaObservation['quota']>;

/**
 * The observation with counted usage in place of `status.used`, for the quota and the other quotas of its namespace. A
 * resource that was not counted keeps the value of the status. Only those other quotas are kept that lack room by the
 * same numbers.
 *
 * @param counts of every quota of the namespace, or why they are unavailable.
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
  const found = counts.find((candidate) => candidate.quota.uid === quota.uid);
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
 * Resources whose count differs both from the status that was just read and from the status in the cache. If one of
 * them agrees with the count, the difference is only a delay.
 */
function differencesOf(counted: ResourceList, read: ResourceList, cached: ResourceList): readonly UsageContradiction[] {
  return contradictionsOf(read, counted).filter(
    ({ resource }) =>
      !Object.hasOwn(cached, resource) ||
      compareQuantities(quantityIn(cached, resource), quantityIn(counted, resource)) !== 0,
  );
}

/** Why nothing may be decided because counts are missing, as a sentence for people; null when a decision is allowed. */
export function uncountedDetail({ usage, counting }: QuotaObservation): string | null {
  if (counting?.kind !== 'unavailable') return null;
  return `the usage of the namespace could not be counted: ${counting.why}. In mode ${usage} nothing is decided by the quota's status alone, so Headroom checks again`;
}

/**
 * Sentences about counted usage that affects the decision: for each resource that is raised (or would be by the status
 * alone) and whose numbers differ or could not be counted.
 *
 * @param since Headroom's last change; see `unmetDemand`.
 */
export function usageNotes(observation: DemandFacts, since: EpochMs | null): readonly string[] {
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
    ...differences
      .filter(({ resource }) => raised.has(resource))
      .map((difference) => describeDifference(observation, difference)),
    ...unmeasured.flatMap(({ keys, reason }) =>
      keys
        .filter((key) => raised.has(key))
        .map((key) => `${key} could not be counted: ${reason}. Headroom goes by the quota's status.`),
    ),
  ];
}

/**
 * Sentences about counted usage for the status of a running episode. In mode `own` Headroom itself updates the status
 * shortly after a count, so only differences that affect the decision are mentioned.
 */
export function usageFacts(observation: QuotaObservation, since: EpochMs | null): readonly string[] {
  const notes = usageNotes(observation, since);
  if (observation.usage !== 'audit' || observation.counting?.kind !== 'counted') return notes;
  return [
    ...new Set([
      ...notes,
      ...observation.counting.differences.map((difference) => describeDifference(observation, difference)),
    ]),
  ];
}

function describeDifference({ usage }: DemandFacts, { resource, used, counted }: UsageContradiction): string {
  const claim = usage === 'own' ? "the quota's status still says" : "the quota's status says";
  return `${resource}: ${claim} ${quantityText(resource, used)}, but the objects add up to ${quantityText(resource, counted)}. Headroom goes by its own count.`;
}
