/** How Kubernetes 1.35 counts each API resource for quotas, after the evaluators of `pkg/quota/v1`. */
import { type GroupResource, groupResourceName } from '../kernel/group-resource.ts';
import { type Claim, claimCharge, isClaimResource, namesOfStorage } from './volume-claim-charge.ts';
import { deviceCharge, isDeviceResource, mayStandForDevices, type ResourceClaim } from './resource-claim-charge.ts';
import type { Evaluator } from './evaluator.ts';
import { cachedByObject } from './cached-by-object.ts';
import { legacyCountResources, objectCharge, objectCountNames } from './object-count.ts';
import type { Pod } from './pod.ts';
import { isExtendedQuotaName, isPodCompute, cachedPodCharge, namesOfPodAmount } from './pod-charge.ts';
import { claimMatchesScope, podMatchesScope } from './scopes.ts';
import { type Service, serviceCharge, serviceResources } from './service-charge.ts';

const pods: GroupResource = { group: '', resource: 'pods' };
const deviceClasses: GroupResource = { group: 'resource.k8s.io', resource: 'deviceclasses' };

const cachedServiceCharge = cachedByObject((service: Service) => serviceCharge(service));
const cachedVolumeClaimCharge = cachedByObject((claim: Claim) => claimCharge(claim));

/** A quota with any scope counts none of these objects. */
const matchesNoScope = () => false;

export const podEvaluator: Evaluator = {
  resource: pods,
  reads: [],
  matchingResources: (names) => names.filter((name) => isPodCompute(name) || isExtendedQuotaName(name)),
  matchesScope: (requirement, pod) => podMatchesScope(requirement, pod as Pod),
  usage: (pod, { now }) => cachedPodCharge(pod as Pod, now),
  namesOfAmount: (_pod, amount) => namesOfPodAmount(amount),
};

const serviceEvaluator: Evaluator = {
  resource: { group: '', resource: 'services' },
  reads: [],
  matchingResources: (names) => names.filter((name) => serviceResources.some((service) => service === name)),
  matchesScope: matchesNoScope,
  usage: (service) => cachedServiceCharge(service as Service),
};

export const volumeClaimEvaluator: Evaluator = {
  resource: { group: '', resource: 'persistentvolumeclaims' },
  reads: [],
  matchingResources: (names) => names.filter((name) => isClaimResource(name)),
  matchesScope: (requirement, claim) => claimMatchesScope(requirement, claim as Claim),
  usage: (claim) => cachedVolumeClaimCharge(claim as Claim),
  namesOfAmount: (claim, { resource }) => (resource === 'storage' ? namesOfStorage(claim as Claim) : []),
};

const resourceClaimEvaluator: Evaluator = {
  resource: { group: 'resource.k8s.io', resource: 'resourceclaims' },
  reads: [pods, deviceClasses],
  needsReads: mayStandForDevices,
  matchingResources: (names, context) => names.filter((name) => isDeviceResource(name, context)),
  matchesScope: matchesNoScope,
  usage: (claim, context) => deviceCharge(claim as ResourceClaim, context),
};

/** Counts the objects of a resource that has no rules of its own. */
function objectCountEvaluator(resource: GroupResource): Evaluator {
  const counted = objectCountNames(resource);
  const charge = objectCharge(resource.resource, resource.group);
  return {
    resource,
    reads: [],
    matchingResources: (names) => names.filter((name) => counted.includes(name)),
    matchesScope: matchesNoScope,
    usage: () => charge,
  };
}

/** Resources with rules of their own, and those whose count has an older name too. */
export const staticEvaluators: readonly Evaluator[] = [
  podEvaluator,
  serviceEvaluator,
  volumeClaimEvaluator,
  resourceClaimEvaluator,
  ...legacyCountResources.map((resource) => objectCountEvaluator({ group: '', resource })),
];

/** What counts the objects of a resource. */
export function evaluatorFor(resource: GroupResource): Evaluator {
  const name = groupResourceName(resource);
  return (
    staticEvaluators.find((evaluator) => groupResourceName(evaluator.resource) === name) ??
    objectCountEvaluator(resource)
  );
}

/**
 * The static evaluators, and an object count for every other known resource. Build the list when the known resources
 * change, not for every count.
 */
export function evaluatorsFor(existing: readonly GroupResource[]): readonly Evaluator[] {
  return [...new Set([...staticEvaluators, ...existing.map((resource) => evaluatorFor(resource))])];
}
