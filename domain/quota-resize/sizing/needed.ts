/** Whether a decision raises no more than the cluster has asked for: it is compared with what its activities have read themselves. */
import type { EpochMs } from '../../kernel/time.ts';
import { type Percent, percentRatio } from '../../kernel/percent.ts';
import {
  compareQuantities,
  maxQuantity,
  multiplyByRatio,
  parseQuantity,
  type Quantity,
} from '../../kernel/quantity.ts';
import { maxLists, quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { Decision, LimitChange } from '../model/decision.ts';
import { isOfPodsOrClaims } from '../../quota-usage/usage.ts';
import type { UsageMode } from '../../quota-usage/mode.ts';
import type { DemandFacts } from '../model/observation.ts';
import type { Proposal } from '../model/verdict.ts';
import { type ResizePolicy, toleranceFor } from '../policy/policy.ts';
import { computeRequirement } from './requirement.ts';
import { inWholeNumbers } from './round.ts';

/** The limits that quotas of one namespace need, by the quota's name. */
export type NeededLimits = Readonly<Record<string, ResourceList>>;

/** The greater of both for each limit. */
export function maxNeeded(a: NeededLimits, b: NeededLimits): NeededLimits {
  const quotas = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...quotas].map((quota) => [quota, maxLists(a[quota] ?? {}, b[quota] ?? {})]));
}

/**
 * The requirement of a quota that may be met without a person. What the message of an Event tells alone needs one, whatever the
 * decision says of it: anybody who may create Events may have written it.
 *
 * @param since Headroom's last change; see `unmetDemand`.
 */
export function needOf(seen: DemandFacts, since: EpochMs | null): Proposal | null {
  return computeRequirement({ ...seen, demand: seen.demand.filter(({ basis }) => basis === 'workload') }, since);
}

/**
 * Whether activities can read how much is needed of the resource. In the modes with counted usage the starters count, and
 * activities count pods and claims alone.
 */
export function isNeedReadable(usage: UsageMode, resource: string): boolean {
  return usage === 'off' || isOfPodsOrClaims(resource);
}

/** What is raised, without the limits of which activities cannot read how much is needed. */
export function withReadableNeed(usage: UsageMode, { changes, batchedQuotas = [] }: Raises): Required<Raises> {
  const readable = (all: readonly LimitChange[]) => all.filter(({ resource }) => isNeedReadable(usage, resource));
  return {
    changes: readable(changes),
    batchedQuotas: batchedQuotas.map((one) => ({ ...one, changes: readable(one.changes) })),
  };
}

type Raises = Pick<Decision, 'changes' | 'batchedQuotas'>;

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
  { changes, batchedQuotas = [] }: Raises,
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
