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
    requested: [],
    draining: [],
    resting: [],
    ...over,
  };
}

function planOf(request: PlanRequest) {
  const book = new PlanBook();
  book.update(request);
  return book.plan(request);
}

const TYPES = [typeOf('small', 4, 16)];

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
    const draining = before.map(({ uid }) => uid);
    expect(planOf(requestOf({ groups: [group], parts, draining })).removals).toEqual([]);
  });
});
