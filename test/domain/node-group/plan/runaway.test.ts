/** A model that is wrong on purpose: a node that came for a pod and does not get it stays the only one of its type. */
import { describe, expect, it } from 'vitest';
import type { AttachLimits, ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { boundTo, groupOf, podOf, typeOf } from '../builders.ts';
import { randomOf, SimulatedCluster, type SimulationOptions } from './simulated-cluster.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOSTNAME = 'kubernetes.io/hostname';
const types = { web: [typeOf('small', 4, 16, { labels: { [ZONE]: 'a' } })] };
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
const ofDb = { labelSelector: { matchLabels: { app: 'db' } } };
/** Two volumes of one driver, which each node of the model takes. */
const storage: Partial<ClusterState> = {
  claims: ['one', 'two'].map((name) => ({
    namespace: 'default',
    name,
    volume: name,
    storageClass: null,
    isLost: false,
  })),
  volumes: ['one', 'two'].map((name) => ({
    name,
    nodeAffinity: null,
    driver: 'disk.example.com',
    handle: name,
    isLocal: false,
  })),
};

function victim(over: Partial<Pod> = {}, cpu = 3000): Pod {
  return { ...podOf('victim', { cpu: `${cpu}m`, memory: '1Gi' }), labels: { app: 'db' }, owner, ...over };
}

/** Six pods of one CPU on two nodes, for half an hour; then the victim comes. */
function withOthers(options: Partial<SimulationOptions> = {}): SimulatedCluster {
  const groups = [groupOf('web', { maxNodes: 20 })];
  const cluster = new SimulatedCluster({ groups, instanceTypes: types, random: randomOf(7), use: 0.8, ...options });
  for (let count = 0; count < 6; count += 1) {
    cluster.pods.push({ ...podOf(`other-${count}`, { cpu: '1', memory: '1Gi' }), owner, isReady: true });
  }
  cluster.run(30);
  expect(cluster.size).toBe(2);
  return cluster;
}

/** Hours in which starters come and go, and a Job makes the pod anew each 13 minutes where it is still pending. */
function hours(cluster: SimulatedCluster, count: number): void {
  for (let minutes = 0; minutes < count * 60; minutes += 1) {
    if (minutes % 47 === 46) cluster.restart();
    if (minutes % 13 === 12) {
      cluster.pods = cluster.pods.map((pod) =>
        pod.node === null ? { ...pod, name: `victim-${minutes}`, uid: `uid-${minutes}`, createdAt: cluster.at } : pod,
      );
    }
    cluster.run(1);
  }
}

function cameSince(cluster: SimulatedCluster, at: number): readonly string[] {
  return cluster.lives.filter(({ cameAt }) => cameAt >= at).map(({ name }) => name);
}

interface Wrong {
  readonly about: string;
  readonly pod: Pod;
  readonly refuses: NonNullable<SimulationOptions['refuses']>;
}

const isVictim = ({ labels }: Pod): boolean => labels['app'] === 'db';
const always = (message: string) => (pod: Pod) => (isVictim(pod) ? message : null);

const unseen: readonly Wrong[] = [
  { about: 'resources', pod: victim(), refuses: always('Insufficient cpu') },
  {
    about: 'the number of pods',
    pod: victim(),
    refuses: (pod, { name }, pods) =>
      isVictim(pod) && pods.every(({ node }) => node !== name) ? 'Too many pods' : null,
  },
  {
    about: 'node selectors',
    pod: victim({ nodeSelector: { [ZONE]: 'a' } }),
    refuses: always("node(s) didn't match Pod's node affinity/selector"),
  },
  {
    about: 'node affinity',
    pod: victim({ nodeAffinity: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: ['a'] }] }] }),
    refuses: always("node(s) didn't match Pod's node affinity/selector"),
  },
  {
    about: 'taints',
    pod: victim({ tolerations: [{ key: 'a', operator: 'Exists' }] }),
    refuses: always('node(s) had untolerated taint(s)'),
  },
  {
    about: 'pod affinity',
    pod: victim({ podAffinity: [{ topologyKey: ZONE, ...ofDb }] }),
    refuses: always("node(s) didn't match pod affinity rules"),
  },
  {
    about: 'anti-affinity',
    pod: victim({ podAntiAffinity: [{ topologyKey: HOSTNAME, ...ofDb }] }),
    refuses: always("node(s) didn't match pod anti-affinity rules"),
  },
  {
    about: 'spread',
    pod: victim({ spread: [{ maxSkew: 1, topologyKey: ZONE, ...ofDb }] }),
    refuses: always("node(s) didn't match pod topology spread constraints"),
  },
  { about: 'volumes', pod: victim({ claims: ['one'] }), refuses: always('node(s) had volume node affinity conflict') },
  {
    about: 'attach limits',
    pod: victim({ claims: ['one', 'two'] }),
    refuses: always('node(s) exceed max volume count'),
  },
  {
    about: 'host ports',
    pod: victim({ hostPorts: [{ port: 9100, protocol: 'TCP', ip: '0.0.0.0' }] }),
    refuses: always("node(s) didn't have free ports for the requested pod ports"),
  },
  { about: 'a plugin of somebody else', pod: victim(), refuses: always('node(s) were not liked') },
];

describe('a pod that kube-scheduler places on none of the nodes that the model has it fit', () => {
  it.each(unseen)('makes one node, which is named, for hours: the model is wrong about $about', ({ pod, refuses }) => {
    const cluster = withOthers({ refuses, beside: storage });
    const from = cluster.at;
    cluster.pods.push({ ...pod, createdAt: from });
    hours(cluster, 7);
    const [came = '', ...more] = cameSince(cluster, from);
    expect(more).toEqual([]);
    // It has gone again, as nothing needs it.
    expect(cluster.size).toBe(2);
    const [named] = cluster.plan?.unhelped ?? [];
    expect(named).toMatchObject({ reason: 'CameInVain' });
    expect(named?.detail).toContain(`${came} (small of web) came for it in vain at 2026-01-01T`);
    expect(named?.detail).toContain(`kube-scheduler: 0/2 nodes are available: `);
  });

  it('makes one of each type', () => {
    const both = { web: [...types.web, typeOf('large', 8, 32)] };
    const groups = [groupOf('web', { offeringIds: ['small', 'large'] })];
    const cluster = withOthers({ groups, instanceTypes: both, refuses: always('no') });
    const from = cluster.at;
    cluster.pods.push({ ...victim(), createdAt: from });
    hours(cluster, 7);
    expect(cameSince(cluster, from)).toHaveLength(2);
    expect(cluster.plan?.unhelped).toMatchObject([{ reason: 'CameInVain' }]);
  });

  it('and its like make as many as there are pods, and no more', () => {
    const cluster = withOthers({ refuses: always('no') });
    const from = cluster.at;
    for (const name of ['a', 'b', 'c']) cluster.pods.push({ ...victim(), name, uid: name, createdAt: from });
    cluster.run(300);
    expect(cameSince(cluster, from)).toHaveLength(3);
  });

  it('and its like get their nodes when one that a person asked for has taken one of them', () => {
    let isMended = false;
    const cluster = withOthers({ refuses: (pod) => (isMended || !isVictim(pod) ? null : 'no') });
    for (const name of ['a', 'b']) cluster.pods.push({ ...victim(), name, uid: name, createdAt: cluster.at });
    hours(cluster, 3);
    isMended = true;
    hours(cluster, 3);
    expect([cluster.pending.length, cluster.size]).toEqual([2, 2]);
    cluster.want('web', 3);
    cluster.run(30);
    expect([cluster.pending.length, cluster.size]).toEqual([0, 4]);
  });

  it('makes no more with each of sixty kinds, though only some are written down at once', () => {
    const cluster = withOthers({ refuses: always('no') });
    const from = cluster.at;
    for (let kind = 0; kind < 60; kind += 1) {
      cluster.pods.push({ ...victim({}, 500 + kind), name: `v-${kind}`, uid: `v-${kind}`, createdAt: from });
    }
    cluster.run(10);
    const first = cameSince(cluster, from).length;
    expect(first).toBeLessThan(12);
    cluster.run(20);
    cluster.restart();
    cluster.run(200);
    expect([cameSince(cluster, from).length, cluster.size]).toEqual([first, 2]);
    expect(new Set(cluster.plan?.unhelped.map(({ reason }) => reason))).toEqual(new Set(['CameInVain']));
  });

  it('makes one where every machine is taken for one of four CPUs', () => {
    const groups = [groupOf('web', { estimate: 'simple' })];
    const instanceTypes = { web: [typeOf('small', 2, 8)] };
    const cluster = new SimulatedCluster({ groups, instanceTypes, random: randomOf(7), use: 0.8 });
    cluster.pods.push(victim());
    hours(cluster, 7);
    expect(cluster.lives).toHaveLength(1);
    expect(cluster.plan?.unhelped).toMatchObject([{ reason: 'CameInVain' }]);
  });

  it('makes one beside a pod of the same kind that another pod keeps away from all nodes', () => {
    const term = { topologyKey: 'kubernetes.io/os', labelSelector: { matchLabels: { app: 'a' } } };
    for (const names of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      let isShort = false;
      const asItComes = (node: Node): Node =>
        isShort ? { ...node, allocatable: { ...node.allocatable, cpu: 2000 } } : node;
      const cluster = withOthers({ asItComes });
      isShort = true;
      const from = cluster.at;
      const guard = cluster.pods.find(({ name }) => name === 'other-0');
      cluster.pods = cluster.pods.map((pod) => (pod === guard ? { ...pod, podAntiAffinity: [term] } : pod));
      for (const name of names) {
        cluster.pods.push({ ...victim(), name, uid: name, labels: { app: name }, createdAt: from });
      }
      cluster.run(240);
      expect(cameSince(cluster, from)).toHaveLength(1);
    }
  });

  it('does not keep others from nodes of the type, nor from its own node', () => {
    const cluster = withOthers({ refuses: always('no') });
    const from = cluster.at;
    cluster.pods.push({ ...victim(), createdAt: from });
    cluster.run(30);
    for (const name of ['x', 'y', 'z'])
      cluster.pods.push({ ...podOf(name, { cpu: '3' }), owner, isReady: true, createdAt: cluster.at });
    cluster.run(30);
    expect(cluster.pending.map(({ name }) => name)).toEqual(['victim']);
    expect(cameSince(cluster, from)).toHaveLength(3);
  });
});

describe('a pod that does not fit what its node turns out to be', () => {
  const limits: AttachLimits[] = [];
  const port = { port: 9100, protocol: 'TCP', ip: '0.0.0.0' } as const;
  const daemon = { ...owner, kind: 'DaemonSet', name: 'agent' };
  const tainted = (node: Node): Node => ({ ...node, taints: [{ key: 'agent', effect: 'NoSchedule' }] });
  const seen: readonly { about: string; pod: Pod; asItComes: (cluster: () => SimulatedCluster, node: Node) => Node }[] =
    [
      {
        about: 'its size',
        pod: victim({}, 4000),
        asItComes: (_, node) => ({ ...node, allocatable: { ...node.allocatable, cpu: 3900 } }),
      },
      {
        about: 'how many pods it takes',
        pod: victim(),
        asItComes: (_, node) => ({ ...node, allocatable: { ...node.allocatable, pods: 0 } }),
      },
      {
        about: 'its labels',
        pod: victim({ nodeSelector: { [ZONE]: 'a' } }),
        asItComes: (_, node) => ({ ...node, labels: { ...node.labels, [ZONE]: 'b' } }),
      },
      { about: 'a taint', pod: victim(), asItComes: (_, node) => tainted(node) },
      {
        about: 'a missing zone, over which it is spread',
        pod: victim({ spread: [{ maxSkew: 1, topologyKey: ZONE, ...ofDb }] }),
        asItComes: (_, { labels: { [ZONE]: _zone, ...labels }, ...node }) => ({ ...node, labels }),
      },
      {
        about: 'how many volumes can be attached',
        pod: victim({ claims: ['one', 'two'] }),
        asItComes: (_, node) => {
          limits.push({ node: node.name, limits: { 'disk.example.com': 1 } });
          return node;
        },
      },
      {
        about: 'a port that a pod of a DaemonSet has, which nobody knew of',
        pod: victim({ hostPorts: [port] }),
        asItComes: (cluster, node) => {
          const name = `agent-${node.name}`;
          cluster().pods.push({ ...boundTo(node.name, podOf(name, {})), owner: daemon, hostPorts: [port] });
          return node;
        },
      },
    ];

  it.each(seen)('makes one node, for hours: $about', ({ pod, asItComes }) => {
    limits.length = 0;
    let isOdd = false;
    const beside = { ...storage, attachLimits: limits };
    const cluster: SimulatedCluster = withOthers({
      beside,
      asItComes: (node) => (isOdd ? asItComes(() => cluster, node) : node),
    });
    isOdd = true;
    const from = cluster.at;
    cluster.pods.push({ ...pod, createdAt: from });
    hours(cluster, 7);
    expect(cameSince(cluster, from)).toHaveLength(1);
    expect(cluster.plan?.unhelped).toMatchObject([{ reason: 'CameInVain' }]);
  });

  it.each([
    ['cordoned', (node: Node): Node => ({ ...node, isCordoned: true })],
    [
      'under pressure',
      (node: Node): Node => ({ ...node, taints: [{ key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' }] }),
    ],
  ])('makes one more where a node is no good by itself, and no third one: %s', (_, asItComes) => {
    let isOdd = false;
    const cluster = withOthers({ asItComes: (node) => (isOdd ? asItComes(node) : node) });
    isOdd = true;
    const from = cluster.at;
    cluster.pods.push({ ...victim(), createdAt: from });
    hours(cluster, 7);
    expect(cameSince(cluster, from)).toHaveLength(2);
    expect(cluster.plan?.unhelped).toMatchObject([{ reason: 'CameInVain' }]);
  });

  it('gets another node where only one was no good', () => {
    let left = 1;
    const cluster = withOthers({
      asItComes: (node) => {
        left -= 1;
        return left === -2 ? { ...node, isCordoned: true } : node;
      },
    });
    const from = cluster.at;
    cluster.pods.push({ ...victim(), createdAt: from });
    cluster.run(30);
    expect(cluster.pending).toEqual([]);
    expect(cameSince(cluster, from)).toHaveLength(2);
  });
});

describe('a node in place of another one that does not get the pods of that one', () => {
  const sizes = {
    web: [typeOf('large', 16, 64, { pricePerHour: 0.4 }), typeOf('small', 4, 16, { pricePerHour: 0.1 })],
  };
  const scaleDown = { ...groupOf('web').scaleDown, consolidation: true };
  const over = { offeringIds: ['large', 'small'], preferredInstanceType: 'large', scaleDown };
  const isSmall = ({ labels }: Node): boolean => labels['node.kubernetes.io/instance-type'] === 'small';

  it('is the only one of its type, for hours', () => {
    const cluster = new SimulatedCluster({
      groups: [groupOf('web', over)],
      instanceTypes: sizes,
      random: randomOf(7),
      use: 0.8,
      refuses: (pod, node) => (isVictim(pod) && isSmall(node) ? 'no' : null),
    });
    cluster.pods.push({ ...victim(), isReady: true });
    hours(cluster, 12);
    // A large one, a small one that is cheaper, and a large one again.
    expect(cluster.lives).toHaveLength(3);
    expect([cluster.pending, cluster.nodes.map(isSmall)]).toEqual([[], [false]]);
  });

  it('is given pods that it can have', () => {
    const cluster = new SimulatedCluster({
      groups: [groupOf('web', over)],
      instanceTypes: sizes,
      random: randomOf(7),
      use: 0.8,
    });
    cluster.pods.push({ ...victim(), isReady: true });
    hours(cluster, 3);
    expect([cluster.lives.length, cluster.nodes.map(isSmall)]).toEqual([2, [true]]);
  });
});
