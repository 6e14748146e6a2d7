/** The right status of a ResourceQuota, and whether it is urgent. */
import { formatQuantity, quantityOrNull } from '../kernel/quantity.ts';
import { equalLists, type ResourceList } from '../kernel/resource-list.ts';
import type { UsageCount } from './calculate.ts';
import type { Evaluator, MatchContext } from './evaluator.ts';
import type { CachedQuota } from './observation.ts';

/** The status that a quota should have. */
export interface DesiredStatus {
  readonly hard: ResourceList;
  readonly used: ResourceList;
  /** Keys of the present status that have to be removed. */
  readonly without: { readonly hard: readonly string[]; readonly used: readonly string[] };
  /** Whether the present status is already equal, so that nothing is written. */
  readonly isWritten: boolean;
}

/**
 * The list as Kubernetes prints it, keys sorted: an amount without arithmetic stays as it was written, and so does one
 * that cannot be read (1e1002, which Kubernetes accepts).
 */
function asPrinted(entries: Iterable<readonly [string, string]>): ResourceList {
  const printed = [...entries].map(([resource, text]) => {
    const amount = quantityOrNull(text);
    return [resource, amount === null ? text : (amount.spelling ?? formatQuantity(amount))] as const;
  });
  return Object.fromEntries(printed.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function keysBeyond(present: ResourceList, wanted: ResourceList): readonly string[] {
  return Object.keys(present)
    .filter((key) => !Object.hasOwn(wanted, key))
    .toSorted();
}

/**
 * The status after a count, as in Kubernetes' syncResourceQuota: `hard` from the spec, `used` from the count, the old
 * value where there is no new one, and no key that the spec does not limit.
 *
 * An absent part equals an empty one, because the API server omits empty maps. A quota without limits that can be
 * counted never shows `used`; Kubernetes' controller takes that for a difference and writes it again at every resync.
 */
export function desiredStatus(quota: CachedQuota, count: UsageCount): DesiredStatus {
  const present = { hard: quota.status.hard ?? {}, used: quota.status.used ?? {} };
  const hard = asPrinted(Object.entries(quota.spec.hard ?? {}));
  const existing = Object.entries({ ...present.used, ...count.used });
  const used = asPrinted(existing.filter(([key]) => Object.hasOwn(hard, key)));
  return {
    hard,
    used,
    without: { hard: keysBeyond(present.hard, hard), used: keysBeyond(present.used, used) },
    isWritten: equalLists(hard, present.hard) && equalLists(used, present.used),
  };
}

/**
 * Whether admission waits for this status: it uses other limits than the spec's, or denies objects because a limit has
 * no value yet. Such quotas go first, as in Kubernetes' addQuota. A limit without an evaluator never gets a value and
 * is not urgent.
 */
export function isUrgent(
  { spec, status }: Pick<CachedQuota, 'spec' | 'status'>,
  evaluators: readonly Evaluator[],
  context: MatchContext,
): boolean {
  const { hard = {}, used = {} } = status;
  if (!equalLists(spec.hard ?? {}, hard)) return true;
  const missing = Object.keys(hard).filter((key) => !Object.hasOwn(used, key));
  return missing.length > 0 && evaluators.some((evaluator) => evaluator.matchingResources(missing, context).length > 0);
}
