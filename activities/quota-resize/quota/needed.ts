/** What quotas of a namespace need by what is in the cluster now, whatever anybody says of it. */
import type { Logger } from 'pino';
import { maskList, maxLists } from '../../../domain/kernel/resource-list.ts';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import { type DecisionFacts, decidedLimits } from '../../../domain/quota-resize/model/decision.ts';
import type { Proposal } from '../../../domain/quota-resize/model/verdict.ts';
import type { PolicyDefaults } from '../../../domain/quota-resize/policy/policy.ts';
import { type NeededLimits, needOf } from '../../../domain/quota-resize/sizing/needed.ts';
import type { UsageMode } from '../../../domain/quota-usage/mode.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { LeaseStore } from '../lease/lease.ts';
import { countIn } from './counted-usage.ts';
import { NamespaceView } from './namespace-view.ts';
import { limitsOf, observeNamespace } from './observe-quota.ts';
import type { RecentObservations } from './recent-observations.ts';
import { policyOf } from './policy-of-quota.ts';

export interface NeedOptions {
  /** What this worker has just observed. Absent: the cluster is read. */
  readonly recent?: RecentObservations;
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
  readonly leases: LeaseStore;
  readonly usage: UsageMode;
  readonly log: Pick<Logger, 'warn'>;
}

/** What each quota needs, by its name; what needs nothing, or is not there, has no entry. */
type Requirements = ReadonlyMap<string, Proposal>;

/**
 * The requirements of the quotas that a decision raises, computed as `decide` computes them, but for what only the
 * message of an Event tells. A quota that is raised along
 * needs something only where it lacks room for the same workloads.
 *
 * In the modes with counted usage the starters count, which nobody asks from here: pods and claims are counted here then, and the
 * greater of both numbers is believed.
 */
export async function readRequirements(
  { kubernetes, policyDefaults, leases, usage, log, recent }: NeedOptions,
  target: QuotaTarget,
  { batchedQuotas = [] }: Pick<DecisionFacts, 'batchedQuotas'>,
): Promise<Requirements> {
  const { namespace: name } = target;
  const known = recent?.of(target) ?? null;
  const namespace = known === null ? await orNull(kubernetes.core.readNamespace({ name })) : known.namespace;
  const policyFor = (quota: Parameters<typeof policyOf>[3]) => policyOf(policyDefaults, name, namespace, quota).policy;
  const seen = known?.surroundings ?? (await observeNamespace({ kubernetes, log, usage }, target, policyFor));
  if (seen.quota === null) return new Map();
  const along = batchedQuotas.map(({ quota }) => quota);
  const own = { object: seen.quota, demand: seen.demand, contradictions: seen.contradictions };
  const others = seen.otherQuotas.filter(({ object }) => along.includes(object.metadata?.name ?? ''));
  const quotas = [own, ...others];
  const objects = quotas.map(({ object }) => object);
  const count = usage === 'off' ? () => ({}) : await countIn(new NamespaceView(kubernetes, name), objects);
  const needed = new Map<string, Proposal>();
  for (const { object, demand, contradictions } of quotas) {
    const quota = object.metadata?.name ?? '';
    const { lastModified } = await leases.read({ ...target, quota });
    const limits = limitsOf(object);
    const used = maxLists(limits.used, maskList(count(object), Object.keys(limits.hard)));
    const facts = { usage, quota: { ...limits, used }, policy: policyFor(object), demand, contradictions };
    const requirement = needOf(facts, lastModified);
    if (requirement !== null) needed.set(quota, requirement);
  }
  return needed;
}

/** Reads the requirements of the quotas that a decision raises. */
export type ReadRequirements = (
  target: QuotaTarget,
  decision: Pick<DecisionFacts, 'batchedQuotas'>,
) => Promise<Requirements>;

/** Reads those of the same quotas once, however often it is asked. */
export function requirementsOnce(options: NeedOptions): ReadRequirements {
  const read = new Map<string, Promise<Requirements>>();
  return async (target, decision) => {
    const key = [targetName(target), ...(decision.batchedQuotas ?? []).map(({ quota }) => quota)].join(' ');
    const known = read.get(key) ?? readRequirements(options, target, decision);
    read.set(key, known);
    return await known;
  };
}

/** The limits of these requirements. */
export function neededLimits(requirements: Requirements): NeededLimits {
  return Object.fromEntries([...requirements].map(([quota, requirement]) => [quota, decidedLimits(requirement)]));
}
