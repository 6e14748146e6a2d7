import { describe, expect, it } from 'vitest';
import {
  freeMachines,
  type GroupView,
  observationOf,
  unsettledMachines,
} from '../../../../domain/node-group/decide/observe.ts';
import { wakeReason } from '../../../../domain/node-group/decide/wake.ts';
import type { ReadNodeGroup } from '../../../../domain/node-group/api/read-node-group.ts';
import type { Machine, NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Removal } from '../../../../domain/node-group/model/plan.ts';
import { groupOf, machineOf, NOW } from '../builders.ts';

function readOf(over: Partial<ReadNodeGroup> = {}): ReadNodeGroup {
  const group = groupOf('pool');
  const { name, uid, resourceVersion, generation, isDeleting } = group;
  return { name, uid, resourceVersion, generation, isDeleting, group, problems: [], ...over };
}

function viewOf(over: Partial<GroupView> = {}): GroupView {
  return {
    at: NOW,
    read: readOf(),
    heldBy: null,
    fence: '{"lease":"7","plan":"p"}',
    machines: [],
    claimed: 0,
    hasNode: () => false,
    isLaterOver: () => false,
    plan: { newNodes: [], removals: [], kept: [], inVain: {}, unhelped: { total: 0, first: [] } },
    leaving: [],
    isStatusDue: false,
    areTypesDue: false,
    ...over,
  };
}

const among =
  (nodes: readonly string[]) =>
  ({ node }: Machine) =>
    node !== null && nodes.includes(node);

const long = (name: string): string => `${name} `.repeat(80);

function removalOf(index: number, group = 'pool'): Removal {
  const node = `node-with-a-rather-long-name-as-clouds-give-them-${index}`;
  return {
    group,
    node,
    uid: `00000000-0000-0000-0000-00000000${index}`,
    machine: node,
    reason: 'Empty',
    podCount: 0,
    replacement: null,
    detail: long(node),
  };
}

it('a group that is being deleted has no problem while it can be given back', () => {
  const problems = ['spec.labels: Invalid value'];
  const of = (group: NodeGroup | null) =>
    observationOf(viewOf({ read: readOf({ isDeleting: true, group, problems }) })).problems;
  expect([of(groupOf('pool', { isDeleting: true })), of(null)]).toEqual([[], problems]);
});

const wake = (view: GroupView) => wakeReason(view, observationOf(view));

describe('an observation', () => {
  it('is at most 16 KB, however large the plan', () => {
    const newNodes = Array.from({ length: 500 }, (_, index) => ({
      group: 'pool',
      instanceType: `type-${index}`,
      count: 2,
      reason: 'PendingPods' as const,
      pods: Array.from({ length: 5 }, (_2, pod) => `a-namespace-of-some-length/a-deployment-7c9d8f6b5d-${pod}`),
      podCount: 400,
      kinds: Array.from({ length: 9 }, (_3, kind) => `0123456789abc${100 + kind}`),
    }));
    const inVain = Array.from({ length: 100 }, (_, index) => ({
      instanceType: `type-${index}`,
      kind: '0123456789abcdef',
      pod: 'a-namespace-of-some-length/a-deployment-7c9d8f6b5d-pod',
      machine: 'a-node-group-of-some-length-0123456789ab',
      at: NOW,
      waited: NOW,
      promise: '0123456789abcdef',
      tries: 1,
      isFirm: true,
    }));
    const unhelped = Array.from({ length: 500 }, (_, index) => ({
      namespace: 'a-namespace-of-some-length',
      name: `a-deployment-${index}`,
      reason: 'TooLarge' as const,
      detail: long('too large'),
    }));
    const removals = Array.from({ length: 500 }, (_, index) => removalOf(index));
    const kept = removals.map(({ node, group, detail }) => ({
      node,
      group,
      detail,
      reason: 'AtMinimum' as const,
      until: null,
    }));
    const leaving = removals.map(({ node, uid }) => ({ node, uid, drain: `node-drain/production/${uid}` }));
    const view = viewOf({
      plan: { newNodes, removals, kept, inVain: { pool: inVain }, unhelped: { total: 500, first: unhelped } },
      leaving,
      read: readOf({ problems: Array.from({ length: 20 }, () => long('spec.minNodes')) }),
    });
    expect(JSON.stringify(observationOf(view)).length).toBeLessThan(16_384);
    const other = { ...view, plan: { ...view.plan, newNodes: [] } };
    expect(observationOf(other).inVain?.found).toHaveLength(8);
    expect(JSON.stringify(observationOf(other)).length).toBeLessThan(16_384);
  });

  it('has only what is the group’s own', () => {
    const removals = [removalOf(1), removalOf(2, 'other')];
    const view = viewOf({ plan: { ...viewOf().plan, removals } });
    expect(observationOf(view).removals.map(({ group }) => group)).toEqual(['pool']);
  });

  it('says that a group is gone', () => {
    expect(observationOf(viewOf({ read: null }))).toMatchObject({ group: null, newNodes: [], removals: [] });
  });
});

describe('machines that are not settled', () => {
  const ready = machineOf('a', 'pool', { phase: 'Ready', node: 'node-a' });

  it('are those on their way, those that are being deleted, and those whose node is gone', () => {
    const machines = [
      ready,
      machineOf('b', 'pool', { phase: 'Joining' }),
      machineOf('c', 'pool', { phase: 'Ready', node: 'node-c', isDeleting: true }),
      machineOf('d', 'pool', { phase: 'Ready', node: 'node-d' }),
    ];
    const view = viewOf({ machines, hasNode: among(['node-a', 'node-c']) });
    expect(unsettledMachines(view).map(({ name }) => name)).toEqual(['b', 'c', 'd']);
  });

  it('are those too whose Node is another one’s', () => {
    const machines = [ready, machineOf('b', 'pool', { phase: 'Ready', node: 'node-a', isDrainRequested: true })];
    const view = viewOf({ machines, hasNode: ({ name }) => name === 'a' });
    expect(unsettledMachines(view).map(({ name }) => name)).toEqual(['b']);
  });

  it('are those too whose nodes are filled later for no reason any more, which wakes their group', () => {
    const view = viewOf({ machines: [ready], hasNode: among(['node-a']), isLaterOver: ({ name }) => name === 'a' });
    expect(observationOf(view).unsettled).toBe(1);
    expect(wake(view).cause).toBe('machines are to be settled');
  });

  it('are held by the group, where it acts and keeps its machines', () => {
    const unlabelled = machineOf('c', 'pool', { isLabelled: false, heldBy: null });
    const machines = [{ ...ready, heldBy: null }, machineOf('b', 'pool', { heldBy: 'former' }), unlabelled];
    const namesIn = (over: Partial<NodeGroup>): readonly string[] =>
      freeMachines(viewOf({ machines, read: readOf({ group: groupOf('pool', over) }) })).map(({ name }) => name);
    expect(namesIn({})).toEqual(['a', 'b']);
    expect(namesIn({ mode: 'observe' })).toEqual([]);
    expect(namesIn({ isDeleting: true, deletionPolicy: 'Orphan' })).toEqual([]);
    const view = viewOf({ machines: [{ ...ready, heldBy: null }], hasNode: among(['node-a']) });
    expect([observationOf(view).free, observationOf(view).unsettled, wake(view).isToAct]).toEqual([1, 0, true]);
  });

  it('include those that were claimed and are not seen yet: whoever claimed them may have been interrupted', () => {
    const view = viewOf({ machines: [ready], hasNode: among(['node-a']), claimed: 2 });
    expect(observationOf(view).unsettled).toBe(2);
    expect(wake(view).cause).toBeNull();
  });

  it('do not include those of nodes that are drained', () => {
    const leaving = [{ node: 'node-a', uid: 'u', drain: 'node-drain/test/u' }];
    const machines = [{ ...ready, isDeleting: true }];
    expect(unsettledMachines(viewOf({ machines, hasNode: among(['node-a']), leaving }))).toEqual([]);
  });
});

describe('a group is woken', () => {
  it('for nothing where nothing is to be done', () => {
    expect(wake(viewOf())).toMatchObject({ cause: null, isToAct: false });
  });

  it('for nodes that are to go, once', () => {
    const view = viewOf({ plan: { ...viewOf().plan, removals: [removalOf(1)] } });
    expect(wake(view)).toMatchObject({ cause: 'nodes are to go', isToAct: true });
    const again = viewOf({ ...view, at: NOW + 60_000, fence: '{"lease":"7","plan":"q"}' });
    expect(wake(again).key).toBe(wake(view).key);
  });

  it('for as many nodes again when those that were asked for are there', () => {
    const newNodes = [
      { group: 'pool', instanceType: 'small', count: 1, reason: 'PendingPods' as const, pods: [], podCount: 1 },
    ];
    const plan = { ...viewOf().plan, newNodes };
    const created = viewOf({ plan, machines: [machineOf('m-1', 'pool')] });
    expect(wake(created).key).not.toBe(wake(viewOf({ plan })).key);
  });

  it('not for machines on their way, nor for their status: who has created them drives them', () => {
    const machines = [machineOf('b', 'pool', { phase: 'Joining' })];
    expect(wake(viewOf({ machines, isStatusDue: true })).cause).toBeNull();
    expect(wake(viewOf({ isStatusDue: true })).cause).toBe('its status is out of date');
  });

  it('to show what it cannot do, which is no reason to ask again', () => {
    const first = [{ namespace: 'a', name: 'b', reason: 'TooLarge' as const, detail: 'too large' }];
    const view = viewOf({ plan: { ...viewOf().plan, unhelped: { total: 1, first } } });
    expect(wake(view)).toMatchObject({ cause: 'some pending pods get no new node', isToAct: false });
  });

  it('to show that too few of its nodes are ready, whatever keeps the others, and when that is over', () => {
    const keep = { group: 'pool', detail: '', until: null };
    const kept = [
      ...Array.from({ length: 9 }, (_, index) => ({ ...keep, node: `a${index}`, reason: 'Protected' as const })),
      { ...keep, node: 'b', reason: 'TooFewReady' as const },
    ];
    const halted = wake(viewOf({ plan: { ...viewOf().plan, kept } }));
    expect(halted).toMatchObject({ cause: 'too few of its nodes are ready', isToAct: false, isShown: true });
    expect(wake(viewOf({ plan: { ...viewOf().plan, kept: kept.slice(0, 9) } }))).toMatchObject({ cause: null });
  });

  it('once for pods that come and go for the same reason', () => {
    const of = (name: string) => {
      const first = [{ namespace: 'a', name, reason: 'SchedulingGated' as const, detail: 'gated' }];
      return wake(viewOf({ plan: { ...viewOf().plan, unhelped: { total: 1, first } } })).key;
    };
    expect(of('x')).toBe(of('y'));
  });

  it('to show who else acts, and says of a group that only observes that what it showed is over', () => {
    const view = viewOf({ plan: { ...viewOf().plan, removals: [removalOf(1)] } });
    expect(wake(viewOf({ ...view, heldBy: 'another controller acts' }))).toMatchObject({
      isToAct: false,
      isShown: true,
    });
    const group = groupOf('pool', { mode: 'observe' });
    expect(wake(viewOf({ ...view, read: readOf({ group }) }))).toMatchObject({ isToAct: false, isShown: true });
    expect(wake(view)).toMatchObject({ isToAct: true, isShown: false });
  });

  it('to ask for an approval, and to ask no more when nothing is to go', () => {
    const view = viewOf({ plan: { ...viewOf().plan, removals: [removalOf(1)] } });
    const group = groupOf('pool', { approval: 'scale-down' });
    expect(wake(viewOf({ ...view, read: readOf({ group }) }))).toMatchObject({ isToAct: true, isShown: true });
  });
});
