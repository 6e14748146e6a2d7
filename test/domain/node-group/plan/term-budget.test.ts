import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Pod, PodAffinityTerm } from '../../../../domain/node-group/model/pod.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { MOST_MEETINGS, MOST_TERMS } from '../../../../domain/node-group/scheduling/term-budget.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
const TERMS = 200;

/** Terms that no pod meets, each another one. */
function terms(count: number, over: Partial<PodAffinityTerm> = {}): readonly PodAffinityTerm[] {
  return Array.from({ length: count }, (_, n) => ({
    topologyKey: HOST,
    labelSelector: { matchLabels: { app: `nobody-${n}` } },
    ...over,
  }));
}

/** So many small pods of the namespace `many`, each with 200 terms. */
function many(count: number, over: Partial<PodAffinityTerm> = {}): readonly Pod[] {
  return Array.from({ length: count }, (_, n) => ({
    ...podOf(`p${n}`, { cpu: '10m' }, {}, { namespace: 'many', labels: { app: `app-${n}` } }),
    owner: OWNER,
    podAntiAffinity: terms(TERMS, over),
  }));
}

/** A thousand expressions about labels. */
function keys(operator: 'Exists' | 'DoesNotExist') {
  return Array.from({ length: 1_000 }, (_, n) => ({ key: `key-${n}`, operator }));
}

const BEYOND = MOST_TERMS / TERMS + 1;
const web = (name: string, cpu = '3'): Pod => ({ ...podOf(name, { cpu }), owner: OWNER });

/** Two old nodes that little is used of, and whatever is on them. */
function cluster(pods: readonly Pod[]): ClusterState {
  const nodes = ['a', 'b'].map((name) => nodeOf(name, { cpu: '4', memory: '16Gi', pods: '1000' }, { [ZONE]: 'z' }));
  const samples = Array.from({ length: 10 }, (_, age) => ({ at: NOW - age * 60_000, cpu: 5, memory: 5 }));
  return stateOf({
    groups: [groupOf('web')],
    instanceTypes: { web: [typeOf('small', 4, 16, { labels: { [ZONE]: 'z' } })] },
    nodes,
    machines: nodes.map(({ name }) =>
      machineOf(`m-${name}`, 'web', { node: name, phase: 'Ready', createdAt: NOW - 9e6 }),
    ),
    utilization: Object.fromEntries(nodes.map(({ name }) => [name, samples])),
    pods,
  });
}

function plan(state: ClusterState) {
  const unneeded = Object.fromEntries(state.nodes.map(({ uid }) => [uid, NOW - 3_600_000]));
  return planCluster(state, { blocked: {}, memory: { ...freshPlanMemory, unneeded }, requested: [] }).plan;
}

const added = (state: ClusterState): number => plan(state).newNodes.reduce((sum, { count }) => sum + count, 0);
const ofNamespace = (state: ClusterState, namespace: string) =>
  plan(state).unhelped.filter((pod) => pod.namespace === namespace);
const withoutNodes = (pods: readonly Pod[]): ClusterState => ({ ...cluster(pods), nodes: [], machines: [] });

describe('a namespace with very many terms', () => {
  it('is planned for up to its budget', () => {
    expect(ofNamespace(withoutNodes(many(40)), 'many')).toEqual([]);
    expect(ofNamespace(withoutNodes(many(BEYOND - 1)), 'many')).toEqual([]);
  });

  it.each<[string, Partial<PodAffinityTerm>]>([
    ['labels that must be there', { labelSelector: { matchExpressions: keys('Exists') } }],
    ['labels that must not be there', { labelSelector: { matchExpressions: keys('DoesNotExist') } }],
    [
      'values',
      {
        labelSelector: {
          matchExpressions: [{ key: 'a', operator: 'NotIn', values: keys('Exists').map(({ key }) => key) }],
        },
      },
    ],
  ])('counts what its terms name: %s', (_, term) => {
    const all = { namespaceSelector: {}, ...term };
    const few = Array.from({ length: 40 }, (_2, n) => ({
      ...podOf(`p${n}`, { cpu: '10m' }, {}, { namespace: 'many', labels: { app: `app-${n}` } }),
      podAntiAffinity: [{ topologyKey: `t-${n}`, ...all }],
    }));
    const others = Array.from({ length: 5_000 }, (_2, n) => web(`other-${n}`, '1m'));
    expect(ofNamespace(withoutNodes([...few, ...others]), 'many')).toMatchObject(
      few.map(() => ({ reason: 'TooManyTerms' })),
    );
  });

  it('is set aside and named beyond it, while everybody else is planned for', () => {
    const state = withoutNodes([...many(BEYOND), web('other')]);
    expect(plan(state).newNodes).toMatchObject([{ count: 1, pods: ['default/other'] }]);
    const unhelped = ofNamespace(state, 'many');
    expect(unhelped).toHaveLength(BEYOND);
    expect(unhelped[0]).toMatchObject({
      reason: 'TooManyTerms',
      detail:
        `the pods of the namespace many have ${BEYOND * TERMS} terms of affinity, anti-affinity and spread, ` +
        `more than ${MOST_TERMS}, so none of them is planned for; fewer terms, or several namespaces, help`,
    });
  });

  it('is judged by what its terms could mean too, with the lists that they have', () => {
    const asking = (values: number): readonly Pod[] => {
      const listed = Array.from({ length: values }, (_, n) => `v${n}`);
      const labelSelector = { matchExpressions: [{ key: 'app', operator: 'NotIn' as const, values: listed }] };
      return many(100).map((pod) => ({
        ...pod,
        podAntiAffinity: terms(TERMS).map((term, n) => ({ ...term, topologyKey: `key-${n}`, labelSelector })),
      }));
    };
    expect(TERMS * 100).toBeLessThan(MOST_MEETINGS);
    expect(ofNamespace(withoutNodes(asking(10)), 'many')).toEqual([]);
    const beyond = ofNamespace(withoutNodes(asking(16 * 20)), 'many');
    expect(beyond).toHaveLength(100);
    expect(beyond[0]?.detail).toBe(
      'the 20000 terms of affinity, anti-affinity and spread in the namespace many ask about more than ' +
        `${MOST_MEETINGS} pods, so none of them is planned for; fewer terms, or several namespaces, help`,
    );
  });

  it('counts pods that run as well as those that wait, and none that has ended', () => {
    const [first, ...others] = many(BEYOND);
    if (first === undefined) throw new Error('no pod');
    const running = others.map((pod) => boundTo('a', pod));
    expect(ofNamespace(cluster([first, ...running]), 'many')).toMatchObject([{ reason: 'TooManyTerms' }]);
    const ended = running.map((pod): Pod => ({ ...pod, phase: 'Succeeded' }));
    expect(ofNamespace(cluster([first, ...ended]), 'many')).toMatchObject([{ reason: 'FitsExisting' }]);
  });

  it('is set aside in the same way whatever the order of the pods', () => {
    const pods = [...many(BEYOND).map((pod, n) => (n % 2 === 0 ? boundTo('a', pod) : pod)), web('other'), web('more')];
    const expected = plan(cluster(pods));
    const halves = [...pods.filter((_, n) => n % 2 === 0), ...pods.filter((_, n) => n % 2 === 1)];
    for (const order of [pods.toReversed(), halves]) expect(plan(cluster(order))).toEqual(expected);
  });
});

describe('running pods of a namespace that is set aside', () => {
  const onA = (over: Partial<PodAffinityTerm> = {}): readonly Pod[] =>
    many(BEYOND, over).map((pod) => boundTo('a', pod));

  it('keep their node, as nobody knows where else they could be; the other one goes', () => {
    const { removals, kept } = plan(cluster(onA()));
    expect(removals.map(({ node }) => node)).toEqual(['b']);
    expect(kept).toMatchObject([{ node: 'a', reason: 'Affinity' }]);
    expect(kept[0]?.detail).toMatch(/^many\/p\d+ fits no other node: the pods of the namespace many have \d+ terms/);
  });

  it('keep nobody else away where their terms are about their own namespace', () => {
    const state = cluster([...onA(), boundTo('b', web('full', '4')), web('other', '1')]);
    expect(ofNamespace(state, 'default')).toMatchObject([{ name: 'other', reason: 'FitsExisting' }]);
  });

  it.each([
    ['by name', { namespaces: ['default'] }],
    ['by labels', { namespaceSelector: {} }],
  ])('count as keeping everybody else off their node where their terms reach other namespaces %s', (_, reach) => {
    const pending = cluster([...onA(reach), boundTo('b', web('full', '4')), web('other', '1')]);
    expect(plan(pending).newNodes).toMatchObject([{ count: 1, pods: ['default/other'] }]);
    const quiet = plan(cluster([...onA(reach), boundTo('b', web('moves', '1'))]));
    expect(quiet.removals).toEqual([]);
    expect(quiet.kept).toContainEqual(expect.objectContaining({ node: 'b', reason: 'Affinity' }));
  });

  it('and out of the whole zone, where no node comes in vain: the namespace is named', () => {
    const reach = { namespaceSelector: {}, topologyKey: ZONE };
    const state = cluster([...onA(reach), web('other', '1')]);
    expect(added(state)).toBe(0);
    expect(ofNamespace(state, 'default')).toMatchObject([{ name: 'other', reason: 'TooManyTerms' }]);
    expect(ofNamespace(state, 'default')[0]?.detail).toMatch(
      /^on a node small of web: the pods of the namespace many have .*; those that run there could keep it away$/,
    );
  });
});
