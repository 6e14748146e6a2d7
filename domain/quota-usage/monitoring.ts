import type { Monitoring } from '../kernel/monitoring/monitoring.ts';
import { grown, now, quantile, rate, total } from '../kernel/monitoring/query.ts';
import { quotaUsageMetrics as own } from './metrics.ts';

export const quotaUsageMonitoring: Monitoring = {
  title: 'Usage of quotas',
  metrics: own,
  waitingPhases: [],
  panels: [
    {
      title: 'Wrong numbers',
      about: 'By quota, how many numbers of its status have been wrong for too long.',
      unit: 'short',
      kind: 'table',
      queries: [{ expr: now(own.wrong), legend: '{{namespace}}/{{quota}}' }],
    },
    {
      title: 'Quota statuses that are wrong',
      about: 'All wrong numbers of all quotas.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: total(own.wrong, []), legend: 'numbers' }],
      isInOverview: true,
    },
    {
      title: 'Numbers that cannot be counted',
      about: 'A right, an API service or a definition is missing.',
      unit: 'short',
      kind: 'table',
      queries: [{ expr: now(own.unmeasured), legend: '{{namespace}}/{{quota}}' }],
    },
    {
      title: 'How late a status is',
      about: 'From the change to the status that knows it, for half of them and for 99 of 100. In mode own.',
      unit: 's',
      kind: 'timeseries',
      queries: [
        { expr: quantile(own.lag, 0.5, '10m'), legend: 'half' },
        { expr: quantile(own.lag, 0.99, '10m'), legend: '99 of 100' },
      ],
    },
    {
      title: 'Changes and counts',
      about: 'What changed each second, and how often a namespace was counted for it.',
      unit: 'ops',
      kind: 'timeseries',
      queries: [
        { expr: rate(own.changes), legend: '{{resource}}' },
        { expr: rate(own.recounts), legend: 'counts' },
      ],
    },
    {
      title: 'Writes of a status in an hour',
      about: 'Conflicts are tried again. Failures: the log of the starter that owns the writes says why.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: grown(own.writes, '1h'), legend: '{{outcome}}' }],
    },
    {
      title: 'Owners of the writes',
      about: 'One in mode own, otherwise none.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: now(own.owner), legend: 'owners' }],
    },
    {
      title: 'Requests to episodes',
      about: 'Quotas whose status is to be looked at, each second.',
      unit: 'ops',
      kind: 'timeseries',
      queries: [{ expr: rate(own.requests), legend: 'priority {{priority}}' }],
    },
    {
      title: 'Counting',
      about: 'What is watched, and what waits to be counted.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: now(own.watched), legend: 'resources watched' },
        { expr: now(own.waiting), legend: 'namespaces waiting' },
      ],
    },
  ],
  alerts: [
    {
      name: 'HeadroomQuotaStatusWrong',
      expr: `${now(own.wrong)} > 0`,
      for: '5m',
      severity: 'warning',
      summary: 'the status of {{ $labels.namespace }}/{{ $labels.quota }} in {{ $labels.cluster }} is wrong',
      who: 'cluster administrators',
      action:
        'mode audit: look at kube-controller-manager; mode own: at the starter that holds the Lease quota-usage-owner',
      runbook: 'docs/operations/quota-usage.md#a-status-is-wrong',
    },
    {
      name: 'HeadroomQuotaStatusLate',
      expr: `${quantile(own.lag, 0.99, '10m')} > 30`,
      for: '10m',
      severity: 'warning',
      summary: 'one quota status in a hundred of {{ $labels.cluster }} is more than 30 s behind',
      who: 'platform team',
      action: 'look at the starter that owns the writes, and at the API server',
      runbook: 'docs/operations/quota-usage.md#a-status-is-wrong',
    },
  ],
};
