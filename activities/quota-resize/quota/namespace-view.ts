import type { CoreV1Event, V1LimitRange, V1Pod } from '@kubernetes/client-node';
import type { LimitRange } from '../../../domain/kernel/stored-pod.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import {
  denialMessage,
  type denialReasons,
  eventLastSeen,
  EVENTS_A_PAGE,
} from '../../../domain/quota-resize/demand/event-message.ts';
import type { WorkloadRef } from '../../../domain/quota-resize/model/observation.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { orNull } from '../../kubernetes/failure.ts';
import { listAll, listFirst } from '../../kubernetes/list.ts';

/** From so many owners on, Jobs and the pods of owners are listed once. */
const MANY_OWNERS = 50;

/** Events of one reason that are kept, the newest: more than a namespace has workloads. */
const MAX_EVENTS = 5_000;

/** How much the clocks of a cluster may differ. */
export const CLOCK_SKEW_MS = 60_000;

/** More than the longest name of an object, so that a longer one can still be told. */
const MAX_NAME = 254;

/** What is kept of an Event about a denial. */
interface DenialEvent {
  readonly workload: WorkloadRef;
  readonly apiVersion: string;
  readonly message: string;
  readonly lastSeen: EpochMs | null;
}

/** What one observation reads of a namespace: each list and each Deployment is requested at most once. */
export class NamespaceView {
  readonly kubernetes: Kubernetes;
  readonly namespace: string;
  readonly #answers = new Map<string, Promise<unknown>>();
  #hasManyOwners = false;
  #needsAllPods = false;

  constructor(kubernetes: Kubernetes, namespace: string) {
    this.kubernetes = kubernetes;
    this.namespace = namespace;
  }

  /** Announces how many owners will be read: many are cheaper as lists of all than one by one. */
  expectOwners(count: number): void {
    this.#hasManyOwners = count > MANY_OWNERS;
  }

  /** Announces that all pods will be read: those of an owner are then taken of them. */
  expectAllPods(): void {
    this.#needsAllPods = true;
  }

  /** The newest Events of a reason that are about denials. */
  async denialEvents(reason: (typeof denialReasons)[number]) {
    const { kubernetes, namespace } = this;
    return await listFirst<CoreV1Event, DenialEvent>(
      (range) => kubernetes.core.listNamespacedEvent({ namespace, fieldSelector: `reason=${reason}`, ...range }),
      {
        pageSize: EVENTS_A_PAGE,
        most: MAX_EVENTS,
        keep: denialEvent,
        compare: (a, b) => ageOf(a) - ageOf(b),
      },
    );
  }

  replicaSets() {
    const { kubernetes, namespace } = this;
    return this.#once('replicasets', () =>
      listAll((range) => kubernetes.apps.listNamespacedReplicaSet({ namespace, ...range })),
    );
  }

  replicationControllers() {
    const { kubernetes, namespace } = this;
    return this.#once('replicationcontrollers', () =>
      listAll((range) => kubernetes.core.listNamespacedReplicationController({ namespace, ...range })),
    );
  }

  /** Null for a Deployment that is gone. */
  deployment(name: string) {
    const { kubernetes, namespace } = this;
    return this.#once(`deployments/${name}`, () =>
      orNull(kubernetes.apps.readNamespacedDeployment({ name, namespace })),
    );
  }

  /** Null for a Job that is gone. */
  async job({ name, uid }: Pick<WorkloadRef, 'name' | 'uid'>) {
    const { kubernetes, namespace } = this;
    if (this.#hasManyOwners) return (await this.#jobsByUid()).get(uid) ?? null;
    return await orNull(kubernetes.batch.readNamespacedJob({ name, namespace }));
  }

  #jobsByUid() {
    return this.#once('jobs by uid', async () => {
      const jobs = await this.jobs();
      return new Map(jobs.map((job) => [job.metadata?.uid ?? '', job]));
    });
  }

  /**
   * The pods of a selector, or where many owners or all pods are read, all that the owner with this UID controls.
   *
   * @param ownerUid null: the pods of several owners.
   */
  async podsOf(labelSelector: string, ownerUid: string | null): Promise<readonly V1Pod[]> {
    const { kubernetes, namespace } = this;
    if (this.#hasManyOwners || this.#needsAllPods)
      return ownerUid === null ? await this.pods() : ((await this.#podsByOwner()).get(ownerUid) ?? []);
    return await listAll((range) => kubernetes.core.listNamespacedPod({ namespace, labelSelector, ...range }));
  }

  #podsByOwner() {
    return this.#once('pods by owner', async () => {
      const pods = await this.pods();
      return Map.groupBy(
        pods,
        ({ metadata }) => metadata?.ownerReferences?.find((owner) => owner.controller)?.uid ?? '',
      );
    });
  }

  jobs() {
    const { kubernetes, namespace } = this;
    return this.#once('jobs', () => listAll((range) => kubernetes.batch.listNamespacedJob({ namespace, ...range })));
  }

  /** All pods of the namespace; the pods of one owner are requested by its labels instead. */
  pods() {
    const { kubernetes, namespace } = this;
    return this.#once('pods', () => listAll((range) => kubernetes.core.listNamespacedPod({ namespace, ...range })));
  }

  claims() {
    const { kubernetes, namespace } = this;
    return this.#once('persistentvolumeclaims', () =>
      listAll((range) => kubernetes.core.listNamespacedPersistentVolumeClaim({ namespace, ...range })),
    );
  }

  limitRanges() {
    const { kubernetes, namespace } = this;
    return this.#once('limitranges', async () =>
      (await listAll((range) => kubernetes.core.listNamespacedLimitRange({ namespace, ...range }))).map(limitRangeOf),
    );
  }

  #once<T>(what: string, read: () => Promise<T>): Promise<T> {
    const cached = this.#answers.get(what) ?? read();
    this.#answers.set(what, cached);
    return cached as Promise<T>;
  }
}

/** In milliseconds; what is dated in the future counts as the oldest, so that it takes nobody's place. */
function ageOf({ lastSeen }: DenialEvent): number {
  const age = Date.now() + CLOCK_SKEW_MS - (lastSeen ?? 0);
  return age < 0 ? Number.MAX_SAFE_INTEGER : age;
}

function denialEvent(event: CoreV1Event): DenialEvent | null {
  const message = denialMessage(event.message);
  if (message === null) return null;
  const { kind, name, uid, apiVersion } = event.involvedObject;
  const short = (text = ''): string => text.slice(0, MAX_NAME);
  const workload = { kind: short(kind), name: short(name), uid: short(uid) };
  return { workload, apiVersion: short(apiVersion), message, lastSeen: eventLastSeen(event) };
}

/** The client renames the Kubernetes field `default` to `_default`. */
function limitRangeOf({ spec }: V1LimitRange): LimitRange {
  const limits = (spec?.limits ?? []).map(({ type, _default, defaultRequest }) => ({
    type,
    default: _default,
    defaultRequest,
  }));
  return { spec: { limits } };
}
