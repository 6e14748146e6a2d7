import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VPSIENODE_LABEL } from '../../../../domain/node-group/api/names.ts';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Machine, NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { planCluster, type PlanOptions } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';
import { aBudget } from '../drain/pods.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
const instanceTypes = { web: [typeOf('small', 4, 16)], api: [typeOf('small', 4, 16)] };

/** What a group would be on: nodes with pods of so many cores each, all of one age and used by a tenth. */
interface Fleet {
  readonly nodes: Readonly<Record<string, readonly number[]>>;
  readonly group?: Partial<NodeGroup>;
  readonly name?: string;
}

function fleet({ nodes, group = {}, name = 'web' }: Fleet): ClusterState {
  const names = Object.keys(nodes);
  return stateOf({
    groups: [groupOf(name, group)],
    instanceTypes,
    nodes: names.map((node) => ({ ...nodeOf(node), createdAt: NOW - HOUR })),
    machines: names.map((node) =>
      machineOf(`m-${node}`, name, { node, phase: 'Ready', createdAt: NOW - HOUR, providerId: node }),
    ),
    pods: names.flatMap((node) => (nodes[node] ?? []).map((cpu, index) => running(`${node}-${index}`, node, cpu))),
    utilization: Object.fromEntries(names.map((node) => [node, used(10)])),
  });
}

function running(name: string, node: string, cpu: number, over: Partial<Pod> = {}): Pod {
  return { ...boundTo(node, podOf(name, { cpu: `${cpu}` })), owner: OWNER, isReady: true, ...over };
}

/** A sample a minute of the last ten. */
function used(percent: number, at = NOW): ClusterState['utilization'][string] {
  return Array.from({ length: 10 }, (_, index) => ({ at: at - (9 - index) * MINUTE, cpu: percent, memory: percent }));
}

/** Everything has been as it is for long enough. */
function memoryOf(state: ClusterState, minutes = 10): PlanMemory {
  const since = Object.fromEntries(state.nodes.map(({ uid }) => [uid, NOW - minutes * MINUTE]));
  return { ...freshPlanMemory, unneeded: since, cheaper: since };
}

function plan(state: ClusterState, options: Partial<PlanOptions> = {}) {
  return planCluster(state, { blocked: {}, memory: memoryOf(state), requested: [], ...options });
}

/** `<node> <reason>` of what goes, and of what stays. */
function removals(state: ClusterState, options: Partial<PlanOptions> = {}): readonly string[] {
  return plan(state, options).plan.removals.map(({ node, reason }) => `${node} ${reason}`);
}

function kept(state: ClusterState, options: Partial<PlanOptions> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(plan(state, options).plan.kept.map(({ node, reason }) => [node, reason]));
}

function withNode(state: ClusterState, name: string, over: Partial<Node>): ClusterState {
  return { ...state, nodes: state.nodes.map((node) => (node.name === name ? { ...node, ...over } : node)) };
}

function withMachine(state: ClusterState, node: string, over: Partial<Machine>): ClusterState {
  return { ...state, machines: state.machines.map((each) => (each.node === node ? { ...each, ...over } : each)) };
}

/** Two states of different groups, nodes and pods in one cluster. */
function together(a: ClusterState, b: ClusterState): ClusterState {
  return {
    ...a,
    groups: [...a.groups, ...b.groups],
    nodes: [...a.nodes, ...b.nodes],
    machines: [...a.machines, ...b.machines],
    pods: [...a.pods, ...b.pods],
    leaving: [...a.leaving, ...b.leaving],
    utilization: { ...a.utilization, ...b.utilization },
  };
}

describe('nodes that nobody needs go', () => {
  it('empty ones together, and those with pods one at a time', () => {
    expect(removals(fleet({ nodes: { a: [], b: [], c: [2] } }))).toEqual(['a Empty', 'b Empty']);
    const three = fleet({ nodes: { a: [1], b: [1], c: [1] } });
    expect(removals(three)).toEqual(['a Underutilized']);
    expect(kept(three)).toEqual({ b: 'NodeBudget', c: 'PodsFitNowhere' });
  });

  it('with a sentence about why, the machine and the number of pods', () => {
    expect(plan(fleet({ nodes: { a: [1], b: [1] } })).plan.removals).toEqual([
      {
        group: 'web',
        node: 'a',
        uid: 'uid-a',
        machine: 'm-a',
        reason: 'Underutilized',
        podCount: 1,
        replacement: null,
        detail: 'it uses little, and its 1 pod could be on other nodes since 2025-12-31T23:50:00Z',
      },
    ]);
  });

  it('also where a budget lets only some of their pods go at once, and says so', () => {
    const labels = { app: 'web' };
    const state = fleet({ nodes: { a: [1, 1], b: [1] } });
    const protectedBy = (disruptionsAllowed: number): ClusterState => ({
      ...withNode(state, 'b', { annotations: { 'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true' } }),
      pods: state.pods.map((pod) => ({ ...pod, labels })),
      budgets: [aBudget('web', { namespace: 'default', disruptionsAllowed })],
    });
    expect(plan(protectedBy(1)).plan.removals[0]?.detail).toBe(
      'it uses little, and its 2 pods could be on other nodes since 2025-12-31T23:50:00Z; ' +
        'PodDisruptionBudgets let its pods go in stages, first 1 of the 2 of default/web',
    );
    expect(plan(protectedBy(2)).plan.removals[0]?.detail).not.toContain('PodDisruptionBudget');
    expect(kept(protectedBy(0))).toMatchObject({ a: 'PodDisruptionBudget' });
  });

  it('one at a time in the whole cluster, also while one of another group is being drained', () => {
    const both = together(fleet({ nodes: { a: [1], b: [1] } }), fleet({ nodes: { c: [1], d: [1] }, name: 'api' }));
    expect(removals(both)).toHaveLength(1);
    expect(removals({ ...both, leaving: ['d'] })).toEqual([]);
    // Once its pods have gone, the next node's turn has come.
    expect(removals({ ...both, leaving: ['d'], pods: both.pods.filter(({ node }) => node !== 'd') })).toHaveLength(1);
  });

  it('while the last pod of a drain ends, whose StatefulSet makes the next one only then, and not while one ends that others stand in for', () => {
    const both = together(fleet({ nodes: { a: [1], b: [1] } }), fleet({ nodes: { c: [], d: [3] }, name: 'api' }));
    const ending = (kind: string): ClusterState => ({
      ...both,
      leaving: ['d'],
      pods: both.pods.map((pod) =>
        pod.node === 'd' ? { ...pod, owner: { ...OWNER, kind }, deletesAt: NOW + 5 * MINUTE } : pod,
      ),
    });
    expect(removals(ending('StatefulSet')).filter((removal) => !removal.endsWith('Empty'))).toEqual([]);
    expect(removals(ending('ReplicaSet'))).toContain('a Underutilized');
    // It will need room that a pod which waits now would take otherwise.
    const waits = { ...podOf('waits', { cpu: '4' }) };
    const full = fleet({ nodes: { a: [], d: [3] } });
    const pending = (kind: string): ClusterState => ({
      ...full,
      leaving: ['d'],
      pods: [waits, ...full.pods.map((pod) => ({ ...pod, owner: { ...OWNER, kind }, deletesAt: NOW + 5 * MINUTE }))],
    });
    expect(plan(pending('StatefulSet')).plan.newNodes).toMatchObject([{ count: 1 }]);
    expect(plan(pending('ReplicaSet')).plan.newNodes).toEqual([]);
  });

  it('and beside one whose drain lingers, whose pods have their places first', () => {
    const both = together(fleet({ nodes: { a: [1], b: [1] } }), fleet({ nodes: { c: [1], d: [1] }, name: 'api' }));
    expect(removals({ ...both, leaving: ['d'], lingering: ['d'] })).toHaveLength(1);
    // The group that gives it back counts it against its budget as before.
    const budgets = [{ nodes: '1', reasons: [], window: null }];
    const one = {
      ...fleet({ nodes: { a: [1], b: [1], c: [1] }, group: { budgets } }),
      leaving: ['b'],
      lingering: ['b'],
    };
    expect(removals(one)).toEqual([]);
  });

  it('and a group that is paused takes nobody the turn, nor the room: its nodes are named behind those that go', () => {
    // Pods of one core: there is room for those of one node elsewhere, and not for those of two.
    const both = together(
      fleet({ nodes: { a: [1, 1] } }),
      fleet({ nodes: { c: [1, 1], d: [1, 1] }, name: 'api', group: { mode: 'act' } }),
    );
    const older = withMachine(both, 'a', { createdAt: NOW - 2 * HOUR });
    expect(removals(older)).toEqual(['a Underutilized']);
    const blocked = { web: { reason: 'Paused' as const, detail: 'it is paused', until: null } };
    expect(removals(older, { blocked })).toEqual(['c Underutilized']);
    expect(kept(older, { blocked })).toMatchObject({ a: 'PodsFitNowhere' });
    const roomy = { ...older, nodes: [...older.nodes, nodeOf('e', { cpu: '8', memory: '32Gi', pods: '110' })] };
    const { plan: more } = plan(roomy, { blocked });
    expect(more.removals.map(({ node, detail }) => [node, detail])).toEqual([
      ['c', 'it uses little, and its 2 pods could be on other nodes since 2025-12-31T23:50:00Z'],
      [
        'a',
        'it uses little, and its 2 pods could be on other nodes since 2025-12-31T23:50:00Z; web is paused, and gives nothing back until it is resumed',
      ],
    ]);
  });

  it('and where a person is asked for replacements only, what goes without one takes the turn', () => {
    const both = together(
      fleet({ nodes: { a: [1], b: [1] }, group: { approval: 'replacement' } }),
      fleet({ nodes: { c: [1], d: [1] }, name: 'api' }),
    );
    expect(removals(both)).toHaveLength(1);
  });

  it('and one that has had its turn for five minutes and does not begin lets the next one go', () => {
    const both = together(fleet({ nodes: { a: [1], b: [1] } }), fleet({ nodes: { c: [1], d: [1] }, name: 'api' }));
    const first = plan(both);
    const go = (at: number, memory: PlanMemory) => {
      const since = memoryOf(both);
      const later = {
        ...both,
        at,
        utilization: Object.fromEntries(both.nodes.map(({ name }) => [name, used(10, at)])),
      };
      return plan(later, { memory: { ...memory, unneeded: since.unneeded } });
    };
    const soon = go(NOW + 4 * MINUTE, first.memory);
    expect(soon.plan.removals.map(({ node }) => node)).toEqual(['a']);
    const late = go(NOW + 5 * MINUTE, soon.memory);
    expect(late.plan.removals).toHaveLength(2);
    // The next one has a turn of its own, in which no third goes.
    expect(late.plan.removals[0]).toMatchObject({ node: 'a' });
  });

  it('and none comes or goes for a pod whose place depends on the labels of a namespace that are not known', () => {
    const away = {
      topologyKey: 'kubernetes.io/hostname',
      labelSelector: { matchLabels: { app: 'x' } },
      namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' as const }] },
    };
    const state = fleet({ nodes: { a: [1], b: [] } });
    const other = { ...running('other', 'b', 1), namespace: 'fresh', labels: { app: 'x' } };
    const shy = { ...running('shy', 'a', 1), podAntiAffinity: [away] };
    const asking = { ...podOf('asking', { cpu: '1' }), podAntiAffinity: [away] };
    const unknown = { ...state, nodes: [...state.nodes, nodeOf('c')], pods: [shy, other] };
    expect(kept(unknown)).toEqual({ a: 'Affinity', b: 'Affinity' });
    const { newNodes, unhelped } = plan({ ...unknown, pods: [...unknown.pods, asking] }).plan;
    expect(newNodes).toEqual([]);
    expect(unhelped).toMatchObject([
      { reason: 'PodAffinity', detail: expect.stringContaining('labels of the namespace fresh, which are not known') },
    ]);
    const known = { ...unknown, namespaces: { default: {}, fresh: { team: 'x' } } };
    expect(removals(known)).toEqual(['a Underutilized']);
  });

  it('in the order of their age', () => {
    const state = withMachine(fleet({ nodes: { a: [1], b: [1], c: [1] } }), 'b', { createdAt: NOW - 2 * HOUR });
    expect(removals(state)).toEqual(['b Underutilized']);
    expect(removals(withMachine(state, 'c', { createdAt: NOW - 3 * HOUR }))).toEqual(['c Underutilized']);
  });

  it('only where all of their pods fit elsewhere, beside what is pending and what leaves other nodes', () => {
    const state = fleet({ nodes: { a: [1], b: [2] }, group: { maxNodes: 2 } });
    expect(removals(state)).toEqual(['a Underutilized']);
    const waiting = [...state.pods, podOf('waiting', { cpu: '2' }), podOf('too', { cpu: '2' })];
    expect(removals({ ...state, pods: waiting })).toEqual([]);
    const leaving = together(fleet({ nodes: { a: [], b: [2] } }), {
      ...fleet({ nodes: { c: [3] }, name: 'api' }),
      leaving: ['c'],
    });
    // The empty node is where the pod of c goes.
    expect(removals(leaving)).toEqual([]);
  });

  it('not where a pod may go to no other: the reason is affinity, and the pod is named', () => {
    const state = fleet({ nodes: { a: [], b: [] } });
    const pinned = { ...running('pinned', 'a', 1), nodeSelector: { 'kubernetes.io/hostname': 'a' } };
    const { removals: gone, kept: stays } = plan({ ...state, pods: [pinned] }).plan;
    expect(gone.map(({ node }) => node)).toEqual(['b']);
    expect(stays).toMatchObject([{ node: 'a', reason: 'Affinity' }]);
    expect(stays[0]?.detail).toMatch(/^default\/pinned fits no other node: /);
  });

  it('not where its pods may not be evicted', () => {
    const state = fleet({ nodes: { a: [1], b: [1] } });
    const pods = state.pods.map((pod) => (pod.node === 'a' ? { ...pod, localVolumes: ['cache'] } : pod));
    expect(removals({ ...state, pods })).toEqual(['b Underutilized']);
    expect(kept({ ...state, pods })).toEqual({ a: 'LocalStorage' });
  });

  it('not before they have been unneeded for ten minutes, which the memory counts', () => {
    const state = fleet({ nodes: { a: [], b: [3] } });
    const first = plan(state, { memory: freshPlanMemory });
    expect(first.plan.kept).toMatchObject([
      { node: 'a', reason: 'NotUnneededLongEnough', until: NOW + 10 * MINUTE },
      { node: 'b', reason: 'PodsFitNowhere' },
    ]);
    expect(first.memory).toMatchObject({ unneeded: { 'uid-a': NOW }, unready: {}, cheaper: {} });
    const at = NOW + 10 * MINUTE;
    const empty = { ...state, utilization: {} };
    const memory = { ...first.memory, plannedAt: at - MINUTE };
    expect(removals({ ...empty, at: at - 1 }, { memory })).toEqual([]);
    expect(removals({ ...empty, at }, { memory })).toEqual(['a Empty']);
    // Needed for a moment in between: it begins anew.
    const needed = plan({ ...state, at: NOW + MINUTE, pods: [...state.pods, running('p', 'a', 3)] }, first);
    expect(needed.memory.unneeded).toEqual({});
  });

  it('only while they use little; without data only empty ones', () => {
    const state = fleet({ nodes: { a: [1], b: [1] } });
    expect(kept({ ...state, utilization: { a: used(60), b: used(60) } })).toEqual({ a: 'Utilized', b: 'Utilized' });
    expect(kept({ ...state, utilization: {} })).toEqual({ a: 'NoUtilization', b: 'NoUtilization' });
    expect(removals({ ...fleet({ nodes: { a: [] } }), utilization: {} })).toEqual(['a Empty']);
    expect(kept({ ...fleet({ nodes: { a: [] } }), utilization: { a: used(60) } })).toEqual({ a: 'Utilized' });
  });
});

describe('a group keeps', () => {
  it('its minimum of ready nodes', () => {
    const state = fleet({ nodes: { a: [], b: [], c: [] }, group: { minNodes: 2 } });
    expect(removals(state)).toEqual(['a Empty']);
    expect(kept(state)).toEqual({ b: 'AtMinimum', c: 'AtMinimum' });
    const broken = withNode(state, 'c', { ready: { status: 'False', since: NOW - MINUTE } });
    expect(removals(broken)).toEqual([]);
  });

  it('its nodes for ten minutes after some came or went, also where it says 0', () => {
    const group = { lastScaleUp: NOW - 4 * MINUTE, scaleDown: { ...groupOf('web').scaleDown, cooldownMs: 0 } };
    const state = fleet({ nodes: { a: [] }, group });
    expect(plan(state).plan.kept).toMatchObject([{ reason: 'Cooldown', until: NOW + 6 * MINUTE }]);
    expect(plan(state).plan.kept[0]?.detail).toContain('nodes of web came at');
    expect(removals({ ...state, at: NOW + 6 * MINUTE, utilization: {} })).toEqual(['a Empty']);
    const went = fleet({ nodes: { a: [] }, group: { lastScaleDown: NOW - 9 * MINUTE } });
    expect(kept(went)).toEqual({ a: 'Cooldown' });
  });

  it('as many as its budget says, in which nodes that leave or are not ready count', () => {
    const nodes = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`n${String(n).padStart(2, '0')}`, []]));
    const state = fleet({ nodes, group: { budgets: [{ nodes: '10%', reasons: [], window: null }] } });
    expect(removals(state)).toEqual(['n00 Empty', 'n01 Empty']);
    expect(removals({ ...state, leaving: ['n07'] })).toEqual(['n00 Empty']);
    const ready = { status: 'Unknown', since: NOW - MINUTE } as const;
    expect(removals(withNode(state, 'n07', { ready }))).toEqual(['n00 Empty']);
    const { detail } = plan(state).plan.kept[0] ?? {};
    expect(detail).toBe('the budget 10% of web allows 2 at once, and 2 of its 20 nodes leave or are not ready');
  });

  it('everything while it grows', () => {
    const state = fleet({ nodes: { a: [], b: [] }, group: { labels: { disk: 'ssd' } } });
    const growing = { ...state, pods: [podOf('large', { cpu: '4' }, { nodeSelector: { disk: 'ssd' } })] };
    expect(plan(growing).plan.newNodes).toMatchObject([{ group: 'web', count: 1 }]);
    expect([removals(growing), kept(growing)]).toEqual([[], { a: 'Cooldown', b: 'Cooldown' }]);
    expect(removals(growing, { requested: [{ node: 'b', by: 'alice' }] })).toEqual(['b Requested']);
    const { uid } = state.nodes.find(({ name }) => name === 'b') ?? {};
    expect(removals(growing, { requested: [{ node: 'b', uid: uid ?? '', by: 'alice' }] })).toEqual(['b Requested']);
    // Another node had the name when she asked.
    expect(removals(growing, { requested: [{ node: 'b', uid: 'uid-before', by: 'alice' }] })).toEqual([]);
  });

  it('what people mark, and what was not made for pods', () => {
    const state = fleet({ nodes: { a: [], b: [], c: [] } });
    const marked = withNode(state, 'a', { annotations: { 'autoscaler.vpsie.com/protected': 'true' } });
    expect(kept(withMachine(marked, 'b', { creationReason: 'manual' }))).toEqual({
      a: 'Protected',
      b: 'UnmanagedNode',
    });
  });

  it('nodes whose machines are on their way, without a word', () => {
    const state = withMachine(fleet({ nodes: { a: [] } }), 'a', { phase: 'Joining' });
    expect([removals(state), kept(state)]).toEqual([[], {}]);
  });

  it('a node whose drain failed, and the next one goes', () => {
    const state = fleet({ nodes: { a: [1], b: [1] } });
    const resting = [{ uid: 'uid-a', detail: 'the budget web-pdb refused', until: NOW + HOUR }];
    const over = [{ uid: 'uid-a', detail: 'the budget web-pdb refused', until: NOW }];
    expect(removals(state, { resting: over })).toEqual(removals(state));
    expect(removals(state, { resting })).toEqual(['b Underutilized']);
    expect(plan(state, { resting }).plan.kept).toMatchObject([{ node: 'a', detail: 'the budget web-pdb refused' }]);
  });
});

describe('a node of which a person has rejected that it goes', () => {
  const rejected = {
    uid: 'uid-a',
    reason: 'Underutilized',
    detail: 'alice has rejected it',
    until: NOW + HOUR,
  } as const;

  it('stays for that reason, and the others are asked with it there', () => {
    // The pods of b fit nowhere but on a.
    const two = fleet({ nodes: { a: [1], b: [1] } });
    expect(removals(two)).toEqual(['a Underutilized']);
    expect(removals(two, { resting: [rejected] })).toEqual(['b Underutilized']);
    expect(plan(two, { resting: [rejected] }).plan.kept).toMatchObject([
      { node: 'a', reason: 'Cooldown', detail: 'alice has rejected it' },
    ]);
  });

  it('goes for another reason all the same', () => {
    const resting = [rejected];
    const many = fleet({ nodes: { a: [1], b: [1] }, group: { desiredNodes: 1 } });
    expect(removals(many, { resting })).toEqual(['a Overprovisioned']);
    const broken = withNode(many, 'a', { ready: { status: 'Unknown', since: NOW - HOUR } });
    expect(removals(broken, { resting })).toEqual(['a NotReady']);
    expect(removals(broken, { resting: [{ ...rejected, reason: 'NotReady' }] })).not.toContain('a NotReady');
    const requested = [{ node: 'a', by: 'bob' }];
    expect(removals(fleet({ nodes: { a: [1], b: [1] } }), { resting, requested })).toEqual(['a Requested']);
  });
});

describe('a group that has more nodes than are wanted', () => {
  const four = { a: [1], b: [], c: [], d: [] };

  it('gives back the oldest ones at once, as many as there are too many', () => {
    const state = fleet({ nodes: four, group: { desiredNodes: 2 } });
    const memory = freshPlanMemory;
    expect(removals(state, { memory })).toEqual(['a Overprovisioned', 'b Overprovisioned']);
    expect(removals({ ...state, leaving: ['d'] }, { memory })).toEqual(['a Overprovisioned']);
  });

  it('not below its minimum, in its cooldown, or where pods would have no place', () => {
    const memory = freshPlanMemory;
    const min = { desiredNodes: 0, minNodes: 3 };
    expect(removals(fleet({ nodes: four, group: min }), { memory })).toEqual(['a Overprovisioned']);
    const cooling = { desiredNodes: 1, lastScaleDown: NOW - MINUTE };
    expect(removals(fleet({ nodes: four, group: cooling }), { memory })).toEqual([]);
    const full = fleet({ nodes: { a: [3], b: [3] }, group: { desiredNodes: 1 } });
    expect([removals(full, { memory }), kept(full, { memory })]).toEqual([
      [],
      { a: 'PodsFitNowhere', b: 'PodsFitNowhere' },
    ]);
  });

  it('takes one that is not ready first', () => {
    const state = fleet({ nodes: four, group: { desiredNodes: 3 } });
    const ready = { status: 'Unknown', since: NOW - MINUTE } as const;
    expect(removals(withNode(state, 'c', { ready }), { memory: freshPlanMemory })).toEqual(['c Overprovisioned']);
  });

  it('takes one with pods that has only just become not ready after its twenty minutes, and no other in its place', () => {
    const state = fleet({ nodes: four, group: { desiredNodes: 3 } });
    const unready = (minutes: number) =>
      withNode(state, 'a', { ready: { status: 'Unknown', since: NOW - minutes * MINUTE } });
    const memory = freshPlanMemory;
    expect(removals(unready(19), { memory })).toEqual([]);
    expect(plan(unready(19), { memory }).plan.kept[0]).toMatchObject({
      node: 'a',
      reason: 'NotReadyLately',
      until: NOW + MINUTE,
    });
    expect(removals(unready(20), { memory })).toEqual(['a NotReady']);
    const two = fleet({ nodes: four, group: { desiredNodes: 2 } });
    const also = withNode(two, 'a', { ready: { status: 'Unknown', since: NOW - MINUTE } });
    expect(removals(also, { memory })).toEqual(['b Overprovisioned']);
  });
});

describe('a node that is not ready', () => {
  const unready = (minutes: number): Partial<Node> => ({ ready: { status: 'Unknown', since: NOW - minutes * MINUTE } });
  const state = fleet({ nodes: { a: [3], b: [3], c: [3] }, group: { minNodes: 3 } });

  it('is replaced after twenty minutes, whatever runs on it, and at the minimum too', () => {
    expect(removals(withNode(state, 'b', unready(19)))).toEqual([]);
    expect(plan(withNode(state, 'b', unready(19))).plan.kept).toMatchObject([
      {},
      { node: 'b', reason: 'NotReadyLately', until: NOW + MINUTE },
      {},
    ]);
    expect(removals(withNode(state, 'b', unready(20)))).toEqual(['b NotReady']);
  });

  it('counts from when it was last ready, though the kind of not ready changes', () => {
    const memory = { ...freshPlanMemory, unready: { 'uid-b': NOW - 20 * MINUTE } };
    expect(removals(withNode(state, 'b', unready(1)), { memory })).toEqual(['b NotReady']);
  });

  it('stays within the budget, and where it is protected', () => {
    const budgets = [{ nodes: '1', reasons: [], window: null }];
    const many = fleet({ nodes: { a: [], b: [], c: [], d: [3], e: [3] }, group: { budgets } });
    const two = withNode(withNode(many, 'a', unready(30)), 'b', unready(30));
    expect(removals(two)).toEqual(['a NotReady']);
    const annotations = { 'autoscaler.vpsie.com/protected': 'true' };
    expect(kept(withNode(state, 'b', { ...unready(30), annotations }))['b']).toBe('Protected');
  });

  it('is one of too many: then nothing is taken away but what a person asks for', () => {
    const eleven = fleet({ nodes: Object.fromEntries('a b c d e f g h i j k'.split(' ').map((name) => [name, []])) });
    const lost = ['a', 'b', 'c', 'd', 'e'].reduce((all, name) => withNode(all, name, unready(30)), eleven);
    expect(removals(lost)).toEqual([]);
    expect(plan(lost).plan.kept[0]).toMatchObject({
      reason: 'TooFewReady',
      detail: expect.stringMatching(/^5 of 11 nodes of the cluster are not ready, /),
    });
    expect(removals(lost, { requested: [{ node: 'f', by: 'alice' }] })).toEqual(['f Requested']);
  });

  it('goes after another one is ready, unless its pods and the minimum need none', () => {
    const full = fleet({ nodes: { a: [3], b: [3], c: [3], d: [3] }, group: { minNodes: 4 } });
    expect(plan(withNode(full, 'b', unready(30))).plan.removals).toMatchObject([
      { node: 'b', reason: 'NotReady', replacement: { instanceType: 'small' } },
    ]);
    const empty = fleet({ nodes: { a: [], b: [], c: [], d: [] }, group: { minNodes: 4 } });
    expect(plan(withNode(empty, 'b', unready(30))).plan.removals).toMatchObject([
      { node: 'b', replacement: { instanceType: 'small' } },
    ]);
    const spare = fleet({ nodes: { a: [1], b: [1] }, group: { minNodes: 1 } });
    expect(plan(withNode(spare, 'b', unready(30))).plan.removals).toMatchObject([{ node: 'b', replacement: null }]);
  });

  it('goes after another one is ready too where no node of any type could take what is on it', () => {
    const own = { ...running('local', 'b', 3), nodeSelector: { 'kubernetes.io/hostname': 'b' } };
    const state = fleet({ nodes: { a: [3], b: [] } });
    expect(plan(withNode({ ...state, pods: [...state.pods, own] }, 'b', unready(30))).plan.removals).toMatchObject([
      { node: 'b', replacement: { instanceType: 'small' } },
    ]);
  });

  it('stays where no other one can be had, and says what a person can do', () => {
    const group = { minNodes: 3, maxNodes: 3 };
    const full = withNode(fleet({ nodes: { a: [3], b: [3], c: [3] }, group }), 'b', unready(30));
    expect(removals(full)).toEqual([]);
    expect(plan(full).plan.kept.find(({ node }) => node === 'b')).toMatchObject({
      reason: 'NoReplacement',
      detail: expect.stringMatching(/web can have no node in its place now/),
    });
    const empty = withNode(fleet({ nodes: { a: [], b: [], c: [] }, group }), 'b', unready(30));
    expect([removals(empty), kept(empty)['b']]).toEqual([[], 'NoReplacement']);
    expect(removals(full, { requested: [{ node: 'b', by: 'alice' }] })).toEqual(['b Requested']);
  });
});

describe('a control plane that does not see its nodes', () => {
  const lost: Partial<Node> = { ready: { status: 'Unknown', since: NOW - HOUR } };
  /** A group of so many nodes with a pod each, of which the first few have not been ready for an hour, beside ten sound ones of another. */
  function groupWith(size: number, unready: number, group: Partial<NodeGroup> = {}): ClusterState {
    const names = Array.from({ length: size }, (_, index) => `w${index}`);
    const web = fleet({ nodes: Object.fromEntries(names.map((name) => [name, [3]])), group });
    const api = fleet({
      nodes: Object.fromEntries('a b c d e f g h i j'.split(' ').map((name) => [name, [3]])),
      name: 'api',
    });
    return names.slice(0, unready).reduce((state, name) => withNode(state, name, lost), together(web, api));
  }
  const goes = (size: number, unready: number) => removals(groupWith(size, unready, { minNodes: size })).length;

  it.each([
    // Of one, none is half; of two, one is.
    [1, 1, 0],
    [2, 1, 1],
    [2, 2, 0],
    [3, 1, 1],
    [3, 2, 0],
    [3, 3, 0],
    [4, 1, 1],
    [4, 2, 2],
    [4, 3, 0],
    [5, 3, 0],
  ])('takes of a group of %i with %i that are not ready %i', (size, unready, expected) => {
    expect(goes(size, unready)).toBe(expected);
  });

  it('takes nothing where no node of the cluster is ready, whatever else is asked of the group', () => {
    const blind = ['a', 'b', 'c'].reduce(
      (state, name) => withNode(state, name, lost),
      fleet({ nodes: { a: [1], b: [], c: [1] }, group: { desiredNodes: 0 } }),
    );
    expect(removals(blind)).toEqual([]);
    expect(plan(blind).plan.kept).toMatchObject(
      ['a', 'b', 'c'].map((node) => ({
        node,
        reason: 'TooFewReady',
        detail: expect.stringMatching(/^none of the 3 nodes of the cluster is ready, /),
      })),
    );
    expect(removals(blind, { requested: [{ node: 'a', by: 'alice' }] })).toEqual(['a Requested']);
  });

  it('takes no sound node of such a group either, and those of other groups as ever', () => {
    const half = groupWith(3, 2);
    const [sound] = plan({ ...half, pods: half.pods.filter(({ node }) => node !== 'w2') }).plan.kept.filter(
      ({ node }) => node === 'w2',
    );
    expect(sound).toMatchObject({
      reason: 'TooFewReady',
      detail: expect.stringMatching(/^1 of 3 nodes of web is ready, /),
    });
    const idle = { ...half, pods: half.pods.filter(({ node }) => node !== 'a') };
    expect(removals(idle)).toEqual(['a Empty']);
  });

  it('counts no node that leaves as one that would be ready, and none that has not been a node yet', () => {
    expect(removals({ ...groupWith(2, 1), leaving: ['w1'] })).toEqual([]);
    const joining = [0, 1, 2].reduce(
      (state, index) => withMachine(state, `w${index}`, { phase: 'Joining' }),
      groupWith(5, 4, { minNodes: 2 }),
    );
    expect(removals(joining)).toEqual(['w3 NotReady']);
  });

  it('leaves as many ready nodes as there are others, also when it gives back those that nobody needs', () => {
    const state = withNode(fleet({ nodes: { a: [3], b: [], c: [], d: [] } }), 'a', {
      ready: { status: 'False', since: NOW },
    });
    expect(removals(state)).toEqual(['b Empty', 'c Empty']);
    expect(plan(state).plan.kept.find(({ node }) => node === 'd')).toMatchObject({
      reason: 'AtMinimum',
      detail: 'web would have 0 ready nodes, and 1 that is not ready',
    });
  });

  it('says of a node that may come back only how long it has time', () => {
    const rebooting = withNode(groupWith(1, 1), 'w0', { ready: { status: 'False', since: NOW - MINUTE } });
    expect(kept(rebooting)['w0']).toBe('NotReadyLately');
  });
});

describe('a person', () => {
  const requested = [{ node: 'a', by: 'alice' }];

  it('may ask for any node of a group, whatever its pods and marks', () => {
    const state = fleet({ nodes: { a: [3], b: [3] }, group: { minNodes: 2, lastScaleUp: NOW } });
    const marked = withNode(state, 'a', { annotations: { 'autoscaler.vpsie.com/protected': 'true' } });
    expect(plan(marked, { requested }).plan.removals).toMatchObject([
      { node: 'a', reason: 'Requested', detail: '"alice" (a claimed name) asked for it', replacement: null },
    ]);
  });

  it('gets another one first where the group wants that, and the pods have no other place', () => {
    const group = { replaceBeforeDrain: true };
    const needed = fleet({ nodes: { a: [3], b: [3] }, group });
    expect(plan(needed, { requested }).plan.removals).toMatchObject([{ replacement: { instanceType: 'small' } }]);
    const unneeded = fleet({ nodes: { a: [1], b: [1] }, group });
    expect(plan(unneeded, { requested }).plan.removals[0]).toMatchObject({ reason: 'Requested', replacement: null });
    const full = fleet({ nodes: { a: [3], b: [3] }, group: { ...group, maxNodes: 2 } });
    expect([removals(full, { requested }), kept(full, { requested })['a']]).toEqual([[], 'PodsFitNowhere']);
  });

  it('waits for the budget', () => {
    const budgets = [{ nodes: '1', reasons: [], window: null }];
    const state = { ...fleet({ nodes: { a: [3], b: [3] }, group: { budgets } }), leaving: ['b'] };
    expect(kept(state, { requested })).toEqual({ a: 'NodeBudget' });
  });

  it('who deletes the group gets all of its nodes back, whatever its minimum, within its budgets', () => {
    const group = { isDeleting: true, minNodes: 2 };
    const state = fleet({ nodes: { a: [3], b: [] }, group });
    expect(removals(state)).toEqual(['a Requested', 'b Requested']);
    const budgets = [{ nodes: '1', reasons: [], window: null }];
    const bound = fleet({ nodes: { a: [3], b: [] }, group: { ...group, budgets } });
    expect([removals(bound), kept(bound)]).toEqual([['a Requested'], { b: 'NodeBudget' }]);
  });

  it('a group that leaves its nodes when it is deleted gives none back, also where somebody deletes their VPSieNodes', () => {
    const state = fleet({ nodes: { a: [3], b: [] }, group: { isDeleting: true, deletionPolicy: 'Orphan' } });
    expect([removals(state), kept(state)]).toEqual([[], { a: 'PolicyDisabled', b: 'PolicyDisabled' }]);
    expect(removals(withMachine(state, 'b', { isDrainRequested: true }))).toEqual([]);
  });

  it('a node that cannot go now holds up no other one: of a group that is deleted, and of one whose VPSieNodes are', () => {
    const budgets = [{ nodes: '1', reasons: [], window: null }];
    const resting = [{ uid: 'uid-a', detail: 'it was refused', until: NOW + 1 }];
    const gone = fleet({ nodes: { a: [3], b: [] }, group: { isDeleting: true, budgets } });
    expect([removals(gone, { resting }), kept(gone, { resting })]).toEqual([['b Requested'], { a: 'Cooldown' }]);
    const asked = withMachine(fleet({ nodes: { a: [3], b: [3] }, group: { budgets } }), 'a', {
      isDrainRequested: true,
    });
    const both = withMachine(asked, 'b', { isDrainRequested: true });
    expect([removals(both, { resting }), kept(both, { resting })]).toEqual([['b Requested'], { a: 'Cooldown' }]);
  });

  it('a VPSieNode that names the Node of another one has that one left alone', () => {
    const state = fleet({ nodes: { a: [3] } });
    const [machine] = state.machines;
    if (machine === undefined) throw new Error('no machine');
    const nodes = state.nodes.map((node) => ({ ...node, labels: { ...node.labels, [VPSIENODE_LABEL]: machine.name } }));
    const stale = { ...machine, name: '0-stale', uid: 'uid-stale', isDrainRequested: true };
    expect(removals({ ...state, nodes, machines: [stale, machine] })).toEqual([]);
  });

  it('is also what the deletion of a VPSieNode means', () => {
    const state = withMachine(fleet({ nodes: { a: [3], b: [] } }), 'a', { isDrainRequested: true });
    expect(plan(state).plan.removals).toMatchObject([
      { node: 'a', reason: 'Requested', detail: expect.stringMatching(/^its VPSieNode \S+ was deleted$/) as string },
    ]);
    const again = withMachine(state, 'a', { isDrainRequested: true, phase: 'Terminating' });
    expect(removals(again)).toEqual(['a Requested']);
  });
});

describe('consolidation', () => {
  const dear = { ...groupOf('web').scaleDown, consolidation: true };
  const types = {
    web: [
      typeOf('large', 16, 64, { pricePerHour: 0.4 }),
      typeOf('small', 4, 16, { pricePerHour: 0.1 }),
      typeOf('tiny', 2, 8, { pricePerHour: 0.05 }),
    ],
  };
  const offeringIds = ['large', 'small', 'tiny'];

  function one(group: Partial<NodeGroup> = {}, over: Partial<ClusterState> = {}): ClusterState {
    const state = fleet({ nodes: { a: [3] }, group: { offeringIds, scaleDown: dear, ...group } });
    return { ...withMachine(state, 'a', { instanceType: 'large' }), instanceTypes: types, ...over };
  }

  it('replaces a node by the cheapest type that takes its pods, which is ready first', () => {
    expect(plan(one()).plan.removals).toMatchObject([
      {
        node: 'a',
        reason: 'Consolidation',
        replacement: { instanceType: 'small' },
        detail: 'small for 0.1 an hour takes its 1 pod, which large has for 0.4',
      },
    ]);
  });

  it('also a node that uses much, but only after ten minutes, and never without being asked for', () => {
    expect(removals(one({}, { utilization: { a: used(80) } }))).toEqual(['a Consolidation']);
    const early = plan(one(), { memory: freshPlanMemory });
    expect([early.plan.removals, early.memory.cheaper]).toEqual([[], { 'uid-a': NOW }]);
    expect(removals(one({ scaleDown: groupOf('web').scaleDown }))).toEqual([]);
  });

  it('not where a price is unknown, the group is full, or a pod may not be evicted', () => {
    const unpriced = { web: types.web.map((type) => ({ ...type, pricePerHour: null })) };
    expect(removals(one({}, { instanceTypes: unpriced }))).toEqual([]);
    expect(removals(one({ maxNodes: 1 }))).toEqual([]);
    expect(removals(one({}, { pods: [running('p', 'a', 3, { owner: null })] }))).toEqual([]);
  });

  it('of one node at a time', () => {
    const both = fleet({ nodes: { a: [3], b: [3] }, group: { offeringIds, scaleDown: dear } });
    const machines = both.machines.map((machine) => ({ ...machine, instanceType: 'large' }));
    expect(removals({ ...both, machines, instanceTypes: types })).toEqual(['a Consolidation']);
  });
});

describe('groups that only observe, or ask a person first', () => {
  const observing = fleet({ nodes: { a: [1], b: [1] }, group: { mode: 'observe' } });

  it('say what they would do, and hold up nobody', () => {
    const state = together(observing, fleet({ nodes: { c: [1], d: [1] }, name: 'api' }));
    expect(removals(state)).toEqual(['c Underutilized', 'a Underutilized']);
  });

  it('may wait for an approval while another group goes on', () => {
    const asking = fleet({ nodes: { a: [1], b: [1] }, group: { approval: 'scale-down' } });
    expect(removals(together(asking, fleet({ nodes: { c: [1], d: [1] }, name: 'api' })))).toEqual([
      'a Underutilized',
      'c Underutilized',
    ]);
  });
});

it('a plan does not depend on the order of what it is made of', () => {
  const loads = fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(loads, fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }), (nodes, pending) => {
      const state = fleet({
        nodes: Object.fromEntries(nodes.map((cpus, index) => [`n${index}`, cpus])),
        group: { desiredNodes: 3 },
      });
      const pods = [...state.pods, ...pending.map((cpu, index) => podOf(`p${index}`, { cpu: `${cpu}` }))];
      const turned = {
        ...state,
        pods: pods.toReversed(),
        nodes: state.nodes.toReversed(),
        machines: state.machines.toReversed(),
      };
      expect(plan(turned)).toEqual(plan({ ...state, pods }));
    }),
  );
});
