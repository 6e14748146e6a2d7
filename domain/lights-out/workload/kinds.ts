/**
 * What one kind of workload differs in from the others. Whatever depends on the kind asks here or in a table of the same
 * form, so that a kind that is added to `workloadTypes` does not compile until each of them has it.
 */
import { type WorkloadType, workloadTypes } from '../schedule/names.ts';
import type { ScheduleStatus, WorkloadStats } from '../schedule/schedule.ts';

export interface WorkloadKind {
  /** By what the API server serves it, and the roles name it. */
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  /** The field of its spec that puts it to sleep. What has replicas can also have autoscalers. */
  readonly field: 'replicas' | 'suspend';
  /** Whether `kubectl rollout undo` gives it the annotations that it had in an older revision. */
  readonly hasRevisionAnnotations: boolean;
  /** The fields of the schedule's status that count it: those in scope, and those asleep. */
  readonly counters: { readonly managed: keyof WorkloadStats; readonly asleep: keyof WorkloadStats };
}

export const WORKLOAD_KINDS: Readonly<Record<WorkloadType, WorkloadKind>> = {
  Deployment: {
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    field: 'replicas',
    hasRevisionAnnotations: true,
    counters: { managed: 'deploymentsManaged', asleep: 'deploymentsScaled' },
  },
  StatefulSet: {
    resource: { group: 'apps', version: 'v1', resource: 'statefulsets' },
    field: 'replicas',
    hasRevisionAnnotations: false,
    counters: { managed: 'statefulsetsManaged', asleep: 'statefulsetsScaled' },
  },
  CronJob: {
    resource: { group: 'batch', version: 'v1', resource: 'cronjobs' },
    field: 'suspend',
    hasRevisionAnnotations: false,
    counters: { managed: 'cronjobsManaged', asleep: 'cronjobsSuspended' },
  },
};

/** The resources of all kinds, by API group, as the roles name them. */
export function workloadResources(): readonly { readonly group: string; readonly resources: readonly string[] }[] {
  const all = workloadTypes.map((kind) => WORKLOAD_KINDS[kind].resource);
  return [...Map.groupBy(all, ({ group }) => group)].map(([group, of]) => ({
    group,
    resources: of.map(({ resource }) => resource),
  }));
}

/** Whether workloads of the kind are put to sleep by their replicas, and not by a switch. */
export function hasReplicas(kind: WorkloadType): boolean {
  return WORKLOAD_KINDS[kind].field === 'replicas';
}

/** As a status has them: any may be missing. */
type StatusStats = NonNullable<ScheduleStatus['workloadStats']>;

/** How many workloads of each kind are in scope, or asleep. */
export function countsByKind(
  stats: StatusStats,
  which: keyof WorkloadKind['counters'],
): readonly { readonly kind: WorkloadType; readonly count: number | undefined }[] {
  return workloadTypes.map((kind) => ({ kind, count: stats[WORKLOAD_KINDS[kind].counters[which]] }));
}

/** How many workloads of all kinds together are in scope, or asleep. */
export function totalOf(stats: StatusStats, which: keyof WorkloadKind['counters']): number {
  return countsByKind(stats, which).reduce((sum, { count = 0 }) => sum + count, 0);
}
