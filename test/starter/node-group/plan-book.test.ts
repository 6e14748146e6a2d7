import { describe, expect, it } from 'vitest';
import { PlanBook } from '../../../starter/node-group/plan-book.ts';
import type { PlanRequest } from '../../../starter/node-group/plan-messages.ts';
import { groupOf, machineOf, nodeOf, NOW, podOf, typeOf } from '../../domain/node-group/builders.ts';

function requestOf(over: Partial<PlanRequest> = {}): PlanRequest {
  return {
    id: 1,
    isWhole: true,
    parts: {},
    samples: [],
    at: NOW,
    groups: [],
    blocked: {},
    claims: [],
    wishes: [],
    ...over,
  };
}

function planOf(request: PlanRequest) {
  const book = new PlanBook();
  book.update(request);
  return book.plan(request);
}

const OWNER = { kind: 'ReplicaSet', name: 'web', uid: 'uid-web' };
const runningOn = (node: string) => ({
  ...podOf(`on-${node}`, { cpu: '100m' }, { nodeName: node }),
  owner: OWNER,
  isReady: true,
});

const markedAt = (at: number) => ({
  'autoscaler.vpsie.com/drain': JSON.stringify({
    drain: 'node-drain/test/uid-a',
    startedAt: new Date(at).toISOString(),
  }),
});
const TYPES = [typeOf('small', 4, 16)];

/** A claim of a node that goes. */
const claimOf = (uid: string) => ({
  decision: 'p1/pool/removals',
  group: 'pool',
  at: NOW,
  machines: {},
  givenUp: [],
  removals: [uid],
});

describe('a plan', () => {
  it('does not depend on how objects are called', () => {
    const name = 'constructor';
    const group = groupOf(name, { instanceTypes: TYPES });
    const machine = machineOf('toString', name, { node: name, phase: 'Ready', instanceType: 'tiny' });
    const pod = podOf('hasOwnProperty', { cpu: '3' });
    const parts = {
      nodes: [[`/${name}`, nodeOf(name, { cpu: '1', memory: '1Gi', pods: '110' })]],
      machines: [['kube-system/toString', machine]],
      pods: [['default/hasOwnProperty', pod]],
      namespaces: [['/default', {}]],
    } as const;
    const samples = [{ at: NOW, nodes: { [name]: [10, 10] as const } }];
    const { newNodes } = planOf(requestOf({ groups: [group], parts, samples }));
    expect(newNodes).toMatchObject([{ group: name, count: 1, reason: 'PendingPods' }]);
  });

  it('takes nothing more where a drain has begun whose marks are not seen yet', () => {
    const group = groupOf('pool', { instanceTypes: TYPES, desiredNodes: 1 });
    const names = ['a', 'b'];
    const parts = {
      nodes: names.map((node) => [`/${node}`, nodeOf(node)] as const),
      machines: names.map((node) => {
        const machine = machineOf(`m-${node}`, 'pool', { node, phase: 'Ready', createdAt: NOW - 86_400_000 });
        return [`kube-system/m-${node}`, machine] as const;
      }),
    };
    const before = planOf(requestOf({ groups: [group], parts })).removals;
    expect(before).toMatchObject([{ reason: 'Overprovisioned' }]);
    const claims = before.map(({ uid }) => claimOf(uid));
    expect(planOf(requestOf({ groups: [group], parts, claims })).removals).toEqual([]);
  });

  it('has the marks of a drain taken back while one of the machines that name the node stays', () => {
    const markedOf = (...deleting: readonly boolean[]) => {
      const machines = deleting.map((isDeleting, at) => machineOf(`m-${at}`, 'pool', { node: 'a', isDeleting }));
      const parts = {
        nodes: [['/a', { ...nodeOf('a'), annotations: markedAt(NOW) }] as const],
        machines: machines.map((machine) => [`kube-system/${machine.name}`, machine] as const),
      };
      return planOf(requestOf({ groups: [groupOf('pool')], parts })).marked.map(({ node }) => node);
    };
    expect([markedOf(false, true), markedOf(true, false), markedOf(true)]).toEqual([['a'], ['a'], []]);
  });

  describe('while a node with pods is being drained', () => {
    const group = groupOf('pool', { instanceTypes: TYPES, desiredNodes: 1 });
    const names = ['a', 'b', 'c'];
    const plannedWith = (startedAt: number, over: Partial<PlanRequest> = {}) => {
      const annotations = markedAt(startedAt);
      const parts = {
        namespaces: [['/default', {}]] as const,
        nodes: names.map(
          (node) => [`/${node}`, { ...nodeOf(node), ...(node === 'a' ? { annotations } : {}) }] as const,
        ),
        pods: names.map((node) => [`default/on-${node}`, runningOn(node)] as const),
        machines: names.map((node) => {
          const machine = machineOf(`m-${node}`, 'pool', { node, phase: 'Ready', createdAt: NOW - 86_400_000 });
          return [`kube-system/m-${node}`, machine] as const;
        }),
      };
      const budgets = [{ nodes: '3', reasons: [], window: null }];
      return planOf(requestOf({ groups: [{ ...group, budgets }], parts, ...over })).removals;
    };
    const MINUTE = 60_000;

    it('the next one waits for a quarter of an hour, and not for ever', () => {
      expect(plannedWith(NOW - 14 * MINUTE)).toEqual([]);
      expect(plannedWith(NOW - 15 * MINUTE)).toMatchObject([{ reason: 'Overprovisioned' }]);
    });

    it('nobody waits for a drain that is said to begin later, or has no time', () => {
      expect(plannedWith(NOW + 60 * MINUTE)).toHaveLength(1);
      expect(plannedWith(0)).toHaveLength(1);
    });

    it('others wait for one that was claimed, before it has a mark', () => {
      const over = { claims: [claimOf('uid-b')] };
      expect(plannedWith(NOW - 20 * MINUTE)).toHaveLength(1);
      expect(plannedWith(NOW - 20 * MINUTE, over)).toEqual([]);
    });

    it('nobody waits for a group that is paused', () => {
      const paused = { reason: 'Paused', detail: 'paused by jane', until: null } as const;
      const book = new PlanBook();
      const drained = { ...nodeOf('a'), annotations: markedAt(NOW - MINUTE) };
      const other = groupOf('other', { instanceTypes: TYPES, desiredNodes: 1 });
      const nodes = [drained, nodeOf('b'), nodeOf('c')].map((node) => [`/${node.name}`, node] as const);
      const machines = [
        ['a', 'pool'],
        ['b', 'other'],
        ['c', 'other'],
      ].map(([node = '', pool = '']) => {
        const machine = machineOf(`m-${node}`, pool, { node, phase: 'Ready', createdAt: NOW - 86_400_000 });
        return [`kube-system/m-${node}`, machine] as const;
      });
      const pods = names.map((node) => [`default/on-${node}`, runningOn(node)] as const);
      const request = requestOf({
        groups: [group, other],
        parts: { namespaces: [['/default', {}]], nodes, machines, pods },
      });
      book.update(request);
      expect(book.plan(request).removals).toEqual([]);
      expect(book.plan({ ...request, blocked: { pool: paused } }).removals).toHaveLength(1);
    });
  });
});
