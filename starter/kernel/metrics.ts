/** Metrics of a process with a registry of its own, made from their definitions. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Metric } from '../../domain/kernel/monitoring/metric.ts';

export type Sample<Label extends string> = readonly [labels: Readonly<Record<Label, string>>, value: number];

/** A gauge that is read at each scrape, so that the series of what is gone go with it. */
export function collectGauge<Label extends string>(
  register: Registry,
  metric: Metric<Label>,
  samples: () => readonly Sample<Label>[],
): void {
  register.registerMetric(
    new Gauge<Label>({
      ...described(metric),
      registers: [],
      collect() {
        this.reset();
        for (const [labels, value] of samples()) this.set(labels, value);
      },
    }),
  );
}

/** A gauge without labels, which is read at each scrape. */
export function collectNumber(register: Registry, metric: Metric<never>, read: () => number): void {
  collectGauge(register, metric, () => [[{}, read()]]);
}

/** A counter whose values are kept elsewhere; a value that is no amount is left out. */
export function collectCounter<Label extends string>(
  register: Registry,
  metric: Metric<Label>,
  samples: () => readonly Sample<Label>[],
): void {
  register.registerMetric(
    new Counter<Label>({
      ...described(metric),
      registers: [],
      collect() {
        this.reset();
        for (const [labels, value] of samples()) if (value >= 0) this.inc(labels, value);
      },
    }),
  );
}

export function createCounter<Label extends string>(register: Registry, metric: Metric<Label>): Counter<Label> {
  return new Counter<Label>({ ...described(metric), registers: [register] });
}

export function createGauge<Label extends string>(register: Registry, metric: Metric<Label>): Gauge<Label> {
  return new Gauge<Label>({ ...described(metric), registers: [register] });
}

export function createHistogram<Label extends string>(register: Registry, metric: Metric<Label>): Histogram<Label> {
  const { buckets } = metric;
  return new Histogram<Label>({
    ...described(metric),
    ...(buckets === undefined ? {} : { buckets: [...buckets] }),
    registers: [register],
  });
}

function described<Label extends string>({ name, help, labels }: Metric<Label>) {
  return { name, help, labelNames: [...labels] };
}
