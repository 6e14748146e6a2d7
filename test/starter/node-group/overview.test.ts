import type { KubernetesObject } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { type NodeOverviewOptions, nodeOverview } from '../../../starter/node-group/overview.ts';
import { NOW } from '../overview/quotas.ts';

function groupAs(name: string, conditions: readonly object[] = [], spec: object = {}): KubernetesObject {
  const group = {
    metadata: { name, namespace: NAMESPACE, uid: `u-${name}`, resourceVersion: '1', generation: 1 },
    spec: { provider: 'kwok', minNodes: 1, maxNodes: 5, offeringIDs: ['small'], ...spec },
    status: { conditions },
  };
  return group;
}

const measured = { name: 'pool', minNodes: 1, maxNodes: 5, current: 3, ready: 2, desired: 4, resting: 0 };
const plan: NonNullable<ReturnType<NodeOverviewOptions['plan']>> = {
  at: NOW,
  kept: [
    {
      group: 'pool',
      node: 'n-held',
      reason: 'PodDisruptionBudget',
      detail: 'the budget web/web refuses it',
      until: null,
    },
    { group: 'pool', node: 'n-young', reason: 'CameLately', detail: 'it came 3 min ago', until: NOW + 60_000 },
    { group: 'pool', node: 'n-leaving', reason: 'NodeDeleting', detail: 'it is being drained', until: null },
  ],
  removals: [
    {
      group: 'pool',
      node: 'n-empty',
      uid: 'u-e',
      machine: 'm',
      reason: 'Empty',
      podCount: 0,
      replacement: null,
      detail: 'no pod needs it',
    },
  ],
  marked: [{ node: 'n-leaving', uid: 'u-l', drain: 'node-drain/c1/u-l', group: 'pool' }],
  unhelped: {
    total: 2,
    first: [
      { namespace: 'shop', name: 'web-1', reason: 'TooLarge', detail: 'no instance type is large enough' },
      { namespace: 'blog', name: 'web-2', reason: 'AtMaximum', detail: 'the group pool is at its maximum' },
    ],
  },
};

function ask(options: Partial<NodeOverviewOptions> = {}, namespace: string | null = null) {
  const { waiting, tables } = nodeOverview({
    cluster: 'c1',
    mode: 'act',
    groups: () => [groupAs('pool')],
    measured: () => [measured],
    drainSince: (node) => (node === 'n-leaving' ? NOW - 90_000 : null),
    plan: () => plan,
    ...options,
  })({ namespace, now: NOW });
  const [groups, nodes] = tables.map((table) => ({ ...table, rows: table.rows(0, table.total) }));
  return { waiting, groups, nodes };
}

describe('the nodes of the overview', () => {
  it('are first those that go, then those that are to go, and then those that something holds', () => {
    const { nodes } = ask();
    expect(nodes?.rows.map(({ cells }) => [cells[0]?.text, cells[2]?.text])).toEqual([
      ['n-leaving', 'is being drained'],
      ['n-empty', 'to go: Empty'],
      ['n-held', 'PodDisruptionBudget'],
      ['n-young', 'CameLately'],
    ]);
    expect(nodes?.rows[2]).toMatchObject({
      cells: [{}, { text: 'pool' }, { detail: 'The budget web/web refuses it.' }, { text: '' }],
      workflow: 'node-group/c1/pool',
      command: 'kubectl headroom node-groups explain n-held',
    });
    expect(nodes?.rows[3]?.cells[3]).toEqual({ text: '', at: NOW + 60_000 });
    expect(nodes?.rows[0]).toMatchObject({
      workflow: 'node-drain/c1/u-l',
      command: 'kubectl headroom node-groups stop-drain n-leaving',
    });
    expect(nodes?.summary).toBe('By the plan of 2026-11-28T12:00:00Z, 1 go, 1 are to go, and 2 are held.');
  });

  it('are by a plan whose age is said, also where none could go', () => {
    const old = { ...plan, at: NOW - 3_600_000, kept: [], removals: [], marked: [] };
    expect(ask({ plan: () => old }).nodes?.empty).toBe('By the plan of 2026-11-28T11:00:00Z, no node could go.');
  });

  it('are not there before the first plan', () => {
    expect(ask({ plan: () => null }).nodes).toMatchObject({ total: 0, empty: 'There is no plan yet.' });
  });
});

describe('the node groups of the overview', () => {
  const condition = (type: string, status: string, message?: string) => ({
    type,
    status,
    reason: `${type}Reason`,
    lastTransitionTime: '2026-11-28T11:00:00Z',
    ...(message === undefined ? {} : { message }),
  });

  it('have their counts and what their conditions say, also of one without a message', () => {
    const { groups } = ask({
      groups: () => [
        groupAs('pool', [condition('Ready', 'True')]),
        groupAs('new'),
        groupAs('bad', [condition('Error', 'True')]),
      ],
    });
    expect(groups?.rows.map(({ cells }) => cells.map(({ text }) => text))).toEqual([
      ['bad', '', '', 'ErrorReason'],
      ['new', '', '', 'not observed yet'],
      ['pool', '2 of 3', '4', 'steady'],
    ]);
    expect(groups?.rows[0]?.cells[3]?.detail).toBe('Error is True');
    expect(groups?.rows[2]?.cells[2]?.detail).toBe('from 1 to 5');
  });

  it('wait for the provider after an error, and for a person where the spec is invalid', () => {
    const failing = groupAs('pool', [condition('Error', 'True', 'no machine is to be had')]);
    const { waiting } = ask({ groups: () => [failing, groupAs('wrong', [], { minNodes: 9 })], plan: () => null });
    expect(waiting).toMatchObject([
      { what: 'node group pool', whom: 'the provider', since: NOW - 3_600_000, why: 'No machine is to be had.' },
      { what: 'node group wrong', whom: 'a person', isForPeople: true, since: null },
    ]);
  });
});

describe('what waits for nodes, and for the pods of a node', () => {
  it('is a drain since it began, and each pod that no node helps, of the namespace that is chosen', () => {
    expect(ask().waiting.map(({ what, whom, since }) => [what, whom, since])).toEqual([
      ['node n-leaving', 'its pods', NOW - 90_000],
      ['pod shop/web-1', 'a node', null],
      ['pod blog/web-2', 'a node', null],
    ]);
    // A mark that cannot be read has 0.
    expect(ask({ drainSince: () => 0 }).waiting[0]?.since).toBeNull();
    expect(ask({}, 'blog').waiting.map(({ what }) => what)).toEqual(['node n-leaving', 'pod blog/web-2']);
  });
});
