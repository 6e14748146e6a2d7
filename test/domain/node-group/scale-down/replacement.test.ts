import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { podKind, promiseOf } from '../../../../domain/node-group/plan/pod-kind.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
const HOUR = 3_600_000;
const types = [typeOf('small', 4, 16, { pricePerHour: 0.1 }), typeOf('large', 16, 64, { pricePerHour: 0.4 })];
const pod = (name: string, node: string, cpu: string) => ({
  ...boundTo(node, podOf(name, { cpu })),
  owner: OWNER,
  isReady: true,
});
const pods = [pod('p', 'a', '3'), pod('q', 'b', '3'), pod('r', 'c', '3')];
const kinds = pods.slice(0, 1).map(podKind);

interface Cluster {
  readonly group?: Partial<NodeGroup>;
  /** Instance types that came for such pods in vain. */
  readonly inVain?: readonly string[];
  readonly state?: Partial<ClusterState>;
}

/** Three nodes, each with a pod that fills a small one. */
function cluster({ group = {}, inVain = [], state = {} }: Cluster): ClusterState {
  const own = groupOf('web', { offeringIds: ['small', 'large'], ...group });
  const records = types
    .filter(({ id }) => inVain.includes(id))
    .flatMap((type) =>
      kinds.map((kind) => ({
        instanceType: type.id,
        kind,
        pod: 'default/p',
        machine: 'gone',
        at: NOW - 1_000,
        waited: NOW - 1_000,
        promise: promiseOf(own, type),
        tries: 1,
        isFirm: true,
      })),
    );
  const names = ['a', 'b', 'c'];
  return stateOf({
    groups: [{ ...own, inVain: records }],
    instanceTypes: { web: types },
    nodes: names.map((name) => ({ ...nodeOf(name), createdAt: NOW - HOUR })),
    machines: names.map((node) => machineOf(`m-${node}`, 'web', { node, phase: 'Ready', createdAt: NOW - HOUR })),
    pods,
    ...state,
  });
}

function planOf(state: ClusterState, requested: readonly string[] = []) {
  const since = Object.fromEntries(state.nodes.map(({ uid }) => [uid, NOW - HOUR]));
  const memory = { ...freshPlanMemory, cheaper: since, unneeded: since };
  const by = requested.map((node) => ({ node, by: 'alice' }));
  return planCluster(state, { blocked: {}, memory, requested: by }).plan;
}

describe('a node that is asked for in place of another one', () => {
  const group = { replaceBeforeDrain: true };
  const replaced = (inVain: readonly string[]) => planOf(cluster({ group, inVain }), ['a']);

  it('comes for the pods of that one', () => {
    expect(replaced([]).removals).toMatchObject([{ node: 'a', replacement: { instanceType: 'small', kinds } }]);
  });

  it('is of another type where the first one came for them in vain, and of none where all did', () => {
    expect(replaced(['small']).removals).toMatchObject([{ node: 'a', replacement: { instanceType: 'large', kinds } }]);
    const { removals, kept } = replaced(['small', 'large']);
    expect([removals, kept.find(({ node }) => node === 'a')?.reason]).toEqual([[], 'PodsFitNowhere']);
  });

  it('is not cheaper where the cheaper type came for them in vain', () => {
    const scaleDown = { ...groupOf('web').scaleDown, consolidation: true };
    const consolidated = (inVain: readonly string[]): readonly string[] => {
      const state = cluster({ group: { scaleDown }, inVain });
      const machines = state.machines.map((machine) => ({ ...machine, instanceType: 'large' }));
      const samples = Array.from({ length: 10 }, (_, age) => ({ at: NOW - (9 - age) * 60_000, cpu: 90, memory: 90 }));
      const utilization = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, samples]));
      return planOf({ ...state, machines, utilization }).removals.map(({ node, reason }) => `${node} ${reason}`);
    };
    expect([consolidated([]), consolidated(['small'])]).toEqual([['a Consolidation'], []]);
  });
});

describe('a node in place of one that is not ready', () => {
  const broken = (over: Cluster) => {
    const state = cluster(over);
    const ready = { status: 'False', since: NOW - HOUR } as const;
    return { ...state, nodes: state.nodes.map((node) => (node.name === 'a' ? { ...node, ready } : node)) };
  };
  const all = ['small', 'large'];

  it('comes for those of the pods that no node came for in vain', () => {
    const other = pod('other', 'a', '500m');
    const { removals } = planOf(broken({ inVain: all, state: { pods: [...pods, other] } }));
    expect(removals).toMatchObject([
      { node: 'a', reason: 'NotReady', replacement: { instanceType: 'small', kinds: [podKind(other)] } },
    ]);
  });

  it('is not asked for where it would help none of them', () => {
    const { removals, kept } = planOf(broken({ inVain: all }));
    expect([removals, kept.find(({ node }) => node === 'a')?.reason]).toEqual([[], 'NoReplacement']);
  });
});

it('a node is not given up for one of a type that came for its pods in vain', () => {
  const given = (inVain: readonly string[]): readonly string[] => {
    const state = cluster({ inVain, state: { pods: pods.filter(({ node }) => node !== 'b') } });
    const machines = state.machines.map((machine) => ({
      ...machine,
      instanceType: machine.node === 'a' ? 'large' : 'small',
    }));
    const samples = Array.from({ length: 10 }, (_, age) => ({ at: NOW - (9 - age) * 60_000, cpu: 5, memory: 5 }));
    const groups = state.groups.map((group) => ({ ...group, minNodes: 1 }));
    return planOf({ ...state, groups, machines, utilization: { a: samples } }).removals.map(({ node }) => node);
  };
  expect([given([]), given(['small'])]).toEqual([['a'], ['b']]);
});
