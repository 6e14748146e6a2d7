import type {
  CoreV1Event,
  V1LabelSelector,
  V1Pod,
  V1ReplicaSet,
  V1ReplicationController,
  V1ResourceQuota,
} from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import {
  type ChargingQuota,
  chargedPods,
  demandOfMessages,
  demandOfMissing,
  type Missing,
  missingOfCronJob,
  missingOfDaemonSet,
  missingOfDeployment,
  missingOfJob,
  missingOfReplicated,
  missingOfStatefulSet,
  type SeenRefusal,
} from '../../domain/quota-resize/demand.ts';
import { eventLastSeen, parseAdmissionMessage, refusalReasons } from '../../domain/quota-resize/event-message.ts';
import type { WorkloadDemand, WorkloadRef } from '../../domain/quota-resize/observation.ts';
import { inParallel } from '../kernel/in-parallel.ts';
import type { Kubernetes } from '../ports/kubernetes.ts';
import { orNull, statusCode } from '../ports/kubernetes-failure.ts';
import { listAll } from '../ports/kubernetes-list.ts';

/** Owners that are read at the same time, so that one look at a namespace in trouble is no burst on the API server. */
const OWNERS_AT_ONCE = 8;

const STORAGE_CLASS_KEY = '.storageclass.storage.k8s.io/';
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** A workload with what was refused of it. */
interface RefusedWorkload {
  readonly workload: WorkloadRef;
  /** `apps/v1`: a Job of another API group is another kind. */
  readonly apiVersion: string;
  readonly refusals: SeenRefusal[];
}

interface DemandOptions {
  readonly kubernetes: Kubernetes;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * What the namespace's workloads were refused and still miss, counted for one quota: by Events (which live for an hour) and
 * by the ReplicaFailure condition of ReplicaSets and ReplicationControllers (which lives as long as the failure). A
 * workload that is gone, was made anew, or misses nothing any more has no demand.
 */
export async function readDemand(
  options: DemandOptions,
  namespace: string,
  quota: V1ResourceQuota,
): Promise<readonly WorkloadDemand[]> {
  const view = new NamespaceView(options.kubernetes, namespace);
  const refused = await readRefusals(view);
  if (refused.length === 0) return [];
  const charging = await readChargingQuota(options, view, quota);
  const demand = await inParallel(OWNERS_AT_ONCE, refused, (one) => demandOf(options, view, charging, one));
  return demand.filter((one) => one !== null).toSorted((a, b) => (sortKey(a.workload) < sortKey(b.workload) ? -1 : 1));
}

function sortKey({ kind, name, uid }: WorkloadRef): string {
  return `${kind}/${name}/${uid}`;
}

/** The lists of one namespace, each asked for at most once in one look. */
class NamespaceView {
  readonly kubernetes: Kubernetes;
  readonly namespace: string;
  readonly #lists = new Map<string, Promise<unknown>>();

  constructor(kubernetes: Kubernetes, namespace: string) {
    this.kubernetes = kubernetes;
    this.namespace = namespace;
  }

  events(reason: (typeof refusalReasons)[number]) {
    const { kubernetes, namespace } = this;
    return listAll((range) =>
      kubernetes.core.listNamespacedEvent({ namespace, fieldSelector: `reason=${reason}`, ...range }),
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

  jobs() {
    const { kubernetes, namespace } = this;
    return this.#once('jobs', () => listAll((range) => kubernetes.batch.listNamespacedJob({ namespace, ...range })));
  }

  async claimNames(): Promise<readonly string[]> {
    const { kubernetes, namespace } = this;
    const claims = await this.#once('persistentvolumeclaims', () =>
      listAll((range) => kubernetes.core.listNamespacedPersistentVolumeClaim({ namespace, ...range })),
    );
    return claims.map((claim) => claim.metadata?.name ?? '');
  }

  #once<T>(resource: string, read: () => Promise<T>): Promise<T> {
    const known = this.#lists.get(resource) ?? read();
    this.#lists.set(resource, known);
    return known as Promise<T>;
  }
}

async function readRefusals(view: NamespaceView): Promise<readonly RefusedWorkload[]> {
  const [events, replicaSets, controllers] = await Promise.all([
    Promise.all(refusalReasons.map((reason) => view.events(reason))),
    view.replicaSets(),
    view.replicationControllers(),
  ]);
  const byUid = new Map<string, RefusedWorkload>();
  const add = (
    workload: WorkloadRef,
    apiVersion: string,
    message: string | undefined,
    lastSeen: EpochMs | null,
  ): void => {
    const refusal = parseAdmissionMessage(message ?? '');
    if (refusal.class !== 'exceededQuota') return;
    const key = workload.uid === '' ? `${workload.kind}/${workload.name}` : workload.uid;
    const known = byUid.get(key) ?? { workload, apiVersion, refusals: [] };
    known.refusals.push({ refusal, lastSeen: lastSeen ?? 0 });
    byUid.set(key, known);
  };
  for (const event of events.flat())
    add(involved(event), event.involvedObject.apiVersion ?? '', event.message, eventLastSeen(event));
  const failing = [
    ...replicaSets.map((one) => ({ one, kind: 'ReplicaSet', apiVersion: 'apps/v1' })),
    ...controllers.map((one) => ({ one, kind: 'ReplicationController', apiVersion: 'v1' })),
  ];
  for (const { one, kind, apiVersion } of failing) {
    const { name = '', uid = '' } = one.metadata ?? {};
    const condition = one.status?.conditions?.find((is) => is.type === 'ReplicaFailure' && is.status === 'True');
    if (condition === undefined) continue;
    add({ kind, name, uid }, apiVersion, condition.message, condition.lastTransitionTime?.getTime() ?? null);
  }
  return [...byUid.values()];
}

function involved({ involvedObject: { kind = '', name = '', uid = '' } }: CoreV1Event): WorkloadRef {
  return { kind, name, uid };
}

async function demandOf(
  options: DemandOptions,
  view: NamespaceView,
  quota: ChargingQuota,
  refused: RefusedWorkload,
): Promise<WorkloadDemand | null> {
  const { workload, refusals } = refused;
  const lastSeen = Math.max(...refusals.map((one) => one.lastSeen));
  const missing = await readMissing(options, view, refused, lastSeen);
  if (missing === 'unreadable') return demandOfMessages(quota, workload, refusals);
  const overheads = await readOverheads(options, missing, quota.overheads);
  return demandOfMissing({ ...quota, overheads }, workload, missing, lastSeen);
}

/** What the owner misses now; nothing when it is gone; `unreadable` for a kind that is not known or not allowed. */
async function readMissing(
  { log }: DemandOptions,
  view: NamespaceView,
  refused: RefusedWorkload,
  lastSeen: EpochMs,
): Promise<readonly Missing[] | 'unreadable'> {
  const { workload, apiVersion } = refused;
  const read = readers[`${apiVersion} ${workload.kind}`];
  if (read === undefined) return 'unreadable';
  try {
    return await read(view, workload, lastSeen);
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    log.warn(
      { ...workload, error: String(error) },
      'the owner of refused pods may not be read; its message counts instead',
    );
    return 'unreadable';
  }
}

type OwnerReader = (view: NamespaceView, workload: WorkloadRef, lastSeen: EpochMs) => Promise<readonly Missing[]>;

/** How each kind of owner is read, by the apiVersion and kind that an Event names. */
const readers: Readonly<Record<string, OwnerReader>> = {
  'apps/v1 ReplicaSet': async (view, workload) =>
    await missingReplicas(view, (await view.replicaSets()).find(isObject(workload))),
  'v1 ReplicationController': async (view, workload) =>
    await missingReplicas(view, (await view.replicationControllers()).find(isObject(workload))),
  'apps/v1 StatefulSet': async (view, workload) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.apps.readNamespacedStatefulSet({ name, namespace }));
    if (owner === null) return [];
    const pods = await readPods(view, workload.uid, owner.spec?.selector);
    const claims = (owner.spec?.volumeClaimTemplates ?? []).length > 0 ? await view.claimNames() : [];
    return missingOfStatefulSet(owner, pods, claims);
  },
  'apps/v1 DaemonSet': async (view, workload) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.apps.readNamespacedDaemonSet({ name, namespace }));
    return owner === null ? [] : missingOfDaemonSet(owner, await readPods(view, workload.uid, owner.spec?.selector));
  },
  'batch/v1 Job': async (view, workload) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.batch.readNamespacedJob({ name, namespace }));
    return owner === null ? [] : missingOfJob(owner, await readPods(view, workload.uid, owner.spec?.selector));
  },
  'batch/v1 CronJob': async (view, workload, lastSeen) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.batch.readNamespacedCronJob({ name, namespace }));
    return owner === null ? [] : missingOfCronJob(owner, await view.jobs(), lastSeen);
  },
  'apps/v1 Deployment': async (view, workload) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.apps.readNamespacedDeployment({ name, namespace }));
    return owner === null ? [] : missingOfDeployment(owner, await view.replicaSets());
  },
};

async function missingReplicas(
  view: NamespaceView,
  owner: V1ReplicaSet | V1ReplicationController | undefined,
): Promise<readonly Missing[]> {
  if (owner === undefined || owner.spec?.replicas === 0) return [];
  const { selector } = owner.spec ?? {};
  const labels = isLabelSelector(selector) ? selector : { matchLabels: selector ?? {} };
  return missingOfReplicated(owner, await readPods(view, owner.metadata?.uid ?? '', labels));
}

/** A ReplicationController's selector is the bare labels. */
function isLabelSelector(selector: V1LabelSelector | Record<string, string> | undefined): selector is V1LabelSelector {
  return typeof selector?.matchLabels === 'object' || Array.isArray(selector?.matchExpressions);
}

/** The owner by its name, or null when it is gone or the name belongs to another object now. */
async function readOwner<T extends { metadata?: { uid?: string } }>(
  workload: WorkloadRef,
  read: (name: string) => Promise<T>,
): Promise<T | null> {
  const owner = await orNull(read(workload.name));
  return owner !== null && isObject(workload)(owner) ? owner : null;
}

function isObject(workload: WorkloadRef): (object: { metadata?: { uid?: string } }) => boolean {
  return (object) => object.metadata?.uid === workload.uid;
}

/**
 * The owner's pods as they are, and not as its status counts them: a status follows its pods by some moments, and pods
 * counted as missing that are there would be asked for twice.
 */
async function readPods(
  { kubernetes, namespace }: NamespaceView,
  ownerUid: string,
  selector: V1LabelSelector | undefined,
): Promise<readonly V1Pod[]> {
  const labelSelector = selectorText(selector);
  const pods = await listAll((range) => kubernetes.core.listNamespacedPod({ namespace, labelSelector, ...range }));
  return chargedPods(pods, ownerUid, Date.now());
}

/** A label selector as a list request writes it. */
function selectorText(selector: V1LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...labels, ...expressions].join(',');
}

async function readChargingQuota(
  { kubernetes }: DemandOptions,
  { namespace }: NamespaceView,
  quota: V1ResourceQuota,
): Promise<ChargingQuota> {
  const hard = quota.spec?.hard ?? {};
  const countsClasses = Object.keys(hard).some((key) => key.includes(STORAGE_CLASS_KEY));
  const [limitRanges, defaultStorageClass] = await Promise.all([
    listAll((range) => kubernetes.core.listNamespacedLimitRange({ namespace, ...range })),
    countsClasses ? readDefaultStorageClass(kubernetes) : null,
  ]);
  const { scopes, scopeSelector } = quota.spec ?? {};
  return {
    name: quota.metadata?.name ?? '',
    hard,
    scopes: { scopes, scopeSelector },
    limitRanges,
    overheads: {},
    defaultStorageClass,
  };
}

/** The newest of the classes that are marked as default, as admission chooses it. */
async function readDefaultStorageClass(kubernetes: Kubernetes): Promise<string | null> {
  const classes = await listAll((range) => kubernetes.storage.listStorageClass(range));
  const age = (one: (typeof classes)[number]): number => one.metadata?.creationTimestamp?.getTime() ?? 0;
  const defaults = classes
    .filter((one) => one.metadata?.annotations?.[DEFAULT_CLASS] === 'true')
    .toSorted((a, b) => age(b) - age(a) || ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1));
  return defaults[0]?.metadata?.name ?? null;
}

/** The pod overheads of the RuntimeClasses that the missing pods name. Without the class no pod is admitted anyway. */
async function readOverheads(
  { kubernetes, log }: DemandOptions,
  missing: readonly Missing[],
  known: ChargingQuota['overheads'],
): Promise<ChargingQuota['overheads']> {
  const overheads: Record<string, ResourceList> = { ...known };
  for (const one of missing) {
    const name = one.of === 'pod' && one.spec.overhead === undefined ? one.spec.runtimeClassName : undefined;
    if (name === undefined || name === '' || name in overheads) continue;
    try {
      const runtimeClass = await kubernetes.node.readRuntimeClass({ name });
      overheads[name] = runtimeClass.overhead?.podFixed ?? {};
    } catch (error) {
      const code = statusCode(error);
      if (code !== 403 && code !== 404) throw error;
      log.warn({ runtimeClass: name, code }, 'the overhead of a RuntimeClass cannot be read and is not counted');
      overheads[name] = {};
    }
  }
  return overheads;
}
