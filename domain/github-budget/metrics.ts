import type { Metric } from '../kernel/monitoring/metric.ts';

export const githubBudgetMetrics = {
  permits: {
    name: 'headroom_github_permits_total',
    type: 'counter',
    of: 'worker',
    across: 'own',
    labels: ['target', 'granted'],
    help: 'How often a permit to write to GitHub was asked for, by whether it was granted.',
  },
  waiting: {
    name: 'headroom_github_permits_waiting',
    type: 'gauge',
    of: 'worker',
    across: 'same',
    labels: ['target'],
    help: 'How many writes to GitHub wait for a permit. A worker that the budget has left keeps the last value that it had.',
  },
} as const satisfies Readonly<Record<string, Metric>>;
