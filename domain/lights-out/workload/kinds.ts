/**
 * How the kinds of workloads differ. Everything that depends on the kind uses this table or one of the same type, so
 * that a kind added to `workloadTypes` does not compile until each table has it.
 */
import { type WorkloadType, workloadTypes } from '../schedule/names.ts';
import type { ScheduleStatus, WorkloadStats } from '../schedule/schedule.ts';
import type { Autoscaler } from './workload.ts';

export interface WorkloadKind {
  /** The API resource, also used in the generated roles. */
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  /** The field that puts it to sleep, of the spec; `paused` is KEDA's annotation. Kinds with replicas can have autoscalers. */
  readonly field: 'replicas' | 'suspend' | 'paused';
  /** Whether a cluster may not serve it. */
  readonly isOptional: boolean;
  /** Whether `kubectl rollout undo` restores the annotations of an older revision. */
  readonly hasRevisionAnnotations: boolean;
  /** The fields of the schedule's status with its counts: in scope, and asleep. */
  readonly counters: { readonly managed: keyof WorkloadStats; readonly asleep: keyof WorkloadStats };
}

export const WORKLOAD_KINDS: Readonly<Record<WorkloadType, WorkloadKind>> = {
  Deployment: {
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    field: 'replicas',
    isOptional: false,
    hasRevisionAnnotations: true,
    counters: { managed: 'deploymentsManaged', asleep: 'deploymentsScaled' },
  },
  StatefulSet: {
    resource: { group: 'apps', version: 'v1', resource: 'statefulsets' },
    field: 'replicas',
    isOptional: false,
    hasRevisionAnnotations: false,
    counters: { managed: 'statefulsetsManaged', asleep: 'statefulsetsScaled' },
  },
  CronJob: {
    resource: { group: 'batch', version: 'v1', resource: 'cronjobs' },
    field: 'suspend',
    isOptional: false,
    hasRevisionAnnotations: false,
    counters: { managed: 'cronjobsManaged', asleep: 'cronjobsSuspended' },
  },
  Rollout: {
    resource: { group: 'argoproj.io', version: 'v1alpha1', resource: 'rollouts' },
    field: 'replicas',
    isOptional: true,
    hasRevisionAnnotations: false,
    counters: { managed: 'rolloutsManaged', asleep: 'rolloutsScaled' },
  },
  ScaledJob: {
    resource: { group: 'keda.sh', version: 'v1alpha1', resource: 'scaledjobs' },
    field: 'paused',
    isOptional: true,
    hasRevisionAnnotations: false,
    counters: { managed: 'scaledjobsManaged', asleep: 'scaledjobsPaused' },
  },
};

/** The resource of each kind of object that a schedule writes, as its watch is named. */
export const OBJECT_RESOURCES: Readonly<Record<WorkloadType | Autoscaler['kind'], string>> = {
  Deployment: WORKLOAD_KINDS.Deployment.resource.resource,
  StatefulSet: WORKLOAD_KINDS.StatefulSet.resource.resource,
  CronJob: WORKLOAD_KINDS.CronJob.resource.resource,
  Rollout: WORKLOAD_KINDS.Rollout.resource.resource,
  ScaledJob: WORKLOAD_KINDS.ScaledJob.resource.resource,
  HorizontalPodAutoscaler: 'horizontalpodautoscalers',
  ScaledObject: 'scaledobjects',
};

/** The resources of all kinds by API group, with the fields that put them to sleep, for the roles. */
export function workloadResources(): readonly {
  readonly group: string;
  readonly resources: readonly string[];
  readonly fields: readonly WorkloadKind['field'][];
}[] {
  const all = workloadTypes.map((kind) => WORKLOAD_KINDS[kind]);
  return [...Map.groupBy(all, ({ resource: { group } }) => group)].map(([group, of]) => ({
    group,
    resources: of.map(({ resource: { resource } }) => resource),
    fields: [...new Set(of.map(({ field }) => field))],
  }));
}

/** Whether workloads of the kind are put to sleep by their replicas, and not by what keeps them from starting Jobs. */
export function hasReplicas(kind: WorkloadType): boolean {
  return WORKLOAD_KINDS[kind].field === 'replicas';
}

/** As in a status: any field may be missing. */
type StatusStats = NonNullable<ScheduleStatus['workloadStats']>;

/** The number of workloads of each kind that are in scope, or asleep. */
export function countsByKind(
  stats: StatusStats,
  which: keyof WorkloadKind['counters'],
): readonly { readonly kind: WorkloadType; readonly count: number | undefined }[] {
  return workloadTypes.map((kind) => ({ kind, count: stats[WORKLOAD_KINDS[kind].counters[which]] }));
}

/** The number of workloads of all kinds that are in scope, or asleep. */
export function totalOf(stats: StatusStats, which: keyof WorkloadKind['counters']): number {
  return countsByKind(stats, which).reduce((sum, { count = 0 }) => sum + count, 0);
}
