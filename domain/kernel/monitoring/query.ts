/** Queries of metrics in PromQL, in which copies of a series from several processes are put together as the metric says. */
import { CLUSTER_LABEL, type Metric } from './metric.ts';

/** In a selector: a dashboard puts the cluster that is looked at in its place, a rule nothing. */
const SCOPE = '$scope';

/** `name{$scope,phase="Blocked"}`. */
function selector(metric: Metric, where: string, suffix = ''): string {
  const all = [SCOPE, metric.where ?? '', where].filter((part) => part !== '');
  return `${metric.name}${suffix}{${all.join(',')}}`;
}

/** That no process tells it. */
export function isAbsent(metric: Metric): string {
  return `absent(${selector(metric, '')})`;
}

function grouped(by: readonly string[]): string {
  return [CLUSTER_LABEL, ...by].join(', ');
}

function joined({ across }: Metric, by: readonly string[], expr: string): string {
  return `${across === 'same' ? 'max' : 'sum'} by (${grouped(by)}) (${expr})`;
}

/** The value now. */
export function now<Label extends string>(
  metric: Metric<Label>,
  by: readonly Label[] = metric.labels,
  where = '',
): string {
  return joined(metric, by, selector(metric, where));
}

/** The value now of the processes that tell another metric as well: what Node measures has the same name in every program. */
export function nowWhereTold(metric: Metric, other: Metric): string {
  return joined(metric, [], `${selector(metric, '')} and on (job, instance) ${selector(other, '')}`);
}

/** The smallest value that a process tells. */
export function least<Label extends string>(
  metric: Metric<Label>,
  by: readonly Label[] = metric.labels,
  where = '',
): string {
  return `min by (${grouped(by)}) (${selector(metric, where)})`;
}

/** The largest value of those that differ in other labels. */
export function most<Label extends string>(metric: Metric<Label>, by: readonly Label[], where = ''): string {
  return `max by (${grouped(by)}) (${selector(metric, where)})`;
}

/** The sum over other labels of what every process tells alike. */
export function total<Label extends string>(metric: Metric<Label>, by: readonly Label[], where = ''): string {
  return metric.across === 'own'
    ? now(metric, by, where)
    : `sum by (${grouped(by)}) (${joined(metric, metric.labels, selector(metric, where))})`;
}

/** A second, over five minutes. */
export function rate<Label extends string>(
  metric: Metric<Label>,
  by: readonly Label[] = metric.labels,
  where = '',
): string {
  return joined(metric, by, `rate(${selector(metric, where)}[5m])`);
}

/**
 * By how much a counter grew. A series begins with its first count, which `increase` does not see: of a reason that came up once it
 * would say 0. So one that is younger than the span counts from nothing. It is not younger where there was a sample in the day before:
 * then Prometheus was away when the span began.
 */
export function grown<Label extends string>(
  metric: Metric<Label>,
  span: string,
  by: readonly Label[] = metric.labels,
  where = '',
): string {
  const series = selector(metric, where);
  return joined(
    metric,
    by,
    `(${series} unless last_over_time(${series}[1d] offset ${span})) or increase(${series}[${span}])`,
  );
}

/** A quantile of a histogram over a span. */
export function quantile<Label extends string>(
  metric: Metric<Label>,
  share: number,
  span: string,
  by: readonly Label[] = [],
): string {
  return `histogram_quantile(${share}, sum by (le, ${grouped(by)}) (rate(${selector(metric, '', '_bucket')}[${span}])))`;
}

/** For a dashboard, whose variable `cluster` says which clusters are looked at. */
export function forDashboard(expr: string): string {
  return expr.replaceAll(SCOPE, `${CLUSTER_LABEL}=~"$cluster"`);
}

/** For a rule, which is about every cluster. */
export function forRule(expr: string): string {
  return expr.replaceAll(`{${SCOPE}}`, '').replaceAll(`${SCOPE},`, '');
}
