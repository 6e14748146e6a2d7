/** Whether a decision raises no more than the cluster has asked for: it is compared with what its activities have read themselves. */
import { type Percent, percentRatio } from '../../kernel/percent.ts';
import { compareQuantities, maxQuantity, multiplyByRatio, parseQuantity, type Quantity } from '../../kernel/quantity.ts';
import { maxLists, quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { Decision, LimitChange } from '../model/decision.ts';
import { type ResizePolicy, toleranceFor } from '../policy/policy.ts';
import { inWholeNumbers } from './round.ts';

/** The limits that quotas of one namespace need, by the quota's name. */
export type NeededLimits = Readonly<Record<string, ResourceList>>;

/** The greater of both for each limit. */
export function maxNeeded(a: NeededLimits, b: NeededLimits): NeededLimits {
  const quotas = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...quotas].map((quota) => [quota, maxLists(a[quota] ?? {}, b[quota] ?? {})]));
}

/** A raise above what is needed. */
export interface Unneeded {
  readonly quota: string;
  readonly change: LimitChange;
  /** What is needed; null where nothing is. */
  readonly needed: string | null;
}

/**
 * The first raise of the decision above what its quotas need; null where there is none.
 *
 * @param own the name of its own quota.
 * @param policyOf the policy of a quota, which says how much less may have been read than was decided: it is never read at the
 * same moment. Absent: nothing.
 */
export function unneededIn(
  own: string,
  { changes, batchedQuotas = [] }: Pick<Decision, 'changes' | 'batchedQuotas'>,
  needed: NeededLimits,
  policyOf: (quota: string) => ResizePolicy | null = () => null,
): Unneeded | null {
  for (const raised of [{ quota: own, changes }, ...batchedQuotas]) {
    const limits = needed[raised.quota] ?? {};
    const change = raised.changes.find((one) => !isNeeded(one, limits, policyOf(raised.quota)));
    if (change !== undefined) return { quota: raised.quota, change, needed: limits[change.resource] ?? null };
  }
  return null;
}

function isNeeded({ resource, to }: LimitChange, limits: ResourceList, policy: ResizePolicy | null): boolean {
  if (!Object.hasOwn(limits, resource)) return false;
  const needed = quantityIn(limits, resource);
  const tolerated = policy === null ? needed : withTolerance(needed, toleranceFor(policy, resource));
  return compareQuantities(parseQuantity(to), maxQuantity(tolerated, inWholeNumbers(resource, needed))) <= 0;
}

function withTolerance(needed: Quantity, tolerance: Percent): Quantity {
  const { numerator, denominator } = percentRatio(tolerance);
  return multiplyByRatio(needed, denominator + numerator, denominator);
}
