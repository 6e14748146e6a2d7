import { describe, expect, it } from 'vitest';
import { type GroupCounts, wantedGroupStatus } from '../../../../domain/node-group/status/group-status.ts';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import { groupOf, NOW } from '../builders.ts';

function statusOf(counts: Partial<GroupCounts>, group: Partial<NodeGroup> = {}, problems: readonly string[] = []) {
  const whole = { ...groupOf('pool'), minNodes: 1, maxNodes: 5, desiredNodes: null, backoff: null, ...group };
  const status = wantedGroupStatus(
    whole,
    { current: 2, ready: 2, unready: 0, leaving: 0, ...counts },
    { problems, at: NOW },
  );
  const conditions = Object.fromEntries(
    status.conditions.map(({ type, status: is, reason, message }) => [type, `${is} ${reason}: ${message}`]),
  );
  return { ...status, conditions };
}

describe('the status of a NodeGroup', () => {
  it('of a group at rest', () => {
    expect(statusOf({})).toMatchObject({
      currentNodes: 2,
      readyNodes: 2,
      desiredNodes: 2,
      conditions: {
        Ready: 'True NodesReady: 2 of 2 nodes are ready.',
        Scaling: 'False Settled: No node comes or goes.',
        Error: 'False NoError: Nothing failed.',
        AtMinCapacity: 'False NotReached: The group is not at the minimum of 1.',
        AtMaxCapacity: 'False NotReached: The group is not at the maximum of 5.',
      },
    });
  });

  it('keeps what a person wants within minimum and maximum', () => {
    expect([statusOf({}, { desiredNodes: 9 }).desiredNodes, statusOf({}, { desiredNodes: 0 }).desiredNodes]).toEqual([
      5, 1,
    ]);
  });

  it('while nodes come and go', () => {
    const coming = statusOf({ current: 5, ready: 2, leaving: 1 });
    expect(coming.conditions).toMatchObject({
      Scaling: 'True InProgress: 2 of 5 nodes are ready, 1 leave.',
      AtMaxCapacity: 'True Reached: The group is at the maximum of 5.',
    });
  });

  it('says that nothing is taken away while less than half of its nodes are ready', () => {
    const half = statusOf({ current: 4, ready: 2, unready: 2 }, { minNodes: 0 });
    expect(half.conditions['Ready']).toBe('True NodesReady: 2 of 4 nodes are ready.');
    const less = statusOf({ current: 4, ready: 1, unready: 3 }, { minNodes: 0 });
    expect(less.conditions['Ready']).toMatch(/^False TooFewReady: 1 of 4 nodes of pool is ready, /);
  });

  it('says which budget holds always, because nobody can read when it begins', () => {
    const budgets = [
      { nodes: '2', reasons: [], window: null },
      { nodes: '0', reasons: [], window: { schedule: '0 0 30 2 *', durationMs: 3_600_000 } },
    ];
    expect(statusOf({}, { budgets }).conditions).toMatchObject({
      Ready: 'True NodesReady: 2 of 2 nodes are ready.',
      Error:
        'True BudgetWindowInvalid: spec.budgets[1].schedule: Invalid value: "0 0 30 2 *": "0 0 30 2 *" never comes: none of its months has such a day; until that is mended, the budget holds always.',
    });
    const backoff = { until: NOW + 300_000, failures: 1, reason: 'no machine' };
    expect(statusOf({}, { budgets, backoff }).conditions['Error']).toMatch(
      /^True MachineFailed: no machine; .* the budget holds always\.$/,
    );
  });

  it('says why nothing is asked for any more', () => {
    const backoff = { until: NOW + 300_000, failures: 1, reason: 'the machine pool-1 never registered' };
    expect(statusOf({ current: 0, ready: 0 }, { backoff }).conditions).toMatchObject({
      Ready: 'False NodesNotReady: the machine pool-1 never registered',
      Error:
        'True MachineFailed: the machine pool-1 never registered; no more machines are asked for until 2026-01-01T00:05:00Z.',
    });
    expect(statusOf({}, {}, ['spec.minNodes is above spec.maxNodes']).conditions).toMatchObject({
      Ready: 'False Invalid: spec.minNodes is above spec.maxNodes',
      Error: 'True Invalid: spec.minNodes is above spec.maxNodes',
    });
  });
});
