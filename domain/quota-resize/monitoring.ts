import type { Monitoring } from '../kernel/monitoring/monitoring.ts';
import { sharedMetrics } from '../kernel/monitoring/shared-metrics.ts';
import { grown, most, now, rate } from '../kernel/monitoring/query.ts';
import { quotaResizeMetrics as own } from './metrics.ts';

const OF_QUOTAS = 'controller="quota-resize"';

export const quotaResizeMonitoring: Monitoring = {
  title: 'Quotas',
  metrics: own,
  waitingPhases: [],
  panels: [
    {
      title: 'Open pull requests',
      about: 'Those that Headroom has opened and nobody has merged or closed.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: now(own.pullRequests), legend: 'open' }],
      isInOverview: true,
    },
    {
      title: 'Age of open pull requests',
      about: 'By the quota that they raise. Old ones wait for a person or for checks.',
      unit: 's',
      kind: 'table',
      queries: [{ expr: now(own.pullRequestAge), legend: '{{namespace}}/{{quota}}' }],
    },
    {
      title: 'Oldest need unserved',
      about: 'How long the quota that has needed more for the longest time has waited for it.',
      unit: 's',
      kind: 'stat',
      queries: [{ expr: most(own.unserved, []), legend: 'oldest' }],
      isInOverview: true,
    },
    {
      title: 'Needs unserved',
      about: 'Quotas whose limits in the cluster are below what they need, and for how long.',
      unit: 's',
      kind: 'table',
      queries: [{ expr: now(own.unserved), legend: '{{namespace}}/{{quota}}' }],
    },
    {
      title: 'Unmet demand',
      about: 'What the limits would have to grow by, in cores, bytes or pieces.',
      unit: 'short',
      kind: 'table',
      queries: [{ expr: now(own.unmet), legend: '{{namespace}}/{{quota}} {{resource}}' }],
    },
    {
      title: 'Blocked quotas, by reason',
      about: 'Who has to act, and how, is on the operations page under the reason.',
      unit: 'short',
      kind: 'table',
      queries: [{ expr: now(sharedMetrics.waiting, ['reason'], `${OF_QUOTAS},phase="Blocked"`), legend: '{{reason}}' }],
    },
    {
      title: 'Phases of quotas entered in an hour',
      about: 'What episodes did and why.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        {
          expr: grown(sharedMetrics.phaseChanges, '1h', ['phase', 'reason'], OF_QUOTAS),
          legend: '{{phase}} {{reason}}',
        },
      ],
    },
    {
      title: 'Webhooks of GitHub',
      about: 'Deliveries each second, by what became of them.',
      unit: 'ops',
      kind: 'timeseries',
      queries: [{ expr: rate(own.webhooks), legend: '{{event}} {{outcome}}' }],
    },
    {
      title: 'Quotas that webhooks wake',
      about: 'None, though pull requests are open: webhooks wake nobody, and pull requests are polled.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: now(own.webhookPullRequests), legend: 'quotas' }],
    },
  ],
  alerts: [
    {
      name: 'HeadroomPullRequestOld',
      expr: `${now(own.pullRequestAge)} > 259200`,
      severity: 'info',
      summary:
        'the pull request for {{ $labels.namespace }}/{{ $labels.quota }} in {{ $labels.cluster }} has been open for more than three days',
      who: 'platform team',
      action: 'merge or close it; kubectl headroom status says what it waits for',
      runbook: 'docs/operations/quota-resize.md#stopped-by-people-or-by-policy',
    },
    {
      name: 'HeadroomDemandUnserved',
      expr: `${now(own.unserved)} > 86400`,
      severity: 'warning',
      summary:
        '{{ $labels.namespace }}/{{ $labels.quota }} in {{ $labels.cluster }} has needed more for more than a day',
      who: 'platform team',
      action: 'kubectl headroom explain quota-resize says why it is not raised',
      runbook: 'docs/operations/quota-resize.md#why-was-a-quota-not-raised',
    },
    {
      name: 'HeadroomSyncOverdue',
      expr: `${grown(sharedMetrics.phaseChanges, '1h', [], `${OF_QUOTAS},reason="SyncOverdue"`)} > 0`,
      severity: 'warning',
      summary: 'a limit that was merged does not arrive in {{ $labels.cluster }}',
      who: 'platform team',
      action: 'look at Argo CD or Flux',
      runbook: 'docs/operations/quota-resize.md#waiting-for-the-cluster',
    },
    {
      name: 'HeadroomUsageContradicted',
      expr: `${grown(sharedMetrics.phaseChanges, '1h', [], `${OF_QUOTAS},reason="UsageContradicted"`)} > 0`,
      severity: 'warning',
      summary: 'the quota controller of Kubernetes in {{ $labels.cluster }} is behind',
      who: 'cluster administrators',
      action: 'look at kube-controller-manager',
      runbook: 'docs/operations/quota-resize.md#acting',
    },
    {
      name: 'HeadroomWebhooksRejected',
      expr: `${grown(own.webhooks, '1h', ['outcome'], 'outcome=~"unsigned|stale|malformed"')} > 0`,
      severity: 'warning',
      summary: 'webhooks were rejected in {{ $labels.cluster }}: {{ $labels.outcome }}',
      who: 'platform team',
      action: 'look at the secret and the clock, or find out who sends them and is not GitHub',
      runbook: 'docs/github.md#webhooks',
    },
  ],
};
