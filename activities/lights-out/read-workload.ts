import type {
  KubernetesObject,
  V1CronJob,
  V1Deployment,
  V1Namespace,
  V1ObjectMeta,
  V1StatefulSet,
  V1StatefulSetSpec,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import { z } from 'zod';
import { podRequests } from '../../domain/kernel/pod-requests.ts';
import { isRecord } from '../../domain/kernel/record.ts';
import {
  annotationWrittenAt,
  createdBy,
  fieldChange,
  lastSetBy,
  statusWrittenAt,
} from '../../domain/lights-out/workload/field-owner.ts';
import {
  GROUP,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  OWN_TIMES,
  SLEEP_UNTIL,
  type WorkloadType,
  workloadTypes,
} from '../../domain/lights-out/schedule/names.ts';
import { hasReplicas, WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import { isPaused } from '../../domain/lights-out/workload/keda-paused.ts';
import { annotationRoom } from './annotation-room.ts';
import { minimumAppliedBy } from './last-applied.ts';
import type {
  Autoscaler,
  FieldChange,
  ScopedNamespace,
  SetBy,
  Workload,
} from '../../domain/lights-out/workload/workload.ts';

/** Before the names of KEDA's annotations. */
const KEDA = 'autoscaling.keda.sh/';
/** A workload with pods and their counts. */
export interface ReplicatedObject {
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly generation?: number };
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
  };
}

/** An autoscaler, and the workload that it scales. */
export interface Scaler {
  readonly kind: Autoscaler['kind'];
  /** As `targetKey` has it. */
  readonly target: string;
  readonly of: Pick<Workload, 'kind' | 'namespace' | 'name'>;
  readonly autoscaler: Autoscaler;
}

/** A workload without its autoscalers, which are separate objects. */
export type LoneWorkload = Omit<Workload, 'autoscalers'>;

/** A key that is equal for an autoscaler's target and the workload. */
export function targetKey(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}

export function withAutoscalers(workloads: readonly LoneWorkload[], scalers: readonly Scaler[]): readonly Workload[] {
  const byTarget = Map.groupBy(scalers, ({ target }) => target);
  return workloads.map((workload) => ({
    ...workload,
    autoscalers: (byTarget.get(targetKey(workload.kind, workload.namespace, workload.name)) ?? []).map(
      ({ autoscaler }) => autoscaler,
    ),
  }));
}

/**
 * Targets of annotated autoscalers that do not exist, as workloads without a UID and without replicas, so that the
 * autoscalers are released like those of a workload.
 */
export function missingTargets(workloads: readonly LoneWorkload[], scalers: readonly Scaler[]): readonly Workload[] {
  const present = new Set(workloads.map(({ kind, namespace, name }) => targetKey(kind, namespace, name)));
  const marked = scalers.filter(
    ({ target, autoscaler }) => autoscaler.annotations[MANAGED_BY] !== undefined && !present.has(target),
  );
  return [...Map.groupBy(marked, ({ target }) => target).values()].flatMap((group): Workload[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { kind, namespace, name } = first.of;
    const workload = base(kind, { namespace, name });
    return [
      { ...workload, ...replicasOf({ replicas: 0 }, {}), autoscalers: group.map(({ autoscaler }) => autoscaler) },
    ];
  });
}

function targetOf(kind: WorkloadType, namespace: string, name: string): Pick<Scaler, 'target' | 'of'> {
  return { target: targetKey(kind, namespace, name), of: { kind, namespace, name } };
}

export function deploymentOf({ metadata, spec, status }: V1Deployment): LoneWorkload {
  return {
    ...base('Deployment', metadata, status?.observedGeneration),
    ...replicasOf(spec, status),
    ...requestsOf(spec),
  };
}

export function statefulSetOf({ metadata, spec, status }: V1StatefulSet): LoneWorkload {
  return {
    ...base('StatefulSet', metadata, status?.observedGeneration),
    ...replicasOf(spec, status),
    ...requestsOf(spec),
    ...(deletesVolumes(spec) ? { deletesVolumes: true } : {}),
  };
}

/** Claims are made by its templates alone, and the policy is about no others. */
function deletesVolumes({
  volumeClaimTemplates = [],
  persistentVolumeClaimRetentionPolicy,
}: Partial<V1StatefulSetSpec> = {}): boolean {
  return volumeClaimTemplates.length > 0 && persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete';
}

export function cronJobOf({ metadata, spec }: V1CronJob): LoneWorkload {
  return {
    ...base('CronJob', metadata),
    replicas: null,
    isSuspended: spec?.suspend ?? false,
    ready: 0,
    present: 0,
  };
}

/** What is read of the objects of Argo and KEDA, which their definitions hold to these types. */
interface CustomWorkload extends KubernetesObject {
  readonly spec?: { readonly replicas?: number; readonly template?: unknown };
  readonly status?: {
    readonly observedGeneration?: unknown;
    readonly replicas?: number;
    readonly readyReplicas?: number;
  };
}

export function rolloutOf(object: unknown): LoneWorkload {
  const { metadata, spec, status } = withDates(object as CustomWorkload);
  return {
    ...base('Rollout', metadata, generationOf(status?.observedGeneration)),
    ...replicasOf(spec, status),
    ...(spec?.replicas === undefined ? { isUnwritten: true } : {}),
    ...requestsOf(spec),
  };
}

export function scaledJobOf(object: unknown): LoneWorkload {
  const { metadata } = withDates(object as CustomWorkload);
  const annotations = ownAnnotations(metadata?.annotations, `${GROUP}/`, KEDA);
  return {
    ...base('ScaledJob', metadata),
    annotations,
    replicas: null,
    isSuspended: isPaused(annotations),
    ready: 0,
    present: 0,
  };
}

/** A Rollout by the counts of its pods. */
export function replicatedOf(object: unknown): ReplicatedObject {
  const { metadata, spec, status } = object as CustomWorkload;
  const observedGeneration = generationOf(status?.observedGeneration);
  return { ...(metadata && { metadata }), ...(spec && { spec }), status: { ...status, observedGeneration } };
}

/** Argo writes it as text. */
function generationOf(observed: unknown): number {
  return Number(observed) || 0;
}

/** The readers expect the client's Dates; what is read as plain JSON has text. */
export function withDates<T extends KubernetesObject>(object: T): T {
  const { metadata } = object;
  if (metadata?.creationTimestamp === undefined) return object;
  const creationTimestamp = new Date(metadata.creationTimestamp);
  return { ...object, metadata: Object.assign({}, metadata, { creationTimestamp }) };
}

/** How an object of each kind is read, as the API server sends it. */
export const WORKLOAD_READERS: Readonly<Record<WorkloadType, (object: KubernetesObject) => LoneWorkload>> = {
  Deployment: deploymentOf,
  StatefulSet: statefulSetOf,
  CronJob: (object) => cronJobOf(object as V1CronJob),
  Rollout: rolloutOf,
  ScaledJob: scaledJobOf,
};

function replicasOf(
  spec: { readonly replicas?: number } | undefined,
  status: { readonly readyReplicas?: number; readonly replicas?: number } | undefined,
): Pick<Workload, 'replicas' | 'isSuspended' | 'ready' | 'present'> {
  return {
    replicas: spec?.replicas ?? 1,
    isSuspended: false,
    ready: status?.readyReplicas ?? 0,
    present: status?.replicas ?? 0,
  };
}

/** By the template: what the pods of one that sleeps would request. */
function requestsOf(spec: { readonly template?: unknown } | undefined): Pick<Workload, 'requests'> {
  const template = spec?.template;
  const { cpu, memory } = isRecord(template) ? podRequests(template) : {};
  const requests = { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
  return Object.keys(requests).length === 0 ? {} : { requests };
}

/** Managed fields are evaluated here and not kept: they are most of an object's size. */
function base(
  kind: WorkloadType,
  metadata: V1ObjectMeta = {},
  observedGeneration = 0,
): Omit<LoneWorkload, 'replicas' | 'isSuspended' | 'ready' | 'present'> {
  const { managedFields = [], generation = 0 } = metadata;
  const changed = fieldChange(managedFields, WORKLOAD_KINDS[kind].field);
  return {
    kind,
    namespace: metadata.namespace ?? '',
    ...identityOf(metadata),
    createdAt: metadata.creationTimestamp?.getTime() ?? 0,
    isDeleting: metadata.deletionTimestamp !== undefined,
    labels: metadata.labels ?? {},
    annotations: ownAnnotations(metadata.annotations, `${GROUP}/`),
    ...annotationRoom(metadata.annotations),
    changed: observedGeneration < generation ? changed : withLatest(changed, statusWrittenAt(managedFields)),
    createdBy: createdBy(managedFields),
    ...annotatedSince(metadata),
    ...controllerOf(metadata),
  };
}

function controllerOf({ ownerReferences = [] }: V1ObjectMeta): Pick<Workload, 'controller'> {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  if (owner === undefined) return {};
  const { apiVersion, kind, name } = owner;
  return { controller: { group: apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '', kind, name } };
}

/** When people wrote the annotations that put it to sleep or give it times of its own, if known. */
function annotatedSince({ annotations, managedFields }: V1ObjectMeta): Pick<Workload, 'sleepingSince' | 'timesSince'> {
  const writtenAt = (key: string): number | null =>
    annotations?.[key] === undefined ? null : annotationWrittenAt(managedFields, key);
  const [asleep, times] = [writtenAt(SLEEP_UNTIL), writtenAt(OWN_TIMES)];
  return {
    ...(asleep === null ? {} : { sleepingSince: asleep }),
    ...(times === null ? {} : { timesSince: times }),
  };
}

/** For a change without a time: the latest time it can have, which is when its controller wrote the status. */
function withLatest(changed: FieldChange | null, latest: number | null): FieldChange | null {
  return changed === null || changed.at !== null || latest === null ? changed : { ...changed, latest };
}

export function namespaceOf({ metadata, status }: V1Namespace): ScopedNamespace {
  return {
    name: metadata?.name ?? '',
    labels: metadata?.labels ?? {},
    annotations: ownAnnotations(metadata?.annotations, `${GROUP}/`),
    isDeleting: metadata?.deletionTimestamp !== undefined || status?.phase === 'Terminating',
    ...(metadata?.creationTimestamp === undefined ? {} : { createdAt: metadata.creationTimestamp.getTime() }),
    ...annotatedSince(metadata ?? {}),
  };
}

/**
 * Null when the target is not a workload that schedules know, or when it belongs to a ScaledObject: KEDA creates such
 * an autoscaler, deletes it while paused, and reverts any change to it.
 */
export function horizontalScalerOf({ metadata = {}, spec }: V2HorizontalPodAutoscaler): Scaler | null {
  const target = spec?.scaleTargetRef;
  const targetKind = target === undefined ? null : scaledKind(target.apiVersion, target.kind);
  if (spec === undefined || target === undefined || targetKind === null) return null;
  if (metadata.ownerReferences?.some(({ kind }) => kind === 'ScaledObject') === true) return null;
  const kind = 'HorizontalPodAutoscaler';
  return {
    kind,
    ...targetOf(targetKind, metadata.namespace ?? '', target.name),
    autoscaler: {
      kind,
      ...identityOf(metadata),
      annotations: ownAnnotations(metadata.annotations, `${GROUP}/`),
      ...annotationRoom(metadata.annotations),
      labels: metadata.labels ?? {},
      ...setBy({
        minReplicas:
          minimumAppliedBy(metadata, spec.minReplicas) ?? lastSetBy(metadata.managedFields, 'spec', 'minReplicas'),
        maxReplicas: lastSetBy(metadata.managedFields, 'spec', 'maxReplicas'),
      }),
      minReplicas: spec.minReplicas ?? 1,
      maxReplicas: spec.maxReplicas,
    },
  };
}

/** The fields that are read of KEDA's object, for which this client has no type. */
const scaledObject = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    managedFields: z.unknown().optional(),
  }),
  spec: z.object({
    scaleTargetRef: z.object({
      apiVersion: z.string().optional(),
      kind: z.string().optional(),
      name: z.string(),
    }),
  }),
});

/** Null when the target is not a workload that schedules know, or when the object is invalid. */
export function kedaScalerOf(object: unknown): Scaler | null {
  const read = scaledObject.safeParse(object);
  if (!read.success) return null;
  const { metadata, spec } = read.data;
  const { apiVersion, name } = spec.scaleTargetRef;
  // KEDA's own defaults: a Deployment of apps/v1.
  const targetKind = scaledKind(apiVersion, spec.scaleTargetRef.kind || 'Deployment');
  if (targetKind === null) return null;
  const kind = 'ScaledObject';
  return {
    kind,
    ...targetOf(targetKind, metadata.namespace, name),
    autoscaler: {
      kind,
      ...identityOf(metadata),
      annotations: ownAnnotations(metadata.annotations, `${GROUP}/`, KEDA),
      ...annotationRoom(metadata.annotations),
      labels: metadata.labels ?? {},
      ...setBy({ paused: lastSetBy(metadata.managedFields, 'annotations', KEDA_PAUSED_REPLICAS) }),
    },
  };
}

/** Who set the fields, as far as known. */
function setBy(found: Readonly<Record<string, SetBy | null>>): Pick<Autoscaler, 'setBy'> {
  const existing = Object.entries(found).filter(([, present]) => present !== null);
  return existing.length === 0 ? {} : { setBy: Object.fromEntries(existing) };
}

function identityOf({ name, uid, resourceVersion }: Pick<V1ObjectMeta, 'name' | 'uid' | 'resourceVersion'>) {
  return { name: name ?? '', uid: uid ?? '', resourceVersion: resourceVersion ?? '' };
}

/** The kind of workload of an autoscaler's target; null when it is none, or one without replicas. */
function scaledKind(apiVersion: string | undefined, kind: string): WorkloadType | null {
  const [group] = (apiVersion || 'apps/v1').split('/');
  const isMeant = (workloadType: WorkloadType): boolean =>
    workloadType === kind && WORKLOAD_KINDS[workloadType].resource.group === group;
  return workloadTypes.find((workloadType) => hasReplicas(workloadType) && isMeant(workloadType)) ?? null;
}

function ownAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  ...prefixes: readonly string[]
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(annotations ?? {}).filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))),
  );
}
