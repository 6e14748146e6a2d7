import { compareQuantities, isZero, multiplyByRatio, parseQuantity, type Quantity } from '../kernel/quantity.ts';
import { percentRatio } from '../kernel/percent.ts';
import { addLists, quantityIn, type ResourceList } from '../kernel/resource-list.ts';
import { type EpochMs, formatInstant } from '../kernel/time.ts';
import type { Gate, LimitChange } from './decision.ts';
import type { QuotaObservation, WorkloadDemand } from './observation.ts';
import { incrementFor, maxStepExceeded, type ResizePolicy, thresholdFor } from './policy.ts';
import { recommend } from './recommend.ts';
import { roundLimitUp } from './round.ts';
import type { Proposal } from './verdict.ts';

/**
 * What the quota needs, or null when nothing is under pressure.
 *
 * A refusal whose owner was read is what still misses now, however old its Event; a refusal known by its message alone
 * counts only when it was seen after `since`, the last change of ours: older ones are old news.
 */
export function computeNeed(seen: QuotaObservation, since: EpochMs | null): Proposal | null {
  if (seen.quota === null) return null;
  const { hard, used } = seen.quota;
  const counted = seen.demand.filter(
    (demand) => demand.basis === 'workload' || since === null || demand.lastSeen > since,
  );
  const demand = counted.reduce<ResourceList>((sum, one) => addLists(sum, one.total), {});
  const policy = {
    threshold: (resource: string) => thresholdFor(seen.policy, resource),
    increment: (resource: string) => incrementFor(seen.policy, resource),
  };
  const raises = recommend({ hard, used, demand, policy });
  if (raises.length === 0) return null;
  const changes = raises.map(
    (raise): LimitChange => ({
      resource: raise.resource,
      from: raise.current,
      to: raise.proposed,
      used: raise.used,
      demand: raise.demand,
      reason: reasonOf(raise, seen.policy),
    }),
  );
  const demanded = raises.filter((raise) => raise.causes.includes('demand')).map((raise) => raise.resource);
  return {
    changes,
    evidence: counted.filter((one) => demanded.some((resource) => Object.hasOwn(one.total, resource))).map(evidenceOf),
    unmetDemand: demanded.length > 0,
    demandByMessage: counted.some(
      (one) => one.basis === 'message' && demanded.some((resource) => Object.hasOwn(one.total, resource)),
    ),
    gate: gateOf(seen.policy, changes),
  };
}

/** Rewrites the proposed values in the unit that the manifest uses (`written`: the text of each resource in Git). */
export function asWritten(proposal: Proposal, written: ResourceList, policy: ResizePolicy): Proposal {
  const changes = proposal.changes.map((change) => {
    const text = written[change.resource];
    if (text === undefined) return change;
    return { ...change, to: roundLimitUp(change.resource, parseQuantity(change.to), text) };
  });
  return { ...proposal, changes, gate: gateOf(policy, changes) };
}

/** The values of a need, as one comparable text. */
export function needDigest(proposal: Pick<Proposal, 'changes'>): string {
  return proposal.changes
    .map((change) => `${change.resource}=${change.to}`)
    .toSorted()
    .join(',');
}

/**
 * Whether a need asks for so much more than `limits` that a decision for those is worth changing: a value at least one
 * increment greater, or any value greater where something refused is still missing.
 */
export function outgrows(need: Proposal, limits: ResourceList, policy: ResizePolicy): boolean {
  return need.changes.some((change) => {
    const wanted = parseQuantity(change.to);
    if (!Object.hasOwn(limits, change.resource)) return true;
    const decided = quantityIn(limits, change.resource);
    if (compareQuantities(wanted, decided) <= 0) return false;
    if (!isZero(parseQuantity(change.demand))) return true;
    return isIncrementAbove(change, decided, policy);
  });
}

/** Whether the proposed value is at least one increment of its resource above `limit`. */
export function isIncrementAbove(change: LimitChange, limit: Quantity, policy: ResizePolicy): boolean {
  const { numerator, denominator } = percentRatio(incrementFor(policy, change.resource));
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
 * The larger of a decision's and a need's value for each resource: an update never takes back what was asked for. A value
 * that grows stays in the unit of the decision, which is the manifest's.
 */
export function mergeChanges(decided: readonly LimitChange[], need: readonly LimitChange[]): readonly LimitChange[] {
  const byResource = new Map(decided.map((change) => [change.resource, change]));
  for (const change of need) {
    const old = byResource.get(change.resource);
    if (old === undefined || compareQuantities(parseQuantity(change.to), parseQuantity(old.to)) > 0) {
      const to = old === undefined ? change.to : roundLimitUp(change.resource, parseQuantity(change.to), old.to);
      byResource.set(change.resource, { ...change, to });
    }
  }
  return [...byResource.values()];
}

/** An approval by a person is needed for a step above the policy's max-step and for any raise from 0. */
export function gateOf(policy: ResizePolicy, changes: readonly LimitChange[]): Gate | null {
  const from = Object.fromEntries(changes.map((change) => [change.resource, change.from]));
  const to = Object.fromEntries(changes.map((change) => [change.resource, change.to]));
  const exceeded = maxStepExceeded(policy, from, to);
  const fromZero = exceeded.find((step) => isZero(parseQuantity(step.from)));
  if (fromZero !== undefined) {
    return {
      reason: 'RaiseFromZero',
      message: `${fromZero.resource} is 0 on purpose, raising it to ${fromZero.to} needs an approval`,
    };
  }
  const first = exceeded[0];
  if (first === undefined) return null;
  return {
    reason: 'MaxStepExceeded',
    message: `${first.resource} from ${first.from} to ${first.to} is more than ${policy.maxStep} × the limit (resizer.io/max-step) and needs an approval`,
  };
}

function reasonOf(
  raise: {
    resource: string;
    current: string;
    used: string;
    demand: string;
    causes: readonly ('threshold' | 'demand')[];
  },
  policy: ResizePolicy,
): string {
  const share = percentOf(raise.used, raise.current);
  const parts: string[] = [];
  if (raise.causes.includes('demand')) {
    parts.push(`refused workloads still miss ${raise.demand}, ${raise.used} of ${raise.current} is used`);
  }
  if (raise.causes.includes('threshold')) {
    parts.push(
      `used ${raise.used} of ${raise.current}${share === null ? '' : ` is ${share} %`}, the threshold is ${thresholdFor(policy, raise.resource)} %`,
    );
  }
  return parts.join('; ');
}

/** used/hard in percent, rounded down to a tenth; null when hard is 0. */
function percentOf(used: string, hard: string): string | null {
  const limit = parseQuantity(hard).nano;
  if (limit === 0n) return null;
  const tenths = (parseQuantity(used).nano * 1000n) / limit;
  return tenths % 10n === 0n ? `${tenths / 10n}` : `${tenths / 10n}.${tenths % 10n}`;
}

function evidenceOf(demand: WorkloadDemand): string {
  const amounts = Object.entries(demand.total)
    .map(([resource, amount]) => `${resource} ${amount}`)
    .join(', ');
  const what =
    demand.basis === 'workload'
      ? `misses ${demand.missing} ${demand.missing === 1 ? 'replica' : 'replicas'} (${amounts})`
      : `was refused ${amounts}`;
  return `${demand.workload.kind} ${demand.workload.name} ${what}, last refused ${formatInstant(demand.lastSeen)}`;
}

/** `requests.cpu 2 → 3600m: used 2 of 2 is 100 %, the threshold is 80 %`, a line of the current details. */
export function describeChange(change: LimitChange): string {
  return `${change.resource} ${change.from} → ${change.to}: ${change.reason}`;
}
