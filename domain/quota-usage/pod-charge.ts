/**
 * What one pod is charged by a ResourceQuota, as Kubernetes 1.35 counts it (component-helpers `resource` and the pod
 * evaluator of `pkg/quota/v1`).
 */
import { isZero } from '../kernel/quantity.ts';
import { addLists, maskList, maxLists, type ResourceList, resourceEntries } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import { type Container, isPodLevelResource, isSidecar, type Pod, type ResourceRequirements } from './pod.ts';

/** What to leave out of a pod's requests and limits; a quota leaves out nothing. */
export interface PodResourcesOptions {
  /** Count what the node actually runs during an in-place resize. Default true. */
  readonly status?: boolean;
  /** Let the pod's own `resources` stand in for its containers'. Default true. */
  readonly podLevel?: boolean;
  /** Add the RuntimeClass's overhead. Default true. */
  readonly overhead?: boolean;
}

type Side = 'requests' | 'limits';

/** Kubernetes' Max: unlike a sum, a key that only one of them has is kept as it is. */
function maxOf(lists: readonly (ResourceList | undefined)[]): ResourceList {
  return lists.reduce<ResourceList>((max, list) => maxLists(max, list ?? {}), {});
}

function isResizeInfeasible(pod: Pod): boolean {
  return pod.status?.conditions?.find((condition) => condition.type === 'PodResizePending')?.reason === 'Infeasible';
}

/** What a running container counts with: during an in-place resize, the most of what is wanted and what is in use. */
function effectiveResources(pod: Pod, container: Container, side: Side): ResourceList {
  const wanted = container.resources?.[side];
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
  const status = statuses.findLast((one) => one.name === container.name);
  if (status?.resources === undefined) {
    return wanted ?? {};
  }
  const actuated = status.resources[side];
  const allocated = side === 'requests' ? status.allocatedResources : undefined;
  // What cannot be had is not counted.
  return isResizeInfeasible(pod) ? maxOf([actuated, allocated]) : maxOf([wanted, actuated, allocated]);
}

/**
 * max(Σ containers + Σ sidecars, max over init container i of (i + the sidecars before it)): init containers run one
 * after the other, each beside the sidecars that have started by then.
 */
function containerResources(pod: Pod, side: Side, status: boolean): ResourceList {
  const inUse = (container: Container) =>
    status ? effectiveResources(pod, container, side) : (container.resources?.[side] ?? {});
  let running = (pod.spec?.containers ?? []).reduce<ResourceList>((sum, one) => addLists(sum, inUse(one)), {});
  let sidecars: ResourceList = {};
  let starting: ResourceList = {};
  for (const init of pod.spec?.initContainers ?? []) {
    if (isSidecar(init)) {
      running = addLists(running, inUse(init));
      sidecars = addLists(sidecars, inUse(init));
      starting = maxLists(starting, sidecars);
    } else {
      // Of a step that runs to its end only the spec counts; it cannot be resized.
      starting = maxLists(starting, addLists(init.resources?.[side] ?? {}, sidecars));
    }
  }
  return maxLists(running, starting);
}

function podLevelResources(resources: ResourceRequirements | undefined, side: Side): ResourceList {
  const list = resources?.[side] ?? {};
  return maskList(list, Object.keys(list).filter(isPodLevelResource));
}

/** The requests of a pod by resource name: `cpu`, `memory`, `ephemeral-storage`, `nvidia.com/gpu`, … */
export function podRequests(pod: Pod, options: PodResourcesOptions = {}): ResourceList {
  const { status = true, podLevel = true, overhead = true } = options;
  const ofContainers = containerResources(pod, 'requests', status);
  const ofPod = podLevel ? { ...ofContainers, ...podLevelResources(pod.spec?.resources, 'requests') } : ofContainers;
  return addLists(ofPod, overhead ? (pod.spec?.overhead ?? {}) : {});
}

/** The limits of a pod by resource name. Overhead adds to a limit that is set, and makes none of its own. */
export function podLimits(pod: Pod, options: PodResourcesOptions = {}): ResourceList {
  const { status = true, podLevel = true, overhead = true } = options;
  const ofContainers = containerResources(pod, 'limits', status);
  const ofPod = podLevel ? { ...ofContainers, ...podLevelResources(pod.spec?.resources, 'limits') } : ofContainers;
  const limited = resourceEntries(ofPod)
    .filter(([, limit]) => !isZero(limit))
    .map(([resource]) => resource);
  return addLists(ofPod, overhead ? maskList(pod.spec?.overhead ?? {}, limited) : {});
}

/**
 * Whether a resource is an extended one, such as `nvidia.com/gpu`: a quota counts those as `requests.<name>` only.
 * Device classes are the one exception among the names of kubernetes.io.
 */
function isExtended(resource: string): boolean {
  if (resource.startsWith('deviceclass.resource.kubernetes.io/')) {
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

/** Every name under which a quota may count the same charge as under this one: `cpu` is `requests.cpu`. */
export function namesOfCharge(name: string): readonly string[] {
  const bare = name.replace(/^requests\./, '');
  const names = namesOfRequest(bare);
  return names.includes(name) ? names : [name];
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

/** Whether the pod still holds what it was given: it has not ended, and is not stuck in its deletion. */
function isCharged(pod: Pod, now: EpochMs): boolean {
  if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') {
    return false;
  }
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata ?? {};
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) {
    return true;
  }
  return now <= new Date(deletionTimestamp).getTime() + deletionGracePeriodSeconds * 1000;
}

/**
 * What a pod is charged, under every name that a quota may count it by (`cpu` and `requests.cpu` are the same charge
 * twice). Mask it with the keys of a quota's `hard`. A pod that has ended is charged `count/pods` only.
 *
 * A pod that is only a template is charged as it will be created: pass it through `withDefaults` first.
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
