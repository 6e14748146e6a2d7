import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, podOf, stateOf, typeOf } from '../builders.ts';
import { randomOf, SimulatedCluster } from './simulated-cluster.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GIB = 1024 ** 3;
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
const CPUS = [250, 500, 500, 1000, 1500, 2000];

function appPod(name: string, cpu: number, gib: number): Pod {
  return { ...podOf(name, { cpu: `${cpu}m`, memory: `${gib}Gi` }), owner: OWNER, isReady: true };
}

/** The day of one seed: how many pods there are, of which sizes, and how long they live. */
function dayOf(seed: number) {
  const random = randomOf(seed);
  const types = [typeOf('small', 4, 16, { pricePerHour: 0.1 }), typeOf('large', 8, 32, { pricePerHour: 0.19 })];
  const over: Partial<NodeGroup> = {
    offeringIds: ['small', 'large'],
    budgets: [{ nodes: '10%', reasons: [], window: null }],
    expander: seed % 2 === 0 ? 'price' : 'least-waste',
  };
  const groups = [groupOf('web', over), groupOf('api', { ...over, maxNodes: 3 })];
  const cluster = new SimulatedCluster({
    groups,
    instanceTypes: { web: types, api: types },
    random,
    use: seed % 3 === 0 ? 0.6 : 0.15,
  });
  let count = 0;
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const add = (): void => {
    count += 1;
    cluster.pods.push(appPod(`p${count}`, pick(CPUS) ?? 500, 1 + Math.floor(random() * 4)));
  };
  const end = (): void => {
    const gone = pick(cluster.pods);
    cluster.pods = cluster.pods.filter((pod) => pod !== gone);
  };
  /** A pod ends, and its controller makes another one of the same size. */
  const churn = (): void => {
    const gone = pick(cluster.pods);
    if (gone === undefined) return;
    count += 1;
    const { cpu = 0, memory = 0 } = gone.requests;
    cluster.pods = [...cluster.pods.filter((pod) => pod !== gone), appPod(`p${count}`, cpu, memory / 1024 ** 3)];
  };
  return { cluster, random, add, end, churn };
}

describe('an hour of a random day', () => {
  it.each([1, 4, 7, 11, 16, 36, 182])('seed %i: under a steady load no node comes and goes', (seed) => {
    const { cluster, random, add, end, churn } = dayOf(seed);
    const most = 20 + Math.floor(random() * 30);
    // The morning: pods come, and some go; at noon more of them end.
    cluster.run(40, () => {
      if (cluster.pods.length < most && random() < 0.5) add();
      else if (random() < 0.05) end();
    });
    for (let left = Math.floor(random() * 0.6 * most); left > 0; left -= 1) end();
    const steadyFrom = cluster.at;
    cluster.run(90, () => {
      if (random() < 0.3) churn();
    });
    const cameAndWent = cluster.lives.filter(
      ({ cameAt, wentAt }) => cameAt >= steadyFrom && wentAt !== null && wentAt - cameAt < HOUR,
    );
    expect(cameAndWent).toEqual([]);
    expect(cluster.pending.filter(({ createdAt }) => cluster.at - createdAt > 5 * MINUTE)).toEqual([]);
    // Nodes that the noon left without pods are gone.
    expect(cluster.plan?.removals).toEqual([]);
  });

  it.each([
    ['1e400', 'kube-scheduler reads 0 and places it'],
    ['10000000000000000000', 'it is less than nothing'],
    ['16Ei', 'somebody wrote the name of the node into it'],
  ])('a pod that asks for %s of memory makes no node come and go: %s', (memory) => {
    const { cluster, random, add, churn } = dayOf(2);
    for (let count = 0; count < 25; count += 1) add();
    cluster.run(70);
    const steadyFrom = cluster.at;
    const { name = '' } = cluster.lives.find(({ wentAt }) => wentAt === null) ?? {};
    const odd = podOf('odd', { cpu: '100m', memory });
    cluster.pods.push(boundTo(name, { ...odd, owner: OWNER, isReady: true }));
    cluster.run(180, () => {
      if (random() < 0.3) churn();
    });
    expect(cluster.lives.filter(({ cameAt }) => cameAt >= steadyFrom).length).toBeLessThan(3);
  });

  it('gives back what pods leave behind within half an hour, though it came lately', () => {
    const { cluster, add } = dayOf(5);
    for (let count = 0; count < 40; count += 1) add();
    cluster.run(5);
    expect(cluster.size).toBeGreaterThan(4);
    cluster.pods = [];
    cluster.run(60);
    expect(cluster.size).toBe(0);
  });
});

describe('a node that its pod cannot use never causes a second one', () => {
  const types = { web: [typeOf('small', 4, 16, { labels: { 'topology.kubernetes.io/zone': 'a' } })] };
  const large = appPod('large', 4000, 4);
  const inZone = { ...appPod('zonal', 500, 1), nodeSelector: { 'topology.kubernetes.io/zone': 'a' } };
  const withGpu = { ...appPod('learner', 500, 1), requests: { cpu: 500, 'nvidia.com/gpu': 1 } };
  const gpuTypes = {
    web: [{ ...typeOf('small', 4, 16), allocatable: { cpu: 4000, memory: 16 * GIB, pods: 110, 'nvidia.com/gpu': 1 } }],
  };

  it.each([
    [
      'it is smaller than its type',
      large,
      types,
      (node: Node) => ({ ...node, allocatable: { ...node.allocatable, cpu: 3900 } }),
    ],
    [
      'it has a taint that nobody spoke of',
      large,
      types,
      (node: Node) => ({ ...node, taints: [{ key: 'agent', effect: 'NoSchedule' as const }] }),
    ],
    [
      'it is in another zone',
      inZone,
      types,
      (node: Node) => ({ ...node, labels: { ...node.labels, 'topology.kubernetes.io/zone': 'b' } }),
    ],
    [
      'it has no device',
      withGpu,
      gpuTypes,
      (node: Node) => ({ ...node, allocatable: { cpu: 4000, memory: 16 * GIB, pods: 110 } }),
    ],
  ])('where %s', (_, pod, instanceTypes, asItComes) => {
    const cluster = new SimulatedCluster({
      groups: [groupOf('web')],
      instanceTypes,
      random: randomOf(3),
      use: 0.5,
      asItComes,
    });
    cluster.pods.push(pod);
    // The node has gone again in the meantime, as nobody used it.
    cluster.run(180);
    expect(cluster.requests).toEqual([1]);
    expect(cluster.plan?.unhelped).toMatchObject([{ name: pod.name }]);
    expect(cluster.size).toBe(0);
  });

  it('and its own pods on every node count', () => {
    const asItComes = (node: Node): Node => {
      const { name } = node;
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.uid };
      const annotations = { 'kubernetes.io/config.mirror': 'x' };
      cluster.pods.push({ ...boundTo(name, appPod(`proxy-${name}`, 100, 1)), owner, annotations });
      return node;
    };
    const cluster = new SimulatedCluster({
      groups: [groupOf('web')],
      instanceTypes: types,
      random: randomOf(3),
      use: 0.5,
      asItComes,
    });
    cluster.pods.push(large);
    cluster.run(180);
    expect(cluster.requests).toEqual([1]);
  });
});

describe('pods that keep apart or are spread', () => {
  const zones = ['a', 'b', 'c'];
  const groups = zones.map((zone) => groupOf(`pool-${zone}`));
  const instanceTypes = Object.fromEntries(
    zones.map((zone) => [
      `pool-${zone}`,
      [typeOf('small', 4, 16, { labels: { 'topology.kubernetes.io/zone': zone } })],
    ]),
  );
  const selector = { labelSelector: { matchLabels: { app: 'db' } } };
  const labelled = (count: number, cpu: number, over: Partial<Pod>): readonly Pod[] =>
    Array.from({ length: count }, (_, index) => ({ ...appPod(`db-${index}`, cpu, 1), labels: { app: 'db' }, ...over }));
  const planned = (pods: readonly Pod[]): number => {
    const state = stateOf({ groups, instanceTypes, pods });
    const { plan } = planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] });
    expect(plan.unhelped).toEqual([]);
    return plan.newNodes.reduce((sum, { count }) => sum + count, 0);
  };
  const count = fc.integer({ min: 1, max: 40 });
  const cpu = fc.constantFrom(250, 500, 1000, 1300, 2000);
  const runs = { seed: 15, numRuns: 100 };

  it('get at most one node more than they need, in one request: apart from each other, with others beside them', () => {
    fc.assert(
      fc.property(count, cpu, count, cpu, (apart, size, others, otherSize) => {
        const pods = [
          ...labelled(apart, size, { podAntiAffinity: [{ topologyKey: 'kubernetes.io/hostname', ...selector }] }),
          ...Array.from({ length: others }, (_, index) => appPod(`web-${index}`, otherSize, 1)),
        ];
        const beside = Math.floor((4000 - size) / otherSize) * apart;
        const optimum = apart + Math.ceil(Math.max(0, others - beside) / Math.floor(4000 / otherSize));
        expect(planned(pods)).toBeLessThanOrEqual(optimum + 1);
      }),
      runs,
    );
  });

  it('get at most one node more than they need, in one request: spread over zones', () => {
    fc.assert(
      fc.property(count, cpu, (pods, size) => {
        const spread = [{ maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', ...selector }];
        const aNode = Math.floor(4000 / size);
        const inZones = zones.map((_, index) => Math.floor((pods + index) / zones.length));
        const optimum = inZones.reduce((sum, here) => sum + Math.ceil(here / aNode), 0);
        expect(planned(labelled(pods, size, { spread }))).toBeLessThanOrEqual(optimum + 1);
      }),
      runs,
    );
  });
});
