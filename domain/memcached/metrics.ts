import type { Metric } from '../kernel/monitoring/metric.ts';

/** Those of Memcacheds, under the names of the first operator. */
export const memcachedMetrics = {
  desired: {
    name: 'memcached_operator_instance_replicas_desired',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: ['name', 'namespace'],
    help: 'Pods that a Memcached should have. With an autoscaler, asleep, or while pods go one by one, as many as its Deployment is to have.',
  },
  ready: {
    name: 'memcached_operator_instance_replicas_ready',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: ['name', 'namespace'],
    help: 'Pods of a Memcached that are ready.',
  },
  info: {
    name: 'memcached_operator_instance_info',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: ['name', 'namespace', 'image'],
    help: 'The image of a Memcached; always 1. None while the spec contradicts itself.',
  },
  reconciles: {
    name: 'memcached_operator_reconcile_total',
    type: 'counter',
    of: 'worker',
    across: 'own',
    labels: ['name', 'namespace', 'result'],
    help: 'How often a Memcached was compared, and written where it differed (success, error). Not counted where a pause ended it.',
  },
  duration: {
    name: 'memcached_operator_reconcile_duration_seconds',
    type: 'histogram',
    of: 'worker',
    across: 'own',
    labels: ['name', 'namespace'],
    help: 'How long a reconcile of a Memcached took.',
    // Those that Prometheus clients have by default.
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  writes: {
    name: 'memcached_operator_reconcile_resource_total',
    type: 'counter',
    of: 'worker',
    across: 'own',
    labels: ['resource_kind', 'result'],
    help: 'Writes of objects that Memcacheds own (created, updated, unchanged, error).',
  },
} as const satisfies Readonly<Record<string, Metric>>;
