/** What counts as evidence that a node came in vain, and what ends it. */
import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { InVain } from '../../../../domain/node-group/model/in-vain.ts';
import type { Machine } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { ClusterPlan } from '../../../../domain/node-group/model/plan.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { podKind, promiseOf } from '../../../../domain/node-group/plan/pod-kind.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const small = typeOf('small', 4, 16);
const labels = {
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  'node.kubernetes.io/instance-type': 'small',
};
const pod = says(podOf('pod', { cpu: '3' }), '0/1 nodes are available: 1 node(s) were not liked.');
const kind = podKind(pod);

const unscheduled = { reason: 'Unschedulable', message: pod.unscheduled?.message ?? '', since: NOW };

function says(of: Pod, message: string): Pod {
  return { ...of, unscheduled: { reason: 'Unschedulable', message, since: of.createdAt, writtenAt: of.createdAt } };
}

/** A group whose one node came for the pod and is ready since `NOW`. */
function withNode(
  over: Partial<ClusterState> = {},
  node: Partial<Node> = {},
  machine: Partial<Machine> = {},
): ClusterState {
  return stateOf({
    at: NOW + 2 * MINUTE,
    groups: [groupOf('web')],
    instanceTypes: { web: [small] },
    nodes: [{ ...nodeOf('n', undefined, labels), createdAt: NOW, ...node }],
    machines: [machineOf('m', 'web', { node: 'n', phase: 'Ready', cameFor: [kind], ...machine })],
    pods: [pod],
    ...over,
  });
}

function planned(state: ClusterState, memory: PlanMemory = freshPlanMemory) {
  const answer = planCluster(state, { blocked: {}, memory, requested: [] });
  const count = answer.plan.newNodes.reduce((sum, each) => sum + each.count, 0);
  return { ...answer, count, records: answer.plan.inVain['web'] ?? [], reason: answer.plan.unhelped[0]?.reason };
}

/** The plan when the status of the group has the records. */
function knowing(records: readonly InVain[], over: Partial<ClusterState> = {}): ReturnType<typeof planned> {
  const groups = (over.groups ?? [groupOf('web')]).map((group) => ({ ...group, inVain: records }));
  return planned(stateOf({ at: NOW + HOUR, instanceTypes: { web: [small] }, pods: [pod], ...over, groups }));
}

const { records } = planned(withNode());

describe('a node that came for a pod', () => {
  it('came in vain when kube-scheduler has looked at it, a minute has passed, and the pod waits', () => {
    expect(records).toMatchObject([
      { instanceType: 'small', kind, pod: 'default/pod', machine: 'm', tries: 1, isFirm: true },
    ]);
    const early = planned(withNode({ at: NOW + 50_000 }));
    expect([early.records, early.reason]).toEqual([[], 'FitsExisting']);
  });

  it('is not judged before kube-scheduler has looked at all nodes, for a quarter of an hour', () => {
    const behind = { pods: [says(pod, '0/0 nodes are available.')] };
    const after = (ms: number) => planned(withNode({ ...behind, at: NOW + ms })).records.length;
    expect([after(2 * MINUTE), after(14 * MINUTE), after(15 * MINUTE)]).toEqual([0, 0, 1]);
  });

  it('is not judged by what kube-scheduler wrote before the node was ready, for a quarter of an hour', () => {
    const after = (ms: number, writtenAt: number | null) => {
      const pods = [{ ...pod, unscheduled: { ...unscheduled, writtenAt } }];
      return planned(withNode({ pods, at: NOW + ms }, { ready: { status: 'True', since: NOW } })).records.length;
    };
    for (const writtenAt of [NOW - 1_000, null]) {
      expect([2, 14, 15].map((minutes) => after(minutes * MINUTE, writtenAt))).toEqual([0, 0, 1]);
    }
    // Times of writes have whole seconds.
    expect(after(2 * MINUTE, NOW)).toBe(1);
  });

  it('is not judged by what kube-scheduler wrote before those that had taken the place left it', () => {
    const other = boundTo('n', podOf('other', { cpu: '2' }));
    const taken = planned(withNode({ pods: [pod, other], at: NOW + 2 * MINUTE }));
    const left = (minutes: number, writtenAt: number, { memory } = taken) =>
      planned(
        withNode({ pods: [{ ...pod, unscheduled: { ...unscheduled, writtenAt } }], at: NOW + minutes * MINUTE }),
        memory,
      );
    const first = left(3, NOW);
    expect(first).toMatchObject({ count: 0, records: [], reason: 'FitsExisting' });
    expect(left(4, NOW, first).records).toEqual([]);
    expect(left(4, NOW + 3 * MINUTE, first).records).toMatchObject([{ kind, machine: 'm' }]);
    expect(left(17, NOW, first).records).toMatchObject([{ kind, machine: 'm' }]);
  });

  it('is not judged while one of the kind is about to leave another node, as both may not be at once', () => {
    const old = boundTo('old', podOf('before', { cpu: '3' }));
    const nodes = [nodeOf('old', undefined, labels), { ...nodeOf('n', undefined, labels), createdAt: NOW }];
    const refused = says(pod, '0/2 nodes are available: 2 node(s) were not liked.');
    const leaving = (over: Partial<ClusterState>) =>
      planned(withNode({ nodes, pods: [refused, old], leaving: ['old'], ...over })).records.length;
    expect(leaving({})).toBe(0);
    // A drain that stands still says nothing of when it leaves.
    expect(leaving({ lingering: ['old'] })).toBe(1);
    expect(leaving({ pods: [refused], leaving: [] })).toBe(1);
  });

  it('is not judged by what kube-scheduler wrote before its startup taints were taken off', () => {
    const groups = [groupOf('web', { startupTaints: [{ key: 'agent', effect: 'NoSchedule' }] })];
    const taints = [{ key: 'agent', effect: 'NoSchedule' as const }];
    const tainted = planned(withNode({ groups, at: NOW + 5 * MINUTE }, { taints }));
    const free = planned(withNode({ groups, at: NOW + 6 * MINUTE }), tainted.memory);
    const after = (minutes: number) => planned(withNode({ groups, at: NOW + minutes * MINUTE }), free.memory).records;
    expect([free.records, after(7), after(19)]).toEqual([[], [], []]);
    expect(after(20)).toHaveLength(1);
  });

  it('has time while something is to take its startup taints off', () => {
    const groups = [groupOf('web', { startupTaints: [{ key: 'agent', effect: 'NoSchedule' }] })];
    const taints = [{ key: 'agent', effect: 'NoSchedule' as const }];
    const after = (ms: number) => planned(withNode({ groups, at: NOW + ms }, { taints })).records.length;
    expect([after(2 * MINUTE), after(9 * MINUTE), after(10 * MINUTE)]).toEqual([0, 0, 1]);
  });

  it('did not where others took the place: another one comes at once', () => {
    const other = boundTo('n', podOf('other', { cpu: '2' }));
    const { count, records: none } = planned(withNode({ pods: [pod, other] }));
    expect([count, none]).toEqual([1, []]);
  });

  it('did not where one of the pods is on it: whoever comes after fits another node', () => {
    const { count, records: none } = planned(withNode({ pods: [pod, boundTo('n', { ...pod, name: 'b', uid: 'b' })] }));
    expect([count, none]).toEqual([1, []]);
  });

  it('did not where the pod was on it, and it is drained by hand since', () => {
    const there = withNode({ pods: [boundTo('n', pod)] });
    const { memory } = planned(there);
    const drained = withNode({ at: NOW + 3 * MINUTE, pods: [{ ...pod, name: 'b', uid: 'b' }] }, { isCordoned: true });
    expect(planned(drained, memory)).toMatchObject({ count: 1, records: [] });
    // Another starter knows nothing of that: only what a new node is says something then.
    expect(planned({ ...drained, at: NOW + HOUR })).toMatchObject({ count: 1, records: [] });
  });

  it('did not where it was changed within the minute in which it was looked at, long after it was ready', () => {
    const later = { pods: [{ ...pod, createdAt: NOW + HOUR }] };
    const { memory, records: none } = planned(withNode({ ...later, at: NOW + HOUR }));
    const taints = [{ key: 'mine', effect: 'NoSchedule' as const }];
    const tainted = planned(withNode({ ...later, at: NOW + HOUR + 2 * MINUTE }, { taints }), memory);
    expect([none, tainted.records]).toEqual([[], []]);
  });

  it('is judged by every pod of the kind, in whatever order they are told', () => {
    const of = (name: string): Pod => ({ ...pod, name, uid: name, labels: { app: name } });
    // On every node, a pod that wants no `a` beside it.
    const term = { topologyKey: 'kubernetes.io/os', labelSelector: { matchLabels: { app: 'a' } } };
    const guard = boundTo('old', { ...podOf('guard', {}), podAntiAffinity: [term] });
    const nodes = [nodeOf('n', { cpu: '2', memory: '16Gi', pods: '110' }, labels), nodeOf('old', undefined, labels)];
    const pair = ['a', 'b'].map((name) => says(of(name), '0/2 nodes are available.'));
    const filler = boundTo('old', podOf('filler', { cpu: '2' }));
    for (const pods of [pair, pair.toReversed()]) {
      const { records: found, count } = planned(withNode({ nodes, pods: [...pods, guard, filler] }));
      expect(found).toMatchObject([{ kind, pod: 'default/b', isFirm: true }]);
      expect(count).toBe(0);
    }
  });

  it('says nothing where the pod could be on no node of the type any more', () => {
    const elsewhere = { ...pod, podAffinity: [{ topologyKey: 'zone', labelSelector: { matchLabels: { app: 'x' } } }] };
    const state = withNode({ pods: [elsewhere] }, {}, { cameFor: [podKind(elsewhere)] });
    expect(planned(state)).toMatchObject({ count: 0, records: [], reason: 'PodAffinity' });
  });

  it('stays until that is written down', () => {
    const quick = { ...groupOf('web').scaleDown, stabilizationMs: 0, cooldownMs: 1 };
    const goes = (groups: ClusterState['groups']): ClusterPlan => planned(withNode({ groups })).plan;
    const group = groupOf('web', { scaleDown: quick });
    expect(goes([group])).toMatchObject({ removals: [], kept: [{ reason: 'CameLately' }] });
    expect(goes([{ ...group, inVain: records }])).toMatchObject({ removals: [{ node: 'n', reason: 'Empty' }] });
  });

  it('is one of two that are no good by themselves, which say so of the type, once', () => {
    const odd = (name: string): Node => ({ ...nodeOf(name, undefined, labels), isCordoned: true });
    const machines = ['n', 'k'].map((node) => machineOf(node, 'web', { node, phase: 'Ready', cameFor: [kind] }));
    const pods = [says(pod, '0/2 nodes are available.')];
    const two = (known: readonly InVain[]) =>
      planned(withNode({ groups: [groupOf('web', { inVain: known })], nodes: [odd('n'), odd('k')], machines, pods }));
    const [first] = planned(withNode({}, { isCordoned: true })).records;
    expect(first).toMatchObject({ tries: 1, isFirm: false });
    const { records: both, reason } = two([]);
    expect([both, reason]).toMatchObject([[{ tries: 2, isFirm: false }], 'CameInVain']);
    expect(two(both).records).toEqual(both);
  });

  it('came for every pod that waited when there were too many to be named', () => {
    const { records: found } = planned(withNode({}, {}, { cameFor: ['another', '*'] }));
    expect(found).toEqual(records);
    const later = { ...pod, createdAt: NOW + MINUTE };
    expect(planned(withNode({ pods: [later] }, {}, { cameFor: ['another', '*'] })).records).toEqual([]);
  });

  it('is asked for with the kinds of its pods, or with some and a mark', () => {
    const pods = (count: number) => Array.from({ length: count }, (_, at) => podOf(`p${at}`, { cpu: `${at + 1}m` }));
    const kinds = (count: number) =>
      planned(stateOf({ groups: [groupOf('web')], instanceTypes: { web: [small] }, pods: pods(count) })).plan
        .newNodes[0]?.kinds;
    expect(kinds(2)).toEqual(pods(2).map(podKind).toSorted());
    expect(kinds(20)).toHaveLength(9);
    expect(kinds(20)?.at(-1)).toBe('*');
  });
});

describe('that a node came in vain', () => {
  it('stops the next one for pods of the kind, whoever owns them and whatever they are called', () => {
    expect(knowing(records)).toMatchObject({ count: 0, reason: 'CameInVain' });
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'again', uid: 'again' };
    const again = { ...pod, name: 'again', uid: 'again', labels: { job: 'again' }, owner };
    expect(knowing(records, { pods: [again] })).toMatchObject({ count: 0, reason: 'CameInVain' });
  });

  it('stops none for other pods, and none of other groups', () => {
    for (const other of [
      podOf('pod', { cpu: '2' }),
      { ...pod, namespace: 'other' },
      { ...pod, hostPorts: [{ port: 1, protocol: 'TCP' as const, ip: '' }] },
    ]) {
      expect(knowing(records, { pods: [other] }).count).toBe(1);
    }
    const groups = [groupOf('web'), groupOf('api')];
    const own = groups.map((group) => (group.name === 'web' ? { ...group, inVain: records } : group));
    const state = stateOf({ at: NOW + HOUR, groups: own, instanceTypes: { web: [small], api: [small] }, pods: [pod] });
    expect(planned(state).plan.newNodes).toMatchObject([{ group: 'api' }]);
  });

  it('is over when the type or the group promises something else, and not while the provider tells no types', () => {
    expect(knowing(records, { instanceTypes: { web: [typeOf('small', 8, 32)] } })).toMatchObject({
      count: 1,
      records: [],
    });
    const groups = [groupOf('web', { taints: [{ key: 'a', effect: 'PreferNoSchedule' }] })];
    expect(knowing(records, { groups })).toMatchObject({ count: 1, records: [] });
    expect(knowing(records, { instanceTypes: {} }).records).toMatchObject([{ machine: 'm' }]);
    expect(promiseOf(groupOf('web', { maxNodes: 7 }), { ...small, pricePerHour: 1 })).toBe(records[0]?.promise);
  });

  it('is over when a node that came later has such a pod, and not by one that was there before', () => {
    const there = (createdAt: number) =>
      knowing(records, {
        nodes: [nodeOf('k', undefined, labels)],
        machines: [machineOf('k', 'web', { node: 'k', phase: 'Ready', createdAt })],
        pods: [pod, boundTo('k', { ...pod, name: 'b', uid: 'b' })],
      });
    expect(there(NOW + HOUR)).toMatchObject({ count: 1, records: [] });
    expect(there(NOW)).toMatchObject({ count: 0, reason: 'CameInVain' });
  });

  it('is over when a person takes the entry out of the status and its node is gone, where another type is the plain one', () => {
    const failed = { ...(records[0] as InVain), instanceType: 'large' };
    const large = typeOf('large', 8, 32);
    const groups = [groupOf('web', { offeringIds: ['small', 'large'], desiredNodes: 1 })];
    const big = { ...pod, requests: { cpu: 6_000 } };
    const of = [{ ...failed, kind: podKind(big), promise: promiseOf(groupOf('web'), large) }];
    const several = { instanceTypes: { web: [small, large] }, pods: [big] };
    expect(knowing(of, { ...several, groups }).plan.newNodes).toMatchObject([{ instanceType: 'small', count: 1 }]);
    const again = { ...several, groups: [groupOf('web', { offeringIds: ['small', 'large'] })] };
    expect(knowing(of, again).plan.newNodes).toEqual([]);
    expect(knowing([], again).plan.newNodes).toMatchObject([{ instanceType: 'large', count: 1 }]);
    const there = withNode(
      { ...again, at: NOW + 10 * MINUTE, pods: [says(big, '0/1 nodes are available.')] },
      nodeOf(
        'n',
        { cpu: '8', memory: '32Gi', pods: '110' },
        { ...labels, 'node.kubernetes.io/instance-type': 'large' },
      ),
      { instanceType: 'large', cameFor: [podKind(big)] },
    );
    expect(planned(there)).toMatchObject({ count: 0, records: [{ instanceType: 'large', kind: podKind(big) }] });
  });

  it('is kept of each namespace, whatever the others have', () => {
    const found = (namespace: string, count: number, waited: number): readonly InVain[] =>
      Array.from({ length: count }, (_, index) => ({
        ...(records[0] as InVain),
        kind: `${namespace}-${index}`,
        pod: `${namespace}/pod`,
        waited,
      }));
    const known = [...found('loud', 300, NOW + HOUR), ...found('quiet', 3, NOW), ...found('other', 20, NOW)];
    const mine = { ...(records[0] as InVain), pod: 'loud/pod', waited: NOW };
    const of = (list: readonly InVain[], namespace: string) =>
      list.filter((each) => each.pod === `${namespace}/pod`).length;
    const kept = knowing([...known, mine]).records;
    expect([kept.length, of(kept, 'loud'), of(kept, 'quiet'), of(kept, 'other')]).toEqual([100, 77, 3, 20]);
    // Of those of which nothing waits, the first to go.
    expect(kept).toContainEqual(expect.objectContaining({ kind }));
    expect(knowing(found('loud', 60, NOW)).records).toHaveLength(60);
  });

  it('is over two days after such a pod waited last', () => {
    const later = (at: number) => knowing(records, { at, pods: [] }).records.length;
    expect([later(NOW + DAY), later(NOW + 3 * DAY)]).toEqual([1, 0]);
    const [still] = knowing(records, { at: NOW + 3 * DAY }).records;
    expect(still).toMatchObject({ at: records[0]?.at, waited: NOW + 3 * DAY });
  });
});

it('a pod is of another kind when it asks a node for something else, its own claims apart', () => {
  const of = (name: string, claims: readonly string[]) => podKind({ ...podOf(name, {}), claims });
  expect(of('a', ['a-scratch'])).toBe(of('b', ['b-scratch']));
  expect(of('a', ['data'])).not.toBe(of('a', ['other']));
  expect(of('a', ['data'])).not.toBe(of('a', []));
});
