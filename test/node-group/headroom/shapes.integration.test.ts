/** Pods with rules about one another get at most one node more than they need, by one decision. */
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INSTANCE_TYPES } from '../../../activities/node-group/provider/kwok/instance-types.ts';
import { eventually, never } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { type KwokType, NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';
import { partOf } from '../../kernel/long.ts';

type PodSpec = NonNullable<V1Pod['spec']>;

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const labelSelector = { matchLabels: { app: 'web' } };
const small = { capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 };
const types: readonly KwokType[] = [
  { id: 'small', ...small },
  ...['a', 'b', 'c'].map((zone) => ({ id: `small-${zone}`, ...small, labels: { [ZONE]: zone } })),
  { id: 'shrinking', ...small },
];

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes(types);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

const spread = (topologyKey: string, more: object = {}): Partial<PodSpec> => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector, ...more }],
});

const apart: Partial<PodSpec> = {
  affinity: {
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, labelSelector }] },
  },
};

interface Shape {
  readonly name: string;
  readonly pods: number;
  readonly spec: Partial<PodSpec>;
  /** The fewest nodes on which the pods can run. */
  readonly optimum: number;
}

/** Without it one zone that has nodes is enough. */
const THREE = { minDomains: 3 };

/** Each pod asks for 1 of the 4 CPUs of a node. */
const shapes: readonly Shape[] = [
  { name: 'spread-hosts', pods: 8, spec: spread(HOST), optimum: 2 },
  { name: 'spread-three', pods: 7, spec: spread(HOST, THREE), optimum: 3 },
  { name: 'apart', pods: 5, spec: apart, optimum: 5 },
  { name: 'spread-zones', pods: 12, spec: spread(ZONE), optimum: 3 },
  { name: 'spread-three-zones', pods: 12, spec: spread(ZONE, THREE), optimum: 3 },
  { name: 'both', pods: 12, spec: { ...spread(ZONE), ...apart }, optimum: 12 },
];

describe('pods with rules about one another', () => {
  it.each(partOf(shapes, 3))(
    'get at most one node above the optimum in one decision: $name',
    async ({ name, pods, spec, optimum }) => {
      const isZoned = JSON.stringify(spec).includes(ZONE);
      const offeringIDs = isZoned ? ['small-a', 'small-b', 'small-c'] : ['small'];
      await cluster.createDeployment(name, pods, { ...spec, ...onlyOn(name) });
      // Before the group, so that one plan sees all of them, however long they take to be made.
      await eventually('all pods wait', async () => (await cluster.pods(name)).length === pods);
      await cluster.createGroup(name, { offeringIDs, maxNodes: 20, ...ownNodes(name) });
      await cluster.untilRunning(name, pods);
      const created = await cluster.createdNodes(name);
      await cluster.untilReady(name, created.length);
      await cluster.untilSteady(name);
      expect(created.length).toBeGreaterThanOrEqual(optimum);
      expect(created.length).toBeLessThanOrEqual(optimum + 1);
      expect(await cluster.createdNodes(name)).toHaveLength(created.length);
      expect(await cluster.decisions(name)).toHaveLength(1);
    },
  );

  it('that are to be in three zones, of a group each, get one node in each', async () => {
    const groups = ['zone-a', 'zone-b', 'zone-c'];
    for (const group of groups) {
      await cluster.createGroup(group, { offeringIDs: [group.replace('zone', 'small')], ...ownNodes('zones') });
      await cluster.untilSteady(group);
    }
    await cluster.createDeployment('zones', 12, { ...spread(ZONE, THREE), ...onlyOn('zones') });
    await cluster.untilRunning('zones', 12);
    for (const group of groups) {
      await cluster.untilReady(group, 1);
      expect(await cluster.createdNodes(group)).toHaveLength(1);
    }
  });
});

describe('two groups that fit one pod', () => {
  it('make one node', async () => {
    const groups = ['either', 'other'];
    for (const group of groups) {
      await cluster.createGroup(group, { offeringIDs: ['small'], ...ownNodes('shared') });
      await cluster.untilSteady(group);
    }
    await cluster.createPods('shared', 1, onlyOn('shared'));
    await cluster.untilRunning('shared', 1);
    const made = async (): Promise<number> =>
      (await Promise.all(groups.map(async (group) => await cluster.createdNodes(group)))).flat().length;
    expect(await made()).toBe(1);
    await never('a second node is made', async () => (await made()) > 1, 5_000);
  });
});

describe('a node that its pod cannot use', () => {
  it('causes no second one, and does not go while the load is the same', async () => {
    const group = 'smaller';
    await cluster.createGroup(group, { offeringIDs: ['shrinking'], ...ownNodes(group) });
    await eventually(
      'its instance types are known',
      async () => (await cluster.group(group)).status?.instanceTypes?.length === 1,
    );
    // What the provider said is not what it gives.
    const { namespace, name, key } = INSTANCE_TYPES;
    const given = types.map((type) =>
      type.id === 'shrinking' ? { ...type, capacity: { cpu: '1', memory: '1Gi' } } : type,
    );
    await cluster.core.replaceNamespacedConfigMap({
      namespace,
      name,
      body: { metadata: { name }, data: { [key]: JSON.stringify(given) } },
    });
    const resources = { requests: { cpu: '2' } };
    await cluster.createPods(group, 1, {
      containers: [{ name: 'main', image: 'test/none:1', resources }],
      ...onlyOn(group),
    });
    await eventually('its node is there', async () => (await cluster.nodes(group)).length === 1);
    const { facts } = await cluster.untilStatus(
      group,
      'steady',
      ({ phase, reason }) => phase === 'Steady' && reason === 'PodsUnhelped',
    );
    expect(facts.join('\n')).toContain(`No node for ${group}/pod-0: `);
    const isOther = async (): Promise<boolean> =>
      (await cluster.createdNodes(group)).length !== 1 || (await cluster.nodes(group)).length !== 1;
    await never('a second node is made, or the first one goes', isOther, 15_000);
    expect(await cluster.running(group)).toBe(0);
  });
});
