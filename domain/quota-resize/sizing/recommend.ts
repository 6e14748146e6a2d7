/** Computes the limits that a quota requires, by the threshold strategy. */
import { type Percent, percentRatio } from '../../kernel/percent.ts';
import {
  addQuantities,
  ceilTo,
  compareQuantities,
  formatQuantity,
  isQuantity,
  maxQuantity,
  multiplyByRatio,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from '../../kernel/quantity.ts';
import { quantityIn, type ResourceList, resourceEntries } from '../../kernel/resource-list.ts';
import {
  type Burst,
  incrementFor,
  maximumFor,
  minimumFor,
  type ResizePolicy,
  stepFor,
  thresholdFor,
} from '../policy/policy.ts';
import { largestUnattended } from '../policy/unattended-limit.ts';
import { inSteps, roundLimitUp, roundLimitWithin, tidyUp } from './round.ts';

/** The part of a policy that decides how far a limit is raised; the functions take a quota key. */
export interface RaiseRules {
  /** The percentage of the limit from which on it is raised. */
  readonly threshold: (resource: string) => Percent;
  /** The headroom that a raise adds. */
  readonly increment: (resource: string) => Percent;
  readonly burst: Burst;
  /** The smallest limit to propose. */
  readonly minimum: (resource: string) => string | undefined;
  /** The greatest limit to propose. */
  readonly maximum: (resource: string) => string | undefined;
  /** Proposed limits are multiples of it. */
  readonly step: (resource: string) => string | undefined;
  /** The largest limit that needs no person; null where every raise needs one. */
  readonly unattended: (resource: string, hard: Quantity) => Quantity | null;
}

export function rulesOf(policy: ResizePolicy): RaiseRules {
  return {
    threshold: (resource) => thresholdFor(policy, resource),
    increment: (resource) => incrementFor(policy, resource),
    burst: policy.burst,
    minimum: (resource) => minimumFor(policy, resource),
    maximum: (resource) => maximumFor(policy, resource),
    step: (resource) => stepFor(policy, resource),
    unattended: (resource, hard) => largestUnattended(policy, resource, hard),
  };
}

export interface RecommendInput {
  /** The limits in force. */
  readonly hard: ResourceList;
  readonly used: ResourceList;
  /** What was denied and is still missing, summed over the workloads. */
  readonly demand: ResourceList;
  readonly policy: RaiseRules;
  /** The limits as written in the manifest, for their units; `hard` when unknown. */
  readonly written?: ResourceList;
}

/** minimum: the present limit is below the policy's minimum. */
type Cause = 'demand' | 'threshold' | 'minimum';

/** A limit that has to be raised, and how far it may be. Quantities are canonical unless stated otherwise. */
export interface Assessment {
  readonly resource: string;
  readonly current: string;
  readonly used: string;
  /** The unmet demand for this resource; "0" when there is none. */
  readonly demand: string;
  readonly causes: readonly Cause[];
  /** The required limit in the manifest's unit, ignoring the maximum. */
  readonly wanted: string;
  /** The proposed limit in the manifest's unit; null when the maximum allows no raise. */
  readonly proposed: string | null;
  /** Whether it is less than `settle` asks for, so that it needs no person. */
  readonly isCut: boolean;
  /** The maximum that limits the raise, if one does. */
  readonly cap: {
    readonly maximum: string;
    /** How much of used + demand still does not fit; "0" when only headroom is lost. */
    readonly lacking: string;
  } | null;
}

/** A limit to raise, with the reasons. */
export type Raise = Assessment & { readonly proposed: string };

/** The limits to raise, by resource name; empty when nothing is under pressure, or maximums prevent all raises. */
export function recommend(input: RecommendInput): readonly Raise[] {
  return assess(input).flatMap((assessment) =>
    assessment.proposed === null ? [] : [{ ...assessment, proposed: assessment.proposed }],
  );
}

/** Without limits whose own amount, or what is used of them, cannot be read (1e1002, which Kubernetes accepts). */
function readableLimits({ hard, used }: RecommendInput): ResourceList {
  const isReadable = (resource: string, limit: string) => isQuantity(limit) && isQuantity(used[resource] ?? '0');
  return Object.fromEntries(Object.entries(hard).filter(([resource, limit]) => isReadable(resource, limit)));
}

/**
 * The limits that have to be raised, by resource name.
 *
 * - A reached threshold requires hard × (1 + increment).
 * - Demand that does not fit requires exactly used + demand (`fill`), or enough that there is as much headroom as after
 *   any other raise and the threshold is not reached again at once (`settle`), as a round number. Demand that already
 *   fits (another quota denied it, or room became free) requires nothing.
 * - A limit below the policy's minimum requires the minimum.
 *
 * The result is at least the minimum, a multiple of the step (in the step's unit where the manifest's has no such
 * multiple), and never above the maximum.
 */
export function assess(input: RecommendInput): readonly Assessment[] {
  return resourceEntries(readableLimits(input)).flatMap(([resource, hard]): readonly Assessment[] => {
    const { policy } = input;
    const used = quantityIn(input.used, resource);
    const demand = quantityIn(input.demand, resource);
    const required = addQuantities(used, demand);
    const minimum = quantityOrNull(policy.minimum(resource));
    const causes: Cause[] = [];
    if (reachesThreshold(used, hard, policy.threshold(resource))) causes.push('threshold');
    if (demand.nano > 0n && compareQuantities(required, hard) > 0) causes.push('demand');
    if (minimum !== null && compareQuantities(hard, minimum) < 0) causes.push('minimum');
    if (causes.length === 0) return [];

    const written = input.written?.[resource] ?? input.hard[resource] ?? '';
    const exact = targetOf({ resource, hard, required, causes, policy, written });
    const floored = minimum === null ? exact : maxQuantity(exact, minimum);
    const step = quantityOrNull(policy.step(resource));
    const target = step === null ? floored : ceilTo(floored, step);
    const roomy = step === null ? roundLimitUp(resource, target, written) : inSteps(resource, target, step, written);
    const fitting = withoutPerson(roomy, { resource, hard, required, causes, policy, written, step, minimum });
    const wanted = fitting ?? roomy;
    if (compareQuantities(parseQuantity(wanted), hard) <= 0) return [];

    const maximum = quantityOrNull(policy.maximum(resource));
    const quantities = {
      resource,
      current: formatQuantity(hard),
      used: formatQuantity(used),
      demand: formatQuantity(demand),
      causes,
      wanted,
      isCut: fitting !== null,
    };
    if (maximum === null || compareQuantities(parseQuantity(wanted), maximum) <= 0) {
      return [{ ...quantities, proposed: wanted, cap: null }];
    }
    const proposed = cappedAt(maximum, { resource, hard, step, written });
    const lacking = subtractQuantities(required, proposed === null ? hard : parseQuantity(proposed));
    const isLacking = causes.includes('demand') && lacking.nano > 0n;
    return [
      {
        ...quantities,
        proposed,
        cap: { maximum: formatQuantity(maximum), lacking: isLacking ? formatQuantity(lacking) : '0' },
      },
    ];
  });
}

function quantityOrNull(text: string | undefined): Quantity | null {
  return text === undefined ? null : parseQuantity(text);
}

/** used ÷ hard ≥ threshold, computed exactly. A limit of zero is deliberate and never counts as reached. */
function reachesThreshold(used: Quantity, hard: Quantity, threshold: Percent): boolean {
  const { numerator, denominator } = percentRatio(threshold);
  return hard.nano > 0n && used.nano * denominator >= hard.nano * numerator;
}

function withIncrement(amount: Quantity, increment: Percent): Quantity {
  const { numerator, denominator } = percentRatio(increment);
  return multiplyByRatio(amount, denominator + numerator, denominator);
}

/** What requires a raise, and the rules for it. */
interface Requirement {
  readonly resource: string;
  readonly hard: Quantity;
  /** Used, and what is missing. */
  readonly required: Quantity;
  readonly causes: readonly Cause[];
  readonly policy: RaiseRules;
  readonly written: string;
}

/**
 * The largest limit that needs no person, where what is required fits below it and the roomy limit does not; null where
 * nothing has to be cut, or a person is needed anyway.
 */
function withoutPerson(
  roomy: string,
  about: Requirement & { readonly step: Quantity | null; readonly minimum: Quantity | null },
): string | null {
  const { resource, hard, required, causes, policy, step, minimum, written } = about;
  if (!causes.includes('demand') || policy.burst !== 'settle') return null;
  const largest = policy.unattended(resource, hard);
  const least = minimum === null ? required : maxQuantity(required, minimum);
  const isWithin = largest !== null && compareQuantities(parseQuantity(roomy), largest) <= 0;
  if (largest === null || isWithin) return null;
  const inWholeSteps = step === null ? largest : { ...largest, nano: largest.nano - (largest.nano % step.nano) };
  if (compareQuantities(inWholeSteps, least) < 0) return null;
  const text =
    step === null
      ? roundLimitWithin(resource, inWholeSteps, written, largest)
      : inSteps(resource, inWholeSteps, step, written);
  const cut = parseQuantity(text);
  return compareQuantities(cut, least) >= 0 && compareQuantities(cut, largest) <= 0 ? text : null;
}

/** The limit that the causes require, without bounds. */
function targetOf({ resource, hard, required, causes, policy, written }: Requirement): Quantity {
  const increment = policy.increment(resource);
  if (causes.includes('demand')) {
    if (policy.burst === 'fill') return required;
    const roomy = maxQuantity(withIncrement(required, increment), aboveThreshold(required, policy.threshold(resource)));
    return tidyUp(resource, roomy, written);
  }
  return causes.includes('threshold') ? withIncrement(hard, increment) : hard;
}

/** The smallest limit for which `used` is below the threshold. */
function aboveThreshold(used: Quantity, threshold: Percent): Quantity {
  const { numerator, denominator } = percentRatio(threshold);
  return { nano: (used.nano * denominator) / numerator + 1n, format: used.format };
}

/**
 * The largest limit that the maximum allows, in whole steps if that is still a raise; null when no raise is possible.
 */
function cappedAt(
  maximum: Quantity,
  about: {
    readonly resource: string;
    readonly hard: Quantity;
    readonly step: Quantity | null;
    readonly written: string;
  },
): string | null {
  const { resource, hard, step, written } = about;
  const write = (limit: Quantity): string => {
    const text = roundLimitWithin(resource, limit, written, maximum);
    const inStep = step === null ? text : inSteps(resource, limit, step, written);
    return compareQuantities(parseQuantity(inStep), maximum) <= 0 ? inStep : text;
  };
  const isRaise = (text: string): boolean => compareQuantities(parseQuantity(text), hard) > 0;
  const steps = step === null ? null : { nano: maximum.nano - (maximum.nano % step.nano), format: maximum.format };
  return [steps, maximum].flatMap((limit) => (limit === null ? [] : [write(limit)])).find(isRaise) ?? null;
}
