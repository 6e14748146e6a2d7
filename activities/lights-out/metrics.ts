import { lightsOutMetrics } from '../../domain/lights-out/metrics.ts';
import type { ScheduleState, WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import { count } from '../kernel/metrics.ts';

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

export function scalingMetrics(schedule: string): ScalingMetrics {
  const { operations, errors, processed } = lightsOutMetrics;
  return {
    operation: ({ kind, namespace }, direction) =>
      count(operations, { schedule, namespace, workload_type: kind, operation: directionName(direction) }),
    error: ({ kind, namespace }) => count(errors, { schedule, namespace, workload_type: kind }),
    processed: (direction, result) => count(processed, { schedule, direction: directionName(direction), result }),
  };
}

function directionName(direction: ScheduleState): Direction {
  return direction === 'Up' ? 'upscale' : 'downscale';
}
