import type {
  KubernetesObject,
  V1CronJob,
  V1Deployment,
  V1Namespace,
  V1ObjectMeta,
  V1StatefulSet,
  V1StatefulSetSpec,
} from '@kubernetes/client-node';
import { podRequests } from '../../domain/kernel/pod-requests.ts';
import { isRecord } from '../../domain/kernel/record.ts';
import {
  annotationWrittenAt,
  createdBy,
  fieldChange,
  statusWrittenAt,
} from '../../domain/lights-out/workload/field-owner.ts';
import { GROUP, OWN_TIMES, SLEEP_UNTIL, type WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import { WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import { isPaused } from '../../domain/lights-out/workload/keda-paused.ts';
import { annotationRoom } from './annotation-room.ts';
import type { FieldChange, ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';

/** Before the names of KEDA's annotations. */
export const KEDA = 'autoscaling.keda.sh/';
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

/** A workload without its autoscalers, which are separate objects. */
export type LoneWorkload = Omit<Workload, 'autoscalers'>;

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

export function replicasOf(
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
export function base(
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

export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}

function controllerOf({ ownerReferences = [] }: V1ObjectMeta): Pick<Workload, 'controller'> {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  if (owner === undefined) return {};
  const { apiVersion, kind, name, uid } = owner;
  return { controller: { group: groupOf(apiVersion), kind, name, uid } };
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
export function withLatest(changed: FieldChange | null, latest: number | null): FieldChange | null {
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

export function identityOf({ name, uid, resourceVersion }: Pick<V1ObjectMeta, 'name' | 'uid' | 'resourceVersion'>) {
  return { name: name ?? '', uid: uid ?? '', resourceVersion: resourceVersion ?? '' };
}

export function ownAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  ...prefixes: readonly string[]
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(annotations ?? {}).filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))),
  );
}
