/** Which objects a ResourceQuota counts: its `scopes` and its `scopeSelector`, both of which must match. */
import { parseQuantity } from '../kernel/quantity.ts';
import type { ResourceList } from '../kernel/resource-list.ts';
import type { Claim } from './volume-claim-charge.ts';
import type { Pod, PodSpec, ResourceRequirements } from './pod.ts';

/** One condition of a quota, as in `scopeSelector.matchExpressions`. */
export interface ScopeRequirement {
  readonly scopeName: string;
  /** In, NotIn, Exists or DoesNotExist. */
  readonly operator?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

/** The part of a ResourceQuota's spec that says which objects it counts. */
export interface QuotaScopes {
  readonly scopes?: readonly string[] | undefined;
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeRequirement[] | undefined } | undefined;
}

/** A quota as far as it says what it counts. */
export interface CountingQuota extends QuotaScopes {
  readonly hard?: ResourceList | undefined;
}

/** All conditions of the quota; `scopes` are converted to the form of the selector. */
export function requirementsOf(quota: QuotaScopes): readonly ScopeRequirement[] {
  const named = (quota.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...named, ...(quota.scopeSelector?.matchExpressions ?? [])];
}

/** Whether one of the classes that an object names satisfies the operator; NotIn also matches an object that names none. */
function matchesClass(requirement: ScopeRequirement, classes: readonly string[]): boolean {
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'Exists':
      return classes.length > 0;
    case 'DoesNotExist':
      return classes.length === 0;
    case 'In':
      return classes.some((name) => values.includes(name));
    case 'NotIn':
      return classes.length === 0 || classes.some((name) => !values.includes(name));
    default:
      return false;
  }
}

function isPositiveCompute([resource, amount]: readonly [string, string]): boolean {
  return (resource === 'cpu' || resource === 'memory') && parseQuantity(amount).nano > 0n;
}

function asksForCompute(resources: ResourceRequirements | undefined): boolean {
  return [resources?.requests, resources?.limits].some((list) => Object.entries(list ?? {}).some(isPositiveCompute));
}

/**
 * A pod is best effort when none of its containers requests cpu or memory; the class in its status takes precedence.
 */
function isBestEffort(pod: Pod): boolean {
  const given = pod.status?.qosClass;
  if (given !== undefined && given !== '') {
    return given === 'BestEffort';
  }
  if (pod.spec?.resources !== undefined) {
    return !asksForCompute(pod.spec.resources);
  }
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return !containers.some((container) => asksForCompute(container.resources));
}

export function isTerminating(pod: Pod): boolean {
  return (pod.spec?.activeDeadlineSeconds ?? -1) >= 0;
}

/** Whether a term of the pod's (anti-)affinity refers to pods of other namespaces. */
function crossesNamespaces(affinity: PodSpec['affinity']): boolean {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((terms) => [
    ...(terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((preferred) => preferred.podAffinityTerm),
  ]);
  return terms.some((term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined);
}

/** Whether a pod satisfies one condition of a quota. A scope that is not for pods never matches. */
export function podMatchesScope(requirement: ScopeRequirement, pod: Pod): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass': {
      const name = pod.spec?.priorityClassName ?? '';
      return matchesClass(requirement, name === '' ? [] : [name]);
    }
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(pod.spec?.affinity);
    default:
      return false;
  }
}

/** Whether a quota counts this pod, a template's pod after `withDefaults` included. */
export function podInScopes(quota: QuotaScopes, pod: Pod): boolean {
  return requirementsOf(quota).every((requirement) => podMatchesScope(requirement, pod));
}

/**
 * Everything in a pod that the scopes of a quota depend on, to detect changes. The class of quality of service is
 * included although it does not change after creation.
 */
export function podScopeTraits(pod: Pod): readonly (boolean | string)[] {
  return [
    isTerminating(pod),
    isBestEffort(pod),
    pod.spec?.priorityClassName ?? '',
    crossesNamespaces(pod.spec?.affinity),
  ];
}

/** Whether a claim satisfies one condition of a quota: the only scope of claims is the class of volume attributes. */
export function claimMatchesScope(requirement: ScopeRequirement, claim: Claim): boolean {
  if (requirement.scopeName !== 'VolumeAttributesClass') {
    return false;
  }
  // A volume that is changing its class counts for both.
  const classes = [
    claim.spec?.volumeAttributesClassName,
    claim.status?.currentVolumeAttributesClassName,
    claim.status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].flatMap((name) => (name ? [name] : []));
  return matchesClass(requirement, classes);
}

/** Whether a quota counts this claim. */
export function claimInScopes(quota: QuotaScopes, claim: Claim): boolean {
  return requirementsOf(quota).every((requirement) => claimMatchesScope(requirement, claim));
}

/**
 * Whether a quota counts objects other than pods and claims: they match no scope, so only a quota without scopes does.
 */
export function countsOtherObjects(quota: QuotaScopes): boolean {
  return requirementsOf(quota).length === 0;
}
