import { Gauge, type Registry } from 'prom-client';
import type { Instance } from '../../domain/memcached/status/instance.ts';

/**
 * The metrics of Memcacheds, under the names that the first implementation has for them, read from the caches at each scrape: they
 * are true without an episode, and the series of a deleted Memcached disappear with it.
 */
export function registerInstanceMetrics(register: Registry, instances: () => readonly Instance[]): void {
  gauge('memcached_operator_instance_replicas_desired', 'Pods that a Memcached should have.', [], ({ desired }) =>
    desired === null ? null : { labels: {}, value: desired },
  );
  gauge('memcached_operator_instance_replicas_ready', 'Pods of a Memcached that are ready.', [], ({ ready }) => ({
    labels: {},
    value: ready,
  }));
  gauge('memcached_operator_instance_info', 'The image of a Memcached; always 1.', ['image'], ({ image }) =>
    image === null ? null : { labels: { image }, value: 1 },
  );

  function gauge(
    name: string,
    help: string,
    more: readonly string[],
    sampleOf: (
      instance: Instance,
    ) => { readonly labels: Readonly<Record<string, string>>; readonly value: number } | null,
  ): void {
    register.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ['name', 'namespace', ...more],
        registers: [],
        collect() {
          this.reset();
          for (const instance of instances()) {
            const sample = sampleOf(instance);
            if (sample === null) continue;
            this.set({ name: instance.name, namespace: instance.namespace, ...sample.labels }, sample.value);
          }
        },
      }),
    );
  }
}
