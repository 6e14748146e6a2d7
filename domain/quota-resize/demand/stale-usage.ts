/**
 * Compares `status.used` with the existing objects. Kubernetes' number can be stale, because of an admission that
 * failed later or a controller that is slow or down. Headroom trusts neither side alone and uses the smaller number.
 */
import { compareQuantities, parseQuantity } from '../../kernel/quantity.ts';
import { quantityText } from '../../kernel/quantity-text.ts';
import { quantityIn, type ResourceList, resourceEntries, resourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { DemandFacts, UsageContradiction } from '../model/observation.ts';
import type { Assessment } from '../sizing/recommend.ts';
import { assessWith, unmetDemand } from './unmet-demand.ts';

/**
 * The resources whose status and objects differ. A resource that only one side has is no contradiction, because the
 * other side has not counted it.
 */
export function contradictionsOf(used: ResourceList, counted: ResourceList): readonly UsageContradiction[] {
  return resourceEntries(counted).flatMap(([resource, amount]) => {
    if (!Object.hasOwn(used, resource)) return [];
    if (compareQuantities(quantityIn(used, resource), amount) === 0) return [];
    return [{ resource, used: used[resource] ?? '0', counted: counted[resource] ?? '0' }];
  });
}

/** The usage for decisions: `status.used`, or the smaller number where the objects contradict it. */
export function believedUsage(observation: DemandFacts): ResourceList {
  return usageBy(observation, ({ used, counted }) => (isAbove(used, counted) ? counted : used));
}

/**
 * Sentences about raises that one side alone would require and that are not proposed: by a `status.used` that the
 * objects contradict, or by objects that `status.used` does not include.
 */
export function staleRequirement(observation: DemandFacts, since: EpochMs | null): readonly string[] {
  if (observation.contradictions.length === 0) return [];
  const demand = unmetDemand(observation, since);
  const raisesBy = (usage: ResourceList): ReadonlyMap<string, Assessment> =>
    new Map(assessWith(observation, demand, usage).map((assessment) => [assessment.resource, assessment]));
  const believed = raisesBy(believedUsage(observation));
  const byStatus = raisesBy(usageBy(observation, ({ used }) => used));
  const byObjects = raisesBy(usageBy(observation, ({ counted }) => counted));
  return observation.contradictions.flatMap((contradiction) => {
    const { resource } = contradiction;
    const asked = proposedIn(believed, resource);
    const status = proposedIn(byStatus, resource);
    const objects = proposedIn(byObjects, resource);
    if (status !== null && exceeds(status, asked)) {
      return [
        `${describeContradiction(contradiction)} By the status alone it would be raised to ${quantityText(resource, status)}.`,
      ];
    }
    if (objects !== null && exceeds(objects, asked)) {
      return [
        `${describeContradiction(contradiction)} By the objects alone it would be raised to ${quantityText(resource, objects)}.`,
      ];
    }
    return [];
  });
}

function describeContradiction({ resource, used, counted }: UsageContradiction): string {
  return `${resource}: the quota's status says ${quantityText(resource, used)}, but the objects add up to ${quantityText(resource, counted)}.`;
}

function usageBy(observation: DemandFacts, choose: (contradiction: UsageContradiction) => string): ResourceList {
  const chosen = observation.contradictions.map(
    (contradiction) => [contradiction.resource, parseQuantity(choose(contradiction))] as const,
  );
  return { ...observation.quota?.used, ...resourceList(chosen) };
}

function proposedIn(raises: ReadonlyMap<string, Assessment>, resource: string): string | null {
  return raises.get(resource)?.proposed ?? null;
}

function exceeds(proposed: string, other: string | null): boolean {
  return other === null || isAbove(proposed, other);
}

function isAbove(a: string, b: string): boolean {
  return compareQuantities(parseQuantity(a), parseQuantity(b)) > 0;
}
