/** How far limits may be raised without a person, beyond a single step: by the platform's guardrails. */
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../kernel/quantity.ts';
import { quantityText } from '../../kernel/quantity-text.ts';
import { quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { GuardrailInForce } from './guardrail.ts';
import { factorRatio } from './max-step.ts';
import type { RecordedRaise } from './recorded-raise.ts';

const DAY_MS = 86_400_000;

/** The largest limit of one resource that a guardrail allows without a person. */
export interface UnattendedLimit {
  readonly resource: string;
  readonly limit: string;
  /** Which guardrail it is, to follow the limit: "the most that guardrail x allows …". */
  readonly why: string;
  /** Present for a total, of which the quotas of one decision get their shares together. */
  readonly isShared?: boolean;
  /** Of a total, the name of what is summed up. Absent in observations of earlier versions: the resource. */
  readonly sum?: string;
  /** Other limits of the same quota whose raises take from the same amount. */
  readonly sharedWith?: readonly string[];
  /** Present where an amount of a quota cannot be read, so that nothing is left of a total. */
  readonly unreadable?: UnreadableAmount;
}

/** An amount that Kubernetes takes and nobody here reads, such as `1e1002`. */
export interface UnreadableAmount {
  readonly namespace: string;
  readonly quota: string;
  readonly resource: string;
  readonly value: string;
}

/** The part of a policy that limits a raise without a person. */
interface StepRules {
  readonly guardrail: GuardrailInForce;
  readonly maxStep: string;
}

/**
 * The growth guardrails of a day and of a week, for each resource the stricter one, where it is stricter than
 * `maxStep`.
 *
 * @param hard the limits in force. @param raises what Headroom merged so far, of which those count that no person approved.
 */
export function growthLimits(
  { guardrail, maxStep }: StepRules,
  hard: ResourceList,
  raises: readonly RecordedRaise[],
  now: EpochMs,
): readonly UnattendedLimit[] {
  const windows = [
    { span: DAY_MS, factor: guardrail.growthPerDay, words: '24 hours' },
    { span: 7 * DAY_MS, factor: guardrail.growthPerWeek, words: '7 days' },
  ];
  return Object.keys(hard).flatMap((resource): readonly UnattendedLimit[] => {
    const current = quantityIn(hard, resource);
    if (current.nano <= 0n) return [];
    const limits = windows.flatMap(({ span, factor, words }) => {
      if (factor === null) return [];
      const recent = raises.filter(({ at, isApproved }) => at > now - span && isApproved !== true);
      const base = baseOf(resource, current, recent);
      const limit = timesDown(base, factor);
      const amount = quantityText(resource, formatQuantity(base));
      const why = `the most that guardrail ${guardrail.name} allows in ${words} without a person (${factor} × ${amount})`;
      return { limit, why };
    });
    const strictest = limits.toSorted((a, b) => compareQuantities(a.limit, b.limit))[0];
    if (strictest === undefined) return [];
    if (compareQuantities(strictest.limit, timesDown(current, maxStep)) >= 0) return [];
    return [{ resource, limit: formatQuantity(strictest.limit), why: strictest.why }];
  });
}

/**
 * The limit from which the growth of a window is counted: the one before its first raise without a person, plus the
 * raises that people made since, in proportion. A limit that people lowered since is the base itself where it is
 * smaller.
 */
function baseOf(resource: string, current: Quantity, raises: readonly RecordedRaise[]): Quantity {
  let base: Quantity | null = null;
  let last: Quantity | null = null;
  const follow = (limit: Quantity): void => {
    if (base !== null && last !== null && last.nano > 0n && limit.nano > last.nano) {
      base = { nano: (base.nano * limit.nano) / last.nano, format: base.format };
    }
  };
  for (const { from, to } of raises.toSorted((a, b) => a.at - b.at)) {
    if (!Object.hasOwn(to, resource)) continue;
    const before = quantityIn(from, resource);
    follow(before);
    if (base === null || base.nano <= 0n) base = before;
    last = quantityIn(to, resource);
  }
  follow(current);
  return base === null || base.nano <= 0n || compareQuantities(base, current) > 0 ? current : base;
}

/** quantity × factor, rounded down: a limit above it exceeds the factor. */
function timesDown({ nano, format }: Quantity, factor: string): Quantity {
  const { numerator, denominator } = factorRatio(factor);
  return { nano: (nano * numerator) / denominator, format };
}

/** The largest limit without a person: of a step, and of the guardrails. Null from 0, from which every raise needs one. */
export function largestUnattended(
  { maxStep, unattended = [] }: { readonly maxStep: string; readonly unattended?: readonly UnattendedLimit[] },
  resource: string,
  current: Quantity,
): Quantity | null {
  if (current.nano <= 0n) return null;
  return unattended
    .filter((limit) => limit.resource === resource)
    .map(({ limit }) => parseQuantity(limit))
    .reduce((a, b) => (compareQuantities(a, b) <= 0 ? a : b), timesDown(current, maxStep));
}

/** The strictest limit of a raise without a person, as a sentence for people; null from 0, where every raise needs one. */
export function unattendedSentence(
  policy: StepRules & { readonly unattended?: readonly UnattendedLimit[] },
  resource: string,
  current: Quantity,
): string | null {
  const largest = largestUnattended(policy, resource, current);
  if (largest === null) return null;
  const amount = quantityText(resource, formatQuantity(largest));
  const limit = policy.unattended?.find(
    (candidate) => candidate.resource === resource && compareQuantities(parseQuantity(candidate.limit), largest) === 0,
  );
  const why = limit?.why ?? `${policy.maxStep} × the limit (resizer.io/max-step)`;
  return `Without a person, ${resource} is raised to ${amount} at most: ${why}.`;
}
