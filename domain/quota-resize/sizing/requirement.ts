import { atMost } from '../../kernel/sentence.ts';
import { compareQuantities, isZero, multiplyByRatio, parseQuantity, type Quantity } from '../../kernel/quantity.ts';
import { percentOf, percentRatio } from '../../kernel/percent.ts';
import { amountsText, quantityText, shareText } from '../../kernel/quantity-text.ts';
import { quantityIn, resourceEntries, type ResourceList } from '../../kernel/resource-list.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { usageNotes } from '../demand/counted-usage.ts';
import type { LimitChange } from '../model/decision.ts';
import { approvalRequirementOf } from '../decide/approval-requirement.ts';
import type { DemandFacts, WorkloadDemand } from '../model/observation.ts';
import {
  incrementFor,
  maximumFor,
  minimumFor,
  type ResizePolicy,
  settingFor,
  stepFor,
  thresholdFor,
} from '../policy/policy.ts';
import { largestUnattended } from '../policy/unattended-limit.ts';
import { ANNOTATION_PREFIX } from '../policy/annotations.ts';
import type { Raise } from './recommend.ts';
import { inSteps, roundLimitUp, roundLimitWithin } from './round.ts';
import { believedUsage, staleRequirement } from '../demand/stale-usage.ts';
import { assessWith, unmetDemand } from '../demand/unmet-demand.ts';
import type { Proposal } from '../model/verdict.ts';

/**
 * The quota's requirement; null when nothing is under pressure, or when everything under pressure may not be raised
 * (`cappedRequirement`). Where the objects of the namespace contradict the usage, the smaller number is used, unless
 * the usage was counted from them.
 *
 * @param since Headroom's last change; see `unmetDemand`.
 */
export function computeRequirement(seen: DemandFacts, since: EpochMs | null): Proposal | null {
  const { policy } = seen;
  const counted = unmetDemand(seen, since);
  const raises = assessWith(seen, counted, believedUsage(seen)).flatMap((assessment) =>
    assessment.proposed === null ? [] : [{ ...assessment, proposed: assessment.proposed }],
  );
  if (raises.length === 0) return null;
  const changes = raises.map(
    (raise): LimitChange => ({
      resource: raise.resource,
      from: raise.current,
      to: raise.proposed,
      used: raise.used,
      demand: raise.demand,
      reason: reasonOf(raise, policy),
    }),
  );
  const demanded = raises.filter((raise) => raise.causes.includes('demand')).map((raise) => raise.resource);
  const isAbout = (demand: WorkloadDemand): boolean =>
    demanded.some((resource) => Object.hasOwn(demand.total, resource));
  const ofUsage = usageNotes(seen, since);
  const demandByMessage = counted.some((workload) => workload.basis === 'message' && isAbout(workload));
  const belowMinimum = raises.every(({ causes }) => causes.every((cause) => cause === 'minimum'));
  return {
    changes,
    evidence: atMost(counted.filter(isAbout).map(evidenceOf), MAX_EVIDENCE, (rest) => `And ${rest} more workloads.`),
    notes: [...cappedRequirement(seen, since), ...staleRequirement(seen, since)],
    ...(ofUsage.length === 0 ? {} : { usageNotes: ofUsage }),
    unmetDemand: demanded.length > 0,
    demandByMessage,
    approvalRequirement: approvalRequirementOf(policy, changes, demandByMessage),
    ...(belowMinimum ? { belowMinimum } : {}),
  };
}

/** More than an observation names and sums, so that no sentence is lost. */
const MAX_EVIDENCE = 60;

/** Sentences about resources that a maximum of the policy keeps from being raised. */
export function cappedRequirement(observation: DemandFacts, since: EpochMs | null): readonly string[] {
  return assessWith(observation, unmetDemand(observation, since), believedUsage(observation)).flatMap((assessment) => {
    if (assessment.cap === null) return [];
    const { resource, current, cap, wanted } = assessment;
    const setting = settingText(observation.policy, 'max', resource);
    const maximum = `its maximum of ${quantityText(resource, cap.maximum)} (${setting})`;
    const isAbove = compareQuantities(parseQuantity(current), parseQuantity(cap.maximum)) > 0;
    const where = isAbove ? `is at ${quantityText(resource, current)}, above ${maximum}` : `is at ${maximum}`;
    const what = assessment.proposed === null ? where : `is raised only to ${maximum}`;
    const rest =
      cap.lacking === '0'
        ? `Without it the limit would be raised to ${quantityText(resource, wanted)}.`
        : `Workloads need ${quantityText(resource, cap.lacking)} more than that.`;
    return [`${resource} ${what}. ${rest}`];
  });
}

/** The limits of a quota in Git. */
interface WrittenLimits {
  /** The text of each resource. */
  readonly limits: ResourceList;
  /** What has to be greater than proposed, because only whole numbers can be written there. */
  readonly rounded?: ResourceList;
}

/** Converts the proposed values to the unit of the manifest, and to whole numbers where only those can be written. */
export function asWritten(
  proposal: Proposal,
  { limits: written, rounded = {} }: WrittenLimits,
  policy: ResizePolicy,
): Proposal {
  const changes = proposal.changes.map((change) => {
    const whole = rounded[change.resource];
    if (whole !== undefined) return { ...change, to: whole };
    const text = written[change.resource];
    if (text === undefined) return change;
    const limit = parseQuantity(change.to);
    const bound = boundOf(policy, change, limit);
    const inFile = inUnitOf(policy, change.resource, limit, text);
    const fits = bound === null || compareQuantities(parseQuantity(inFile), bound) <= 0;
    return { ...change, to: fits ? inFile : roundLimitWithin(change.resource, limit, text, bound) };
  });
  const approvalRequirement = approvalRequirementOf(policy, changes, proposal.demandByMessage);
  return { ...proposal, changes, approvalRequirement };
}

/** A sentence about a limit that would have to be written as a greater whole number than its maximum; null: there is none. */
export function beyondMaximum({ rounded = {} }: WrittenLimits, policy: ResizePolicy): string | null {
  for (const [resource, whole] of resourceEntries(rounded)) {
    const maximum = maximumFor(policy, resource);
    if (maximum !== undefined && compareQuantities(whole, parseQuantity(maximum)) > 0) {
      return `${resource} can only be written as a whole number there, because of the chart's template or schema, and ${rounded[resource] ?? ''} is above its maximum of ${quantityText(resource, maximum)} (${settingText(policy, 'max', resource)})`;
    }
  }
  return null;
}

/** A limit in the unit of another text; what is a multiple of the policy's step stays one. */
function inUnitOf(policy: ResizePolicy, resource: string, limit: Quantity, text: string): string {
  const step = stepFor(policy, resource);
  const size = step === undefined ? null : parseQuantity(step);
  return size !== null && size.nano > 0n && limit.nano % size.nano === 0n
    ? inSteps(resource, limit, size, text)
    : roundLimitUp(resource, limit, text);
}

/** What rounding must not exceed: the maximum, and what needs no person where the limit needs none. */
function boundOf(policy: ResizePolicy, { resource, from }: LimitChange, limit: Quantity): Quantity | null {
  const maximum = maximumFor(policy, resource);
  const largest = largestUnattended(policy, resource, parseQuantity(from));
  const bounds = [
    ...(maximum === undefined ? [] : [parseQuantity(maximum)]),
    ...(largest === null || compareQuantities(limit, largest) > 0 ? [] : [largest]),
  ];
  return bounds.toSorted(compareQuantities)[0] ?? null;
}

/** The values of a requirement as one comparable text. */
export function requirementDigest(proposal: Pick<Proposal, 'changes'>): string {
  return proposal.changes
    .map((change) => `${change.resource}=${change.to}`)
    .toSorted()
    .join(',');
}

/**
 * Whether a requirement exceeds `limits` so far that a decision for them should be changed: a value at least one
 * increment greater, or any greater value while something denied is still missing.
 */
export function outgrows(requirement: Proposal, limits: ResourceList, policy: ResizePolicy): boolean {
  return requirement.changes.some((change) => {
    const wanted = parseQuantity(change.to);
    if (!Object.hasOwn(limits, change.resource)) return true;
    const decided = quantityIn(limits, change.resource);
    if (compareQuantities(wanted, decided) <= 0) return false;
    if (!isZero(parseQuantity(change.demand))) return true;
    return isIncrementAbove(change, decided, policy);
  });
}

/** Whether the proposed value is at least one increment above `limit`; without one given, that of its resource. */
export function isIncrementAbove(
  change: LimitChange,
  limit: Quantity,
  policy: ResizePolicy,
  increment = incrementFor(policy, change.resource),
): boolean {
  const { numerator, denominator } = percentRatio(increment);
  const wanted = parseQuantity(change.to);
  return compareQuantities(wanted, multiplyByRatio(limit, denominator + numerator, denominator)) >= 0;
}

/** Whether every proposed value is at most what `limits` already says. */
export function coveredBy(changes: readonly LimitChange[], limits: ResourceList): boolean {
  return changes.every(
    (change) =>
      Object.hasOwn(limits, change.resource) &&
      compareQuantities(parseQuantity(change.to), quantityIn(limits, change.resource)) <= 0,
  );
}

/**
 * The larger value of decision and requirement for each resource: an update never lowers a limit. A value that grows
 * keeps the decision's unit, which is the manifest's.
 */
export function mergeChanges(
  decided: readonly LimitChange[],
  requirement: readonly LimitChange[],
  policy: ResizePolicy,
): readonly LimitChange[] {
  const byResource = new Map(decided.map((change) => [change.resource, change]));
  for (const change of requirement) {
    const old = byResource.get(change.resource);
    if (old === undefined || compareQuantities(parseQuantity(change.to), parseQuantity(old.to)) > 0) {
      const to = old === undefined ? change.to : inUnitOf(policy, change.resource, parseQuantity(change.to), old.to);
      byResource.set(change.resource, { ...change, to });
    }
  }
  return [...byResource.values()];
}

function reasonOf(raise: Raise, policy: ResizePolicy): string {
  const { resource, causes, cap } = raise;
  const usage = `Usage is ${shareText(resource, raise.used, raise.current)}`;
  const parts: string[] = [];
  if (causes.includes('demand')) {
    parts.push(`Workloads still need ${quantityText(resource, raise.demand)} that the quota denied.`);
    // The sentence about usage is part of the threshold's sentence.
    if (!causes.includes('threshold')) parts.push(`${usage}.`);
  }
  if (causes.includes('threshold')) {
    const share = percentOf(parseQuantity(raise.used), parseQuantity(raise.current));
    parts.push(
      `${usage}${share === null ? '' : ` (${share} %)`}, and the threshold is ${thresholdFor(policy, resource)} %.`,
    );
  }
  if (causes.includes('minimum')) {
    const minimum = quantityText(resource, minimumFor(policy, resource) ?? '0');
    parts.push(`The minimum is ${minimum} (${settingText(policy, 'min', resource)}).`);
  }
  if (raise.isCut && cap === null) {
    const limit = quantityText(resource, raise.proposed);
    parts.push(`A larger raise would wait for a person, so the limit is raised only to ${limit}.`);
  }
  if (cap !== null) {
    const lacking = cap.lacking === '0' ? '' : ` Workloads need ${quantityText(resource, cap.lacking)} more than that.`;
    parts.push(
      `The maximum is ${quantityText(resource, cap.maximum)} (${settingText(policy, 'max', resource)}).${lacking}`,
    );
  }
  return parts.join(' ');
}

/** `resizer.io/cpu-max on the namespace` */
function settingText(policy: ResizePolicy, setting: 'min' | 'max', resource: string): string {
  const { name, source } = settingFor(policy, setting, resource);
  if (source === 'guardrail') return `guardrail ${policy.guardrail.name}`;
  // A slash in the resource's name is an underscore in the annotation's name.
  const annotation = `${ANNOTATION_PREFIX}${name.replace('/', '_')}`;
  return source === 'default' ? annotation : `${annotation} on the ${source}`;
}

function evidenceOf(demand: WorkloadDemand): string {
  const workload = `${demand.workload.kind} ${demand.workload.name}`;
  const amounts = amountsText(demand.total);
  const { alike } = demand;
  if (alike !== undefined) {
    const those = `And ${grouped(alike)} more like it (${demand.workload.kind})`;
    const what =
      demand.basis === 'workload'
        ? `${those} still need ${amounts} for ${replicas(demand.missing)} that the quota denied.${surgeOf(demand)}`
        : `${those} were denied ${amounts}.`;
    return `${what} The last denial was at ${formatInstant(demand.lastSeen)}.`;
  }
  const what =
    demand.basis === 'workload'
      ? `${workload} still needs ${amounts} for ${replicas(demand.missing)} that the quota denied.${surgeOf(demand)}`
      : `The quota denied ${workload} ${amounts}.`;
  return `${what} The last denial was at ${formatInstant(demand.lastSeen)}.`;
}

/** `1,960`; without Intl, whose data differ between workers. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function surgeOf({ surge, later = 0 }: WorkloadDemand): string {
  return [
    surge > 0 ? ` A rolling update needs ${surge} of them, only while it lasts.` : '',
    later > 0 ? ` Room for ${replicas(later)} that the rolling update still has to replace is counted in.` : '',
  ].join('');
}

function replicas(count: number): string {
  return `${count} ${count === 1 ? 'replica' : 'replicas'}`;
}

/**
 * A line of the current details, such as `requests.cpu 2 → 3600m: Usage is 2 of 2 CPU (100 %), and the threshold is 80
 * %.`
 */
export function describeChange(change: LimitChange): string {
  return `${change.resource} ${change.from} → ${change.to}: ${change.reason}`;
}
