/** Which changes of an object can change a quota's usage, and when usage changes without one. */
import { type GroupResource, groupResourceName } from '../kernel/group-resource.ts';
import { QuantityError } from '../kernel/quantity.ts';
import { equalLists } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import { changesDevices, type ResourceClaim } from './resource-claim-charge.ts';
import type { CountedObject } from './evaluator.ts';
import type { ContainerStatus, Pod } from './pod.ts';
import { isCharged, cachedPodCharge, stuckInDeletionFrom } from './pod-charge.ts';
import { isTerminating, podScopeTraits } from './scopes.ts';
import { quotaServiceType, type Service, serviceCharge } from './service-charge.ts';

/** A DeviceClass, as far as it says what its devices are counted as. */
interface DeviceClass {
  readonly spec?: { readonly extendedResourceName?: string | undefined } | undefined;
}

/** Kubernetes distinguishes empty resources from absent ones. */
function runsWithOther(before: ContainerStatus, after: ContainerStatus): boolean {
  const [was, is] = [before.resources, after.resources];
  if (was === undefined || is === undefined) {
    return was !== is;
  }
  return !equalLists(was.requests ?? {}, is.requests ?? {}) || !equalLists(was.limits ?? {}, is.limits ?? {});
}

function resizes(before: readonly ContainerStatus[] = [], after: readonly ContainerStatus[] = []): boolean {
  return before.some((was) => {
    const is = after.find(({ name }) => name === was.name);
    return is !== undefined && runsWithOther(was, is);
  });
}

function podReplenishes(before: Pod, after: Pod, now: EpochMs): boolean {
  return (
    resizes(before.status?.containerStatuses, after.status?.containerStatuses) ||
    resizes(before.status?.initContainerStatuses, after.status?.initContainerStatuses) ||
    isTerminating(before) !== isTerminating(after) ||
    (isCharged(before, now) && !isCharged(after, now))
  );
}

/**
 * Kubernetes' own filter of updates (DefaultUpdateFilter), for clusters whose admission charges increases: whether an
 * update may reduce a quota's usage. Updates never do for resources that are only counted.
 */
export function replenishes(
  resource: GroupResource,
  before: CountedObject,
  after: CountedObject,
  now: EpochMs,
): boolean {
  switch (groupResourceName(resource)) {
    case 'pods':
      return podReplenishes(before as Pod, after as Pod, now);
    case 'services':
      return quotaServiceType(before as Service) !== quotaServiceType(after as Service);
    case 'persistentvolumeclaims':
      // Kubernetes compares the pointers of the allocated storage and not the values, and those always differ, so every
      // update of a claim counts. That is harmless, because claims rarely change.
      return true;
    default:
      return false;
  }
}

function podChangesUsage(before: Pod, after: Pod, now: EpochMs): boolean {
  const claimOf = (pod: Pod) => pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  const [was, is] = [podScopeTraits(before), podScopeTraits(after)];
  return (
    was.some((trait, index) => trait !== is[index]) ||
    !equalLists(cachedPodCharge(before, now), cachedPodCharge(after, now)) ||
    // A claim that the pod names is charged only what the pod itself is not.
    claimOf(before) !== claimOf(after)
  );
}

function changesCharge(resource: GroupResource, before: CountedObject, after: CountedObject, now: EpochMs): boolean {
  switch (groupResourceName(resource)) {
    case 'pods':
      return podChangesUsage(before as Pod, after as Pod, now);
    case 'services':
      return !equalLists(serviceCharge(before as Service), serviceCharge(after as Service));
    case 'resourceclaims.resource.k8s.io':
      return changesDevices(before as ResourceClaim, after as ResourceClaim);
    case 'deviceclasses.resource.k8s.io':
      return (before as DeviceClass).spec?.extendedResourceName !== (after as DeviceClass).spec?.extendedResourceName;
    default:
      return false;
  }
}

/**
 * Whether an update may change any quota's usage, in either direction: by `replenishes`, by another charge, or by
 * another scope. A device class is not counted itself but affects the claims of all namespaces. An update of an object with an
 * amount that cannot be read may change anything.
 */
export function changesUsage(
  resource: GroupResource,
  before: CountedObject,
  after: CountedObject,
  now: EpochMs,
): boolean {
  try {
    return replenishes(resource, before, after, now) || changesCharge(resource, before, after, now);
  } catch (error) {
    if (error instanceof QuantityError) return true;
    throw error;
  }
}

/**
 * When the object stops being charged without a change: a pod that is stuck in its deletion. Null when never; may be in
 * the past.
 */
export function chargeEndsAt(resource: GroupResource, object: CountedObject): EpochMs | null {
  if (groupResourceName(resource) !== 'pods') {
    return null;
  }
  const pod = object as Pod;
  const stuckFrom = stuckInDeletionFrom(pod);
  // A pod that has terminated is not charged before that moment either.
  return stuckFrom !== null && isCharged(pod, stuckFrom - 1) ? stuckFrom : null;
}
