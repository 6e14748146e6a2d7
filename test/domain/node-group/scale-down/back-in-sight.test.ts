/** A control plane that sees its nodes again sees one after the other. */
import { describe, expect, it } from 'vitest';
import { haltBefore } from '../../../../domain/node-group/drain/halt.ts';
import { markPatch } from '../../../../domain/node-group/drain/marks.ts';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { ClusterPlan } from '../../../../domain/node-group/model/plan.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Since when a node is Ready, or is not. */
type Condition = readonly ['ready' | 'lost', number];

const LONG_READY: Condition = ['ready', NOW - 24 * HOUR];
const LONG_LOST: Condition = ['lost', NOW - HOUR];

interface Cluster {
  /** The nodes of the group `web`, which have been there for two days. */
  readonly own: readonly Condition[];
  /** Those of another group; ten that are sound where it says nothing. */
  readonly others?: readonly Condition[];
}

/** As it is at a moment: each node has a pod that fits no other one. */
function stateAt(at: number, { own, others = Array.from({ length: 10 }, () => LONG_READY) }: Cluster): ClusterState {
  const names = own.map((_, index) => `w${index}`);
  const otherNames = others.map((_, index) => `o${index}`);
  const conditions = new Map([...names, ...otherNames].map((name, index) => [name, [...own, ...others][index]]));
  const created = NOW - 48 * HOUR;
  return stateOf({
    at,
    groups: [groupOf('web', { minNodes: own.length }), groupOf('api', { minNodes: others.length })],
    instanceTypes: { web: [typeOf('small', 4, 16)], api: [typeOf('small', 4, 16)] },
    nodes: [...conditions].map(([name, condition]): Node => {
      const [is, since] = condition ?? LONG_READY;
      return {
        ...nodeOf(name),
        createdAt: created,
        ready: { status: is === 'ready' ? 'True' : 'Unknown', since },
      };
    }),
    machines: [...conditions.keys()].map((node) =>
      machineOf(`m-${node}`, node.startsWith('w') ? 'web' : 'api', {
        node,
        phase: 'Ready',
        createdAt: created,
        phaseSince: created + MINUTE,
        providerId: node,
      }),
    ),
    pods: [...conditions.keys()].map((node) => ({
      ...boundTo(node, podOf(`on-${node}`, { cpu: '3' })),
      owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' },
    })),
  });
}

function planOf(state: ClusterState, memory: PlanMemory = freshPlanMemory) {
  return planCluster(state, { blocked: {}, memory, requested: [] });
}

function removalsOf({ removals }: ClusterPlan): readonly string[] {
  return removals.map(({ node, reason }) => `${node} ${reason}`);
}

describe('nodes that the control plane sees again one after the other, seconds apart', () => {
  /** When each of them comes back; all were lost an hour ago. */
  const comeBack = (count: number): readonly number[] =>
    Array.from({ length: count }, (_, index) => NOW + index * 5 * SECOND);
  const at = (moment: number, back: readonly number[]): readonly Condition[] =>
    back.map((since) => (since <= moment ? ['ready', since] : LONG_LOST));

  it.each([2, 3, 5, 8])(
    'are replaced neither by one starter nor by another one that has just begun, of %i',
    (count) => {
      const back = comeBack(count);
      let memory = freshPlanMemory;
      for (let moment = NOW - MINUTE; moment <= NOW + 2 * MINUTE; moment += SECOND) {
        const state = stateAt(moment, { own: at(moment, back) });
        const answer = planOf(state, memory);
        memory = answer.memory;
        expect([moment - NOW, removalsOf(answer.plan), removalsOf(planOf(state).plan)]).toEqual([moment - NOW, [], []]);
      }
    },
  );

  it('are not replaced where it was the cluster that halted', () => {
    const sound = Array.from({ length: 10 }, () => LONG_READY);
    const back = comeBack(10);
    for (let moment = NOW; moment <= NOW + MINUTE; moment += SECOND) {
      // Of the group itself no more than half are lost at any time.
      const cluster = { own: [...sound, ...sound.slice(0, 2), ...at(moment, back)], others: [] };
      const seen = planOf(stateAt(moment, cluster)).plan;
      expect([moment - NOW, removalsOf(seen)]).toEqual([moment - NOW, []]);
    }
  });

  it('have as much time from then on as any other, and go when they do not come back', () => {
    const own: readonly Condition[] = [['ready', NOW], ['ready', NOW + 5 * SECOND], LONG_LOST];
    const until = NOW + 5 * SECOND + 20 * MINUTE;
    expect(planOf(stateAt(until - SECOND, { own })).plan.kept.find(({ node }) => node === 'w2')).toEqual({
      group: 'web',
      node: 'w2',
      reason: 'NotReadyLately',
      detail:
        'it has not been ready since 2025-12-31T23:00:00Z, and others came back at 2026-01-01T00:00:05Z; it is replaced from 2026-01-01T00:20:05Z',
      until,
    });
    expect(removalsOf(planOf(stateAt(until, { own })).plan)).toEqual(['w2 NotReady']);
  });
});

describe('a broken node is replaced in time', () => {
  it('where another one came back, and so many were ready all the while that nothing was halted', () => {
    const own: readonly Condition[] = [LONG_READY, LONG_READY, ['ready', NOW - MINUTE], LONG_LOST];
    expect(removalsOf(planOf(stateAt(NOW, { own })).plan)).toEqual(['w3 NotReady']);
  });

  it('where nodes are new, and not back', () => {
    const state = stateAt(NOW, { own: [['ready', NOW - SECOND], ['ready', NOW - SECOND], LONG_LOST] });
    const machines = state.machines.map((machine) =>
      machine.node === 'w0' || machine.node === 'w1' ? { ...machine, phaseSince: NOW } : machine,
    );
    expect(removalsOf(planOf({ ...state, machines }).plan)).toEqual(['w2 NotReady']);
  });

  it('where a node says that it will come back in an hour', () => {
    const own: readonly Condition[] = [LONG_READY, ['ready', NOW + HOUR], LONG_LOST];
    expect(removalsOf(planOf(stateAt(NOW, { own })).plan)).toEqual(['w2 NotReady']);
  });

  // Both halt the group each time, and their time begins anew each time.
  it.each([
    { flapping: 1, sound: 0 },
    { flapping: 1, sound: 1 },
    { flapping: 2, sound: 1 },
  ])('although $flapping beside $sound others that are sound come and go for ever', ({ flapping, sound }) => {
    let memory = freshPlanMemory;
    let began = NOW;
    let went: number | null = null;
    for (let at = NOW; went === null && at < NOW + 12 * HOUR; at += 30 * SECOND) {
      // Ten minutes there, five minutes not.
      const turn = Math.floor((at - NOW) / MINUTE) % 15;
      if (at > NOW && turn === 0) began = at;
      const now: Condition = turn < 10 ? ['ready', began] : ['lost', began + 10 * MINUTE];
      const own = [
        LONG_LOST,
        ...Array.from({ length: flapping }, () => now),
        ...Array.from({ length: sound }, () => LONG_READY),
      ];
      const answer = planOf(stateAt(at, { own }), memory);
      memory = answer.memory;
      if (answer.plan.removals.length > 0) went = at;
    }
    // It is seen in two of three minutes, and goes when that was an hour.
    const minutes = ((went ?? Number.POSITIVE_INFINITY) - NOW) / MINUTE;
    expect(minutes).toBeGreaterThan(80);
    expect(minutes).toBeLessThan(95);
  });
});

describe('a drain of a node that is not ready', () => {
  /** Whether it is held when it began at a moment. */
  function heldFrom(began: number, own: readonly Condition[], at = NOW): string | null {
    const { nodes, machines } = stateAt(at, { own });
    const marked = nodes.map((node) => {
      if (node.name !== 'w0') return node;
      const { annotations } = markPatch(node, 'a drain', began).metadata;
      return { ...node, annotations: annotations as Node['annotations'] };
    });
    return haltBefore(
      { group: 'web', node: 'w0' },
      marked,
      machines.filter(({ group }) => group === 'web'),
      at,
    );
  }

  it('is undone when others came back since it began, and one that began later goes on', () => {
    const own: readonly Condition[] = [LONG_LOST, ['ready', NOW - MINUTE], ['ready', NOW - 30 * SECOND]];
    expect(heldFrom(NOW - 2 * MINUTE, own)).toMatch(
      /^other nodes came back at 2025-12-31T23:59:30Z, after its drain began/,
    );
    expect(heldFrom(NOW - 20 * SECOND, own)).toBeNull();
  });

  it('goes on when so many were ready all the while that nothing was halted', () => {
    expect(heldFrom(NOW - 2 * MINUTE, [LONG_LOST, LONG_READY, LONG_READY, ['ready', NOW - SECOND]])).toBeNull();
  });

  it('that is ready is not asked about', () => {
    const back: readonly Condition[] = [
      ['ready', NOW - 3 * SECOND],
      ['ready', NOW - 2 * SECOND],
      ['ready', NOW - SECOND],
    ];
    expect(heldFrom(NOW - MINUTE, back)).toBeNull();
  });
});
