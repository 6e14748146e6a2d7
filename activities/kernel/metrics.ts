/** Metrics of activities, made from their definitions; without effect outside of an activity. */
import { asyncLocalStorage } from '@temporalio/activity';
import { type Metric, sdkName } from '../../domain/kernel/monitoring/metric.ts';

/** The label `namespace` is that of the metric, and replaces Temporal's label of that name. */
export function count<Label extends string>(
  metric: Metric<Label>,
  labels: Readonly<Record<Label, string>>,
  by = 1,
): void {
  if (by > 0) meter()?.createCounter(sdkName(metric), undefined, metric.help).add(by, labels);
}

/** Records how long something took. */
export function record<Label extends string>(
  metric: Metric<Label>,
  labels: Readonly<Record<Label, string>>,
  ms: number,
): void {
  meter()
    // The endpoint appends the unit to the name.
    ?.createHistogram(sdkName(metric), 'float', 'seconds', metric.help)
    .record(Math.max(0, ms) / 1000, labels);
}

function meter() {
  return asyncLocalStorage.getStore()?.metricMeter;
}
