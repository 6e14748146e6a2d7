import { Counter, Gauge, type Registry } from 'prom-client';
import type { NodeGroup } from '../../domain/node-group/model/node-group.ts';
import type { KeptNode } from '../../domain/node-group/model/plan.ts';
import type { GroupCounts } from '../../domain/node-group/status/group-status.ts';

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

/**
 * The metrics of groups, read from the caches at each scrape, so that the series of a deleted group go with it, and
 * `vpsie_autoscaler_scale_down_blocked_total` as the VPSie autoscaler has it.
 */
export function registerGroupMetrics(
  register: Registry,
  groups: () => readonly MeasuredGroup[],
  unhelped: () => number,
): PlanMetrics {
  const gauge = (name: string, help: string, valueOf: (group: MeasuredGroup) => number): void => {
    register.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ['nodegroup'],
        registers: [],
        collect() {
          this.reset();
          for (const group of groups()) this.set({ nodegroup: group.name }, valueOf(group));
        },
      }),
    );
  };
  const nodesOf = (what: string): string => `vpsie_autoscaler_nodegroup_${what}_nodes`;
  gauge(nodesOf('desired'), 'How many nodes a group should have.', ({ desired }) => desired);
  gauge(nodesOf('current'), 'How many nodes a group has, those on their way included.', ({ current }) => current);
  gauge(nodesOf('ready'), 'How many nodes of a group are ready.', ({ ready }) => ready);
  gauge(nodesOf('min'), 'The fewest nodes of a group.', ({ minNodes }) => minNodes);
  gauge(nodesOf('max'), 'The most nodes of a group.', ({ maxNodes }) => maxNodes);
  gauge(
    'headroom_drains_resting',
    'Nodes of a group that are left alone, as their drain was given up less than ten minutes ago.',
    ({ resting }) => resting,
  );
  register.registerMetric(
    new Gauge({
      name: 'headroom_pods_without_help',
      help: 'Pending pods that get no new node: none would help, or none is to be had.',
      registers: [],
      collect() {
        this.set(unhelped());
      },
    }),
  );
  const blocked = new Counter({
    name: 'vpsie_autoscaler_scale_down_blocked_total',
    help: 'Nodes that a plan keeps, by why.',
    labelNames: ['nodegroup', 'reason'],
    registers: [],
  });
  register.registerMetric(blocked);
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
