import { expect, it } from 'vitest';
import { haltBefore } from '../../../../domain/node-group/drain/halt.ts';
import { keptThoughLost, lostAmong } from '../../../../domain/node-group/machine/lost.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { groupCounts } from '../../../../domain/node-group/status/group-counts.ts';
import { groupOf, machineOf, NOW, nodeOf, podOf, stateOf, typeOf } from '../builders.ts';

const MINUTE = 60_000;
const lost = machineOf('m', 'web', { phase: 'Joining', node: 'gone', phaseSince: NOW - 16 * MINUTE });
const ready = machineOf('r', 'web', { phase: 'Ready', node: 'there' });
const sound = { ready: 9, unready: 0 };

it('several machines whose Nodes are gone count as not ready, and a single one does not', () => {
  expect(
    groupCounts([
      [lost, null],
      [lost, null],
      [ready, nodeOf('there')],
    ]),
  ).toMatchObject({ ready: 1, unready: 2 });
  expect(
    groupCounts([
      [lost, null],
      [ready, nodeOf('there')],
    ]),
  ).toMatchObject({ ready: 1, unready: 0 });
  const leaving = { ...lost, isDeleting: true };
  expect(
    lostAmong([
      [lost, true],
      [leaving, false],
      [leaving, false],
      [{ ...lost, node: null }, false],
    ]),
  ).toBe(0);
});

it('they stay for an hour while less than half of the group, or none of the cluster, is ready', () => {
  const kept = (group: typeof sound, cluster: typeof sound, since = NOW - 16 * MINUTE): string | null =>
    keptThoughLost('web', { group, cluster }, since, NOW);
  expect(kept({ ready: 1, unready: 2 }, sound)).toContain('1 of 3 nodes of web is ready');
  expect(kept({ ready: 2, unready: 2 }, sound)).toBeNull();
  expect(kept({ ready: 0, unready: 0 }, { ready: 0, unready: 2 })).toContain('none of the 2 nodes of the cluster');
  expect(kept({ ready: 1, unready: 2 }, sound, NOW - 60 * MINUTE)).toBeNull();
});

it('pods do not wait for a machine whose Node is gone: another one comes', () => {
  const state = stateOf({
    groups: [groupOf('web')],
    instanceTypes: { web: [typeOf('small', 4, 16)] },
    machines: [lost],
    pods: [podOf('waits', { cpu: '1' })],
  });
  expect(planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] }).plan.newNodes).toMatchObject([
    { group: 'web', count: 1 },
  ]);
});

it('nothing of the group goes by itself meanwhile', () => {
  const node = { ...nodeOf('there'), createdAt: NOW - 120 * MINUTE };
  const own = { ...ready, providerId: 'there', createdAt: NOW - 120 * MINUTE, phaseSince: NOW - 120 * MINUTE };
  const plan = (gone: number) => {
    const machines = [
      own,
      ...Array.from({ length: gone }, (_, at) => ({ ...lost, name: `m${at}`, node: `gone-${at}` })),
    ];
    const state = stateOf({
      groups: [groupOf('web', { minNodes: 0, desiredNodes: 0, budgets: [] })],
      instanceTypes: { web: [typeOf('small', 4, 16)] },
      machines,
      nodes: [node],
    });
    const memory = { ...freshPlanMemory, plannedAt: NOW - MINUTE, unneeded: { [node.uid]: NOW - 60 * MINUTE } };
    const { removals, kept } = planCluster(state, { blocked: {}, memory, requested: [] }).plan;
    const target = { group: 'web', node: 'there' };
    return [
      ...removals.map(({ reason }) => `goes: ${reason}`),
      ...kept.map(({ reason }) => `stays: ${reason}`),
      haltBefore(target, [node], machines, NOW) === null ? 'may go' : 'may not go',
    ];
  };
  expect(plan(1)).toEqual([expect.stringMatching(/^goes: /u), 'may go']);
  expect(plan(2)).toEqual(['stays: TooFewReady', 'may not go']);
});
