import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const MINUTE = 60_000;
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
const pod = (name: string, cpu: number, node: string | null = null): Pod => {
  const made = { ...podOf(name, { cpu: `${cpu}m` }), owner: OWNER };
  return node === null ? made : boundTo(node, made);
};

/** Node `a` is there, and `b` came for pods. */
function clusterAt(minutes: number, pods: readonly Pod[], phase: 'Provisioning' | 'Ready'): ClusterState {
  const isReady = phase === 'Ready';
  return stateOf({
    at: NOW + minutes * MINUTE,
    groups: [groupOf('web')],
    instanceTypes: { web: [typeOf('small', 4, 16)] },
    nodes: [nodeOf('a'), ...(isReady ? [{ ...nodeOf('b'), createdAt: NOW }] : [])],
    machines: [
      machineOf('m-a', 'web', { node: 'a', phase: 'Ready', createdAt: NOW - 300 * MINUTE }),
      machineOf('m-b', 'web', { node: isReady ? 'b' : null, phase }),
    ],
    pods,
  });
}

const plan = (state: ClusterState, memory: PlanMemory) => planCluster(state, { blocked: {}, memory, requested: [] });

/** Two pods of three cores each: the second one needs a node. */
const coming = plan(clusterAt(0, [pod('p1', 3000, 'a'), pod('p2', 3000)], 'Provisioning'), freshPlanMemory);

/** After b has been unneeded for so long, in plan after plan. */
function later(minutes: number, pods: readonly Pod[], memory: PlanMemory = coming.memory) {
  const unneeded = { 'uid-b': NOW };
  const plannedAt = memory.plannedAt === null ? null : NOW + (minutes - 1) * MINUTE;
  return plan(clusterAt(minutes, pods, 'Ready'), { ...memory, unneeded, plannedAt }).plan;
}

describe('a node that came for pods', () => {
  it('stays for an hour while as much is asked for, though there is room without it', () => {
    // The same load in other pieces, which fit on one node.
    const same = [pod('p3', 3000, 'a'), pod('p4', 1000, 'a')];
    const load = [
      ...same,
      { ...pod('gated', 2000), unscheduled: { reason: 'SchedulingGated', message: '', since: NOW, writtenAt: NOW } },
    ];
    const { removals, kept } = later(30, load);
    expect(removals).toEqual([]);
    expect(kept.find(({ node }) => node === 'b')).toEqual({
      group: 'web',
      node: 'b',
      reason: 'CameLately',
      until: NOW + 60 * MINUTE,
      detail:
        'its machine came for pods at 2026-01-01T00:00:00Z, and no less is asked for since: it stays until 2026-01-01T01:00:00Z',
    });
    expect(later(60, load).removals).toMatchObject([{ node: 'b', reason: 'Empty' }]);
  });

  it('goes before that where the load has fallen by half of what it came for', () => {
    expect(later(30, [pod('p1', 3000, 'a'), pod('p3', 1000, 'a')]).removals).toMatchObject([{ node: 'b' }]);
    expect(later(30, [pod('p1', 3000, 'a'), pod('p3', 900, 'a'), pod('p4', 1000, 'b')]).removals).toEqual([]);
  });

  it('goes before that also where the load fell before any plan saw the node', () => {
    const before = plan(
      stateOf({
        at: NOW - 500,
        groups: [groupOf('web')],
        nodes: [nodeOf('a')],
        pods: [pod('p1', 3000, 'a'), pod('p2', 3000)],
      }),
      freshPlanMemory,
    ).memory;
    const { memory } = plan(clusterAt(0, [pod('p1', 3000, 'a')], 'Ready'), before);
    expect(later(30, [pod('p1', 3000, 'a')], memory).removals).toMatchObject([{ node: 'b' }]);
  });

  it('stays where the load fell long before it came', () => {
    const pods = [pod('p1', 3000, 'a'), pod('p2', 3000, 'a'), pod('p3', 3000, 'a')];
    const before = plan(stateOf({ at: NOW - 30 * MINUTE, groups: [groupOf('web')], pods }), freshPlanMemory).memory;
    const own = [pod('p1', 3000, 'a'), pod('p2', 3000)];
    const { memory } = plan(clusterAt(0, own, 'Provisioning'), before);
    expect(later(30, [pod('p1', 3000, 'a'), pod('p4', 3000, 'a')], memory).removals).toEqual([]);
  });

  it('goes like any other where nobody saw it come', () => {
    expect(later(30, [pod('p1', 3000, 'a')], freshPlanMemory).removals).toMatchObject([{ node: 'b' }]);
  });

  it('stays, also where it was ready before any plan saw it come, as fast providers make them', () => {
    const before = plan(stateOf({ at: NOW - 500, groups: [groupOf('web')] }), freshPlanMemory).memory;
    const { memory } = plan(clusterAt(0, [pod('p1', 3000, 'a'), pod('p2', 3000, 'b')], 'Ready'), before);
    const gated = {
      ...pod('gated', 2000),
      unscheduled: { reason: 'SchedulingGated', message: '', since: NOW, writtenAt: NOW },
    };
    const same = [pod('p3', 3000, 'a'), pod('p4', 1000, 'a'), gated];
    expect(later(30, same, memory).removals).toEqual([]);
    expect(later(30, [pod('p3', 3000, 'a'), pod('p4', 1000, 'a')], memory).removals).toMatchObject([{ node: 'b' }]);
  });

  it('without any pod to go to it, came for what it holds', () => {
    const { memory } = plan(clusterAt(0, [pod('p1', 3000, 'a')], 'Provisioning'), freshPlanMemory);
    expect(later(30, [pod('p1', 3000, 'a')], memory).removals).toEqual([]);
    expect(later(30, [pod('p1', 1000, 'a')], memory).removals).toMatchObject([{ node: 'b' }]);
  });

  it('is forgotten after the hour', () => {
    expect(Object.keys(coming.memory.arrivals)).toEqual(['m-b']);
    expect(plan(clusterAt(60, [], 'Ready'), coming.memory).memory.arrivals).toEqual({});
  });
});
