import type { ClusterSchedule } from '../kernel/schedule.ts';
import { leaseGcId } from './target.ts';

interface LeaseGcTimings {
  readonly kubernetes: { readonly clusterName: string };
  readonly timings: { readonly leaseGcInterval: number };
}

/** When the Leases of a cluster are collected. */
export function leaseGcSchedule({ kubernetes: { clusterName }, timings }: LeaseGcTimings): ClusterSchedule {
  return {
    cluster: clusterName,
    id: leaseGcId(clusterName),
    workflowType: 'leaseGc',
    everyMs: timings.leaseGcInterval,
  };
}
