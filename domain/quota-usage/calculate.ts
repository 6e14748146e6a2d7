/** The usage of a quota's namespace, computed as by Kubernetes 1.35 (CalculateUsage of `pkg/quota/v1`). */
import { type GroupResource, groupResourceName } from '../kernel/group-resource.ts';
import { addQuantities, type Quantity, QuantityError, quantityOf } from '../kernel/quantity.ts';
import { amountsIn, type ResourceList, resourceList } from '../kernel/resource-list.ts';
import type { CountedObject, Evaluator, MatchContext, UsageContext } from './evaluator.ts';
import { cachedByObject } from './cached-by-object.ts';
import { readablePart } from './readable-part.ts';
import { type CountingQuota, type QuotaScopes, requirementsOf } from './scopes.ts';

/** Resources of a quota that could not be counted, with the reason for people. */
export interface Unmeasured {
  readonly keys: readonly string[];
  /** `the cache of pods is not filled yet`. */
  readonly reason: string;
}

/** The usage of the resources that a quota limits. */
export interface UsageCount {
  /** Every resource of `hard` that could be counted. */
  readonly used: ResourceList;
  readonly unmeasured: readonly Unmeasured[];
}

/**
 * The objects of one resource in a namespace (of the cluster for cluster-scoped ones), or why they are unknown. A
 * resource that the cluster does not have has no objects.
 */
export type ObjectsOf = (
  resource: GroupResource,
) => { readonly objects: readonly CountedObject[] } | { readonly unavailable: string };

/** A charge as numbers. Charges are cached per object, so each text is parsed once and not for every count. */
const amountsOf = cachedByObject((charge: ResourceList) => [...amountsIn(charge)]);

function matches(evaluator: Evaluator, quota: QuotaScopes): (object: CountedObject) => boolean {
  const requirements = requirementsOf(quota);
  return (object) => requirements.every((requirement) => evaluator.matchesScope(requirement, object));
}

/** The names for which the evaluator reads other objects besides its own. */
function namesThatRead(evaluator: Evaluator, names: readonly string[], context: MatchContext): readonly string[] {
  if (evaluator.reads.length === 0) {
    return [];
  }
  const { needsReads } = evaluator;
  return needsReads === undefined
    ? evaluator.matchingResources(names, context)
    : names.filter((name) => needsReads(name, context));
}

/** The names that cannot be counted because other objects that the evaluator reads are unknown, with the reason. */
function unreadable(
  evaluator: Evaluator,
  names: readonly string[],
  objectsOf: ObjectsOf,
  context: MatchContext,
): Unmeasured | undefined {
  const keys = namesThatRead(evaluator, names, context);
  if (keys.length === 0) {
    return undefined;
  }
  const [failed] = evaluator.reads.flatMap((resource) => {
    const answer = objectsOf(resource);
    return 'unavailable' in answer ? [answer.unavailable] : [];
  });
  if (failed === undefined) {
    return undefined;
  }
  const own = objectsOf(evaluator.resource);
  // Without objects there is no charge, so nothing else needs to be known.
  return 'objects' in own && own.objects.length === 0 ? undefined : { keys, reason: failed };
}

/**
 * The usage of every resource in the quota's `hard` that an evaluator knows, zero without charges. What could not be
 * counted is omitted with its reason and does not affect the rest; resources without an evaluator are in neither list.
 */
export function calculateUsage(
  quota: CountingQuota,
  evaluators: readonly Evaluator[],
  objectsOf: ObjectsOf,
  context: UsageContext,
): UsageCount {
  const limited = Object.keys(quota.hard ?? {});
  const existing = evaluators.flatMap((evaluator) => evaluator.matchingResources(limited, context));
  const sums = new Map<string, Quantity>(existing.map((name) => [name, quantityOf(0n)]));
  const unmeasured: Unmeasured[] = [];
  const giveUp = ({ keys, reason }: Unmeasured) => {
    const lost = keys.filter((key) => sums.delete(key));
    if (lost.length > 0) {
      unmeasured.push({ keys: lost.toSorted(), reason });
    }
  };
  for (const evaluator of evaluators) {
    const withoutReads = unreadable(evaluator, [...sums.keys()], objectsOf, context);
    if (withoutReads !== undefined) {
      giveUp(withoutReads);
    }
    const keys = evaluator.matchingResources([...sums.keys()], context);
    if (keys.length > 0) {
      const answer = objectsOf(evaluator.resource);
      if ('unavailable' in answer) {
        giveUp({ keys, reason: answer.unavailable });
      } else {
        for (const object of answer.objects.filter(matches(evaluator, quota))) {
          const { charge, unreadable } = readableCharge(object, evaluator, context);
          unreadable.forEach((lost) => giveUp(lost));
          addCharge(sums, charge);
        }
      }
    }
  }
  return { used: resourceList(sums), unmeasured };
}

/** The charge of one object, without what cannot be read of it; empty outside of the quota's scopes. */
export function chargeOf(
  quota: CountingQuota,
  object: CountedObject,
  evaluator: Evaluator,
  context: UsageContext,
): ResourceList {
  return matches(evaluator, quota)(object) ? readableCharge(object, evaluator, context).charge : {};
}

/** The charge of an object, and the names that it makes uncountable because it has an amount that cannot be read. */
function readableCharge(
  object: CountedObject,
  evaluator: Evaluator,
  context: UsageContext,
): { readonly charge: ResourceList; readonly unreadable: readonly Unmeasured[] } {
  const { namesOfAmount } = evaluator;
  try {
    return { charge: evaluator.usage(object, context), unreadable: [] };
  } catch (error) {
    if (!(error instanceof QuantityError) || namesOfAmount === undefined) throw error;
    const part = readablePart(object);
    const name = object.metadata?.name ?? 'without a name';
    const unreadable = part.unreadable.map((amount) => ({
      keys: namesOfAmount(object, amount),
      reason: `${evaluator.resource.resource} ${name} has ${amount.list} of ${amount.resource}: ${amount.text}, which cannot be read as an amount`,
    }));
    return { charge: evaluator.usage(part.object, context), unreadable };
  }
}

/** Adds what an object is charged to the sums, of the names that are there. */
function addCharge(sums: Map<string, Quantity>, charge: ResourceList): void {
  for (const [name, amount] of amountsOf(charge)) {
    const sum = sums.get(name);
    if (sum !== undefined) {
      sums.set(name, addQuantities(sum, amount));
    }
  }
}

/**
 * Everything that must be known to count these names of a quota's `hard`: the resources themselves, and those that
 * their charges or scopes depend on.
 */
export function resourcesToCount(
  names: readonly string[],
  evaluators: readonly Evaluator[],
  context: MatchContext,
): readonly GroupResource[] {
  const needed = evaluators.flatMap((evaluator) => [
    ...(evaluator.matchingResources(names, context).length > 0 ? [evaluator.resource] : []),
    ...(namesThatRead(evaluator, names, context).length > 0 ? evaluator.reads : []),
  ]);
  return [...new Map(needed.map((resource) => [groupResourceName(resource), resource])).values()];
}
