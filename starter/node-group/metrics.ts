import type { Registry } from 'prom-client';
import { nodeGroupMetrics } from '../../domain/node-group/metrics.ts';
import type { NodeGroup } from '../../domain/node-group/model/node-group.ts';
import type { KeptNode } from '../../domain/node-group/model/plan.ts';
import type { GroupCounts } from '../../domain/node-group/status/group-status.ts';
import { collectGauge, collectNumber, createCounter } from '../kernel/metrics.ts';

/** What metrics say of a group. */
export interface MeasuredGroup
  extends Pick<NodeGroup, 'name' | 'minNodes' | 'maxNodes'>,
    Pick<GroupCounts, 'current' | 'ready'> {
  readonly desired: number;
  /** Nodes that are left alone, as their drain was given up. */
  readonly resting: number;
}

export interface PlanMetrics {
  /** Nodes that a plan keeps: each counts once for each reason that it has in turn. */
  readonly kept: (nodes: readonly KeptNode[]) => void;
}

/** What each gauge says of a group. */
const VALUES = {
  desired: ({ desired }) => desired,
  current: ({ current }) => current,
  ready: ({ ready }) => ready,
  min: ({ minNodes }) => minNodes,
  max: ({ maxNodes }) => maxNodes,
  resting: ({ resting }) => resting,
} as const satisfies Partial<Record<keyof typeof nodeGroupMetrics, (group: MeasuredGroup) => number>>;

/** The metrics of groups, read from the caches at each scrape, so that the series of a deleted group go with it. */
export function registerGroupMetrics(
  register: Registry,
  groups: () => readonly MeasuredGroup[],
  unhelped: () => number,
): PlanMetrics {
  for (const [name, valueOf] of Object.entries(VALUES)) {
    collectGauge(register, nodeGroupMetrics[name as keyof typeof VALUES], () =>
      groups().map((group) => [{ nodegroup: group.name }, valueOf(group)]),
    );
  }
  collectNumber(register, nodeGroupMetrics.unhelped, unhelped);
  const blocked = createCounter(register, nodeGroupMetrics.kept);
  let before = new Map<string, string>();
  return {
    kept: (nodes) => {
      for (const { node, group, reason } of nodes) {
        if (before.get(node) !== reason) blocked.inc({ nodegroup: group, reason });
      }
      before = new Map(nodes.map(({ node, reason }) => [node, reason]));
    },
  };
}
