import type { Monitoring } from '../kernel/monitoring/monitoring.ts';
import { grown, now, quantile } from '../kernel/monitoring/query.ts';
import { nodeGroupMetrics as own } from './metrics.ts';

/** A process keeps what it counted of a group that is deleted by now, of which the gauges of the starters tell nothing any more. */
const ofExisting = (expr: string): string => `(${expr}) and on (cluster, nodegroup) ${now(own.max)} >= 0`;

export const nodeGroupMonitoring: Monitoring = {
  title: 'Node groups',
  metrics: own,
  waitingPhases: [],
  panels: [
    {
      title: 'Nodes',
      about: 'How many each group should have, has, and has Ready.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: now(own.desired), legend: '{{nodegroup}} desired' },
        { expr: now(own.current), legend: '{{nodegroup}} current' },
        { expr: now(own.ready), legend: '{{nodegroup}} ready' },
      ],
      isInOverview: true,
    },
    {
      title: 'Bounds',
      about: 'The fewest and the most nodes of each group.',
      unit: 'short',
      kind: 'table',
      queries: [
        { expr: now(own.min), legend: '{{nodegroup}} min' },
        { expr: now(own.max), legend: '{{nodegroup}} max' },
      ],
    },
    {
      title: 'Pods that get no node',
      about: 'No group helps them, or none may: kubectl headroom node-groups explain NAMESPACE/POD.',
      unit: 'short',
      kind: 'stat',
      queries: [{ expr: now(own.unhelped), legend: 'pods' }],
      isInOverview: true,
    },
    {
      title: 'Decisions in an hour',
      about: 'To add nodes or to take them away, and why.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: ofExisting(grown(own.decisions, '1h')), legend: '{{nodegroup}} {{decision}} {{reason}}' }],
    },
    {
      title: 'Nodes that came and went in an hour',
      about: 'Those that were asked for, and those that were given back.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: ofExisting(grown(own.scaleUps, '1h')), legend: '{{nodegroup}} asked for' },
        { expr: ofExisting(grown(own.scaleDowns, '1h')), legend: '{{nodegroup}} given back' },
      ],
    },
    {
      title: 'Why nodes stay',
      about: 'Nodes that plans of the last hour kept, by reason.',
      unit: 'short',
      kind: 'timeseries',
      queries: [{ expr: ofExisting(grown(own.kept, '1h')), legend: '{{nodegroup}} {{reason}}' }],
    },
    {
      title: 'Drains',
      about: 'Nodes that are left alone as their drain was given up, and what stood in the way.',
      unit: 'short',
      kind: 'timeseries',
      queries: [
        { expr: now(own.resting), legend: '{{nodegroup}} resting' },
        { expr: ofExisting(grown(own.blockedDrains, '1h')), legend: '{{nodegroup}} {{reason}}' },
      ],
    },
    {
      title: 'How long a node takes',
      about: 'Nine of ten in six hours: until a machine is a ready node, and until a node is drained.',
      unit: 's',
      kind: 'timeseries',
      queries: [
        { expr: ofExisting(quantile(own.provisioning, 0.9, '6h', ['nodegroup'])), legend: '{{nodegroup}} comes' },
        { expr: ofExisting(quantile(own.drains, 0.9, '6h', ['nodegroup'])), legend: '{{nodegroup}} drains' },
      ],
    },
  ],
  alerts: [
    {
      name: 'HeadroomNodeGroupNotReady',
      expr: `${now(own.ready)} < ${now(own.min)}`,
      for: '20m',
      severity: 'warning',
      summary: '{{ $labels.nodegroup }} in {{ $labels.cluster }} has fewer ready nodes than its minimum',
      who: 'cluster administrators',
      action: 'kubectl headroom node-groups status says what is missing',
      runbook: 'docs/operations/node-group.md#failed-machines',
    },
    {
      name: 'HeadroomRepairHalted',
      expr: ofExisting(`${grown(own.kept, '30m', ['nodegroup'], 'reason=~"TooFewReady|NoReplacement"')} > 0`),
      severity: 'critical',
      summary: 'nodes of {{ $labels.nodegroup }} in {{ $labels.cluster }} are not ready, and are not replaced',
      who: 'cluster administrators',
      action: 'kubectl headroom node-groups status, and read what to do before you drain any of them',
      runbook: 'docs/operations/node-group.md#nodes-are-not-ready-and-nothing-replaces-them',
    },
    {
      name: 'HeadroomNodeGroupAtMaximum',
      expr: `${now(own.current)} >= ${now(own.max)} and on (cluster) ${now(own.unhelped)} > 0`,
      for: '15m',
      severity: 'warning',
      summary: '{{ $labels.nodegroup }} in {{ $labels.cluster }} has its maximum, and pods wait',
      who: 'cluster administrators',
      action: 'raise maxNodes if the pods are worth it',
      runbook: 'docs/operations/node-group.md#reasons-of-a-nodegroup',
    },
    {
      name: 'HeadroomPodsWithoutHelp',
      expr: `${now(own.unhelped)} > 0`,
      for: '30m',
      severity: 'warning',
      summary: '{{ $value }} pending pods of {{ $labels.cluster }} get no new node',
      who: 'owners of the workload',
      action: 'kubectl headroom node-groups explain NAMESPACE/POD says why',
      runbook: 'docs/node-groups.md#pods-that-make-no-node',
    },
    {
      name: 'HeadroomDrainsBlocked',
      // One in six of the last six hours: about six drains that were given up.
      expr: `max by (cluster, nodegroup) (avg_over_time(${own.resting.name}{$scope}[6h])) > 0.16`,
      for: '1h',
      severity: 'warning',
      summary: 'nodes of {{ $labels.nodegroup }} in {{ $labels.cluster }} cannot be given back',
      who: 'owners of the workload',
      action: 'the Events ScaleDownBlocked of the NodeGroup name the pods and budgets that are in the way',
      runbook: 'docs/operations/node-group.md#reasons-of-a-drain',
    },
    {
      name: 'HeadroomNodesSlow',
      expr: `${quantile(own.provisioning, 0.9, '6h')} > 600`,
      for: '30m',
      severity: 'warning',
      summary: 'one machine in ten of {{ $labels.cluster }} takes more than ten minutes to become a node',
      who: 'cluster administrators',
      action: 'look at the provider, and at what a node does before it is Ready',
      runbook: 'docs/operations/node-group.md#failed-machines',
    },
  ],
};
