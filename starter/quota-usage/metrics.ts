import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { WrongQuota } from './audit-registry.ts';

/** The metrics of a starter's counting; every name begins with `headroom_usage_`. */
export interface UsageMetrics {
  readonly changes: Counter<'resource'>;
  readonly recounts: Counter;
  readonly requests: Counter<'priority'>;
  readonly lag: Histogram;
  /** Status writes of this starter, by what came of them: written, conflict, gone, failed. */
  readonly writes: Counter<'outcome'>;
}

export interface UsageGauges {
  /** Resources that are watched. */
  readonly watched: () => number;
  /** Quotas whose status has been wrong for longer than the audit's delay, with the wrong resources. */
  readonly wrong: () => readonly WrongQuota[];
  /** Quotas whose last count was incomplete. */
  readonly unmeasured: () => readonly WrongQuota[];
  /** Namespaces with a change that is not counted yet. */
  readonly waiting: () => number;
  /** Whether this starter is the one that writes. */
  readonly isOwner: () => boolean;
}

/** From a few milliseconds to the resync interval, to distinguish prompt from late updates. */
const LAG_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function createUsageMetrics(register: Registry, gauges: UsageGauges): UsageMetrics {
  const registers = [register];
  const gauge = (name: string, help: string, read: () => number): void => {
    register.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read());
        },
      }),
    );
  };
  gauge('headroom_usage_watched_resources', 'Resources that are watched because a quota counts them.', gauges.watched);
  gauge('headroom_usage_waiting_namespaces', 'Namespaces with a change that is not counted yet.', gauges.waiting);
  gauge('headroom_usage_owner', 'Whether this starter writes the status of quotas.', () => Number(gauges.isOwner()));
  const perQuota = (name: string, help: string, read: () => readonly WrongQuota[]): void => {
    register.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ['namespace', 'quota'],
        registers: [],
        collect() {
          this.reset();
          for (const { namespace, quota, resources } of read()) this.set({ namespace, quota }, resources);
        },
      }),
    );
  };
  perQuota(
    'headroom_usage_wrong_resources',
    "Resources of a quota's status that have been wrong for longer than the audit waits.",
    gauges.wrong,
  );
  perQuota(
    'headroom_usage_unmeasured_resources',
    'Resources of a quota that cannot be counted now, and keep the number that they had.',
    gauges.unmeasured,
  );
  return {
    changes: new Counter({
      name: 'headroom_usage_changes_total',
      help: 'Changes of objects that may have changed what a quota counts.',
      labelNames: ['resource'],
      registers,
    }),
    recounts: new Counter({
      name: 'headroom_usage_recounts_total',
      help: 'Namespaces counted from the caches.',
      registers,
    }),
    requests: new Counter({
      name: 'headroom_usage_reconcile_requests_total',
      help: 'Requests to the episodes of quotas, by priority.',
      labelNames: ['priority'],
      registers,
    }),
    writes: new Counter({
      name: 'headroom_usage_status_writes_total',
      help: 'Writes of a status by this starter, by what came of them: written, conflict, gone, failed.',
      labelNames: ['outcome'],
      registers,
    }),
    lag: new Histogram({
      name: 'headroom_usage_lag_seconds',
      help: 'In mode own: from the first change that a status did not know to the status that does.',
      buckets: LAG_SECONDS,
      registers,
    }),
  };
}
