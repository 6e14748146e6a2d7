import { describe, expect, it } from 'vitest';
import type { Outlook } from '../../../../domain/kernel/outlook.ts';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { readPodTemplate, withForeseenPods } from '../../../../domain/node-group/plan/foreseen-pods.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const MINUTE = 60_000;
const GROUP = groupOf('pool', { instanceTypes: [typeOf('small', 4, 16)] });

function wakingOf(
  pods: number,
  inMinutes: number,
  template: Record<string, unknown> = {},
  over: Partial<Outlook> = {},
): Outlook {
  const containers = [{ name: 'main', resources: { requests: { cpu: '3' } } }];
  return {
    workload: { kind: 'Deployment', namespace: 'default', name: 'web' },
    change: 'wakes',
    at: NOW + inMinutes * MINUTE,
    leadMs: 10 * MINUTE,
    pods,
    template: readPodTemplate({
      template: { metadata: { labels: { app: 'web' } }, spec: { containers, ...template } },
    }),
    ...over,
  };
}

function stateWith(outlooks: readonly Outlook[], over: Partial<ClusterState> = {}): ClusterState {
  const base = stateOf({ groups: [GROUP], instanceTypes: { pool: [typeOf('small', 4, 16)] }, ...over });
  return withForeseenPods(base, outlooks);
}

const plan = (state: ClusterState, memory: PlanMemory = freshPlanMemory) =>
  planCluster(state, { blocked: {}, memory, requested: [] });

/** A node of the group that has been unneeded for long, and when it came nobody saw. */
const node = (name: string) => ({ ...nodeOf(name), createdAt: NOW - 300 * MINUTE });
const machine = (name: string) =>
  machineOf(`m-${name}`, 'pool', { node: name, phase: 'Ready', createdAt: NOW - 300 * MINUTE });
const unneeded = (...names: readonly string[]): PlanMemory => ({
  ...freshPlanMemory,
  plannedAt: NOW - MINUTE,
  unneeded: Object.fromEntries(names.map((name) => [`uid-${name}`, NOW - 30 * MINUTE])),
});

const hash = { 'pod-template-hash': 'abc' };
const podOfWeb = (name: string, on: string, cpu = '3'): Pod =>
  boundTo(on, {
    ...podOf(name, { cpu }, {}, { labels: hash }),
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs' },
    isReady: true,
  });
describe('pods of workloads that wake soon', () => {
  it('get nodes before they are there, and not earlier than that', () => {
    expect(plan(stateWith([wakingOf(2, 11)])).plan.newNodes).toEqual([]);
    const { newNodes, unhelped } = plan(stateWith([wakingOf(2, 10)])).plan;
    expect(newNodes).toMatchObject([{ group: 'pool', count: 2, reason: 'PendingPods', podCount: 2, comingPods: 2 }]);
    // Nothing is on trial for pods that do not exist.
    expect(newNodes[0]?.kinds).toEqual([]);
    expect(unhelped).toEqual([]);
  });

  it('use what is there first, and are not called pods that get no node', () => {
    const there = { nodes: [node('a')], machines: [machine('a')] };
    expect(plan(stateWith([wakingOf(1, 5)], there)).plan).toMatchObject({ newNodes: [], unhelped: [] });
    const full = { ...there, groups: [groupOf('pool', { instanceTypes: [typeOf('small', 4, 16)], maxNodes: 1 })] };
    expect(plan(stateWith([wakingOf(5, 5)], full)).plan).toMatchObject({ newNodes: [], unhelped: [] });
  });

  it('come no second time while those that have come are not told of yet', () => {
    const there = { nodes: [node('a'), node('b')], machines: [machine('a'), machine('b')] };
    const comingOf = (...pods: readonly Pod[]) => stateWith([wakingOf(2, 0)], { ...there, pods }).coming?.length;
    expect(comingOf()).toBe(2);
    expect(comingOf(podOfWeb('web-1', 'a'))).toBe(1);
    expect(comingOf(podOfWeb('web-1', 'a'), podOfWeb('web-2', 'b'))).toBe(0);
    // One that ends does not count, as another one is made in its place.
    expect(comingOf({ ...podOfWeb('web-1', 'a'), deletesAt: NOW + MINUTE })).toBe(2);
  });

  it('keep the nodes that they will need, and no others', () => {
    const there = { nodes: [node('a'), node('b')], machines: [machine('a'), machine('b')] };
    expect(plan(stateWith([], there), unneeded('a', 'b')).plan.removals).toHaveLength(2);
    const { removals, kept } = plan(stateWith([wakingOf(2, 5)], there), unneeded('a', 'b')).plan;
    expect(removals).toEqual([]);
    expect(kept).toMatchObject([{ reason: 'PodsFitNowhere' }, { reason: 'PodsFitNowhere' }]);
  });

  it('go where their claims are, where these were kept', () => {
    const claim = { namespace: 'default', name: 'data-db-0', volume: 'pv', storageClass: null, isLost: false };
    const zone = { key: 'topology.kubernetes.io/zone', operator: 'In' as const, values: ['west'] };
    const volume = {
      name: 'pv',
      nodeAffinity: [{ matchExpressions: [zone] }],
      driver: null,
      handle: 'h',
      isLocal: false,
    };
    const template = readPodTemplate({
      template: { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } },
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    });
    const outlook = wakingOf(
      2,
      5,
      {},
      { workload: { kind: 'StatefulSet', namespace: 'default', name: 'db' }, template },
    );
    const { coming = [] } = stateWith([outlook], { claims: [claim], volumes: [volume] });
    expect(coming.map(({ claims }) => claims)).toEqual([['data-db-0'], []]);
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'sts' };
    const first = { ...boundTo('a', podOf('db-0', { cpu: '1' })), owner };
    const { coming: second = [] } = stateWith([outlook], { claims: [claim], volumes: [volume], pods: [first] });
    expect(second.map(({ name, claims }) => [name, claims])).toEqual([['db-1', []]]);
    const zones = ['east', 'west'].map((name) =>
      typeOf(name, 4, 16, { labels: { 'topology.kubernetes.io/zone': name } }),
    );
    const over = {
      groups: [groupOf('pool', { instanceTypes: zones, offeringIds: ['east', 'west'] })],
      instanceTypes: { pool: zones },
    };
    const { newNodes } = plan(
      stateWith([{ ...outlook, pods: 1 }], { ...over, claims: [claim], volumes: [volume] }),
    ).plan;
    expect(newNodes).toMatchObject([{ instanceType: 'west', count: 1 }]);
  });

  it('are not foreseen where gates keep them from being scheduled', () => {
    expect(stateWith([wakingOf(2, 5, { schedulingGates: [{ name: 'queue' }] })]).coming).toEqual([]);
    expect(stateWith([wakingOf(2, 5, { schedulingGates: [] })]).coming).toHaveLength(2);
  });

  it('are no more than a plan can have, whatever a mark says', () => {
    expect(stateWith([wakingOf(2_000_000_000, 5)]).coming).toHaveLength(1_000);
  });
});

/** A node that came for two pods of a workload that wakes, some minutes later. */
function afterArrival(minutes: number, outlooks: readonly Outlook[], pods: readonly Pod[]) {
  const coming = plan(
    stateWith([wakingOf(2, 5)], {
      machines: [machineOf('m-a', 'pool', { phase: 'Provisioning', createdAt: NOW })],
    }),
  );
  const at = NOW + minutes * MINUTE;
  const there = {
    at,
    nodes: [{ ...nodeOf('a'), createdAt: NOW }],
    machines: [machineOf('m-a', 'pool', { node: 'a', phase: 'Ready', createdAt: NOW })],
    pods,
  };
  const memory = { ...coming.memory, plannedAt: at - MINUTE, unneeded: { 'uid-a': NOW } };
  return plan(stateWith(outlooks, there), memory).plan;
}

describe('a node that came for pods of a workload that wakes', () => {
  it('stays for the hour while they are there, or still to come', () => {
    expect(
      afterArrival(20, [], [boundTo('a', podOf('web-0', { cpu: '3' })), podOf('web-1', { cpu: '3' })]).removals,
    ).toEqual([]);
    expect(afterArrival(4, [wakingOf(2, 5)], []).removals).toEqual([]);
  });

  it('goes where they do not come, or have gone to sleep', () => {
    expect(afterArrival(20, [], []).removals).toMatchObject([{ node: 'a', reason: 'Empty' }]);
  });
});

const steady = (name: string, on: string, cpu = '1'): Pod =>
  boundTo(on, {
    ...podOf(name, { cpu }),
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'db-xyz', uid: 'rs2' },
    isReady: true,
  });
const sleepingIn = (minutes: number): Outlook => ({ ...wakingOf(0, minutes), change: 'sleeps', template: null });

describe('pods of workloads that sleep within the hour', () => {
  /** a is in use, and b is not. */
  const utilizationAt = (at: number) => {
    const samples = (used: number) =>
      Array.from({ length: 30 }, (_, minute) => ({ at: at - minute * MINUTE, cpu: used, memory: used }));
    return { a: samples(90), b: samples(10) };
  };
  const there = {
    nodes: [node('a'), node('b')],
    machines: [machine('a'), machine('b')],
    utilization: utilizationAt(NOW),
  };

  it('are not moved, and their node is unneeded already: it goes as soon as they are gone', () => {
    const pods = [podOfWeb('web-1', 'b', '1'), steady('db', 'a', '3')];
    const before = plan(stateWith([], { ...there, pods }), unneeded('b')).plan;
    expect(before.removals).toMatchObject([{ node: 'b', podCount: 1 }]);
    const evening = plan(stateWith([sleepingIn(30)], { ...there, pods }), unneeded('b'));
    expect(evening.plan.removals).toEqual([]);
    expect(evening.plan.kept.find(({ node: of }) => of === 'b')).toEqual({
      group: 'pool',
      node: 'b',
      reason: 'SleepsSoon',
      until: NOW + 30 * MINUTE,
      detail: '1 pod of it goes to sleep by 2026-01-01T00:30:00Z, and is not moved before',
    });
  });

  it('leave a node that goes at once where they have gone, and none that is unneeded for long where they stay up after all', () => {
    const pods = [podOfWeb('web-1', 'b', '1'), steady('db', 'a', '3')];
    const evening = plan(stateWith([sleepingIn(30)], { ...there, pods })).memory;
    const at = NOW + 30 * MINUTE;
    const night = { ...there, at, utilization: utilizationAt(at) };
    const memory = { ...evening, plannedAt: at - MINUTE };
    expect(plan(stateWith([], { ...night, pods: pods.slice(1) }), memory).plan.removals).toMatchObject([
      { node: 'b', reason: 'Empty' },
    ]);
    const late = plan(stateWith([], { ...night, pods }), memory).plan;
    expect(late.removals).toEqual([]);
    expect(late.kept.find(({ node: of }) => of === 'b')).toMatchObject({ reason: 'NotUnneededLongEnough' });
  });

  it('do not make a node unneeded that others need', () => {
    const pods = [podOfWeb('web-1', 'b', '1'), steady('big', 'b', '3'), steady('db', 'a', '3')];
    const { memory, plan: made } = plan(stateWith([sleepingIn(30)], { ...there, pods }));
    expect(memory.unneeded).toEqual({});
    expect(made.kept.find(({ node: of }) => of === 'b')).toMatchObject({ reason: 'PodsFitNowhere' });
  });

  it('count as before where they sleep later, and are those of their own workload alone', () => {
    const pods = [podOfWeb('web-1', 'b', '1'), steady('db', 'a')];
    expect(stateWith([sleepingIn(61)], { ...there, pods }).going).toEqual(new Map());
    expect([...(stateWith([sleepingIn(60)], { ...there, pods }).going ?? [])]).toEqual([
      ['uid-web-1', NOW + 60 * MINUTE],
    ]);
    const other = { ...sleepingIn(60), workload: { kind: 'Deployment', namespace: 'other', name: 'web' } };
    expect(stateWith([other], { ...there, pods }).going).toEqual(new Map());
  });
});
