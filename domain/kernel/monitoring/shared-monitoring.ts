import type { Monitoring } from './monitoring.ts';
import { foreignMetrics as foreign, sharedMetrics as own } from './shared-metrics.ts';
import { grown, isAbsent, least, most, now, nowWhereTold, quantile, rate, total } from './query.ts';

/** Without the workflows of which nobody has said since when they wait. */
export const IS_KNOWN = 'reason!="Unknown"';

/** By the task queue of the activities of each controller: its workers. */
const ofWorkers = `label_replace(${now(foreign.slots, ['task_queue'], 'worker_type="ActivityWorker"')}, "controller", "$1", "task_queue", "[^/]+/.+/([^/]+)")`;
const withoutStarter = `${now(own.controllers)} == 0`;
const withoutWorker = `${now(own.controllers)} unless on (cluster, controller) ${ofWorkers}`;

/** What the frame of all controllers measures: the overview begins with it. */
export const sharedMonitoring: Monitoring = {
  title: 'Headroom',
  metrics: { ...own, ...foreign },
  waitingPhases: ['AwaitingApproval', 'AwaitingMerge', 'Blocked', 'Paused'],
  panels: [
    {
      title: 'Approvals waiting',
      about: 'Workflows that go on when a person approves or rejects: kubectl headroom list.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: total(own.waiting, ['controller'], 'phase="AwaitingApproval"'), legend: '{{controller}}' }],
    },
    {
      title: 'Blocked, by reason',
      about: 'Workflows that cannot go on until a person has changed something. The reason says what.',
      unit: 'short',
      kind: 'table',
      queries: [
        { expr: now(own.waiting, ['controller', 'reason'], 'phase="Blocked"'), legend: '{{controller}} {{reason}}' },
      ],
    },
    {
      title: 'Waiting for people or limits',
      about: 'Every workflow that waits so, by phase and reason.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: now(own.waiting), legend: '{{controller}} {{phase}} {{reason}}' }],
    },
    {
      title: 'Longest wait',
      about: 'Of those that wait so, since when the first one does.',
      unit: 's',
      kind: 'timeseries',
      queries: [{ expr: now(own.longestWait), legend: '{{controller}} {{phase}} {{reason}}' }],
    },
    {
      title: 'Controllers without a process',
      about:
        'Where each controller has processes of its own: those of which no starter sees the cluster, or no worker acts.',
      unit: 'short',
      kind: 'table',
      queries: [
        { expr: withoutStarter, legend: '{{controller}} without a starter' },
        { expr: withoutWorker, legend: '{{controller}} without a worker' },
      ],
    },
    {
      title: 'Phases entered in an hour',
      about: 'What workflows did and why, as far as the workers that run now have counted it.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: grown(own.phaseChanges, '1h'), legend: '{{controller}} {{phase}} {{reason}}' }],
    },
    {
      title: 'Reconcile requests',
      about: 'What the starters sent to workflows each second, by kind.',
      unit: 'ops',
      kind: 'timeseries',
      queries: [{ expr: rate(own.requests), legend: '{{kind}}' }],
    },
    {
      title: 'Reconcile requests that wait',
      about: 'Many for long: Temporal is slow or away.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: now(own.requestsWaiting), legend: 'waiting' }],
    },
    {
      title: 'Broken watches',
      about: 'How long a starter has seen nothing of these objects.',
      unit: 's',
      kind: 'timeseries',
      queries: [{ expr: now(own.watchStale), legend: '{{resource}}' }],
    },
    {
      title: 'Admission reviews',
      about: 'Objects that the API server asked about each second, and whether they were let in.',
      unit: 'ops',
      kind: 'timeseries',
      queries: [{ expr: rate(own.admissionRequests), legend: '{{webhooks}} {{operation}} allowed={{allowed}}' }],
    },
    {
      title: 'Certificates of the webhooks',
      about: 'How long they hold; negative: over, or there is none yet.',
      unit: 's',
      kind: 'stat',
      queries: [{ expr: `${least(own.certificateExpiry)} - time()`, legend: '{{webhooks}}' }],
    },
    {
      title: 'Wait for a worker',
      about: 'The 95th percentile of what tasks waited. Seconds of it: more workers, or workers with more CPU.',
      unit: 's',
      kind: 'timeseries',
      queries: [
        { expr: quantile(foreign.workflowTaskWait, 0.95, '5m'), legend: 'workflows' },
        { expr: quantile(foreign.activityWait, 0.95, '5m', ['task_queue']), legend: '{{task_queue}}' },
      ],
    },
    {
      title: 'Failed tasks and attempts',
      about:
        'Attempts of activities are tried again. A failed task of a workflow is a defect or a release that is not compatible.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: grown(foreign.taskFailures, '1h'), legend: 'task of {{workflow_type}}' },
        { expr: grown(foreign.activityFailures, '1h'), legend: 'attempt of {{activity_type}}' },
      ],
    },
    {
      title: 'Free slots of the workers',
      about: 'None for long: more workers.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: now(foreign.slots), legend: '{{worker_type}} {{task_queue}}' }],
    },
    {
      title: 'Memory',
      about: 'Of the largest starter.',
      unit: 'bytes',
      kind: 'timeseries',
      queries: [{ expr: nowWhereTold(foreign.memory, own.requestsWaiting), legend: 'starter' }],
    },
    {
      title: 'Workflows in memory',
      about: 'A workflow that is not in the memory of a worker is replayed when something happens to it.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: now(foreign.cachedWorkflows), legend: 'workflows' }],
    },
    {
      title: 'Lag of the event loop',
      about: 'Seconds of it: the starter has too little CPU.',
      unit: 's',
      kind: 'timeseries',
      queries: [{ expr: nowWhereTold(foreign.eventLoopLag, own.requestsWaiting), legend: 'starter' }],
    },
  ],
  alerts: [
    {
      name: 'HeadroomStarterAbsent',
      expr: isAbsent(own.requestsWaiting),
      for: '10m',
      severity: 'critical',
      summary: 'no starter of Headroom runs, so Headroom sees nothing of the cluster',
      who: 'platform team',
      action: 'look at the pods of headroom-starter and their /readyz',
      runbook: 'docs/operations/shared.md#a-process-is-not-ready',
    },
    {
      name: 'HeadroomWorkerAbsent',
      expr: isAbsent(foreign.slots),
      for: '10m',
      severity: 'critical',
      summary: 'no worker of Headroom runs, so Headroom decides and writes nothing',
      who: 'platform team',
      action: 'look at the pods of headroom-worker and their /readyz',
      runbook: 'docs/operations/shared.md#a-process-is-not-ready',
    },
    {
      name: 'HeadroomControllerWithoutStarter',
      expr: withoutStarter,
      for: '10m',
      severity: 'critical',
      summary: 'no starter runs {{ $labels.controller }} in {{ $labels.cluster }}, so Headroom sees nothing for it',
      who: 'platform team',
      action:
        'look at the pods of headroom-starter-{{ $labels.controller }}, or of headroom-starter where there is no such Deployment',
      runbook: 'docs/operations/shared.md#processes-apart',
    },
    {
      name: 'HeadroomControllerWithoutWorker',
      expr: withoutWorker,
      for: '10m',
      severity: 'critical',
      summary: 'no worker runs {{ $labels.controller }} in {{ $labels.cluster }}: it decides and writes nothing',
      who: 'platform team',
      action:
        'look at the pods of headroom-worker-{{ $labels.controller }}, or of headroom-worker where there is no such Deployment',
      runbook: 'docs/operations/shared.md#processes-apart',
    },
    {
      name: 'HeadroomWatchBroken',
      expr: `${now(own.watchStale)} > 300`,
      severity: 'critical',
      summary: 'a starter has seen no {{ $labels.resource }} of {{ $labels.cluster }} for more than five minutes',
      who: 'platform team',
      action: 'look at the log of the starter and at the API server',
      runbook: 'docs/operations/shared.md#a-process-is-not-ready',
    },
    {
      name: 'HeadroomRequestsWait',
      expr: `${now(own.requestsWaiting)} > 1000`,
      for: '10m',
      severity: 'warning',
      summary: '{{ $value }} reconcile requests of {{ $labels.cluster }} wait: Temporal is slow or away',
      who: 'platform team',
      action: 'look at Temporal, and at how fast the starters reach it',
      runbook: 'docs/operations/shared.md#a-process-is-not-ready',
    },
    {
      name: 'HeadroomNoRequestIsSent',
      expr: `${now(own.requestsWaiting)} > 0 unless on (cluster) ${grown(own.requests, '10m', [])} > 0`,
      for: '10m',
      severity: 'critical',
      summary:
        '{{ $value }} reconcile requests of {{ $labels.cluster }} wait, and none is sent, so Headroom decides nothing',
      who: 'platform team',
      action: 'look at Temporal, and at the log of the starter, which says why',
      runbook: 'docs/operations/shared.md#a-process-is-not-ready',
    },
    {
      name: 'HeadroomBlocked',
      expr: `${now(own.waiting, ['controller', 'reason'], 'phase="Blocked"')} > 0`,
      for: '15m',
      severity: 'warning',
      summary:
        '{{ $value }} workflows of {{ $labels.controller }} in {{ $labels.cluster }} are blocked: {{ $labels.reason }}',
      who: 'platform team',
      action: 'do what the details of the workflow say: kubectl headroom list',
      runbook: 'docs/operations/shared.md#a-workflow-waits-for-a-person',
    },
    {
      name: 'HeadroomApprovalWaits',
      expr: `${most(own.longestWait, ['controller'], `phase="AwaitingApproval",${IS_KNOWN}`)} > 14400`,
      severity: 'info',
      summary: 'a workflow of {{ $labels.controller }} in {{ $labels.cluster }} has waited four hours for an approval',
      who: 'approvers',
      action: 'approve or reject: kubectl headroom list has the target',
      runbook: 'docs/operations/shared.md#a-workflow-waits-for-a-person',
    },
    {
      name: 'HeadroomWorkersBehind',
      expr: `${quantile(foreign.workflowTaskWait, 0.95, '10m')} > 10`,
      for: '10m',
      severity: 'warning',
      summary: 'one task in twenty of {{ $labels.cluster }} waits for more than ten seconds for a worker',
      who: 'platform team',
      action: 'give the workers more CPU, or run more of them',
      runbook: 'docs/operations/shared.md#a-process-is-not-ready',
    },
    {
      name: 'HeadroomWorkflowTaskFails',
      expr: `${grown(foreign.taskFailures, '30m')} > 3`,
      for: '5m',
      severity: 'critical',
      summary:
        'tasks of {{ $labels.workflow_type }} in {{ $labels.cluster }} fail, so that these workflows stand still',
      who: 'platform team',
      action: 'roll back to the release before, and report the failure that the Temporal UI shows',
      runbook: 'docs/upgrade.md#rollback',
    },
    {
      name: 'HeadroomAdmissionCertificateEnds',
      expr: `${least(own.certificateExpiry)} - time() < 1209600`,
      for: '10m',
      severity: 'warning',
      summary:
        'the certificate of the admission webhooks {{ $labels.webhooks }} in {{ $labels.cluster }} was not renewed',
      who: 'platform team',
      action: 'the log of the starter says why',
      runbook: 'docs/operations/shared.md#a-process-is-not-ready',
    },
  ],
};
