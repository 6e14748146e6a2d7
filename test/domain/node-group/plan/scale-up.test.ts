import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { ClusterPlan } from '../../../../domain/node-group/model/plan.ts';
import { daemonsOf } from '../../../../domain/node-group/plan/daemons.ts';
import { planScaleUp } from '../../../../domain/node-group/plan/scale-up.ts';
import { readPod } from '../../../../domain/node-group/scheduling/read-pod.ts';
import { boundTo, groupOf, machineOf, nodeOf, podOf, stateOf, typeOf } from '../builders.ts';

const instanceTypes = { web: [typeOf('small', 4, 16)] };
const one = stateOf({ groups: [groupOf('web')], instanceTypes });
const ten = Array.from({ length: 10 }, (_, n) => podOf(`p${n}`, { cpu: '1' }));

function plan(over: Partial<ClusterState>): Pick<ClusterPlan, 'newNodes' | 'unhelped'> {
  const state = { ...one, ...over };
  return planScaleUp(state, { blocked: {}, daemons: daemonsOf(state), promised: state.instanceTypes, trials: {} });
}

function counts(over: Partial<ClusterState>): readonly string[] {
  return plan(over).newNodes.map(({ group, instanceType, count }) => `${count} ${instanceType} of ${group}`);
}

const reasons = (over: Partial<ClusterState>): readonly string[] => [
  ...new Set(plan(over).unhelped.map(({ reason }) => reason)),
];

describe('a plan has as many nodes as pending pods need', () => {
  it('from zero, and none more while the machines are on their way', () => {
    expect(counts({ pods: ten })).toEqual(['3 small of web']);
    const machines = ['a', 'b', 'c'].map((name) => machineOf(name, 'web'));
    expect(counts({ pods: ten, machines })).toEqual([]);
    expect(reasons({ pods: ten, machines })).toEqual(['FitsUpcoming']);
  });

  it('two groups that fit one pod make one node', () => {
    const groups = [groupOf('web'), groupOf('api')];
    const types = { ...instanceTypes, api: [typeOf('small', 4, 16)] };
    expect(counts({ pods: ten.slice(0, 1), groups, instanceTypes: types })).toEqual(['1 small of api']);
  });

  it('no more than the maximum, and no more in one decision than a batch', () => {
    expect(counts({ pods: ten, groups: [groupOf('web', { maxNodes: 2 })] })).toEqual(['2 small of web']);
    expect(reasons({ pods: ten, groups: [groupOf('web', { maxNodes: 2 })] })).toEqual(['AtMaximum']);
    const groups = [groupOf('web', { scaleUp: { ...groupOf('web').scaleUp, batchSize: 1 } })];
    expect(counts({ pods: ten, groups })).toEqual(['1 small of web']);
    expect(reasons({ pods: ten, groups })).toEqual(['Limited']);
  });

  it('the minimum without any pod', () => {
    expect(plan({ groups: [groupOf('web', { minNodes: 2 })] }).newNodes).toMatchObject([
      { count: 2, reason: 'BelowMinimum' },
    ]);
  });

  it('what is wanted, in which a node that leaves counts until its machine is deleted', () => {
    const machines = ['a', 'b', 'c'].map((name) => machineOf(name, 'web', { phase: 'Ready', node: name }));
    const nodes = machines.map(({ name }) => nodeOf(name));
    const wants = (desiredNodes: number, minNodes = 0) => ({
      groups: [groupOf('web', { desiredNodes, minNodes })],
      machines,
      nodes,
      leaving: ['a'],
    });
    expect(counts(wants(3))).toEqual([]);
    // Its object says that it goes, and then the size goes down.
    const going = machines.map((machine) =>
      machine.name === 'a' ? { ...machine, phase: 'Deleting' as const } : machine,
    );
    expect(counts({ ...wants(3), machines: going })).toEqual([]);
    expect(plan(wants(5)).newNodes).toMatchObject([{ count: 2, reason: 'BelowDesired' }]);
    // The minimum is one of nodes that stay.
    expect(plan(wants(3, 3)).newNodes).toMatchObject([{ count: 1, reason: 'BelowMinimum' }]);
    expect(plan(wants(5, 3)).newNodes).toMatchObject([
      { count: 1, reason: 'BelowDesired' },
      { count: 1, reason: 'BelowMinimum' },
    ]);
  });

  it('without room that pods of a node which leaves will need, unless its drain takes long', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
    const moving = { ...boundTo('old', podOf('moving', { cpu: '3' })), owner };
    const state = {
      nodes: [nodeOf('old')],
      machines: [machineOf('old', 'web', { phase: 'Ready', node: 'old' }), machineOf('instead', 'web')],
      pods: [moving, podOf('pending', { cpu: '2' })],
      leaving: ['old'],
    };
    expect(counts(state)).toEqual(['1 small of web']);
    expect(counts({ ...state, pods: [{ ...moving, deletesAt: 1 }, podOf('pending', { cpu: '2' })] })).toEqual([]);
    expect(counts({ ...state, lingering: ['old'] })).toEqual([]);
  });

  it('one for each pod that keeps others away', () => {
    const required = [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } } }];
    const spec = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
    const pods = ['a', 'b', 'c'].map((name) => podOf(name, { cpu: '100m' }, spec, { labels: { app: 'x' } }));
    expect(counts({ pods: [...pods, ...ten.slice(0, 8)] })).toEqual(['3 small of web']);
  });

  it('none for pods that no node would help', () => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'gone' } }];
    expect(reasons({ pods: [podOf('p', {}, { volumes })] })).toEqual(['ClaimMissing']);
    expect(reasons({ pods: [podOf('p', { cpu: '5' })] })).toEqual(['TooLarge']);
    expect(reasons({ pods: [podOf('p', {}, { nodeSelector: { disk: 'ssd' } })] })).toEqual(['NoGroupMatches']);
  });
});

it('a plan does not depend on the order of its pods, and needs no other once its machines are on their way', () => {
  const types = { web: [typeOf('small', 4, 16), typeOf('large', 16, 64)] };
  const groups = [groupOf('web', { offeringIds: ['small', 'large'] })];
  const cpus = fc.array(fc.integer({ min: 1, max: 160 }), { maxLength: 40 });
  fc.assert(
    fc.property(cpus, (tenths) => {
      const pods = tenths.map((n, index) => podOf(`p${index}`, { cpu: `${n * 100}m` }));
      const first = plan({ pods, groups, instanceTypes: types });
      expect(plan({ pods: pods.toReversed(), groups, instanceTypes: types })).toEqual(first);
      const machines = first.newNodes.flatMap(({ instanceType, count }) =>
        Array.from({ length: count }, (_, n) => machineOf(`${instanceType}-${n}`, 'web', { instanceType })),
      );
      expect(counts({ pods, groups, instanceTypes: types, machines })).toEqual([]);
    }),
  );
});

describe('pods that only some nodes are for', () => {
  it('get those nodes before pods that could go to cheaper ones', () => {
    const arch = (name: string) => ({ labels: { 'kubernetes.io/arch': name } });
    const groups = ['amd', 'arm'].map((name) => groupOf(name, { expander: 'price', offeringIds: [`${name}-4`] }));
    const types = {
      amd: [typeOf('amd-4', 4, 16, { ...arch('amd64'), pricePerHour: 0.125 })],
      arm: [typeOf('arm-4', 4, 16, { ...arch('arm64'), pricePerHour: 0.1 })],
    };
    const selecting = ['a', 'b'].map((name) => ({
      ...podOf(name, { cpu: '2' }),
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    }));
    const pods = [podOf('anywhere', { cpu: '4' }), ...selecting];
    expect(counts({ groups, instanceTypes: types, pods })).toEqual(['1 amd-4 of amd', '1 arm-4 of arm']);
  });
});

describe('amounts that no machine has', () => {
  const odd = ['1e400', '16Ei', '10000000000000000000', '9E'].map((memory, n) =>
    podOf(`odd-${n}`, { cpu: '1', memory }),
  );
  const groups = [groupOf('dear', { expander: 'price' }), groupOf('plain', { expander: 'price' })];
  const types = {
    dear: [typeOf('small', 4, 16, { pricePerHour: 9 })],
    plain: [typeOf('small', 4, 16, { pricePerHour: 0.1 })],
  };

  it('do not change which node is the best for the other pods', () => {
    expect(counts({ pods: [...odd, ...ten], groups, instanceTypes: types })).toEqual(['3 small of plain']);
  });

  it('take nothing of a node that kube-scheduler does not see, and no node takes everything after them', () => {
    const infinite = podOf('infinite', { cpu: '1', memory: '1e400' });
    const large = podOf('large', { memory: '17Gi' });
    expect(counts({ pods: [infinite, large] })).toEqual(['1 small of web']);
    expect(plan({ pods: [infinite, large] }).unhelped).toMatchObject([{ name: 'large', reason: 'TooLarge' }]);
  });
});

describe('a pod that is being resized in place', () => {
  const requests = (cpu: string) => ({ resources: { requests: { cpu } } });
  /** On a node of four cores. */
  const resized = (asked: string, actual: string, reason: string) =>
    readPod({
      metadata: { name: 'resized', namespace: 'default' },
      spec: { nodeName: 'a', containers: [{ name: 'main', ...requests(asked) }] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'PodResizePending', status: 'True', reason }],
        containerStatuses: [{ name: 'main', ...requests(actual) }],
      },
    });
  const waiting = podOf('waiting', { cpu: '2' });
  const nodes = [nodeOf('a')];

  it('keeps what it has until it is smaller, so that others get a node', () => {
    expect(counts({ nodes, pods: [resized('1', '3', 'Deferred'), waiting] })).toEqual(['1 small of web']);
  });

  it('takes no more where it can never be larger, so that no node comes in vain', () => {
    expect(counts({ nodes, pods: [resized('40', '1', 'Infeasible'), waiting] })).toEqual([]);
  });
});
