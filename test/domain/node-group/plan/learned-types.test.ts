import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Machine } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const GIB = 1024 ** 3;
const ZONE = 'topology.kubernetes.io/zone';
const REAL = {
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  'node.kubernetes.io/instance-type': 'small',
};
const allocatable = { cpu: 4000, memory: 16 * GIB, pods: 110, 'nvidia.com/gpu': 1 };
const instanceTypes = { web: [typeOf('small', 4, 16, { allocatable, labels: { [ZONE]: 'a' } })] };

/** A cluster with one node, which is as its type promises but for what is said. */
function withNode(node: Partial<Node>, machine: Partial<Machine> = {}, over: Partial<ClusterState> = {}): ClusterState {
  const whole = { ...nodeOf('n', {}, { ...REAL, [ZONE]: 'a' }), allocatable, createdAt: NOW, ...node };
  return stateOf({
    groups: [groupOf('web')],
    instanceTypes,
    nodes: [whole],
    machines: [machineOf('m', 'web', { node: 'n', phase: 'Ready', ...machine })],
    ...over,
  });
}

function asked(state: ClusterState, memory: PlanMemory = freshPlanMemory) {
  const answer = planCluster(state, { blocked: {}, memory, requested: [] });
  return { ...answer, count: answer.plan.newNodes.reduce((sum, { count }) => sum + count, 0) };
}

const large = podOf('large', { cpu: '4' });
const zonal = podOf('zonal', { cpu: '1' }, { nodeSelector: { [ZONE]: 'a' } });
const gpu = podOf('gpu', { 'nvidia.com/gpu': '1' });

describe('while a node is joining', () => {
  const joining = { phase: 'Joining' } as const;

  it('its zone and its devices are still to come, and ask for no other node', () => {
    const bare = { labels: {}, allocatable: { cpu: 4000, memory: 16 * GIB, pods: 110 } };
    expect(asked(withNode(bare, joining, { pods: [zonal, gpu] })).count).toBe(0);
  });

  it('what its kubelet says of cores and memory is learned', () => {
    const small = { allocatable: { ...allocatable, cpu: 3900 } };
    expect(asked(withNode(small, joining, { pods: [large] })).count).toBe(0);
    expect(asked(withNode({ allocatable: {} }, joining, { pods: [large] })).count).toBe(0);
  });
});

describe('of a node that is ready', () => {
  it('the next one is as the provider says, where the node is as well', () => {
    const others = [zonal, gpu, large].map((pod) => ({ ...pod, name: `${pod.name}-2`, uid: `${pod.uid}-2` }));
    expect(asked(withNode({}, {}, { pods: [zonal, gpu, large, ...others] })).count).toBeGreaterThan(0);
  });

  it('a taint counts for the next one, but not one that passes, or that the group puts on', () => {
    const taint = (key: string) => ({ taints: [{ key, effect: 'NoSchedule' as const }] });
    expect(asked(withNode(taint('agent'), {}, { pods: [large] })).count).toBe(0);
    for (const key of [
      'node.kubernetes.io/disk-pressure',
      'node.kubernetes.io/unschedulable',
      'karpenter.sh/disrupted',
    ]) {
      expect(asked(withNode(taint(key), {}, { pods: [large] })).count).toBe(1);
    }
    const startup = groupOf('web', { startupTaints: [{ key: 'agent', effect: 'NoSchedule' }] });
    const filled = { ...large, node: 'n', phase: 'Running' as const, name: 'first' };
    expect(asked(withNode(taint('agent'), {}, { groups: [startup], pods: [filled, large] })).count).toBe(1);
  });

  it('what all of them lack or have counts, and not what one of ten does', () => {
    const labels = { ...REAL, [ZONE]: 'a' };
    /** Ten full nodes, of which so many of the newest are another way. */
    const ten = (odd: number, as: Partial<Node>, pods: readonly Pod[]): ClusterState => {
      const nodes = Array.from({ length: 10 }, (_, index): Node => {
        const node = { ...nodeOf(`n${index}`, {}, labels), allocatable, isCordoned: true, createdAt: NOW + index };
        return index < 10 - odd ? node : { ...node, ...as };
      });
      const machines = nodes.map(({ name }) => machineOf(`m-${name}`, 'web', { node: name, phase: 'Ready' }));
      return stateOf({ groups: [groupOf('web')], instanceTypes, nodes, machines, pods });
    };
    const tainted = { taints: [{ key: 'agent', effect: 'NoSchedule' as const }] };
    const bare = { labels: REAL };
    const { 'nvidia.com/gpu': _, ...basics } = allocatable;
    const broken = { allocatable: basics };
    for (const [as, pod] of [
      [tainted, zonal],
      [bare, zonal],
      [broken, gpu],
    ] as const) {
      expect([1, 9, 10].map((odd) => asked(ten(odd, as, [pod])).count)).toEqual([1, 1, 0]);
    }
    // Cores and memory are the kubelet's own words: the next node may be the least of them.
    const small = { allocatable: { ...allocatable, cpu: 3900 } };
    expect([0, 1, 10].map((odd) => asked(ten(odd, small, [large])).count)).toEqual([1, 0, 0]);
  });

  it('pods that the kubelet makes by itself are on the next one too, and not what only says to be one', () => {
    const own = { requests: { cpu: '3' }, apiVersion: 'v1' };
    const onNode = (owner: string | null, uid = 'uid-n', mark = 'kubernetes.io/config.mirror'): Pod => {
      const ownerReferences = [{ ...own, kind: owner, name: owner === 'Node' ? 'n' : 'x', uid, controller: true }];
      const annotations = { 'kubernetes.io/config.source': 'file', [mark]: 'x' };
      const metadata = owner === null ? { annotations } : { annotations, ownerReferences };
      return boundTo('n', podOf('static', own.requests, {}, metadata));
    };
    const pods = Array.from({ length: 20 }, (_, index) => podOf(`p${index}`, { cpu: '2' }));
    const state = (owner: string | null) => withNode({}, {}, { pods: [onNode(owner), ...pods] });
    expect([null, 'ReplicaSet', 'Node'].map((owner) => asked(state(owner)).count)).toEqual([10, 10, 0]);
    for (const forged of [onNode('Node', 'u'), onNode('Node', 'uid-n', 'other')]) {
      expect(asked(withNode({}, {}, { pods: [forged, ...pods] })).count).toBe(10);
    }
  });

  it('what it was is forgotten with the last one', () => {
    const { count, memory } = asked(withNode({ labels: REAL, isCordoned: true }, {}, { pods: [zonal] }));
    expect(count).toBe(0);
    const gone = stateOf({ groups: [groupOf('web')], instanceTypes, pods: [zonal] });
    expect(asked(gone, memory).count).toBe(1);
  });

  it('nothing is learned while it leaves', () => {
    const state = withNode({ labels: REAL }, {}, { pods: [zonal], leaving: ['n'] });
    expect(asked(state).count).toBe(1);
  });
});
