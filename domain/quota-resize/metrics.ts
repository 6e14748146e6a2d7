import type { Metric } from '../kernel/monitoring/metric.ts';

/** What the starters tell of quotas, from the Leases and the quotas themselves. */
export const quotaResizeMetrics = {
  pullRequests: {
    name: 'headroom_pull_requests_open',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: [],
    help: 'Open pull requests. One that raises several quotas is one.',
  },
  pullRequestAge: {
    name: 'headroom_pull_request_age_seconds',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: ['namespace', 'quota'],
    help: 'How long the pull request that raises a quota has been open.',
  },
  unserved: {
    name: 'headroom_quota_unserved_seconds',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: ['namespace', 'quota'],
    help: 'How long a quota has needed more than its limits in the cluster. It counts from a decision or a recommendation that is not in force, or from when this starter saw the quota over its threshold.',
  },
  unmet: {
    name: 'headroom_quota_unmet_demand',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: ['namespace', 'quota', 'resource'],
    help: 'How much the limit of a resource is below what was decided or recommended, in cores, bytes or pieces.',
  },
  webhooks: {
    name: 'headroom_starter_webhook_deliveries_total',
    type: 'counter',
    of: 'starter',
    across: 'own',
    labels: ['event', 'outcome'],
    help: 'Webhooks of GitHub, by event and by what became of them.',
  },
  webhookPullRequests: {
    name: 'headroom_starter_webhook_pull_requests',
    type: 'gauge',
    of: 'starter',
    across: 'same',
    labels: [],
    help: 'Quotas with an open pull request that webhooks are matched with.',
  },
} as const satisfies Readonly<Record<string, Metric>>;
