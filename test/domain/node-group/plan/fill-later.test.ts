import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { firstFilledFirst } from '../../../../domain/node-group/plan/fill-later.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { groupOf, machineOf, podOf, stateOf, typeOf } from '../builders.ts';

const ZONE = 'topology.kubernetes.io/zone';

/** One group a zone and size, by price. */
const instanceTypes = Object.fromEntries(
  ['a', 'b'].flatMap((zone) =>
    [4, 16].map((cores) => {
      const name = `${zone}-${cores}`;
      return [name, [typeOf(name, cores, cores * 4, { labels: { [ZONE]: zone }, pricePerHour: cores / 10 })]];
    }),
  ),
);
const groups = Object.keys(instanceTypes).map((name) =>
  groupOf(name, { offeringIds: [name], expander: 'price', maxNodes: 10 }),
);

function podsOf(name: string, count: number, cpu: string, spec: Readonly<Record<string, unknown>> = {}) {
  return Array.from({ length: count }, (_, index) => podOf(`${name}-${index}`, { cpu, memory: '1Gi' }, spec));
}

/** By group, how much later its new nodes are filled. */
function laterOf(pods: readonly Pod[], over: Partial<ClusterState> = {}): Readonly<Record<string, number | undefined>> {
  const state = stateOf({ groups, instanceTypes, pods, ...over });
  const { plan } = planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] });
  return Object.fromEntries(plan.newNodes.map(({ group, fillLater }) => [group, fillLater]));
}

describe('the nodes of a plan', () => {
  it('are filled in any order where all pods may be on all of them', () => {
    const later = laterOf(podsOf('web', 42, '3500m'));
    expect(Object.keys(later).length).toBeGreaterThan(1);
    expect(Object.values(later).filter((each) => each !== undefined)).toEqual([]);
  });

  it('are filled later where pods of one zone need them than where none do', () => {
    const later = laterOf([...podsOf('any', 28, '1'), ...podsOf('bound', 4, '1', { nodeSelector: { [ZONE]: 'b' } })]);
    expect(Object.keys(later).toSorted()).toEqual(['a-16', 'b-16']);
    expect(later['a-16']).toBeUndefined();
    expect(later['b-16']).toBeGreaterThan(0);
  });

  it('are filled in any order where their group does not go by price: what pods would rather have counts more', () => {
    const wasteless = groups.map((group) => ({ ...group, expander: 'least-waste' as const }));
    const pods = [...podsOf('any', 28, '1'), ...podsOf('bound', 4, '1', { nodeSelector: { [ZONE]: 'b' } })];
    expect(Object.values(laterOf(pods, { groups: wasteless })).filter((each) => each !== undefined)).toEqual([]);
  });

  it('are filled later where pods need them that are too large for the others', () => {
    const only = { 'a-4': instanceTypes['a-4'] ?? [], 'a-16': instanceTypes['a-16'] ?? [] };
    const later = laterOf([...podsOf('small', 20, '500m'), ...podsOf('large', 2, '14')], { instanceTypes: only });
    expect(later['a-4']).toBeUndefined();
    expect(later['a-16']).toBeGreaterThan(0);
  });

  it('are filled later than those on their way, which a part of the same plan has asked for', () => {
    const pods = [...podsOf('any', 28, '1'), ...podsOf('bound', 4, '1', { nodeSelector: { [ZONE]: 'b' } })];
    const machines = [machineOf('a-16-1', 'a-16', { instanceType: 'a-16' })];
    expect(laterOf(pods, { machines })).toEqual({ 'b-16': 2 });
  });

  it('are filled in any order where pods request what no node has', () => {
    const pods = podsOf('odd', 3, '1').map((pod) => ({
      ...pod,
      requests: { ...pod.requests, 'example.com/device': 0 },
    }));
    expect(Object.values(laterOf(pods)).filter((each) => each !== undefined)).toEqual([]);
  });
});

describe('groups', () => {
  it('are woken in the order in which the first of their nodes are filled, whatever else they get', () => {
    const newNodes = [
      { group: 'later', fillLater: 1 },
      { group: 'mixed' },
      { group: 'mixed', fillLater: 2 },
      { group: 'latest', fillLater: 2 },
    ];
    const names = ['latest', 'later', 'mixed', 'none'].map((name) => ({ name }));
    expect(firstFilledFirst(names, newNodes).map(({ name }) => name)).toEqual(['mixed', 'none', 'later', 'latest']);
  });
});
