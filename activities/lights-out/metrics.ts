import { asyncLocalStorage } from '@temporalio/activity';
import type { MetricCounter } from '@temporalio/common';
import type { ScheduleState, WorkloadType } from '../../domain/lights-out/schedule/names.ts';

/** Histogram buckets for the duration of a scaling run: those that dashboards of the first implementation use. */
const SCALING_SECONDS = [1, 5, 10, 30, 60, 120, 300, 600];

/** Histogram buckets for the metrics endpoint of the process. */
export const scalingBuckets = { lightsout_scaling_duration: SCALING_SECONDS };

type Direction = 'upscale' | 'downscale';

/** Metrics of the writes of one batch; without effect outside of an activity. */
export interface ScalingMetrics {
  /** An object was written. */
  readonly operation: (
    workload: { readonly kind: WorkloadType; readonly namespace: string },
    direction: ScheduleState,
  ) => void;
  readonly error: (workload: { readonly kind: WorkloadType; readonly namespace: string }) => void;
  /** A workload was processed, with any result. */
  readonly processed: (direction: ScheduleState, result: 'success' | 'failed' | 'skipped') => void;
}

/**
 * The counters of a schedule. The worker's endpoint adds `_total` to their names. The label `namespace` is the
 * workload's and replaces Temporal's label of that name.
 */
export function scalingMetrics(schedule: string): ScalingMetrics {
  const operations = counter('lightsout_scaling_operations', 'Workloads that were put to sleep or woken.');
  const errors = counter('lightsout_scaling_errors', 'Workloads that could not be written.');
  const processed = counter('lightsout_scaling_workloads_processed', 'Workloads of batches, by what became of them.');
  return {
    operation: ({ kind, namespace }, direction) =>
      operations?.add(1, { schedule, namespace, workload_type: kind, operation: directionName(direction) }),
    error: ({ kind, namespace }) => errors?.add(1, { schedule, namespace, workload_type: kind }),
    processed: (direction, result) => processed?.add(1, { schedule, direction: directionName(direction), result }),
  };
}

function counter(name: string, description: string): MetricCounter | undefined {
  return asyncLocalStorage.getStore()?.metricMeter.createCounter(name, '1', description);
}

function directionName(direction: ScheduleState): Direction {
  return direction === 'Up' ? 'upscale' : 'downscale';
}
