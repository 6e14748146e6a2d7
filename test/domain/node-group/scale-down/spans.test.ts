/** Since when something has been so is measured from plan to plan, and a clock may be put forward in between. */
import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { groupOf, machineOf, nodeOf, NOW, stateOf, typeOf } from '../builders.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Two nodes that nothing runs on; `b` has not been ready since a moment, if any. */
function stateAt(at: number, unreadySince: number | null = null): ClusterState {
  const createdAt = NOW - 48 * HOUR;
  const ready = unreadySince === null ? null : ({ status: 'Unknown', since: unreadySince } as const);
  return stateOf({
    at,
    groups: [groupOf('web', { minNodes: ready === null ? 0 : 2 })],
    instanceTypes: { web: [typeOf('small', 4, 16)] },
    nodes: ['a', 'b'].map((name) => {
      const node = { ...nodeOf(name), createdAt };
      return name === 'b' && ready !== null ? { ...node, ready } : node;
    }),
    machines: ['a', 'b'].map((node) =>
      machineOf(`m-${node}`, 'web', { node, phase: 'Ready', createdAt, phaseSince: createdAt, providerId: node }),
    ),
  });
}

/** What goes in plans at these moments, one after the other. */
function goneAt(moments: readonly number[], stateOfMoment: (at: number) => ClusterState): readonly number[] {
  let memory: PlanMemory = freshPlanMemory;
  return moments.map((at) => {
    const answer = planCluster(stateOfMoment(at), { blocked: {}, memory, requested: [] });
    memory = answer.memory;
    return answer.plan.removals.length;
  });
}

const each = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => NOW + (from + index) * MINUTE);

describe('a node that nobody needs', () => {
  it('goes when that has been so for the time of its group, from plan to plan', () => {
    expect(goneAt(each(0, 10), (at) => stateAt(at))).toEqual([...Array.from({ length: 10 }, () => 0), 2]);
  });

  it('does not go because the clock is put forward, or nobody planned for a while: its time begins anew', () => {
    const moments = [...each(0, 1), ...each(61, 70), ...each(71, 71)];
    expect(goneAt(moments, (at) => stateAt(at))).toEqual([...Array.from({ length: 12 }, () => 0), 2]);
  });

  it('does not go because the clock is put back', () => {
    expect(goneAt([...each(0, 1), ...each(-60, -51), ...each(-50, -50)], (at) => stateAt(at))).toEqual([
      ...Array.from({ length: 12 }, () => 0),
      2,
    ]);
  });
});

describe('a node that is not ready', () => {
  it('counts from when it became so last, where nobody looked whether it was ready in between', () => {
    // It was not ready as the plans ended; half an hour later, when they begin again, it is so since a minute.
    const since = (at: number): number => (at < NOW + 10 * MINUTE ? NOW - 10 * MINUTE : NOW + 29 * MINUTE);
    expect(goneAt([...each(0, 1), ...each(30, 30)], (at) => stateAt(at, since(at)))).toEqual([0, 0, 0]);
    // Without such a gap it may be the kind of not ready that has changed.
    const changed = (at: number): number => (at < NOW + 5 * MINUTE ? NOW - 10 * MINUTE : at);
    expect(goneAt(each(0, 10), (at) => stateAt(at, changed(at)))).toEqual([...Array.from({ length: 10 }, () => 0), 1]);
  });
});
