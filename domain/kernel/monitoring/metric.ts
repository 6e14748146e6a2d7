/** What is measured, as Prometheus sees it. Dashboards, rules, HELP texts and docs/metrics.md are made from these. */
export interface Metric<Label extends string = string> {
  /** As Prometheus sees it, with the unit and `_total` of a counter. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  /** The process that serves it. */
  readonly of: 'starter' | 'worker';
  /** Of several processes: `same`, each tells the same, so take the largest; `own`, each counts its own, so take the sum. */
  readonly across: 'same' | 'own';
  readonly labels: readonly Label[];
  /** What it tells, a sentence or more. */
  readonly help: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
  /** Whether somebody else makes it, such as the SDK of Temporal. */
  readonly isForeign?: boolean;
  /** Of one that processes of others may have as well: which series are Headroom's, in the form of a selector. */
  readonly where?: string;
}

/** The label of every metric of Headroom's processes. */
export const CLUSTER_LABEL = 'cluster';

/** What Temporal's SDK is told: its endpoint appends `_total` to counters, and the unit to histograms. */
export function sdkName({ name, type }: Pick<Metric, 'name' | 'type'>): string {
  if (type === 'counter') return name.replace(/_total$/, '');
  return type === 'histogram' ? name.replace(/_seconds$/, '') : name;
}

/** The buckets of the histograms among these, as Temporal's SDK takes them. */
export function sdkBuckets(metrics: Readonly<Record<string, Metric>>): Record<string, number[]> {
  const histograms = Object.values(metrics).filter(({ type, of }) => type === 'histogram' && of === 'worker');
  return Object.fromEntries(
    histograms.flatMap((metric) => (metric.buckets === undefined ? [] : [[sdkName(metric), [...metric.buckets]]])),
  );
}
