import type { Monitoring } from '../kernel/monitoring/monitoring.ts';
import { grown, least, now, quantile, total } from '../kernel/monitoring/query.ts';
import { lightsOutMetrics as own } from './metrics.ts';

/** A worker keeps what it counted of a schedule that is deleted by now, of which the starters tell nothing any more. */
const ofExisting = (expr: string): string => `(${expr}) and on (cluster, schedule) ${now(own.ready)} >= 0`;

export const lightsOutMonitoring: Monitoring = {
  title: 'Schedules',
  metrics: own,
  waitingPhases: ['Invalid', 'Suspended'],
  panels: [
    {
      title: 'Up or down',
      about: 'What each schedule says now: 1 up, 0 down.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: now(own.state), legend: '{{schedule}}' }],
      isInOverview: true,
    },
    {
      title: 'Ready',
      about: '0: the schedule cannot do what it says.',
      unit: 'short',
      kind: 'table',
      queries: [{ expr: least(own.ready, ['schedule']), legend: '{{schedule}}' }],
    },
    {
      title: 'Next transition',
      about: 'When the crons of each schedule name their next moment.',
      unit: 's',
      kind: 'table',
      queries: [{ expr: now(own.nextTransition), legend: '{{schedule}} {{transition_type}}' }],
    },
    {
      title: 'Workloads in scope',
      about: 'By schedule and kind.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: now(own.managed), legend: '{{schedule}} {{workload_type}}' }],
    },
    {
      title: 'Replica-hours saved',
      about: 'Since the schedule exists.',
      unit: 'h',
      kind: 'stat',
      queries: [{ expr: total(own.savedReplicaHours, ['schedule']), legend: '{{schedule}}' }],
      isInOverview: true,
    },
    {
      title: 'Core-hours and GiB-hours saved',
      about: 'What the pods that were not run would have requested.',
      unit: 'h',
      kind: 'table',
      queries: [
        { expr: now(own.savedCpu), legend: '{{schedule}} {{namespace}} cores' },
        { expr: now(own.savedMemory), legend: '{{schedule}} {{namespace}} GiB' },
      ],
    },
    {
      title: 'Put to sleep and woken in an hour',
      about: 'Workloads that were written, by schedule.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        {
          expr: ofExisting(grown(own.operations, '1h', ['schedule', 'operation'])),
          legend: '{{schedule}} {{operation}}',
        },
      ],
    },
    {
      title: 'Workloads of batches in an hour',
      about: 'What became of them, and how many batches there were.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: ofExisting(grown(own.processed, '1h')), legend: '{{schedule}} {{direction}} {{result}}' },
        { expr: ofExisting(grown(own.batches, '1h')), legend: '{{schedule}} {{direction}} batches' },
      ],
    },
    {
      title: 'Workloads that could not be written in an hour',
      about: 'The condition Ready of the schedule names them.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: ofExisting(grown(own.errors, '1h', ['schedule', 'namespace'])), legend: '{{schedule}} {{namespace}}' },
      ],
    },
    {
      title: 'Duration of a transition',
      about: 'From the first write to the last, for nine of ten transitions of a day.',
      unit: 's',
      kind: 'timeseries',
      queries: [
        {
          expr: ofExisting(quantile(own.duration, 0.9, '1d', ['schedule', 'direction'])),
          legend: '{{schedule}} {{direction}}',
        },
      ],
    },
    {
      title: 'Last observed',
      about: 'How long ago each schedule was.',
      unit: 's',
      kind: 'table',
      queries: [{ expr: ofExisting(`time() - ${now(own.lastReconcile)}`), legend: '{{schedule}}' }],
    },
  ],
  alerts: [
    {
      name: 'HeadroomScheduleNotReady',
      expr: `${least(own.ready, ['schedule'])} == 0`,
      for: '15m',
      severity: 'warning',
      summary: 'the schedule {{ $labels.schedule }} in {{ $labels.cluster }} is not Ready',
      who: 'platform team',
      action: 'kubectl describe lightsoutschedule has the reason',
      runbook: 'docs/operations/lights-out.md#the-condition-ready',
    },
    {
      name: 'HeadroomScheduleNotLookedAt',
      expr: ofExisting(`time() - ${now(own.lastReconcile)} > 90000`),
      for: '1h',
      severity: 'warning',
      summary:
        'no worker has observed the schedule {{ $labels.schedule }} in {{ $labels.cluster }} for more than a day',
      who: 'platform team',
      action: 'look at the workers, at Temporal, and whether it is suspended or paused',
      runbook: 'docs/operations/lights-out.md#a-schedule-is-not-observed',
    },
  ],
};
