/**
 * What a ResourceQuota charges for one pod, as in Kubernetes 1.35 (component-helpers `resource` and the pod evaluator
 * of `pkg/quota/v1`).
 */
import { containersTogether, type Sums } from '../kernel/containers-together.ts';
import {
  addAmounts,
  type Amounts,
  amountsIn,
  maxAmounts,
  type ResourceList,
  resourceList,
} from '../kernel/resource-list.ts';
import { isPodLevelResource } from '../kernel/stored-pod.ts';
import type { EpochMs } from '../kernel/time.ts';
import { cachedByObject } from './cached-by-object.ts';
import type { UnreadableAmount } from './readable-part.ts';
import type { Container, ContainerStatus, Pod } from './pod.ts';

/** What to leave out of a pod's requests and limits; a quota leaves out nothing. */
export interface PodResourcesOptions {
  /** Include what the node runs during an in-place resize. Default true. */
  readonly status?: boolean;
  /** Let the pod-level `resources` replace the containers'. Default true. */
  readonly podLevel?: boolean;
  /** Add the RuntimeClass's overhead. Default true. */
  readonly overhead?: boolean;
}

type Side = 'requests' | 'limits';

/** A pod may ask for a device of a class as for an extended resource of this name. */
export const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

const NOTHING: Amounts = new Map();
const SUMS: Sums<Amounts> = { none: NOTHING, add: addAmounts, max: maxAmounts };

function isResizeInfeasible(pod: Pod): boolean {
  return pod.status?.conditions?.find((condition) => condition.type === 'PodResizePending')?.reason === 'Infeasible';
}

/** A running container's resources: during an in-place resize, the maximum of the wanted and the present ones. */
function effectiveResources(pod: Pod, container: Container, side: Side): Amounts {
  const wanted = container.resources?.[side];
  const named = (status: ContainerStatus) => status.name === container.name;
  // If two statuses have the container's name, Kubernetes takes the last one.
  const status = pod.status?.initContainerStatuses?.findLast(named) ?? pod.status?.containerStatuses?.findLast(named);
  if (status?.resources === undefined) {
    return amountsIn(wanted);
  }
  const actuated = status.resources[side];
  const allocated = side === 'requests' ? status.allocatedResources : undefined;
  // An infeasible resize is not counted.
  const counted = isResizeInfeasible(pod) ? [actuated, allocated] : [wanted, actuated, allocated];
  return counted.reduce<Amounts>((max, list) => (list === undefined ? max : maxAmounts(max, amountsIn(list))), NOTHING);
}

/** What its containers request, or are limited to, together. */
function containerResources({ spec, ...pod }: Pod, side: Side, status: boolean): Amounts {
  return containersTogether(
    { containers: spec?.containers ?? [], initContainers: spec?.initContainers ?? [] },
    (container, isPassing) =>
      status && !isPassing ? effectiveResources(pod, container, side) : amountsIn(container.resources?.[side]),
    SUMS,
  );
}

/** The pod-level resources, where set, in place of the sum of the containers'. */
function podResources(pod: Pod, side: Side, { status = true, podLevel = true }: PodResourcesOptions): Amounts {
  const ofContainers = containerResources(pod, side, status);
  const ofPod = podLevel ? amountsIn(pod.spec?.resources?.[side]) : NOTHING;
  return new Map([...ofContainers, ...[...ofPod].filter(([resource]) => isPodLevelResource(resource))]);
}

function requestsOf(pod: Pod, options: PodResourcesOptions): Amounts {
  const ofPod = podResources(pod, 'requests', options);
  return options.overhead === false ? ofPod : addAmounts(ofPod, amountsIn(pod.spec?.overhead));
}

function limitsOf(pod: Pod, options: PodResourcesOptions): Amounts {
  const ofPod = podResources(pod, 'limits', options);
  const overhead = options.overhead === false ? NOTHING : amountsIn(pod.spec?.overhead);
  return addAmounts(ofPod, new Map([...overhead].filter(([resource]) => (ofPod.get(resource)?.nano ?? 0n) !== 0n)));
}

/** The requests of a pod by resource name: `cpu`, `memory`, `ephemeral-storage`, `nvidia.com/gpu`, … */
export function podRequests(pod: Pod, options: PodResourcesOptions = {}): ResourceList {
  return resourceList(requestsOf(pod, options));
}

/** The limits of a pod by resource name. Overhead increases an existing limit but does not create one. */
export function podLimits(pod: Pod, options: PodResourcesOptions = {}): ResourceList {
  return resourceList(limitsOf(pod, options));
}

/**
 * Whether a resource is an extended one, such as `nvidia.com/gpu`: quotas count those only as `requests.<name>`. Device
 * classes are the only extended resources with a kubernetes.io name.
 */
function isExtended(resource: string): boolean {
  if (resource.startsWith(DEVICE_CLASS_PREFIX)) {
    return true;
  }
  return resource.includes('/') && !resource.includes('kubernetes.io/') && !resource.startsWith('requests.');
}

/** The names under which a quota counts the request of a resource; none for one that quotas do not know. */
function namesOfRequest(resource: string): readonly string[] {
  if (resource === 'cpu' || resource === 'memory' || resource === 'ephemeral-storage') {
    return [resource, `requests.${resource}`];
  }
  if (resource.startsWith('hugepages-')) {
    return [resource, `requests.${resource}`];
  }
  return isExtended(resource) ? [`requests.${resource}`] : [];
}

function namesOfLimit(resource: string): readonly string[] {
  return resource === 'cpu' || resource === 'memory' || resource === 'ephemeral-storage' ? [`limits.${resource}`] : [];
}

function renamed(list: ResourceList, names: (resource: string) => readonly string[]): ResourceList {
  return Object.fromEntries(
    Object.entries(list).flatMap(([resource, amount]) => names(resource).map((name) => [name, amount] as const)),
  );
}

/** The names under which a quota would count an amount of a pod that cannot be read. */
export function namesOfPodAmount({ list, resource }: UnreadableAmount): readonly string[] {
  switch (list) {
    case 'requests':
    case 'allocatedResources':
      return namesOfRequest(resource);
    case 'limits':
      return namesOfLimit(resource);
    case 'overhead':
      return [...namesOfRequest(resource), ...namesOfLimit(resource)];
  }
}

/** All names under which a quota may count the same charge: `cpu` and `requests.cpu`. */
export function namesOfCharge(name: string): readonly string[] {
  const bare = name.replace(/^requests\./, '');
  const names = namesOfRequest(bare);
  return names.includes(name) ? names : [name];
}

/**
 * Whether a name in a quota's `hard` is an extended resource: `requests.nvidia.com/gpu`, or a device class such as
 * `requests.deviceclass.resource.kubernetes.io/<class>`. Pods are charged under it, and resource claims may be.
 */
export function isExtendedQuotaName(name: string): boolean {
  const isForeign = name.includes('/') && !name.includes('kubernetes.io/');
  return name.startsWith('requests.') && (isForeign || name.startsWith(`requests.${DEVICE_CLASS_PREFIX}`));
}

/** Whether only pods are charged under this name, so that a quota's usage of it can be counted from them. */
export function isPodCompute(name: string): boolean {
  return (
    name === 'pods' ||
    name === 'count/pods' ||
    /^(?:(?:requests|limits)\.)?(?:cpu|memory|ephemeral-storage)$/.test(name) ||
    /^(?:requests\.)?hugepages-/.test(name)
  );
}

/** Whether the pod is still charged: it has not terminated and is not stuck in its deletion. */
export function isCharged(pod: Pod, now: EpochMs): boolean {
  if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') {
    return false;
  }
  const stuckFrom = stuckInDeletionFrom(pod);
  return stuckFrom === null || now < stuckFrom;
}

/**
 * When a pod that is being deleted counts as stuck, so that it does not prevent others from starting when its node is
 * lost. Null for a pod that was not deleted. The deletion timestamp already includes one grace period; Kubernetes waits
 * for another one.
 */
export function stuckInDeletionFrom(pod: Pod): EpochMs | null {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {};
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) {
    return null;
  }
  return new Date(deletionTimestamp).getTime() + deletionGracePeriodSeconds * 1000 + 1;
}

/**
 * The charge of a pod under every name that a quota may use (`cpu` and `requests.cpu` are the same charge). Mask it
 * with the keys of a quota's `hard`. A terminated pod is charged only `count/pods`.
 *
 * For a pod template, call `storedPodSpec` of the kernel first, so that it is charged like the pod that will be created.
 */
export function podCharge(pod: Pod, now: EpochMs): ResourceList {
  const stored: ResourceList = { 'count/pods': '1' };
  if (!isCharged(pod, now)) {
    return stored;
  }
  const requests = renamed(podRequests(pod), namesOfRequest);
  const limits = renamed(podLimits(pod), namesOfLimit);
  return { ...stored, pods: '1', ...requests, ...limits };
}

/** The part of a pod's charge that does not depend on time. */
const timelessCharge = cachedByObject((pod: Pod) => podCharge(pod, 0));

/**
 * Like `podCharge`, but cached per pod object, because namespaces with thousands of pods are counted again and again.
 */
export function cachedPodCharge(pod: Pod, now: EpochMs): ResourceList {
  return stuckInDeletionFrom(pod) === null ? timelessCharge(pod) : podCharge(pod, now);
}
