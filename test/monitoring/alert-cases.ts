/** What each alert is about: series of which it fires, and how they differ where it does not. One sample a minute. */

/** As promtool reads it: `0+1x10` begins at 0 and grows by 1 for ten minutes, `5x10` stays, `_x10` is no sample. */
export type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  /** When it is looked at, such as `20m`. */
  readonly at: string;
  readonly series: Series;
  /** The labels of what fires, besides the severity. */
  readonly fires: Readonly<Record<string, string>>;
  /** The value in the sentence of the alert, where that names it. */
  readonly value?: string;
  /** Of which it does not fire. */
  readonly quiet: Series;
}

const IN_A = { cluster: 'a' } as const;
const STARTER_1 = 'cluster="a",pod="starter-1"';
const STARTER_2 = 'cluster="a",pod="starter-2"';
const WORKER_1 = 'cluster="a",pod="worker-1"';
const WORKER_2 = 'cluster="a",pod="worker-2"';
const OWN_QUEUE = 'task_queue="headroom/a"';
/** Of a worker of somebody else, with the same SDK, that the same Prometheus scrapes. */
const SOMEBODY_ELSES = 'cluster="a",pod="billing-1",task_queue="billing"';

function slots(worker: string, type: string, queue: string): string {
  return `temporal_worker_task_slots_available{${worker},worker_type="${type}",task_queue="${queue}"}`;
}

/** Buckets of a histogram of which a tenth is slow, in a series of growing counts. */
function buckets(name: string, labels: string, fast: string, slow: string): Series {
  return {
    [`${name}_bucket{${labels},le="${fast}"}`]: '0+80x600',
    [`${name}_bucket{${labels},le="${slow}"}`]: '0+100x600',
    [`${name}_bucket{${labels},le="+Inf"}`]: '0+100x600',
  };
}

const unserved = (value: string): Series => ({
  [`headroom_quota_unserved_seconds{${STARTER_1},namespace="n",quota="q"}`]: value,
  [`headroom_quota_unserved_seconds{${STARTER_2},namespace="n",quota="q"}`]: value,
});

const phase = (labels: string, value: string): Series => ({
  [`headroom_phase_changes_total{${WORKER_1},controller="quota-resize",${labels}}`]: value,
});

const group = (values: { ready?: string; min?: string; current?: string; max?: string }): Series =>
  Object.fromEntries(
    Object.entries(values).map(([what, value]) => [
      `vpsie_autoscaler_nodegroup_${what}_nodes{${STARTER_1},nodegroup="g"}`,
      value,
    ]),
  );

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  HeadroomStarterAbsent: {
    at: '10m',
    series: { other: '1x20' },
    fires: {},
    quiet: { [`headroom_starter_reconcile_requests_waiting{${STARTER_1}}`]: '0x20' },
  },
  HeadroomWorkerAbsent: {
    at: '10m',
    series: { [`temporal_worker_task_slots_available{${SOMEBODY_ELSES}}`]: '5x20' },
    fires: {},
    quiet: { [`temporal_worker_task_slots_available{${WORKER_1},${OWN_QUEUE}}`]: '0x20' },
  },
  HeadroomControllerWithoutStarter: {
    at: '10m',
    series: {
      [`headroom_starter_controllers{${STARTER_1},controller="node-group"}`]: '0x20',
      [`headroom_starter_controllers{${STARTER_1},controller="quota-resize"}`]: '1x20',
    },
    fires: { ...IN_A, controller: 'node-group' },
    quiet: {
      [`headroom_starter_controllers{${STARTER_1},controller="node-group"}`]: '0x20',
      [`headroom_starter_controllers{${STARTER_2},controller="node-group"}`]: '1x20',
    },
  },
  HeadroomControllerWithoutWorker: {
    at: '10m',
    series: {
      [`headroom_starter_controllers{${STARTER_1},controller="quota-resize"}`]: '1x20',
      [`headroom_starter_controllers{${STARTER_1},controller="node-group"}`]: '0x20',
      [slots(WORKER_1, 'ActivityWorker', 'headroom/a/quota-resize')]: '0x20',
      // Its workflows are on a queue that every worker polls; and another cluster has workers of its own.
      [slots(WORKER_1, 'WorkflowWorker', 'headroom/a')]: '100x20',
      [slots('cluster="b",pod="worker-1"', 'ActivityWorker', 'headroom/b/node-group')]: '100x20',
    },
    fires: { ...IN_A, controller: 'node-group' },
    quiet: {
      [`headroom_starter_controllers{${STARTER_1},controller="node-group"}`]: '1x20',
      [slots(WORKER_1, 'ActivityWorker', 'headroom/a/node-group')]: '0x20',
      [slots(WORKER_2, 'ActivityWorker', 'headroom/a/node-group')]: '5x20',
    },
  },
  HeadroomWatchBroken: {
    at: '10m',
    series: {
      [`headroom_starter_watch_stale_seconds{${STARTER_1},resource="pods"}`]: '0+60x20',
      [`headroom_starter_watch_stale_seconds{${STARTER_2},resource="pods"}`]: '0x20',
    },
    fires: { ...IN_A, resource: 'pods' },
    quiet: { [`headroom_starter_watch_stale_seconds{${STARTER_1},resource="pods"}`]: '300x20' },
  },
  HeadroomRequestsWait: {
    at: '15m',
    series: {
      [`headroom_starter_reconcile_requests_waiting{${STARTER_1}}`]: '600x20',
      [`headroom_starter_reconcile_requests_waiting{${STARTER_2}}`]: '500x20',
    },
    fires: IN_A,
    value: '1100',
    quiet: { [`headroom_starter_reconcile_requests_waiting{${STARTER_1}}`]: '2000x8 0x20' },
  },
  HeadroomNoRequestIsSent: {
    at: '25m',
    series: {
      [`headroom_starter_reconcile_requests_waiting{${STARTER_1}}`]: '3x30',
      [`headroom_starter_reconcile_requests_total{${STARTER_1},kind="start"}`]: '7x30',
    },
    fires: IN_A,
    value: '3',
    quiet: {
      [`headroom_starter_reconcile_requests_waiting{${STARTER_1}}`]: '3x30',
      [`headroom_starter_reconcile_requests_total{${STARTER_1},kind="start"}`]: '0+1x30',
    },
  },
  HeadroomBlocked: {
    at: '20m',
    series: {
      [`headroom_workflows_waiting{${STARTER_1},controller="quota-resize",phase="Blocked",reason="FileNotFound"}`]:
        '2x30',
      [`headroom_workflows_waiting{${STARTER_2},controller="quota-resize",phase="Blocked",reason="FileNotFound"}`]:
        '2x30',
    },
    fires: { ...IN_A, controller: 'quota-resize', reason: 'FileNotFound' },
    value: '2',
    quiet: {
      [`headroom_workflows_waiting{${STARTER_1},controller="quota-resize",phase="Paused",reason="Paused"}`]: '2x30',
    },
  },
  HeadroomApprovalWaits: {
    at: '5m',
    series: {
      [`headroom_workflows_longest_wait_seconds{${STARTER_1},controller="node-group",phase="AwaitingApproval",reason="ApprovalRequired"}`]:
        '14401x10',
    },
    fires: { ...IN_A, controller: 'node-group' },
    quiet: {
      [`headroom_workflows_longest_wait_seconds{${STARTER_1},controller="node-group",phase="AwaitingApproval",reason="ApprovalRequired"}`]:
        '14400x10',
      // Since when nobody has said: such a workflow may have run for months.
      [`headroom_workflows_longest_wait_seconds{${STARTER_2},controller="node-group",phase="AwaitingApproval",reason="Unknown"}`]:
        '9000000x10',
      [`headroom_workflows_longest_wait_seconds{${STARTER_1},controller="node-group",phase="Blocked",reason="Frozen"}`]:
        '90000x10',
    },
  },
  HeadroomWorkersBehind: {
    at: '30m',
    series: buckets('temporal_workflow_task_schedule_to_start_latency_seconds', `${WORKER_1},${OWN_QUEUE}`, '1', '100'),
    fires: IN_A,
    quiet: {
      ...buckets('temporal_workflow_task_schedule_to_start_latency_seconds', `${WORKER_1},${OWN_QUEUE}`, '0.1', '1'),
      ...buckets('temporal_workflow_task_schedule_to_start_latency_seconds', SOMEBODY_ELSES, '1', '100'),
    },
  },
  HeadroomWorkflowTaskFails: {
    at: '63m',
    // Of a worker that started half an hour ago: its series begins with the first failure.
    series: {
      [`temporal_workflow_task_execution_failed_total{${WORKER_1},${OWN_QUEUE},workflow_type="quotaResize"}`]:
        '_x50 2x20',
      [`temporal_workflow_task_execution_failed_total{${WORKER_2},${OWN_QUEUE},workflow_type="quotaResize"}`]:
        '7x50 9x20',
    },
    fires: { ...IN_A, workflow_type: 'quotaResize' },
    quiet: {
      [`temporal_workflow_task_execution_failed_total{${WORKER_1},${OWN_QUEUE},workflow_type="quotaResize"}`]: '900x60',
      // Prometheus itself was away half an hour ago.
      [`temporal_workflow_task_execution_failed_total{${WORKER_2},${OWN_QUEUE},workflow_type="quotaResize"}`]:
        '900x20 _x15 900x60',
      [`temporal_workflow_task_execution_failed_total{${SOMEBODY_ELSES},workflow_type="invoice"}`]: '0+1x60',
    },
  },
  HeadroomAdmissionCertificateEnds: {
    at: '15m',
    series: {
      [`headroom_admission_certificate_expiry_timestamp_seconds{${STARTER_1},webhooks="headroom-memcached"}`]:
        '1209600x20',
      // Another has the new one.
      [`headroom_admission_certificate_expiry_timestamp_seconds{${STARTER_2},webhooks="headroom-memcached"}`]:
        '9000000x20',
    },
    fires: { ...IN_A, webhooks: 'headroom-memcached' },
    quiet: {
      [`headroom_admission_certificate_expiry_timestamp_seconds{${STARTER_1},webhooks="headroom-memcached"}`]:
        '2000000x20',
    },
  },
  HeadroomPullRequestOld: {
    at: '5m',
    series: { [`headroom_pull_request_age_seconds{${STARTER_1},namespace="n",quota="q"}`]: '259201x10' },
    fires: { ...IN_A, namespace: 'n', quota: 'q' },
    quiet: { [`headroom_pull_request_age_seconds{${STARTER_1},namespace="n",quota="q"}`]: '259000x10' },
  },
  HeadroomDemandUnserved: {
    at: '5m',
    series: unserved('86401x10'),
    fires: { ...IN_A, namespace: 'n', quota: 'q' },
    quiet: unserved('86000x10'),
  },
  HeadroomSyncOverdue: {
    at: '90m',
    // The first of its kind, half an hour ago, which `increase` alone does not see.
    series: phase('phase="AwaitingSync",reason="SyncOverdue"', '_x60 1x60'),
    fires: IN_A,
    quiet: {
      ...phase('phase="AwaitingSync",reason="SyncOverdue"', '1x120'),
      ...phase('phase="AwaitingSync",reason="SyncPending"', '0+1x120'),
    },
  },
  HeadroomUsageContradicted: {
    at: '90m',
    series: phase('phase="Detecting",reason="UsageContradicted"', '3x60 4x60'),
    fires: IN_A,
    quiet: phase('phase="Detecting",reason="UsageContradicted"', '3x120'),
  },
  HeadroomWebhooksRejected: {
    at: '90m',
    series: {
      [`headroom_starter_webhook_deliveries_total{${STARTER_1},event="push",outcome="unsigned"}`]: '_x80 1x60',
    },
    fires: { ...IN_A, outcome: 'unsigned' },
    quiet: { [`headroom_starter_webhook_deliveries_total{${STARTER_1},event="push",outcome="requested"}`]: '0+1x120' },
  },
  HeadroomGitHubPermitsWait: {
    at: '5m',
    series: {
      [`headroom_workflows_longest_wait_seconds{${STARTER_1},controller="github-budget",phase="Waiting",reason="Queued"}`]:
        '3601x10',
    },
    fires: { ...IN_A, phase: 'Waiting' },
    quiet: {
      [`headroom_workflows_longest_wait_seconds{${STARTER_1},controller="github-budget",phase="Waiting",reason="Queued"}`]:
        '60x10',
      [`headroom_workflows_longest_wait_seconds{${STARTER_2},controller="github-budget",phase="Waiting",reason="Unknown"}`]:
        '9000000x10',
      [`headroom_workflows_longest_wait_seconds{${STARTER_1},controller="memcached",phase="Paused",reason="Paused"}`]:
        '9000x10',
    },
  },
  HeadroomQuotaStatusWrong: {
    at: '10m',
    series: {
      [`headroom_usage_wrong_resources{${STARTER_1},namespace="n",quota="q"}`]: '1x20',
      [`headroom_usage_wrong_resources{${STARTER_2},namespace="n",quota="q"}`]: '1x20',
    },
    fires: { ...IN_A, namespace: 'n', quota: 'q' },
    quiet: { [`headroom_usage_wrong_resources{${STARTER_1},namespace="n",quota="q"}`]: '1x3 0x20' },
  },
  HeadroomQuotaStatusLate: {
    at: '30m',
    series: buckets('headroom_usage_lag_seconds', STARTER_1, '1', '300'),
    fires: IN_A,
    quiet: buckets('headroom_usage_lag_seconds', STARTER_1, '0.1', '10'),
  },
  HeadroomScheduleNotReady: {
    at: '20m',
    series: {
      [`headroom_lights_out_ready{${STARTER_1},schedule="s"}`]: '0x30',
      [`headroom_lights_out_ready{${STARTER_2},schedule="s"}`]: '1x30',
    },
    fires: { ...IN_A, schedule: 's' },
    quiet: { [`headroom_lights_out_ready{${STARTER_1},schedule="s"}`]: '0x10 1x30' },
  },
  HeadroomScheduleNotLookedAt: {
    // 26 hours and a little, at which the one was looked at last in the first minute.
    at: '1570m',
    series: {
      [`lightsout_last_reconcile_timestamp_seconds{${WORKER_1},schedule="s"}`]: '0x1600',
      [`headroom_lights_out_ready{${STARTER_1},schedule="s"}`]: '1x1600',
    },
    fires: { ...IN_A, schedule: 's' },
    quiet: {
      // A deleted one has no gauge of a starter.
      [`lightsout_last_reconcile_timestamp_seconds{${WORKER_1},schedule="deleted"}`]: '0x1600',
      // Another worker has looked meanwhile.
      [`lightsout_last_reconcile_timestamp_seconds{${WORKER_1},schedule="s"}`]: '0x1600',
      [`lightsout_last_reconcile_timestamp_seconds{${WORKER_2},schedule="s"}`]: '0+60x1600',
      [`headroom_lights_out_ready{${STARTER_1},schedule="s"}`]: '1x1600',
    },
  },
  HeadroomMemcachedNotReady: {
    at: '20m',
    series: {
      [`memcached_operator_instance_replicas_ready{${STARTER_1},namespace="n",name="m"}`]: '1x30',
      [`memcached_operator_instance_replicas_desired{${STARTER_1},namespace="n",name="m"}`]: '3x30',
    },
    fires: { ...IN_A, namespace: 'n', name: 'm' },
    value: '1',
    quiet: {
      [`memcached_operator_instance_replicas_ready{${STARTER_1},namespace="n",name="m"}`]: '3x30',
      [`memcached_operator_instance_replicas_desired{${STARTER_1},namespace="n",name="m"}`]: '3x30',
    },
  },
  HeadroomMemcachedFails: {
    at: '40m',
    series: {
      [`memcached_operator_reconcile_total{${WORKER_1},namespace="n",name="m",result="error"}`]: '0+1x60',
      [`memcached_operator_instance_replicas_ready{${STARTER_1},namespace="n",name="m"}`]: '0x60',
    },
    fires: { ...IN_A, namespace: 'n', name: 'm' },
    quiet: {
      [`memcached_operator_reconcile_total{${WORKER_1},namespace="n",name="deleted",result="error"}`]: '0+1x60',
      [`memcached_operator_reconcile_total{${WORKER_1},namespace="n",name="m",result="success"}`]: '0+1x60',
      [`memcached_operator_instance_replicas_ready{${STARTER_1},namespace="n",name="m"}`]: '0x60',
    },
  },
  HeadroomNodeGroupNotReady: {
    at: '30m',
    series: group({ ready: '1x40', min: '2x40' }),
    fires: { ...IN_A, nodegroup: 'g' },
    quiet: group({ ready: '2x40', min: '2x40' }),
  },
  HeadroomRepairHalted: {
    at: '60m',
    series: {
      [`vpsie_autoscaler_scale_down_blocked_total{${STARTER_1},nodegroup="g",reason="TooFewReady"}`]: '_x50 1x20',
      ...group({ max: '5x80' }),
    },
    fires: { ...IN_A, nodegroup: 'g' },
    quiet: {
      [`vpsie_autoscaler_scale_down_blocked_total{${STARTER_1},nodegroup="g",reason="TooNew"}`]: '0+1x80',
      [`vpsie_autoscaler_scale_down_blocked_total{${STARTER_1},nodegroup="g",reason="TooFewReady"}`]: '4x80',
      ...group({ max: '5x80' }),
    },
  },
  HeadroomNodeGroupAtMaximum: {
    at: '20m',
    series: { ...group({ current: '5x30', max: '5x30' }), [`headroom_pods_without_help{${STARTER_1}}`]: '3x30' },
    fires: { ...IN_A, nodegroup: 'g' },
    quiet: { ...group({ current: '5x30', max: '5x30' }), [`headroom_pods_without_help{${STARTER_1}}`]: '0x30' },
  },
  HeadroomPodsWithoutHelp: {
    at: '40m',
    series: {
      [`headroom_pods_without_help{${STARTER_1}}`]: '3x50',
      [`headroom_pods_without_help{${STARTER_2}}`]: '3x50',
    },
    fires: IN_A,
    value: '3',
    quiet: { [`headroom_pods_without_help{${STARTER_1}}`]: '3x20 0x30' },
  },
  HeadroomDrainsBlocked: {
    at: '480m',
    series: { [`headroom_drains_resting{${STARTER_1},nodegroup="g"}`]: '1x500' },
    fires: { ...IN_A, nodegroup: 'g' },
    quiet: { [`headroom_drains_resting{${STARTER_1},nodegroup="g"}`]: '0x400 1x10 0x100' },
  },
  HeadroomNodesSlow: {
    at: '480m',
    series: buckets('vpsie_autoscaler_node_provisioning_duration_seconds', `${WORKER_1},nodegroup="g"`, '60', '1800'),
    fires: IN_A,
    quiet: buckets('vpsie_autoscaler_node_provisioning_duration_seconds', `${WORKER_1},nodegroup="g"`, '60', '300'),
  },
};
