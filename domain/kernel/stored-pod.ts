/**
 * A pod template is not a stored pod. What Kubernetes 1.35 fills in when a pod of it is created, in its order: the defaults of the API
 * (`SetDefaults_Pod`), then the admission plugins RuntimeClass and LimitRanger, which are on by default.
 */
import { containersTogether, type Sums } from './containers-together.ts';
import { isQuantity } from './quantity.ts';
import { addAmounts, type Amounts, amountsIn, maxAmounts, type ResourceList, resourceList } from './resource-list.ts';

interface ResourceRequirements {
  readonly requests?: ResourceList | undefined;
  readonly limits?: ResourceList | undefined;
}

interface ContainerPort {
  readonly containerPort?: number;
  readonly hostPort?: number | undefined;
}

interface Container {
  readonly resources?: ResourceRequirements | undefined;
  readonly restartPolicy?: string | undefined;
  readonly ports?: readonly ContainerPort[] | undefined;
}

/** What of a template's spec is filled in, in the shape of Kubernetes' JSON. */
export interface TemplateSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[] | undefined;
  /** Resources of the pod as a whole. */
  readonly resources?: ResourceRequirements | undefined;
  readonly overhead?: ResourceList | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly tolerations?: readonly object[] | undefined;
}

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

/** A RuntimeClass in the shape of Kubernetes' JSON. */
export interface RuntimeClass {
  readonly overhead?: { readonly podFixed?: ResourceList | undefined } | undefined;
  readonly scheduling?:
    | {
        readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
        readonly tolerations?: readonly object[] | undefined;
      }
    | undefined;
}

export interface PodSurroundings {
  /** The LimitRanges of the pod's namespace. */
  readonly limitRanges: readonly LimitRange[];
  /** The one that the template names; null where it names none, or one that does not exist: its pods are refused then. */
  readonly runtimeClass: RuntimeClass | null;
}

const SUMS: Sums<Amounts> = { none: new Map(), add: addAmounts, max: maxAmounts };

/** Whether the pod's own `resources` may name this resource: cpu, memory and huge pages. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

/**
 * The spec of the pod that the API server would store: requests default to limits, pod-level resources to those of the containers, host
 * ports of a pod in the host's network to its ports; a RuntimeClass adds its overhead, selector and tolerations, and the LimitRanges
 * fill in the rest.
 */
export function storedPodSpec<Spec extends TemplateSpec>(
  template: Spec,
  { limitRanges, runtimeClass }: PodSurroundings,
): Spec {
  const defaulted = withApiDefaults(template);
  const classed = runtimeClass === null ? defaulted : withRuntimeClass(defaulted, runtimeClass);
  const defaults = containerDefaults(limitRanges);
  const admitted = mapContainers(classed, (container) => withContainerDefaults(container, defaults));
  // The API server reads what it has stored with its own defaults once more.
  return withApiDefaults(admitted);
}

function withApiDefaults<Spec extends TemplateSpec>(spec: Spec): Spec {
  const withPorts = spec.hostNetwork === true ? mapContainers(spec, withHostPorts) : spec;
  return withPodLevelDefaults(mapContainers(withPorts, withRequestsFromLimits));
}

function mapContainers<Spec extends TemplateSpec>(spec: Spec, change: (container: Container) => Container): Spec {
  const { containers = [], initContainers } = spec;
  return {
    ...spec,
    containers: containers.map(change),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(change) }),
  };
}

/** A container with a limit and no request requests its limit. */
function withRequestsFromLimits(container: Container): Container {
  const { requests, limits } = container.resources ?? {};
  return limits === undefined
    ? container
    : { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

function withHostPorts(container: Container): Container {
  const { ports } = container;
  if (ports === undefined) return container;
  const open = ({ hostPort = 0, ...port }: ContainerPort): ContainerPort => ({
    ...port,
    hostPort: hostPort === 0 ? (port.containerPort ?? 0) : hostPort,
  });
  return { ...container, ports: ports.map(open) };
}

/** Pod-level defaults of Kubernetes 1.34 and later, for a pod with resources of its own. */
function withPodLevelDefaults<Spec extends TemplateSpec>(spec: Spec): Spec {
  const stated = spec.resources;
  if (stated === undefined || Object.keys({ ...stated.requests, ...stated.limits }).length === 0) return spec;
  const ofContainers = together(spec, 'requests');
  const hugePages = masked(
    together(spec, 'limits'),
    (name) => isHugePages(name) && !Object.hasOwn(stated.requests ?? {}, name),
  );
  const limits: ResourceList = { ...hugePages, ...stated.limits };
  if (Object.keys(limits).length === 0) return spec;
  // Huge pages cannot be overcommitted: their request is the pod's limit, never the containers' sum.
  const overcommittable = masked(ofContainers, (name) => isPodLevelResource(name) && !isHugePages(name));
  const fromLimits = masked(limits, isPodLevelResource);
  const requests: ResourceList = { ...fromLimits, ...overcommittable, ...stated.requests };
  return { ...spec, resources: { ...stated, requests, limits } };
}

/** What the containers state together. An amount that nobody can calculate with is left out: Kubernetes' own takes minutes. */
function together({ containers = [], initContainers = [] }: TemplateSpec, side: 'requests' | 'limits'): ResourceList {
  const amountOf = ({ resources }: Container): Amounts => {
    const all = Object.entries(resources?.[side] ?? {});
    return amountsIn(Object.fromEntries(all.filter(([, text]) => isQuantity(text))));
  };
  return resourceList(containersTogether({ containers, initContainers }, amountOf, SUMS));
}

function masked(list: ResourceList, has: (resource: string) => boolean): ResourceList {
  return Object.fromEntries(Object.entries(list).filter(([resource]) => has(resource)));
}

function isHugePages(resource: string): boolean {
  return resource.startsWith('hugepages-');
}

/** A pod whose own selector contradicts that of its class, or with another overhead, is refused. */
function withRuntimeClass<Spec extends TemplateSpec>(spec: Spec, { overhead, scheduling }: RuntimeClass): Spec {
  return {
    ...spec,
    ...(overhead === undefined ? {} : { overhead: overhead.podFixed }),
    ...(scheduling === undefined
      ? {}
      : {
          nodeSelector: { ...spec.nodeSelector, ...scheduling.nodeSelector },
          tolerations: [...(spec.tolerations ?? []), ...(scheduling.tolerations ?? [])],
        }),
  };
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
