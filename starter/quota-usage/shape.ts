/** Reduces cached objects to what a quota may count, and what identifies their owner. */
import type {
  KubernetesObject,
  V1Affinity,
  V1Container,
  V1ContainerStatus,
  V1ObjectMeta,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodAffinityTerm,
  V1ResourceQuota,
  V1ResourceRequirements,
  V1Service,
  V1WeightedPodAffinityTerm,
} from '@kubernetes/client-node';
import { type GroupResource, groupResourceName } from '../../domain/kernel/group-resource.ts';
import type { ContainerStatus, Pod } from '../../domain/quota-usage/pod.ts';

export interface Shape {
  /** Only metadata is counted, so only metadata is requested: a Secret's data stays in the API server. */
  readonly metadataOnly: boolean;
  /** For objects in the shape of the API server's JSON. Creates a new object that keeps nothing else of the old one. */
  readonly shape: (object: KubernetesObject) => KubernetesObject;
}

/** Resources of which more than their number counts. */
const SHAPES: Readonly<Record<string, (object: KubernetesObject) => object>> = {
  pods: shapePod,
  services: shapeService,
  persistentvolumeclaims: shapeVolumeClaim,
  'resourceclaims.resource.k8s.io': shapeResourceClaim,
  'deviceclasses.resource.k8s.io': shapeDeviceClass,
};

/** How the objects of a resource are cached. */
export function shapeOf(resource: GroupResource): Shape {
  const name = groupResourceName(resource);
  const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name] : undefined;
  // The shapes are those of JSON, in which a time is text; the client's types have Dates.
  return shape === undefined
    ? { metadataOnly: true, shape: ({ metadata }) => ({ metadata: identity(metadata) }) }
    : { metadataOnly: false, shape: (object) => shape(object) };
}

/** A quota as a cache keeps it. */
export function shapeQuota({ metadata, spec, status }: V1ResourceQuota): V1ResourceQuota {
  return {
    metadata: identity(metadata),
    spec: defined({ hard: spec?.hard, scopes: spec?.scopes, scopeSelector: spec?.scopeSelector }),
    status: defined({ hard: status?.hard, used: status?.used }),
  };
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Only the fields that are set, to save memory for thousands of objects. */
function defined<T extends object>(object: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key of Object.keys(object) as (keyof T)[]) {
    if (object[key] !== undefined) kept[key] = object[key];
  }
  return kept as Defined<T>;
}

type Identity = Partial<Pick<V1ObjectMeta, 'name' | 'namespace' | 'uid' | 'resourceVersion' | 'deletionTimestamp'>>;

function identity(metadata: V1ObjectMeta | undefined): Identity {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata ?? {};
  return defined({ name, namespace, uid, resourceVersion, deletionTimestamp });
}

function owners(metadata: V1ObjectMeta | undefined) {
  return metadata?.ownerReferences?.map(({ apiVersion, kind, name, uid, controller }) =>
    defined({ apiVersion, kind, name, uid, controller }),
  );
}

function requirements(resources: Pick<V1ResourceRequirements, 'requests' | 'limits'> | undefined) {
  return resources === undefined ? undefined : defined({ requests: resources.requests, limits: resources.limits });
}

function container({ name, resources, restartPolicy }: V1Container) {
  return defined({ name, resources: requirements(resources), restartPolicy });
}

function containerStatus({ name, resources, allocatedResources }: V1ContainerStatus): ContainerStatus {
  return defined({ name, resources: requirements(resources), allocatedResources });
}

/** A term crosses namespaces only if it lists or selects some; its other fields do not matter. */
function crossing({ namespaces, namespaceSelector }: V1PodAffinityTerm) {
  return (namespaces ?? []).length === 0 && namespaceSelector === undefined
    ? []
    : [defined({ namespaces, namespaceSelector: namespaceSelector === undefined ? undefined : {} })];
}

interface AffinityTerms {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly V1PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly V1WeightedPodAffinityTerm[];
}

function crossingTerms(terms: AffinityTerms | undefined) {
  const required = terms?.requiredDuringSchedulingIgnoredDuringExecution?.flatMap(crossing) ?? [];
  const preferred = terms?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const wished = preferred.flatMap((weighted) => crossing(weighted.podAffinityTerm));
  // A quota treats required and preferred terms alike.
  const all = [...required, ...wished];
  return all.length === 0 ? undefined : { requiredDuringSchedulingIgnoredDuringExecution: all };
}

function affinity(of: V1Affinity | undefined) {
  const [podAffinity, podAntiAffinity] = [crossingTerms(of?.podAffinity), crossingTerms(of?.podAntiAffinity)];
  return podAffinity === undefined && podAntiAffinity === undefined
    ? undefined
    : defined({ podAffinity, podAntiAffinity });
}

function shapePod({ metadata, spec, status }: V1Pod): Pod {
  const pending = status?.conditions?.filter(({ type }) => type === 'PodResizePending') ?? [];
  return {
    metadata: defined({
      ...identity(metadata),
      deletionGracePeriodSeconds: metadata?.deletionGracePeriodSeconds,
      ownerReferences: owners(metadata),
    }),
    spec: defined({
      containers: (spec?.containers ?? []).map(container),
      initContainers: spec?.initContainers?.map(container),
      resources: requirements(spec?.resources),
      overhead: spec?.overhead,
      activeDeadlineSeconds: spec?.activeDeadlineSeconds,
      priorityClassName: spec?.priorityClassName,
      affinity: affinity(spec?.affinity),
      nodeName: spec?.nodeName,
    }),
    status: defined({
      phase: status?.phase,
      qosClass: status?.qosClass,
      containerStatuses: status?.containerStatuses?.map(containerStatus),
      initContainerStatuses: status?.initContainerStatuses?.map(containerStatus),
      conditions: pending.length === 0 ? undefined : pending.map(({ type, reason }) => defined({ type, reason })),
      extendedResourceClaimStatus:
        status?.extendedResourceClaimStatus === undefined
          ? undefined
          : { resourceClaimName: status.extendedResourceClaimStatus.resourceClaimName },
    }),
  };
}

function shapeService({ metadata, spec }: V1Service) {
  return {
    metadata: identity(metadata),
    spec: defined({
      type: spec?.type,
      ports: spec?.ports?.map(({ nodePort }) => defined({ nodePort })),
      allocateLoadBalancerNodePorts: spec?.allocateLoadBalancerNodePorts,
    }),
  };
}

/** Only the annotations that an evaluator reads; others may be long. */
function annotation(metadata: V1ObjectMeta | undefined, name: string) {
  const value = metadata?.annotations?.[name];
  return value === undefined ? {} : { annotations: { [name]: value } };
}

function shapeVolumeClaim({ metadata, spec, status }: V1PersistentVolumeClaim) {
  const { currentVolumeAttributesClassName, modifyVolumeStatus, allocatedResources } = status ?? {};
  const requests = spec?.resources?.requests;
  const target = modifyVolumeStatus?.targetVolumeAttributesClassName;
  return {
    metadata: { ...identity(metadata), ...annotation(metadata, 'volume.beta.kubernetes.io/storage-class') },
    spec: defined({
      resources: requests === undefined ? undefined : { requests },
      storageClassName: spec?.storageClassName,
      volumeAttributesClassName: spec?.volumeAttributesClassName,
    }),
    status: defined({
      allocatedResources,
      currentVolumeAttributesClassName,
      modifyVolumeStatus: target === undefined ? undefined : { targetVolumeAttributesClassName: target },
    }),
  };
}

interface DeviceAsk {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

/** Any version of the API: the first betas had the fields of v1's `exactly` directly beside it. */
interface AnyResourceClaim extends KubernetesObject {
  readonly spec?: {
    readonly devices?: {
      readonly requests?: readonly (DeviceAsk & {
        readonly exactly?: DeviceAsk;
        readonly firstAvailable?: readonly DeviceAsk[];
      })[];
    };
  };
}

function ask({ deviceClassName, allocationMode, count }: DeviceAsk): DeviceAsk {
  return defined({ deviceClassName, allocationMode, count });
}

function shapeResourceClaim({ metadata, spec }: AnyResourceClaim) {
  const requests = (spec?.devices?.requests ?? []).map(({ exactly, firstAvailable, ...flat }) => {
    if (firstAvailable !== undefined) return { firstAvailable: firstAvailable.map(ask) };
    const request = exactly ?? (flat.deviceClassName === undefined ? undefined : flat);
    return request === undefined ? {} : { exactly: ask(request) };
  });
  return {
    metadata: defined({
      ...identity(metadata),
      ...annotation(metadata, 'resource.kubernetes.io/extended-resource-claim'),
      ownerReferences: owners(metadata),
    }),
    spec: { devices: { requests } },
  };
}

interface AnyDeviceClass extends KubernetesObject {
  readonly spec?: { readonly extendedResourceName?: string };
}

function shapeDeviceClass({ metadata, spec }: AnyDeviceClass) {
  return {
    metadata: identity(metadata),
    spec: defined({ extendedResourceName: spec?.extendedResourceName }),
  };
}
