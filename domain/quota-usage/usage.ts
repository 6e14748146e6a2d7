/** What the pods and claims of a namespace are charged by a quota, counted from the objects themselves. */
import type { ResourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import { calculateUsage, type ObjectsOf } from './calculate.ts';
import { type Claim, isClaimResource } from './volume-claim-charge.ts';
import { podEvaluator, volumeClaimEvaluator } from './evaluators.ts';
import type { Pod } from './pod.ts';
import { isPodCompute } from './pod-charge.ts';
import type { CountingQuota } from './scopes.ts';

export type { CountingQuota } from './scopes.ts';

/** Whether the quota limits something that claims are charged for. */
export function countsClaims(quota: CountingQuota): boolean {
  return Object.keys(quota.hard ?? {}).some(isClaimResource);
}

/** Whether the quota limits something that pods are charged for. */
export function countsPods(quota: CountingQuota): boolean {
  return Object.keys(quota.hard ?? {}).some(isPodCompute);
}

/** Whether only pods or claims are charged for the resource. */
export function isOfPodsOrClaims(resource: string): boolean {
  return isPodCompute(resource) || isClaimResource(resource);
}

/**
 * The usage of every resource in the quota that only pods or claims are charged for. Extended resources and devices are
 * omitted: resource claims may be charged under the same names.
 */
export function countedUsage(
  quota: CountingQuota,
  objects: { readonly pods: readonly Pod[]; readonly claims: readonly Claim[] },
  now: EpochMs,
): ResourceList {
  const { hard = {} } = quota;
  const ofPodsOrClaims = Object.entries(hard).filter(([name]) => isOfPodsOrClaims(name));
  const objectsOf: ObjectsOf = ({ resource }) => ({
    objects: resource === podEvaluator.resource.resource ? objects.pods : objects.claims,
  });
  const context = { now, deviceClasses: new Map<string, null>(), podNamed: () => undefined };
  const counting = { ...quota, hard: Object.fromEntries(ofPodsOrClaims) };
  return calculateUsage(counting, [podEvaluator, volumeClaimEvaluator], objectsOf, context).used;
}
