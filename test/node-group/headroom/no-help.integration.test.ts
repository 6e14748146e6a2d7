/** Pods that no new node would help get none, and the reason is named. */
import { StorageV1Api, type V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';
import { partOf } from '../../kernel/long.ts';

type PodSpec = NonNullable<V1Pod['spec']>;

const ZONE = 'topology.kubernetes.io/zone';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([
    { id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, labels: { [ZONE]: 'a' }, pricePerHour: 0.1 },
  ]);
  await plane.startWorker();
  await plane.startStarter();
  await cluster.createGroup('pool', { offeringIDs: ['small'] });
  await cluster.untilSteady('pool');
});

afterAll(async () => {
  await plane?.stop();
});

const claiming = (claimName: string): Partial<PodSpec> => ({
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
});

const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' },
};

/** A claim that no volume is there for. */
async function unboundClaim(namespace: string): Promise<void> {
  await cluster.core.createNamespacedPersistentVolumeClaim({ namespace, body: claim });
}

/** A claim that is bound to a volume in a zone where no group has nodes. */
async function claimElsewhere(namespace: string): Promise<void> {
  const values = ['b'];
  await cluster.core.createPersistentVolume({
    body: {
      metadata: { name: namespace },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        csi: { driver: 'test.example.com', volumeHandle: namespace },
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values }] }] },
        },
      },
    },
  });
  const body = { ...claim, spec: { ...claim.spec, volumeName: namespace } };
  await cluster.core.createNamespacedPersistentVolumeClaim({ namespace, body });
}

/** A DaemonSet of the whole cluster, which is created where `namespace` fills in its pods. */
async function daemonSet(namespace: string, spec: PodSpec): Promise<void> {
  const labels = { app: 'agent' };
  const template = { metadata: { labels }, spec };
  const body = { metadata: { name: 'agent' }, spec: { selector: { matchLabels: labels }, template } };
  await cluster.apps.createNamespacedDaemonSet({ namespace, body });
}

/** Its template names no port of the host. */
async function daemonWithPort(namespace: string): Promise<void> {
  const containers = [{ name: 'main', image: 'test/none:1', ports: [{ containerPort: 9100 }] }];
  await daemonSet(namespace, { hostNetwork: true, containers });
}

/** Its template requests nothing. */
async function daemonWithDefaults(namespace: string): Promise<void> {
  const limits = [{ type: 'Container', defaultRequest: { cpu: '500m' } }];
  await cluster.core.createNamespacedLimitRange({
    namespace,
    body: { metadata: { name: 'defaults' }, spec: { limits } },
  });
  await daemonSet(namespace, { containers: [{ name: 'main', image: 'test/none:1' }] });
}

const requesting = (requests: Readonly<Record<string, string>>, more: object = {}) => ({
  containers: [{ name: 'main', image: 'test/none:1', resources: { requests }, ...more }],
});

interface Case {
  readonly name: string;
  readonly spec: Partial<PodSpec>;
  readonly before?: (namespace: string) => Promise<void>;
  /** What the workflow says of the pod. */
  readonly says: string;
  /** Whether kube-scheduler may place it on a node that came for others, before the DaemonSet's pod has come. */
  readonly isQuicker?: boolean;
}

const cases: readonly Case[] = [
  { name: 'claim-missing', spec: claiming('data'), says: 'its PersistentVolumeClaim data does not exist' },
  { name: 'claim-unbound', spec: claiming('data'), before: unboundClaim, says: 'its PersistentVolumeClaim data' },
  { name: 'claim-elsewhere', spec: claiming('data'), before: claimElsewhere, says: 'data' },
  {
    name: 'gated',
    spec: { schedulingGates: [{ name: 'example.com/quota' }] },
    says: 'its scheduling gates keep it from being scheduled',
  },
  {
    name: 'zone',
    spec: { nodeSelector: { [ZONE]: 'b' } },
    says: 'the labels of the node are not those that it asks for',
  },
  {
    name: 'too-large',
    spec: requesting({ cpu: '5' }),
    says: 'cpu',
  },
  {
    name: 'port-of-daemon',
    spec: requesting({}, { ports: [{ containerPort: 9100, hostPort: 9100 }] }),
    before: daemonWithPort,
    says: 'its host port 9100 is taken',
    isQuicker: true,
  },
  {
    name: 'room-of-daemon',
    spec: requesting({ cpu: '3600m' }),
    before: daemonWithDefaults,
    says: 'the node has too little cpu',
    isQuicker: true,
  },
  { name: 'other-scheduler', spec: { schedulerName: 'other' }, says: 'it is placed by the scheduler other' },
];

const tried = partOf(cases, 6);

describe('a pending pod that no new node would help', () => {
  it.each(tried)('gets none, and the reason is named: $name', async ({ name, spec, before, says }) => {
    await cluster.createNamespace(name);
    await before?.(name);
    await cluster.createPod(name, 'web', spec);
    const { detail, facts } = await cluster.untilStatus(
      'pool',
      `told of ${name}/web`,
      (seen) =>
        seen.phase === 'Steady' &&
        seen.reason === 'PodsUnhelped' &&
        seen.facts.some((fact) => fact.startsWith(`No node for ${name}/web: `)),
    );
    expect(facts.find((fact) => fact.includes(`${name}/web`))).toContain(says);
    expect(detail).toContain(`1 pending pod gets no new node, such as ${name}/web: `);
    expect(await cluster.machines('pool')).toEqual([]);
    await cluster.core.deleteNamespacedPod({ namespace: name, name: 'web', gracePeriodSeconds: 0 });
    await cluster.untilStatus('pool', 'told of no pods', ({ reason: now }) => now === 'NothingToDo');
  });

  it('costs nothing, also together with all the others, and holds up none that a node helps', async () => {
    const others = tried.filter(({ isQuicker = false }) => !isQuicker);
    await Promise.all(others.map(async ({ name, spec }) => await cluster.createPod(name, 'again', spec)));
    await cluster.createPods('helped', 1);
    await cluster.untilRunning('helped', 1);
    await cluster.untilStatus(
      'pool',
      'steady again',
      ({ phase, reason }) => phase === 'Steady' && reason === 'PodsUnhelped',
    );
    expect(await cluster.createdNodes('pool')).toHaveLength(1);
  });
});

describe('volumes', () => {
  const GROUP = 'stateful';
  const DRIVER = 'test.example.com';

  /** Claims that are bound to volumes which may be anywhere. */
  async function claims(namespace: string, names: readonly string[], accessMode = 'ReadWriteOnce'): Promise<void> {
    await cluster.createNamespace(namespace);
    for (const name of names) {
      const volume = `${namespace}-${name}`;
      const spec = { capacity: { storage: '1Gi' }, accessModes: [accessMode], storageClassName: '' };
      const csi = { driver: DRIVER, volumeHandle: volume };
      await cluster.core.createPersistentVolume({ body: { metadata: { name: volume }, spec: { ...spec, csi } } });
      const asked = { ...claim.spec, accessModes: [accessMode], volumeName: volume };
      await cluster.core.createNamespacedPersistentVolumeClaim({
        namespace,
        body: { metadata: { name }, spec: asked },
      });
      // A plan that met it before would say so, and a group that shows why is not woken for another wording.
      await eventually(`${namespace}/${name} is bound`, async () => {
        const { status } = await cluster.core.readNamespacedPersistentVolumeClaim({ namespace, name });
        return status?.phase === 'Bound';
      });
    }
  }

  const using = (...names: readonly string[]): Partial<PodSpec> => ({
    ...onlyOn(GROUP),
    volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  });

  async function untilUnhelped(pod: string, says: string): Promise<void> {
    const isTold = (fact: string): boolean => fact.startsWith(`No node for ${pod}: `) && fact.includes(says);
    await cluster.untilStatus(GROUP, `told of ${pod}`, ({ facts }) => facts.some(isTold));
  }

  it('a node is made neither for a claim of one pod that another one uses, nor for more volumes than a node of the type takes', async () => {
    await cluster.createGroup(GROUP, { offeringIDs: ['small'], minNodes: 1, ...ownNodes(GROUP) });
    const [node] = await cluster.untilReady(GROUP, 1);
    const { name = '', uid = '' } = node?.metadata ?? {};
    // As the driver of the node says when it registers.
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid };
    await accessOf(plane.plane.adminKubeconfig)
      .makeApiClient(StorageV1Api)
      .createCSINode({
        body: {
          metadata: { name, ownerReferences: [owner] },
          spec: { drivers: [{ name: DRIVER, nodeID: name, topologyKeys: [], allocatable: { count: 1 } }] },
        },
      });

    await claims('one-pod', ['data'], 'ReadWriteOncePod');
    await cluster.createPod('one-pod', 'first', using('data'));
    await cluster.untilRunning('one-pod', 1);
    await cluster.createPod('one-pod', 'second', using('data'));
    await untilUnhelped('one-pod/second', 'data');

    await claims('two-volumes', ['left', 'right']);
    await cluster.createPod('two-volumes', 'web', using('left', 'right'));
    await untilUnhelped('two-volumes/web', `no more volumes of ${DRIVER} can be attached`);
    expect(await cluster.createdNodes(GROUP)).toEqual([name]);

    // One volume is what the next node takes.
    await claims('one-volume', ['data']);
    await cluster.createPod('one-volume', 'web', using('data'));
    await cluster.untilRunning('one-volume', 1);
    expect(await cluster.createdNodes(GROUP)).toHaveLength(2);
  });
});
