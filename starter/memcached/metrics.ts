import type { Registry } from 'prom-client';
import { memcachedMetrics as metrics } from '../../domain/memcached/metrics.ts';
import type { Instance } from '../../domain/memcached/status/instance.ts';
import { collectGauge } from '../kernel/metrics.ts';

/**
 * The metrics of Memcacheds, under the names that the first implementation has for them, read from the caches at each scrape: they
 * are true without an episode, and the series of a deleted Memcached disappear with it.
 */
export function registerInstanceMetrics(register: Registry, instances: () => readonly Instance[]): void {
  collectGauge(register, metrics.desired, () =>
    instances().flatMap(({ name, namespace, desired }) => (desired === null ? [] : [[{ name, namespace }, desired]])),
  );
  collectGauge(register, metrics.ready, () =>
    instances().map(({ name, namespace, ready }) => [{ name, namespace }, ready]),
  );
  collectGauge(register, metrics.info, () =>
    instances().flatMap(({ name, namespace, image }) => (image === null ? [] : [[{ name, namespace, image }, 1]])),
  );
}
