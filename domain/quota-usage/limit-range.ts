/** What the API server adds to a pod's resources at admission: its own defaults, then those of the LimitRanges. */
import { maskList, type ResourceList } from '../kernel/resource-list.ts';
import { type Container, isPodLevelResource, type PodSpec, type ResourceRequirements } from './pod.ts';
import { podLimits, podRequests } from './pod-charge.ts';

/** A LimitRange in the shape of Kubernetes' JSON. */
export interface LimitRange {
  readonly spec?:
    | {
        readonly limits: readonly {
          readonly type: string;
          /** The limit of a container that states none. */
          readonly default?: ResourceList | undefined;
          /** The request of a container that states none. */
          readonly defaultRequest?: ResourceList | undefined;
        }[];
      }
    | undefined;
}

/** A container with a limit and no request requests its limit. */
function withRequestsFromLimits(container: Container): Container {
  const { requests, limits } = container.resources ?? {};
  return limits === undefined
    ? container
    : { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

/** Pod-level defaults of Kubernetes 1.34 and later, for a pod with resources of its own. */
function withPodLevelDefaults(spec: PodSpec): PodSpec {
  const stated = spec.resources;
  if (stated === undefined || Object.keys({ ...stated.requests, ...stated.limits }).length === 0) {
    return spec;
  }
  const containersOnly = { status: false, podLevel: false, overhead: false };
  const ofContainers = podRequests({ spec }, containersOnly);
  const limitsOfContainers = podLimits({ spec }, containersOnly);
  const hugePages = maskList(
    limitsOfContainers,
    Object.keys(limitsOfContainers).filter(
      (name) => name.startsWith('hugepages-') && !Object.hasOwn(stated.requests ?? {}, name),
    ),
  );
  const limits: ResourceList = { ...hugePages, ...stated.limits };
  if (Object.keys(limits).length === 0) {
    return spec;
  }
  // Huge pages cannot be overcommitted: their request is the pod's limit, never the containers' sum.
  const overcommittable = maskList(
    ofContainers,
    Object.keys(ofContainers).filter((name) => isPodLevelResource(name) && !name.startsWith('hugepages-')),
  );
  const fromLimits = maskList(limits, Object.keys(limits).filter(isPodLevelResource));
  const requests: ResourceList = { ...fromLimits, ...overcommittable, ...stated.requests };
  return { ...spec, resources: { ...stated, requests, limits } };
}

function withContainerDefaults(container: Container, defaults: ResourceRequirements): Container {
  const { requests, limits } = container.resources ?? {};
  return {
    ...container,
    resources: {
      ...container.resources,
      requests: { ...defaults.requests, ...requests },
      limits: { ...defaults.limits, ...limits },
    },
  };
}

/** The container defaults of several LimitRanges: for each resource, the first one. */
function containerDefaults(limitRanges: readonly LimitRange[]): ResourceRequirements {
  let requests: ResourceList = {};
  let limits: ResourceList = {};
  for (const limitRange of limitRanges) {
    // Within one LimitRange a later item overrides an earlier one; across LimitRanges the first value stays.
    const items = (limitRange.spec?.limits ?? []).filter((item) => item.type === 'Container');
    requests = { ...Object.assign({}, ...items.map((item) => item.defaultRequest)), ...requests };
    limits = { ...Object.assign({}, ...items.map((item) => item.default)), ...limits };
  }
  return { requests, limits };
}

function mapContainers(spec: PodSpec, change: (container: Container) => Container): PodSpec {
  return {
    ...spec,
    containers: (spec.containers ?? []).map(change),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(change) }),
  };
}

/**
 * A pod template's spec as the API server would store the pod: requests default to limits, pod-level resources to those
 * of the containers, and the namespace's LimitRanges fill in the rest.
 */
export function withDefaults(spec: PodSpec, limitRanges: readonly LimitRange[]): PodSpec {
  const defaulted = withPodLevelDefaults(mapContainers(spec, withRequestsFromLimits));
  const defaults = containerDefaults(limitRanges);
  return mapContainers(defaulted, (container) => withContainerDefaults(container, defaults));
}
