/** Metrics of workflows, made from their definitions. */
import { metricMeter } from '@temporalio/workflow';
import { type Metric, sdkName } from '../../domain/kernel/monitoring/metric.ts';

export function count<Label extends string>(metric: Metric<Label>, labels: Readonly<Record<Label, string>>): void {
  metricMeter.createCounter(sdkName(metric), '1', metric.help).add(1, labels);
}

export function setGauge<Label extends string>(
  metric: Metric<Label>,
  labels: Readonly<Record<Label, string>>,
  value: number,
): void {
  metricMeter.createGauge(sdkName(metric), 'float', undefined, metric.help).set(value, labels);
}

/** Records how long something took. */
export function recordSeconds<Label extends string>(
  metric: Metric<Label>,
  labels: Readonly<Record<Label, string>>,
  seconds: number,
): void {
  // The endpoint appends the unit to the name.
  metricMeter.createHistogram(sdkName(metric), 'float', 'seconds', metric.help).record(seconds, labels);
}
