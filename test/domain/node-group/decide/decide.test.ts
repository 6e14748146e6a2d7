import { describe, expect, it } from 'vitest';
import { applyCommand } from '../../../../domain/node-group/decide/commands.ts';
import { decide, pausedVerdict } from '../../../../domain/node-group/decide/decide.ts';
import { afterDrain } from '../../../../domain/node-group/decide/drain-outcome.ts';
import { freshMemory, type NodeGroupMemory, removalKey } from '../../../../domain/node-group/decide/memory.ts';
import type { NodeGroupObservation, SeenGroup } from '../../../../domain/node-group/decide/observation.ts';
import type { NewNodes, Removal } from '../../../../domain/node-group/model/plan.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const HOUR = 3_600_000;

const GROUP: SeenGroup = {
  name: 'pool',
  uid: 'uid-1',
  generation: 1,
  isDeleting: false,
  deletionPolicy: 'Drain',
  minNodes: 1,
  maxNodes: 10,
  approval: 'none',
  desiredNodes: 3,
  backoff: null,
  mode: 'act',
  provider: 'kwok',
};

const NO_MACHINES: NodeGroupObservation['machines'] = {
  Pending: 0,
  Provisioning: 0,
  Provisioned: 0,
  Joining: 0,
  Ready: 0,
  Terminating: 0,
  Deleting: 0,
  Failed: 0,
};

function seen(more: Partial<NodeGroupObservation> = {}): NodeGroupObservation {
  return {
    at: NOW,
    group: GROUP,
    problems: [],
    heldBy: null,
    fence: '7',
    machines: { ...NO_MACHINES, Ready: 3 },
    unsettled: 0,
    claimed: 0,
    going: 0,
    free: 0,
    newNodes: [],
    unhelped: { total: 0, first: [] },
    removals: [],
    asked: 0,
    kept: { total: 0, first: [] },
    leaving: [],
    isStatusDue: false,
    areTypesDue: false,
    ...more,
  };
}

const NEW_NODES: NewNodes = {
  group: 'pool',
  instanceType: 'small',
  count: 2,
  reason: 'PendingPods',
  pods: ['team-a/web-1'],
  podCount: 7,
};

function removal(node: string, more: Partial<Removal> = {}): Removal {
  return {
    group: 'pool',
    node,
    uid: `uid-of-${node}`,
    machine: node,
    reason: 'Empty',
    podCount: 0,
    replacement: null,
    detail: 'no pod needs it',
    ...more,
  };
}

const known: NodeGroupMemory = { ...freshMemory, uid: 'uid-1' };

describe('the decision about a NodeGroup', () => {
  it('ends with the group', () => {
    const [memory, verdict] = decide(seen({ group: null }), { ...known, requested: [{ node: 'n', by: 'ann' }] });
    expect(verdict).toMatchObject({ kind: 'end', reason: 'GroupGone' });
    expect(memory).toEqual(freshMemory);
  });

  it('forgets everything about a group that was created again under the same name', () => {
    const before = { ...known, uid: 'uid-0', requested: [{ node: 'n', by: 'ann' }] };
    expect(decide(seen(), before)[0]).toEqual(known);
  });

  it('says that a group has no nodes, and not that each of them is needed', () => {
    const empty = seen({ machines: NO_MACHINES });
    const observing = seen({ machines: NO_MACHINES, group: { ...GROUP, mode: 'observe' } });
    for (const each of [empty, observing]) {
      expect(decide(each, known)[1].detail).toBe('every pod has a node, and the group has no nodes');
    }
    expect(decide(seen(), known)[1].detail).toBe('every pod has a node, and every node is needed');
  });

  it('creates machines for pending pods, and begins drains in the same pass', () => {
    const [memory, verdict] = decide(seen({ newNodes: [NEW_NODES], removals: [removal('old')] }), known);
    expect(verdict).toMatchObject({
      kind: 'create',
      newNodes: [NEW_NODES],
      drains: [removal('old')],
      phase: 'ScalingUp',
      detail: 'creating 2 nodes of small for 7 pending pods',
    });
    expect(memory.drains).toEqual([{ node: 'old', uid: 'uid-of-old', since: NOW }]);
  });

  it('only says what it would do in the mode observe', () => {
    const group = { ...GROUP, mode: 'observe' } as const;
    const up = decide(seen({ group, newNodes: [NEW_NODES], removals: [removal('old')] }), known);
    expect(up[1]).toMatchObject({
      kind: 'wait',
      phase: 'Observing',
      reason: 'WouldScaleUp',
      detail: 'would create 2 nodes of small for 7 pending pods',
      drains: [],
    });
    expect(up[0].drains).toEqual([]);
    expect(decide(seen({ group, removals: [removal('old')] }), known)[1]).toMatchObject({
      reason: 'WouldScaleDown',
      detail: 'would take away old (no pod needs it)',
      drains: [],
    });
  });

  it.each([
    [{ problems: ['spec.minNodes is above spec.maxNodes'] }, 'Invalid', 'spec.minNodes is above spec.maxNodes'],
    [{ heldBy: 'another controller holds its Lease' }, 'HeldByOther', 'another controller holds its Lease'],
  ])('does nothing while %j', (more, reason, detail) => {
    const [memory, verdict] = decide(seen({ newNodes: [NEW_NODES], removals: [removal('old')], ...more }), known);
    expect(verdict).toMatchObject({ kind: 'wait', phase: 'Blocked', reason, detail, drains: [] });
    expect(memory.drains).toEqual([]);
  });

  it('drives machines that are on their way', () => {
    const machines = { ...NO_MACHINES, Ready: 1, Joining: 2 };
    expect(decide(seen({ machines, unsettled: 2 }), known)[1]).toMatchObject({
      kind: 'drive',
      phase: 'ScalingUp',
      reason: 'MachinesComing',
      detail: '2 of 3 machines are on the way',
    });
  });

  it('counts machines that were claimed and have no object yet', () => {
    const machines = { ...NO_MACHINES, Ready: 1 };
    expect(decide(seen({ machines, unsettled: 3, claimed: 3 }), known)[1]).toMatchObject({
      detail: '3 of 4 machines are on the way',
    });
  });

  it('says so where those that are left are being deleted', () => {
    const machines = { ...NO_MACHINES, Ready: 1, Deleting: 1 };
    expect(decide(seen({ machines, unsettled: 1, going: 1 }), known)[1]).toMatchObject({
      kind: 'drive',
      phase: 'ScalingDown',
      reason: 'MachinesGoing',
      detail: '1 of 2 machines is being deleted',
    });
  });

  it('names a pod that no node would help', () => {
    const pod = { namespace: 'team-a', name: 'db-0', reason: 'ClaimNotBound', detail: 'its claim data waits' } as const;
    expect(decide(seen({ unhelped: { total: 4, first: [pod] } }), known)[1]).toMatchObject({
      phase: 'Steady',
      reason: 'PodsUnhelped',
      detail: '4 pending pods get no new node, such as team-a/db-0: its claim data waits',
    });
  });

  it.each([
    ['act', 'Blocked'],
    ['observe', 'Observing'],
  ] as const)('says in the mode %s that nothing is taken away, as too few nodes are ready', (mode, phase) => {
    const detail = '1 of 3 nodes of pool is ready';
    const first = [{ group: 'pool', node: 'a', reason: 'TooFewReady', detail, until: null }] as const;
    expect(decide(seen({ group: { ...GROUP, mode }, kept: { total: 1, first } }), known)[1]).toMatchObject({
      kind: 'wait',
      phase,
      reason: 'TooFewReady',
      detail,
    });
  });

  it('says until when it asks for no more machines', () => {
    const backoff = { until: NOW + HOUR, failures: 2, reason: 'the machine pool-1 never registered' };
    expect(decide(seen({ group: { ...GROUP, backoff } }), known)[1]).toMatchObject({
      kind: 'wait',
      until: NOW + HOUR,
      reason: 'BackingOff',
      detail: 'no more machines are asked for until 2026-11-23T13:00:00Z: the machine pool-1 never registered',
    });
  });

  it('does not begin a drain twice, and waits for the first', () => {
    const [memory] = decide(seen({ removals: [removal('old')] }), known);
    const [, verdict] = decide(seen({ removals: [removal('old')] }), memory);
    expect(verdict).toMatchObject({ kind: 'wait', phase: 'ScalingDown', detail: 'draining old', drains: [] });
    expect(verdict).toHaveProperty('until', NOW + 600_000);
  });

  it('gives back the machines of a group that is being deleted, without an approval, and then lets it go', () => {
    const group = { ...GROUP, isDeleting: true, approval: 'scale-down' } as const;
    const [, verdict] = decide(seen({ group, removals: [removal('a'), removal('b')] }), known);
    expect(verdict).toMatchObject({ kind: 'wait', phase: 'Deleting' });
    expect(verdict.drains.map(({ node }) => node)).toEqual(['a', 'b']);
    expect(decide(seen({ group, machines: NO_MACHINES }), known)[1]).toMatchObject({ kind: 'release' });
  });

  it('lets a group go whose nodes are to stay as soon as nothing of it comes or goes', () => {
    const group = { ...GROUP, isDeleting: true, deletionPolicy: 'Orphan' } as const;
    expect(decide(seen({ group }), known)[1]).toMatchObject({ kind: 'release', phase: 'Deleting' });
    expect(decide(seen({ group, unsettled: 1 }), known)[1]).toMatchObject({ kind: 'drive' });
    const leaving = [{ node: 'a', uid: 'u', drain: 'node-drain/test/u' }];
    expect(decide(seen({ group, leaving }), known)[1]).toMatchObject({ kind: 'wait', phase: 'Deleting' });
    const [draining] = decide(seen({ group, removals: [removal('a')] }), known);
    expect(decide(seen({ group }), draining)[1]).toMatchObject({ kind: 'wait' });
  });

  it('says why a node stays whose VPSieNode somebody deleted', () => {
    const kept = { group: 'pool', node: 'a', reason: 'LocalStorage', detail: 'it has data', until: null } as const;
    expect(decide(seen({ asked: 1, kept: { total: 1, first: [kept] } }), known)[1]).toMatchObject({
      phase: 'Blocked',
      reason: 'DrainWaits',
      detail: 'nodes whose VPSieNode was deleted wait for their drain: a: it has data',
    });
  });

  it('takes hold of machines that it does not hold yet, and says so', () => {
    expect(decide(seen({ free: 2 }), known)[1]).toMatchObject({
      kind: 'drive',
      phase: 'Starting',
      reason: 'MachinesFree',
    });
  });

  it('shows a pause in the words of whoever paused', () => {
    const pause = {
      by: 'ann',
      reason: 'migration',
      at: NOW,
      scope: 'target',
      kept: 'ConfigMap headroom-pauses',
    } as const;
    expect(pausedVerdict(pause)).toEqual({
      phase: 'Paused',
      reason: 'Paused',
      detail: expect.stringContaining('ann') as string,
      facts: [],
    });
  });
});

describe('approvals', () => {
  const group = { ...GROUP, approval: 'scale-down' } as const;
  const proposed = seen({ group, removals: [removal('old')] });

  it('are asked for, and hold for this node and this reason only', () => {
    const [asked, verdict] = decide(proposed, known);
    expect(verdict).toMatchObject({ phase: 'AwaitingApproval', drains: [] });
    expect(verdict.detail).toBe('approve or reject taking away old (no pod needs it)');
    const { memory, message } = applyCommand('approve', { by: 'ann' }, { memory: asked, now: NOW });
    expect(message).toBe('approved by "ann" (a claimed name): 1 node');
    expect(decide(proposed, memory ?? known)[1].drains).toEqual([removal('old')]);
    const other = seen({ group, removals: [removal('old', { reason: 'Underutilized' })] });
    expect(decide(other, memory ?? known)[1].drains).toEqual([]);
    const again = seen({ group, removals: [removal('old', { uid: 'uid-of-another' })] });
    expect(decide(again, memory ?? known)[1].drains).toEqual([]);
  });

  it('are not needed for what a person asked for', () => {
    const requested = seen({ group, removals: [removal('old', { reason: 'Requested' })] });
    const { memory } = applyCommand('drain', { node: 'old', by: 'ann' }, { memory: known, now: NOW });
    const [after, verdict] = decide(requested, memory ?? known);
    expect(verdict.drains).toHaveLength(1);
    expect(after.requested).toEqual([]);
  });

  it('of replacements are asked for where only those need one', () => {
    const careful = { ...GROUP, approval: 'replacement' } as const;
    const dead = removal('dead', { reason: 'NotReady', replacement: { instanceType: 'small' } });
    const [, verdict] = decide(seen({ group: careful, removals: [removal('empty'), dead] }), known);
    expect(verdict.drains.map(({ node }) => node)).toEqual(['empty']);
  });

  it('that are refused keep the node for eight hours', () => {
    const [asked] = decide(proposed, known);
    const { memory } = applyCommand('reject', { by: 'ann' }, { memory: asked, now: NOW });
    expect(memory?.rejected).toEqual([{ key: removalKey(removal('old')), by: 'ann', until: NOW + 8 * HOUR }]);
    expect(decide(proposed, memory ?? known)[1]).toMatchObject({ phase: 'Steady', until: NOW + 8 * HOUR });
    const later = { ...proposed, at: NOW + 8 * HOUR };
    expect(decide(later, memory ?? known)[1]).toMatchObject({ phase: 'AwaitingApproval' });
  });

  it('cannot be given for nothing', () => {
    const context = { memory: known, now: NOW };
    for (const name of ['approve', 'reject'] as const) {
      expect(applyCommand(name, {}, context)).toEqual({ memory: null, message: 'nothing waits for an approval' });
    }
    expect(applyCommand('drain', { node: 'Not A Node' }, context).memory).toBeNull();
  });
});

describe('a drain that ended', () => {
  const draining: NodeGroupMemory = { ...known, drains: [{ node: 'old', uid: 'uid-of-old', since: NOW }] };
  const ended = { node: 'old', uid: 'uid-of-old', detail: 'the budget team-a/web lets no pod go' };

  it('is forgotten when its node is gone', () => {
    expect(afterDrain(draining, { ...ended, outcome: 'drained' }, NOW)).toEqual(known);
  });

  it('rests for ten minutes when it was blocked, unless a person wants it to be tried at once', () => {
    const memory = afterDrain(draining, { ...ended, outcome: 'blocked' }, NOW);
    expect(decide(seen({ removals: [removal('old')] }), memory)[1]).toMatchObject({
      phase: 'Steady',
      until: NOW + 600_000,
      drains: [],
    });
    const { memory: asked } = applyCommand('reconcileNow', { by: 'ann' }, { memory, now: NOW });
    expect(decide(seen({ removals: [removal('old')] }), asked ?? known)[1].drains).toHaveLength(1);
  });

  it.each(['PodsComeBack', 'MachineKept'])('rests for an hour when its pods were evicted for nothing: %s', (reason) => {
    const memory = afterDrain(draining, { ...ended, outcome: 'blocked', reason }, NOW);
    expect(decide(seen({ removals: [removal('old')] }), memory)[1]).toMatchObject({ until: NOW + HOUR, drains: [] });
  });

  it('rests for its hour when a person stopped it, whoever wants to look again', () => {
    const memory = afterDrain(draining, { ...ended, outcome: 'cancelled' }, NOW);
    const { memory: asked } = applyCommand('reconcileNow', { by: 'ann' }, { memory, now: NOW });
    expect(decide(seen({ removals: [removal('old')] }), asked ?? known)[1].drains).toEqual([]);
  });
});

describe('a group without machines that is being deleted', () => {
  const gone = { ...GROUP, isDeleting: true };

  it.each([
    ['observes', seen({ group: { ...gone, mode: 'observe' }, machines: NO_MACHINES })],
    ['is invalid', seen({ group: gone, machines: NO_MACHINES, problems: ['spec.minNodes: Invalid value'] })],
  ])('is let go also where it %s', (_, observation) => {
    expect(decide(observation, freshMemory)[1]).toMatchObject({ kind: 'release', phase: 'Deleting' });
  });

  it('is left alone while another controller acts', () => {
    const held = seen({ group: gone, machines: NO_MACHINES, heldBy: 'another controller acts' });
    expect(decide(held, freshMemory)[1]).toMatchObject({ kind: 'wait', reason: 'HeldByOther' });
  });
});
