/** What the stream has made so far: the generator's own picture, so that every operation it makes is a valid one. */
import type { Random } from '../../chaos/random.ts';
import type { Operation } from './operation.ts';

/**
 * Which pods a namespace's quotas allow: a quota that limits cpu or memory refuses every pod it applies to that does not
 * say how much it wants. `complete`: every pod says. `besteffort`: every pod says, or wants nothing at all, and only
 * quotas of scope NotBestEffort limit cpu and memory. `free`: no quota limits cpu or memory. `closed`: such quotas came
 * after the pods, so that nothing is done any more that admission would look at.
 */
export type PodRule = 'complete' | 'besteffort' | 'free' | 'closed';

export interface World {
  readonly random: Random;
  readonly namespaces: Namespace[];
  /** A name that was not used before. */
  readonly fresh: (prefix: string) => string;
  /** Node ports that were never used, from the band that Kubernetes does not allocate from by itself. */
  readonly nodePorts: number[];
  /** Custom resources that are known to both quota controllers and not yet deleted, by plural. */
  readonly customResources: Set<string>;
}

export interface Namespace {
  readonly name: string;
  podRule: PodRule;
  /** Whether it is deleted in the end: then nothing in it may outlive its deletion. */
  readonly isDoomed: boolean;
  readonly pods: PodModel[];
  readonly services: ServiceModel[];
  readonly claims: ClaimModel[];
  readonly quotas: QuotaModel[];
  /** Everything of which only the number counts, by its path. */
  readonly objects: ObjectModel[];
}

export interface ContainerModel {
  readonly name: string;
  readonly image: string;
  readonly isInit: boolean;
  readonly isSidecar: boolean;
  requests: Readonly<Record<string, string>>;
  limits: Readonly<Record<string, string>>;
}

/** How much a pod says: its containers' requests below their limits, equal to them, some of them, or none. */
export type PodForm = 'burstable' | 'guaranteed' | 'partial' | 'besteffort' | 'podLevel';

export interface PodModel {
  readonly name: string;
  readonly form: PodForm;
  readonly containers: readonly ContainerModel[];
  /** Its deletion has a period of grace, and nothing ends it but force. */
  readonly isOnNode: boolean;
  hasFinalizer: boolean;
  isDeleted: boolean;
  phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  deadline: number | null;
}

export interface ServiceModel {
  readonly name: string;
  /** One without a selector has no endpoints, and may become an ExternalName. */
  readonly hasSelector: boolean;
  type: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  ports: number;
}

export interface ClaimModel {
  readonly name: string;
  /** Whether its class lets it grow. */
  readonly isExpandable: boolean;
  isBound: boolean;
  requestGi: number;
  capacityGi: number;
}

interface QuotaModel {
  readonly name: string;
  readonly hard: Set<string>;
  readonly hasSelector: boolean;
}

export interface ObjectModel {
  readonly kind: string;
  readonly path: string;
  /** Workloads whose pods come and go with it. */
  replicas?: number;
}

/** A world without namespaces. */
export function emptyWorld(random: Random): World {
  let last = 0;
  return {
    random,
    namespaces: [],
    fresh: (prefix) => `${prefix}-${(last += 1)}`,
    // 30000 to 30085 with a range of 2768 ports: the API server allocates from above as long as there are ports.
    nodePorts: Array.from({ length: 80 }, (_, index) => 30_000 + index),
    customResources: new Set(),
  };
}

/** A namespace that was just created. */
export function newNamespace(name: string, podRule: PodRule, isDoomed = false): Namespace {
  return { name, podRule, isDoomed, pods: [], services: [], claims: [], quotas: [], objects: [] };
}

/** True in `share` of the cases. */
export function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

/** Takes an item out of a list. */
export function removeFrom<T>(items: T[], item: T): void {
  const index = items.indexOf(item);
  if (index >= 0) items.splice(index, 1);
}

/** Makes an operation for a namespace, or null where it has nothing to do it to. */
export type Maker = (world: World, namespace: Namespace) => Operation | null;

/** The path of a namespace's collection in the core group. */
export function corePath(namespace: Namespace, resource: string, name?: string): string {
  return `/api/v1/namespaces/${namespace.name}/${resource}${name === undefined ? '' : `/${name}`}`;
}

/** The path of a namespace's collection in another group. */
export function groupPath(groupVersion: string, namespace: Namespace, resource: string, name?: string): string {
  return `/apis/${groupVersion}/namespaces/${namespace.name}/${resource}${name === undefined ? '' : `/${name}`}`;
}
