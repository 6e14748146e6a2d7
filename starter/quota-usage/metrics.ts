import type { Counter, Histogram, Registry } from 'prom-client';
import { quotaUsageMetrics } from '../../domain/quota-usage/metrics.ts';
import { collectGauge, collectNumber, createCounter, createHistogram, type Sample } from '../kernel/metrics.ts';
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

export function createUsageMetrics(register: Registry, gauges: UsageGauges): UsageMetrics {
  const { watched, waiting, owner, wrong, unmeasured, changes, recounts, requests, writes, lag } = quotaUsageMetrics;
  collectNumber(register, watched, gauges.watched);
  collectNumber(register, waiting, gauges.waiting);
  collectNumber(register, owner, () => Number(gauges.isOwner()));
  collectGauge(register, wrong, () => gauges.wrong().map(sampleOf));
  collectGauge(register, unmeasured, () => gauges.unmeasured().map(sampleOf));
  return {
    changes: createCounter(register, changes),
    recounts: createCounter(register, recounts),
    requests: createCounter(register, requests),
    writes: createCounter(register, writes),
    lag: createHistogram(register, lag),
  };
}

function sampleOf({ namespace, quota, resources }: WrongQuota): Sample<'namespace' | 'quota'> {
  return [{ namespace, quota }, resources];
}
