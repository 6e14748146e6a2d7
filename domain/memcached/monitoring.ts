import type { Monitoring } from '../kernel/monitoring/monitoring.ts';
import { grown, now, quantile } from '../kernel/monitoring/query.ts';
import { memcachedMetrics as own } from './metrics.ts';

/** A worker keeps what it counted of a Memcached that is deleted by now, of which the starters tell nothing any more. */
const ofExisting = (expr: string): string => `(${expr}) and on (cluster, namespace, name) ${now(own.ready)} >= 0`;

export const memcachedMonitoring: Monitoring = {
  title: 'Memcacheds',
  metrics: own,
  waitingPhases: [],
  panels: [
    {
      title: 'Pods',
      about: 'How many there should be, and how many are ready.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: now(own.desired), legend: '{{namespace}}/{{name}} desired' },
        { expr: now(own.ready), legend: '{{namespace}}/{{name}} ready' },
      ],
    },
    {
      title: 'Memcacheds with too few pods',
      about: 'How many pods each of them lacks.',
      unit: 'short',
      kind: 'table',
      queries: [{ expr: `${now(own.desired)} - ${now(own.ready)} > 0`, legend: '{{namespace}}/{{name}}' }],
      isInOverview: true,
    },
    {
      title: 'Images',
      about: 'What each Memcached runs.',
      unit: 'short',
      kind: 'table',
      queries: [{ expr: now(own.info), legend: '{{namespace}}/{{name}} {{image}}' }],
    },
    {
      title: 'Reconciles in an hour',
      about: 'By result.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: ofExisting(grown(own.reconciles, '1h')), legend: '{{namespace}}/{{name}} {{result}}' }],
    },
    {
      title: 'Duration of a reconcile',
      about: 'For nine of ten in an hour.',
      unit: 's',
      kind: 'timeseries',
      queries: [
        {
          expr: ofExisting(quantile(own.duration, 0.9, '1h', ['name', 'namespace'])),
          legend: '{{namespace}}/{{name}}',
        },
      ],
    },
    {
      title: 'Writes in an hour',
      about: 'Of what Memcacheds own, by kind and result.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: grown(own.writes, '1h'), legend: '{{resource_kind}} {{result}}' }],
    },
  ],
  alerts: [
    {
      name: 'HeadroomMemcachedNotReady',
      expr: `${now(own.ready)} < ${now(own.desired)}`,
      for: '15m',
      severity: 'warning',
      summary: '{{ $labels.namespace }}/{{ $labels.name }} in {{ $labels.cluster }} has only {{ $value }} ready pods',
      who: 'owners of the workload',
      action: 'kubectl headroom memcached explain says what it waits for',
      runbook: 'docs/operations/memcached.md#what-it-means',
    },
    {
      name: 'HeadroomMemcachedFails',
      expr: ofExisting(`${grown(own.reconciles, '15m', ['name', 'namespace'], 'result="error"')} > 3`),
      for: '15m',
      severity: 'warning',
      summary: '{{ $labels.namespace }}/{{ $labels.name }} in {{ $labels.cluster }} cannot be read or written',
      who: 'platform team',
      action: 'look at its condition Degraded and its workflow',
      runbook: 'docs/operations/memcached.md#what-it-means',
    },
  ],
};
