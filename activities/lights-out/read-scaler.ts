/** Autoscalers as the API server sends them, and the workloads that they scale. */
import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { z } from 'zod';
import { lastSetBy } from '../../domain/lights-out/workload/field-owner.ts';
import {
  GROUP,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  type WorkloadType,
  workloadTypes,
} from '../../domain/lights-out/schedule/names.ts';
import { hasReplicas, WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import { isByOwner } from '../../domain/lights-out/workload/scaled-owner.ts';
import type { Autoscaler, SetBy, Workload } from '../../domain/lights-out/workload/workload.ts';
import { annotationRoom } from './annotation-room.ts';
import { minimumAppliedBy } from './last-applied.ts';
import { base, groupOf, identityOf, KEDA, type LoneWorkload, ownAnnotations, replicasOf } from './read-workload.ts';

/** An autoscaler, and the workload that it scales. */
export interface Scaler {
  readonly kind: Autoscaler['kind'];
  /** As `targetKey` or `ownerKey` has it. */
  readonly target: string;
  readonly namespace: string;
  /** Null for another kind, which may own a workload. */
  readonly of: Pick<Workload, 'kind' | 'namespace' | 'name'> | null;
  readonly autoscaler: Autoscaler;
}

/** A key that is equal for an autoscaler's target and the workload. */
export function targetKey(kind: string, namespace: string, name: string): string {
  return `${kind} ${namespace}/${name}`;
}

/** The same of an object that may own workloads. */
function ownerKey({ group, kind, name }: NonNullable<Workload['controller']>, namespace: string): string {
  return `${kind}.${group} ${namespace}/${name}`;
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

/** Whether the target of an autoscaler owns the workload. */
export function isOwnersKey({ controller, namespace }: LoneWorkload, target: string): boolean {
  return controller !== undefined && ownerKey(controller, namespace) === target;
}

/** A workload with those of its owner as well, where the owner's number is its own: what an autoscaler of it does is no other's concern. */
export function withOwnersAutoscalers(
  workload: Workload,
  autoscalersOf: (target: string) => readonly Autoscaler[],
): Workload {
  const { owner, namespace, autoscalers } = workload;
  const more = owner === undefined || !isByOwner(workload) ? [] : autoscalersOf(ownerKey(owner, namespace));
  return more.length === 0 ? workload : { ...workload, autoscalers: [...autoscalers, ...more] };
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
    // An owner that is gone took its workload along.
    if (first === undefined || first.of === null) return [];
    const { kind, namespace, name } = first.of;
    const workload = base(kind, { namespace, name });
    return [
      { ...workload, ...replicasOf({ replicas: 0 }, {}), autoscalers: group.map(({ autoscaler }) => autoscaler) },
    ];
  });
}

function targetOf(
  {
    apiVersion,
    kind,
    name,
  }: { readonly apiVersion?: string | undefined; readonly kind: string; readonly name: string },
  namespace: string,
): Pick<Scaler, 'target' | 'namespace' | 'of'> | null {
  const own = scaledKind(apiVersion, kind);
  if (own !== null) return { target: targetKey(own, namespace, name), namespace, of: { kind: own, namespace, name } };
  const group = groupOf(apiVersion || 'apps/v1');
  // Kubernetes' own kinds own no workload that a schedule knows.
  if (group === '' || group === 'apps') return null;
  return { target: ownerKey({ group, kind, name }, namespace), namespace, of: null };
}

/**
 * Null when the target is not a workload that schedules know, or when it belongs to a ScaledObject: KEDA creates such
 * an autoscaler, deletes it while paused, and reverts any change to it.
 */
export function horizontalScalerOf({ metadata = {}, spec }: V2HorizontalPodAutoscaler): Scaler | null {
  const target = spec?.scaleTargetRef;
  const targeted = target === undefined ? null : targetOf(target, metadata.namespace ?? '');
  if (spec === undefined || targeted === null) return null;
  if (metadata.ownerReferences?.some(({ kind }) => kind === 'ScaledObject') === true) return null;
  const kind = 'HorizontalPodAutoscaler';
  return {
    kind,
    ...targeted,
    autoscaler: {
      kind,
      ...metadataOf(metadata, `${GROUP}/`),
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
  const targeted = targetOf({ apiVersion, kind: spec.scaleTargetRef.kind || 'Deployment', name }, metadata.namespace);
  if (targeted === null) return null;
  const kind = 'ScaledObject';
  return {
    kind,
    ...targeted,
    autoscaler: {
      kind,
      ...metadataOf(metadata, `${GROUP}/`, KEDA),
      ...setBy({ paused: lastSetBy(metadata.managedFields, 'annotations', KEDA_PAUSED_REPLICAS) }),
    },
  };
}

/** @param prefixes of the annotations that are read. */
function metadataOf(
  metadata: Parameters<typeof identityOf>[0] & {
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
  },
  ...prefixes: readonly string[]
): Pick<Autoscaler, 'name' | 'uid' | 'resourceVersion' | 'annotations' | 'annotationRoom' | 'labels'> {
  const { annotations, labels = {} } = metadata;
  return {
    ...identityOf(metadata),
    annotations: ownAnnotations(annotations, ...prefixes),
    ...annotationRoom(annotations),
    labels,
  };
}

/** Who set the fields, as far as known. */
function setBy(found: Readonly<Record<string, SetBy | null>>): Pick<Autoscaler, 'setBy'> {
  const existing = Object.entries(found).filter(([, present]) => present !== null);
  return existing.length === 0 ? {} : { setBy: Object.fromEntries(existing) };
}

/** The kind of workload of an autoscaler's target; null when it is none, or one without replicas. */
function scaledKind(apiVersion: string | undefined, kind: string): WorkloadType | null {
  const [group] = (apiVersion || 'apps/v1').split('/');
  const isMeant = (workloadType: WorkloadType): boolean =>
    workloadType === kind && WORKLOAD_KINDS[workloadType].resource.group === group;
  return workloadTypes.find((workloadType) => hasReplicas(workloadType) && isMeant(workloadType)) ?? null;
}
