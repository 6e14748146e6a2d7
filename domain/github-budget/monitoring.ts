import type { Monitoring } from '../kernel/monitoring/monitoring.ts';
import { sharedMetrics } from '../kernel/monitoring/shared-metrics.ts';
import { IS_KNOWN } from '../kernel/monitoring/shared-monitoring.ts';
import { grown, most, now } from '../kernel/monitoring/query.ts';
import { githubBudgetMetrics as own } from './metrics.ts';

const OF_BUDGET = 'controller="github-budget"';

export const githubBudgetMonitoring: Monitoring = {
  title: 'Writes to GitHub',
  metrics: own,
  waitingPhases: ['Waiting', 'Limited', 'Paused'],
  panels: [
    {
      title: 'Permits asked for in an hour',
      about: 'How often somebody got one at once, and how often not.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: grown(own.permits, '1h'), legend: '{{target}} granted={{granted}}' }],
    },
    {
      title: 'Writes that wait for a permit',
      about: 'Only while the budget says that it waits: a worker that it has left keeps its last value.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        {
          expr: `${now(own.waiting)} and on () (${most(sharedMetrics.waiting, [], OF_BUDGET)} > 0)`,
          legend: '{{target}}',
        },
      ],
      isInOverview: true,
    },
  ],
  alerts: [
    {
      name: 'HeadroomGitHubPermitsWait',
      expr: `${most(sharedMetrics.longestWait, ['phase'], `${OF_BUDGET},${IS_KNOWN}`)} > 3600`,
      severity: 'warning',
      summary: 'writes to GitHub of {{ $labels.cluster }} have waited for more than an hour: {{ $labels.phase }}',
      who: 'platform team',
      action:
        'the details of the budget have the queue; raise the limits if those of GitHub are higher for you, or send resume',
      runbook: 'docs/operations/shared.md#one-budget-for-github',
    },
  ],
};
