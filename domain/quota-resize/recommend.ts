/** The limits that a quota needs, by the threshold strategy. */
import { type Percent, percentRatio } from '../kernel/percent.ts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  multiplyByRatio,
  parseQuantity,
  type Quantity,
} from '../kernel/quantity.ts';
import { quantityIn, type ResourceList, resourceEntries } from '../kernel/resource-list.ts';
import { roundLimitUp } from './round.ts';

export interface RecommendInput {
  /** The limits in force. */
  readonly hard: ResourceList;
  readonly used: ResourceList;
  /** What was refused and is still missing, summed over the workloads. */
  readonly demand: ResourceList;
  readonly policy: {
    /** The share of the limit from which on it is raised. */
    threshold(resource: string): Percent;
    /** The headroom that a raise adds. */
    increment(resource: string): Percent;
  };
  /** The limits' texts in the manifest, for their units; `hard` where it is not known. */
  readonly written?: ResourceList;
}

/** One limit to raise, with what led to it. Quantities are canonical, `proposed` is in the manifest's unit. */
export interface Raise {
  readonly resource: string;
  readonly current: string;
  readonly proposed: string;
  readonly used: string;
  /** The unmet demand for this resource; "0" where there is none. */
  readonly demand: string;
  readonly causes: readonly ('threshold' | 'demand')[];
}

/** used ÷ hard ≥ threshold, exactly. A limit of zero is deliberate and is never reached. */
function reachesThreshold(used: Quantity, hard: Quantity, threshold: Percent): boolean {
  const { numerator, denominator } = percentRatio(threshold);
  return hard.nano > 0n && used.nano * denominator >= hard.nano * numerator;
}

function withIncrement(amount: Quantity, increment: Percent): Quantity {
  const { numerator, denominator } = percentRatio(increment);
  return multiplyByRatio(amount, denominator + numerator, denominator);
}

/**
 * The limits to raise, by resource name; empty when nothing is under pressure.
 *
 * A threshold that is reached asks for hard × (1 + increment). Demand that does not fit asks for (used + demand) ×
 * (1 + increment): what is refused must fit, and afterwards there is as much headroom as after any other raise. As such
 * demand is above the limit, this is the larger of the two. Demand that fits as it is (another quota was in the way, or
 * room came free) asks for nothing. A raise is never to the limit in force or below it.
 */
export function recommend(input: RecommendInput): readonly Raise[] {
  return resourceEntries(input.hard).flatMap(([resource, hard]) => {
    const used = quantityIn(input.used, resource);
    const demand = quantityIn(input.demand, resource);
    const needed = addQuantities(used, demand);
    const causes: ('threshold' | 'demand')[] = [];
    if (reachesThreshold(used, hard, input.policy.threshold(resource))) {
      causes.push('threshold');
    }
    if (demand.nano > 0n && compareQuantities(needed, hard) > 0) {
      causes.push('demand');
    }
    const base = causes.includes('demand') ? needed : hard;
    const target = withIncrement(base, input.policy.increment(resource));
    const written = input.written?.[resource] ?? input.hard[resource] ?? '';
    const proposed = roundLimitUp(resource, target, written);
    if (causes.length === 0 || compareQuantities(parseQuantity(proposed), hard) <= 0) {
      return [];
    }
    return [
      {
        resource,
        current: formatQuantity(hard),
        proposed,
        used: formatQuantity(used),
        demand: formatQuantity(demand),
        causes,
      },
    ];
  });
}
