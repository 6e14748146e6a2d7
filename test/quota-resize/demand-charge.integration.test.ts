/** What Headroom calculates for a missing pod, against what the real admission charges for the same pod. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { maskList, multiplyList, withoutZeros } from '../../domain/kernel/resource-list.ts';
import {
  type Cluster,
  namespaceOf,
  observed,
  patience,
  quotaCounted,
  quotaOf,
  startCluster,
  targetOf,
  workloadOf,
} from '../activities/kubernetes/cluster.ts';

let running: Cluster | undefined;

beforeAll(async () => {
  running = await startCluster();
  await running.create(
    {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'sandbox' },
      handler: 'runsc',
      overhead: { podFixed: { cpu: '250m', memory: '120Mi' } },
    },
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'ordinary' },
      value: 1000,
      globalDefault: true,
    },
  );
});
afterAll(async () => await running?.stop());

/**
 * Waits until admission charges a namespace's pods to its quota. It has a cache of its own: while that is behind the first
 * count, a pod is refused because nobody has counted yet, or let in and charged to nobody.
 */
async function enforced(
  { admin }: Cluster,
  namespace: string,
  tooMuch: Readonly<Record<string, string>>,
): Promise<void> {
  const resources = { requests: tooMuch, limits: tooMuch };
  const body = { metadata: { name: 'too-large' }, spec: { containers: [{ name: 'a', image: 'app', resources }] } };
  await vi.waitFor(
    async () =>
      await expect(admin.core.createNamespacedPod({ namespace, dryRun: 'All', body })).rejects.toThrow(
        'exceeded quota',
      ),
    patience,
  );
}

/** Waits until a ReplicaSet's one pod is charged and there, which is not the same moment. @returns what is charged. */
async function chargedForOne({ admin: { core, apps } }: Cluster, namespace: string): Promise<Record<string, string>> {
  return await vi.waitFor(async () => {
    const { items } = await core.listNamespacedEvent({ namespace, fieldSelector: 'reason=FailedCreate' });
    expect(items.map(({ message }) => message)).toEqual([]);
    // The pod is in the cache that the controller manager counts from as well: the ReplicaSet's status is made from it.
    const { status } = await apps.readNamespacedReplicaSet({ name: 'web', namespace });
    expect(status?.replicas).toBe(1);
    const quota = await core.readNamespacedResourceQuota({ name: 'compute', namespace });
    expect(quota.status?.used?.['pods']).toBe('1');
    return quota.status?.used ?? {};
  }, patience);
}

/** What a quota may count of any pod, far out of reach: these do not oblige a pod to state anything. */
const always = {
  pods: '100',
  'count/pods': '100',
  'requests.ephemeral-storage': '1000Gi',
  'limits.ephemeral-storage': '1000Gi',
  'requests.nvidia.com/gpu': '100',
  'hugepages-2Mi': '100Gi',
};

/** What every container has to state where a quota counts it. */
const compute = {
  'requests.cpu': '1000',
  'limits.cpu': '1000',
  'requests.memory': '1000Gi',
  'limits.memory': '1000Gi',
} as const;

const container = (name: string, requests: object, limits: object = {}, more: object = {}) => ({
  name,
  image: 'app',
  resources: { requests, limits },
  ...more,
});
const sidecar = { restartPolicy: 'Always' };

interface Shape {
  /** Of the compute resources, what all of its containers state, so that a quota may count it. */
  readonly states: readonly (keyof typeof compute)[];
  readonly spec: object;
  /** Of a LimitRange in the namespace. */
  readonly limits?: readonly object[];
}

const all = { cpu: '100m', memory: '64Mi', 'ephemeral-storage': '1Gi' };

const shapes: Readonly<Record<string, Shape>> = {
  'requests and limits of several containers': {
    states: ['requests.cpu', 'requests.memory'],
    spec: {
      containers: [container('a', all, { cpu: '1', memory: '1Gi', 'ephemeral-storage': '2Gi' }), container('b', all)],
    },
  },
  'limits alone': {
    states: ['requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'],
    spec: { containers: [container('a', {}, { cpu: '1500m', memory: '100M' })] },
  },
  'init containers that ask for more': {
    states: ['requests.cpu'],
    spec: {
      initContainers: [container('first', { cpu: '2' }), container('second', { memory: '1Gi' }, { cpu: '3' })],
      containers: [container('a', { cpu: '500m', memory: '256Mi' }, { cpu: '1' })],
    },
  },
  'sidecars before and after an init container': {
    states: ['requests.cpu'],
    spec: {
      initContainers: [
        container('proxy', { cpu: '300m' }, {}, sidecar),
        container('migrate', { cpu: '900m' }),
        container('logs', { cpu: '200m', memory: '32Mi' }, {}, sidecar),
      ],
      containers: [container('a', { cpu: '400m' })],
    },
  },
  'the overhead of a RuntimeClass': {
    states: ['requests.cpu', 'limits.cpu'],
    spec: { runtimeClassName: 'sandbox', containers: [container('a', { cpu: '1' }, { cpu: '2' })] },
  },
  'pod-level resources': {
    states: ['requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'],
    spec: {
      resources: { requests: { cpu: '2' }, limits: { cpu: '4', memory: '1Gi' } },
      containers: [container('a', { cpu: '500m', memory: '100Mi' }), container('b', {})],
    },
  },
  'pod-level limits, a sidecar and an overhead': {
    states: ['requests.cpu', 'limits.cpu'],
    spec: {
      runtimeClassName: 'sandbox',
      resources: { limits: { cpu: '3' } },
      initContainers: [container('proxy', { cpu: '100m' }, {}, sidecar)],
      containers: [container('a', { cpu: '500m' }, { memory: '1Gi' })],
    },
  },
  'defaults of a LimitRange': {
    states: ['requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'],
    spec: {
      initContainers: [container('init', {})],
      containers: [container('a', { cpu: '700m' }), container('b', {}, { memory: '2Gi' })],
    },
    // The client library's name for `default`.
    limits: [{ type: 'Container', _default: { cpu: '1', memory: '512Mi' }, defaultRequest: { cpu: '250m' } }],
  },
  'a LimitRange that states a maximum only': {
    states: ['requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'],
    spec: { containers: [container('a', {})] },
    limits: [{ type: 'Container', max: { cpu: '2', memory: '1Gi' } }],
  },
  'pod-level resources in a namespace with defaults': {
    states: ['requests.cpu', 'limits.cpu', 'requests.memory', 'limits.memory'],
    spec: { resources: { requests: { cpu: '2' }, limits: { cpu: '4' } }, containers: [container('a', {})] },
    limits: [{ type: 'Container', _default: { cpu: '1', memory: '512Mi' } }],
  },
  devices: { states: [], spec: { containers: [container('a', { 'nvidia.com/gpu': '2' }, { 'nvidia.com/gpu': '2' })] } },
  'huge pages': {
    states: ['requests.cpu', 'requests.memory', 'limits.memory'],
    spec: { containers: [container('a', { cpu: '1', memory: '1Gi' }, { 'hugepages-2Mi': '64Mi', memory: '1Gi' })] },
  },
  'nothing at all': { states: [], spec: { containers: [container('a', {})] } },
  'fractions of a milli-core': {
    states: ['requests.cpu', 'requests.memory'],
    spec: { containers: [container('a', { cpu: '1500u', memory: '1.5Gi' })] },
  },
};

describe('a missing pod is charged what admission charges', () => {
  it.concurrent.each(Object.entries(shapes))('for %s', async (name, { states, spec, limits }) => {
    const cluster = running;
    if (cluster === undefined) throw new Error('the control plane did not start');
    const namespace = name.replaceAll(/[^a-z]+/g, '-');
    const hard: Readonly<Record<string, string>> = { ...always, ...maskList(compute, states) };
    await cluster.create(namespaceOf(namespace), quotaOf(namespace, hard));
    if (limits !== undefined) {
      await cluster.create({
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'l', namespace },
        spec: { limits },
      });
    }
    await quotaCounted(cluster, namespace);
    await enforced(cluster, namespace, { cpu: '1m', memory: '1Mi', 'ephemeral-storage': '2000Gi' });
    const template = { metadata: { labels: { app: 'web' } }, spec };
    await cluster.create(workloadOf('ReplicaSet', namespace, 'web', { replicas: 1, template }));
    const { core, apps } = cluster.admin;
    const charged = await chargedForOne(cluster, namespace);

    // From now on there is room for one pod, and for everything else: the message of a refusal tells the number of pods
    // alone, and what they would be charged is left to calculation.
    await core.patchNamespacedResourceQuota(
      { name: 'compute', namespace, body: { spec: { hard: { pods: '1' } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    await vi.waitFor(async () => {
      const quota = await core.readNamespacedResourceQuota({ name: 'compute', namespace });
      expect(quota.status?.hard?.['pods']).toBe('1');
    }, patience);
    const scale = { metadata: { name: 'web', namespace }, spec: { replicas: 4 } };
    await apps.replaceNamespacedReplicaSetScale({ name: 'web', namespace, body: scale });

    const expected = multiplyList(withoutZeros(maskList(charged, Object.keys(hard))), 3);
    await observed(cluster, targetOf(namespace), ({ demand, contradictions }) => {
      expect(demand).toMatchObject([{ missing: 3, total: expected }]);
      expect(Object.keys(demand[0]?.total ?? {})).toEqual(Object.keys(expected));
      // What the namespace's one pod is charged by our count is what status.used says.
      expect(contradictions).toEqual([]);
    });
  });
});

describe('the other quotas of the namespace', () => {
  it('are observed for the same pods where they count them, also those that have denied nothing', async () => {
    const cluster = running;
    if (cluster === undefined) throw new Error('the control plane did not start');
    const namespace = 'siblings';
    const byClass = (values: readonly string[]) => ({
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values }] },
    });
    await cluster.create(
      namespaceOf(namespace),
      quotaOf(namespace, { pods: '2' }),
      quotaOf(namespace, { 'requests.cpu': '3' }, 'cpu'),
      // Pods that name no class are of the default one.
      quotaOf(namespace, { 'requests.cpu': '4' }, 'ordinary', byClass(['ordinary'])),
      quotaOf(namespace, { 'requests.cpu': '1' }, 'urgent', byClass(['urgent'])),
      quotaOf(namespace, { pods: '1' }, 'best-effort', { scopes: ['BestEffort'] }),
      quotaOf(namespace, { 'requests.cpu': '50' }, 'roomy'),
    );
    for (const name of ['compute', 'cpu', 'ordinary', 'roomy']) await quotaCounted(cluster, namespace, name);
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container('a', { cpu: '1' })] } };
    await cluster.create(workloadOf('ReplicaSet', namespace, 'web', { replicas: 10, template }));
    // All of it in one look that comes when the ReplicaSet is through: in one before, quotas and pods are of two moments.
    await observed(cluster, targetOf(namespace), ({ demand: own, otherQuotas }) => {
      expect(otherQuotas.map(({ name, demand }) => [name, demand[0]?.total])).toEqual([
        ['cpu', { 'requests.cpu': '8' }],
        ['ordinary', { 'requests.cpu': '8' }],
      ]);
      expect(own).toMatchObject([{ missing: 8, total: { pods: '8' } }]);
      expect(otherQuotas[0]).toMatchObject({
        quota: { hard: { 'requests.cpu': '3' }, used: { 'requests.cpu': '2' } },
        lease: { name: 'state-siblings-cpu', holder: null },
        policy: { burst: 'settle' },
      });
    });
  });
});

describe('status.used that the pods contradict', () => {
  it('is said once it stands still, with both numbers', async () => {
    const cluster = running;
    if (cluster === undefined) throw new Error('the control plane did not start');
    const namespace = 'contradicted';
    await cluster.create(namespaceOf(namespace), quotaOf(namespace, { pods: '10', 'requests.cpu': '2' }));
    await quotaCounted(cluster, namespace);
    await enforced(cluster, namespace, { cpu: '3' });
    const { core } = cluster.admin;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container('a', { cpu: '500m' })] } };
    await cluster.create(workloadOf('ReplicaSet', namespace, 'web', { replicas: 1, template }));
    await chargedForOne(cluster, namespace);
    const used = { pods: '9', 'requests.cpu': '1900m' };
    // As after admissions whose pods never came, until Kubernetes counts again.
    await core.patchNamespacedResourceQuotaStatus(
      { name: 'compute', namespace, body: { status: { used } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    await observed(cluster, targetOf(namespace), ({ contradictions }) => {
      expect(contradictions).toEqual([
        { resource: 'pods', used: '9', counted: '1' },
        { resource: 'requests.cpu', used: '1900m', counted: '500m' },
      ]);
    });
  });
});
