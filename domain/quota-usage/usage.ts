/** What the pods and claims of a namespace are charged by a quota, counted from the objects themselves. */
import { addQuantities, quantityOf } from '../kernel/quantity.ts';
import { maskList, type ResourceList, resourceEntries, resourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import { type Claim, claimCharge } from './claim-charge.ts';
import type { Pod } from './pod.ts';
import { isPodCompute, podCharge } from './pod-charge.ts';
import { claimInScopes, podInScopes, type QuotaScopes } from './scopes.ts';

/** A quota as far as it says what it counts. */
export interface CountingQuota extends QuotaScopes {
  readonly hard?: ResourceList | undefined;
}

/** Whether only claims are charged under this name. */
function isOfClaims(name: string): boolean {
  return (
    name === 'persistentvolumeclaims' ||
    name === 'count/persistentvolumeclaims' ||
    name === 'requests.storage' ||
    name.includes('.storageclass.storage.k8s.io/')
  );
}

/** Whether the quota limits something that claims are charged for. */
export function countsClaims(quota: CountingQuota): boolean {
  return Object.keys(quota.hard ?? {}).some(isOfClaims);
}

/** Whether the quota limits something that pods are charged for. */
export function countsPods(quota: CountingQuota): boolean {
  return Object.keys(quota.hard ?? {}).some(isPodCompute);
}

/**
 * The usage of every resource of the quota that pods or claims alone are charged for. Extended resources and devices are
 * left out: resource claims may be charged under the same names.
 */
export function countedUsage(
  quota: CountingQuota,
  objects: { readonly pods: readonly Pod[]; readonly claims: readonly Claim[] },
  now: EpochMs,
): ResourceList {
  const keys = Object.keys(quota.hard ?? {}).filter((key) => isPodCompute(key) || isOfClaims(key));
  const charges = [
    ...objects.pods.filter((pod) => podInScopes(quota, pod)).map((pod) => podCharge(pod, now)),
    ...objects.claims.filter((claim) => claimInScopes(quota, claim)).map(claimCharge),
  ];
  const sums = new Map(keys.map((key) => [key, quantityOf(0n)]));
  for (const charge of charges) {
    for (const [key, amount] of resourceEntries(maskList(charge, keys))) {
      sums.set(key, addQuantities(sums.get(key) ?? quantityOf(0n), amount));
    }
  }
  return resourceList(sums);
}
