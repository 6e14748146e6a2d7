/** How what is measured is shown, and when somebody has to know. */
import type { Metric } from './metric.ts';

/** Units as Grafana names them. */
type Unit = 'short' | 's' | 'bytes' | 'ops' | 'h';

export interface Panel {
  readonly title: string;
  /** What a reader should make of it, a sentence. */
  readonly about: string;
  readonly unit: Unit;
  /** A line over time, one number, or a row for each series as it is now. */
  readonly kind: 'timeseries' | 'stat' | 'table';
  readonly queries: readonly {
    /** PromQL with `$scope` in each selector. */
    readonly expr: string;
    /** The name of a line, with labels as `{{label}}`. */
    readonly legend: string;
  }[];
  /** Of a controller: whether the overview has it as well. */
  readonly isInOverview?: boolean;
}

export interface Alert {
  readonly name: string;
  /** PromQL with `$scope` in each selector. */
  readonly expr: string;
  /** How long it has to be true, such as `15m`; absent: at once. */
  readonly for?: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** What is so, with labels as `{{ $labels.name }}`. */
  readonly summary: string;
  /** Who has to act. */
  readonly who: 'platform team' | 'approvers' | 'cluster administrators' | 'owners of the workload';
  /** What they do, a sentence. */
  readonly action: string;
  /** The page and heading that has more, such as `docs/operations/shared.md#a-pause`. */
  readonly runbook: string;
}

/** What one controller, or the frame of all, measures and shows. */
export interface Monitoring {
  /** Of its dashboard and of its part of docs/metrics.md. */
  readonly title: string;
  readonly metrics: Readonly<Record<string, Metric>>;
  readonly panels: readonly Panel[];
  readonly alerts: readonly Alert[];
  /** Phases in which one of its workflows waits for a person, or for a limit of somebody else. */
  readonly waitingPhases: readonly string[];
}
