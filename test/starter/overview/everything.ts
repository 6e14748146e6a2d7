/** An overview with every table, as pictures and tests of the whole page need it. */
import { pino } from 'pino';
import { NO_CALENDARS } from '../../../domain/lights-out/schedule/calendar.ts';
import { storePause } from '../../../domain/kernel/stored-pause.ts';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { scheduleOverview } from '../../../starter/lights-out/overview.ts';
import { ScheduleRegistry } from '../../../starter/lights-out/schedule-registry.ts';
import { memcachedOverview, type SeenMemcached } from '../../../starter/memcached/overview.ts';
import { nodeOverview } from '../../../starter/node-group/overview.ts';
import { pauseOverview } from '../../../starter/overview/pauses.ts';
import type { OverviewServerOptions } from '../../../starter/overview/server.ts';
import { scheduleAs } from '../lights-out/schedules.ts';
import { approvalRequired, decisionFor, leaseOf, NOW, overviewOf, quotaWith } from './quotas.ts';

const HOUR = 3_600_000;
const at = (ms: number): string => new Date(ms).toISOString();

const quotas = [
  quotaWith('checkout', 'compute', { 'requests.cpu': '4', pods: '18' }, { 'requests.cpu': '4', pods: '40' }),
  quotaWith(
    'search',
    'compute',
    { 'requests.memory': '58Gi', 'requests.cpu': '9' },
    { 'requests.memory': '64Gi', 'requests.cpu': '16' },
  ),
  quotaWith('payments', 'compute', { 'limits.memory': '61Gi' }, { 'limits.memory': '64Gi' }),
  quotaWith(
    'web',
    'objects',
    { 'count/configmaps': '41', services: '3' },
    { 'count/configmaps': '100', services: '20' },
  ),
  quotaWith('batch', 'compute', { pods: '12' }, { pods: '60' }, { 'resizer.io/enabled': 'false' }),
];
const leases = [
  leaseOf('checkout', 'compute', decisionFor(418, { approvalRequirement: approvalRequired })),
  leaseOf(
    'search',
    'compute',
    decisionFor(421, {
      changes: [{ resource: 'requests.memory', from: '64Gi', to: '80Gi', used: '58Gi', demand: '0', reason: '' }],
    }),
  ),
];

function schedules(): ScheduleRegistry {
  const spec = { upscale: '0 6 * * 1-5', downscale: '0 20 * * 1-5', namespaces: ['web'] };
  const status = {
    state: 'Down' as const,
    stateSince: at(NOW - 16 * HOUR),
    workloadStats: { deploymentsManaged: 34, deploymentsScaled: 31, cronjobsManaged: 6, cronjobsSuspended: 6 },
    savedReplicaHours: '5120.5',
    savings: {
      since: at(NOW - 700 * HOUR),
      until: at(NOW),
      months: [{ month: '2026-11', replicaHours: '1310.00', cpuCoreHours: '402.25', memoryGiBHours: '1204.00' }],
      namespaces: [],
    },
  };
  const all = [
    scheduleAs('dev-nights', spec, { status }),
    scheduleAs(
      'previews',
      { ...spec, requireApproval: true },
      { status: { scope: { digest: '0123456789abcdef', workloads: 12 }, workloadStats: { deploymentsManaged: 12 } } },
    ),
  ];
  return new ScheduleRegistry({
    cluster: 'c1',
    calendars: () => NO_CALENDARS,
    schedules: () => all,
    protectedNamespaces: [],
    gitopsManagers: [],
  });
}

function cache(name: string, ready: number, condition: object): SeenMemcached {
  const metadata = { name, namespace: 'web', uid: name, generation: 1 };
  const status = { conditions: [{ lastTransitionTime: at(NOW - 300_000), ...condition }] };
  const read = readMemcached({ metadata, spec: { replicas: 3 }, status });
  return { read, instance: { name, namespace: 'web', image: 'memcached:1.6', desired: 3, ready } };
}

const caches = [
  cache('sessions', 2, {
    type: 'Degraded',
    status: 'True',
    reason: 'Degraded',
    message: 'Only 2/3 replicas are ready',
  }),
  cache('fragments', 3, { type: 'Ready', status: 'True', reason: 'MemcachedReady', message: '3/3 replicas are ready' }),
];

const nodes = nodeOverview({
  cluster: 'c1',
  mode: 'act',
  groups: () => [
    Object.assign(
      { metadata: { name: 'general', namespace: 'kube-system', uid: 'g', resourceVersion: '1', generation: 1 } },
      {
        spec: { provider: 'kwok', minNodes: 3, maxNodes: 20, offeringIDs: ['m'] },
        status: {
          conditions: [
            { type: 'Ready', status: 'True', reason: 'NodesReady' },
            { type: 'Scaling', status: 'True', reason: 'ScalingDown', message: '1 node goes.' },
          ],
        },
      },
    ),
  ],
  measured: () => [{ name: 'general', minNodes: 3, maxNodes: 20, current: 9, ready: 8, desired: 8, resting: 0 }],
  drainSince: () => NOW - 240_000,
  plan: () => ({
    at: NOW,
    marked: [{ node: 'general-7c1e', uid: 'u-7', drain: 'node-drain/c1/u-7', group: 'general' }],
    removals: [],
    kept: [
      {
        group: 'general',
        node: 'general-02ab',
        reason: 'PodDisruptionBudget',
        detail: 'the budget payments/api lets no pod go',
        until: null,
      },
      {
        group: 'general',
        node: 'general-91d3',
        reason: 'NotUnneededLongEnough',
        detail: 'it has been unneeded for 4 min of 10',
        until: NOW + 360_000,
      },
    ],
    unhelped: {
      total: 1,
      first: [
        {
          namespace: 'batch',
          name: 'train-0',
          reason: 'TooLarge',
          detail: 'no instance type of any group has 96 CPUs',
        },
      ],
    },
  }),
});

/** Without an address. */
export const everything: Omit<OverviewServerOptions, 'address'> = {
  cluster: 'prod-eu-1',
  overviews: [
    pauseOverview('headroom-system', () => ({
      everything: null,
      pauses: { namespace_payments: storePause({ by: 'alice', reason: 'month end', at: NOW - 5 * HOUR }) },
    })),
    overviewOf(quotas, leases, true),
    scheduleOverview('c1', schedules()),
    memcachedOverview('c1', (namespace) =>
      caches.filter(({ read }) => namespace === undefined || read.namespace === namespace),
    ),
    nodes,
  ],
  workflows: { refresh: async () => {}, waiting: () => [], trouble: null },
  workflowUrl: (id) => `https://temporal.example.com/namespaces/headroom/workflows/${encodeURIComponent(id)}`,
  troubles: () => [],
  log: pino({ level: 'silent' }),
  now: () => NOW,
};
