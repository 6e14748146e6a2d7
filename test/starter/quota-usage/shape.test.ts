import { describe, expect, it } from 'vitest';
import { claimCharge } from '../../../domain/quota-usage/volume-claim-charge.ts';
import { deviceCharge } from '../../../domain/quota-usage/resource-claim-charge.ts';
import { podCharge } from '../../../domain/quota-usage/pod-charge.ts';
import { podInScopes } from '../../../domain/quota-usage/scopes.ts';
import { serviceCharge } from '../../../domain/quota-usage/service-charge.ts';
import { shapeOf, shapeQuota } from '../../../starter/quota-usage/shape.ts';

/** What a real object has besides; none of it may be kept. */
const METADATA = {
  name: 'one',
  namespace: 'team',
  uid: 'u-1',
  resourceVersion: '7',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { app: 'web' },
  annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{…}' },
  managedFields: [{ manager: 'kubectl' }],
};
const IDENTITY = { name: 'one', namespace: 'team', uid: 'u-1', resourceVersion: '7' };
const NOW = Date.parse('2026-01-01T01:00:00Z');

const core = (resource: string) => ({ group: '', resource });
const shaped = (resource: { group: string; resource: string }, object: object): object =>
  shapeOf(resource).shape(object);

const POD = {
  metadata: {
    ...METADATA,
    deletionTimestamp: '2026-01-01T00:59:00Z',
    deletionGracePeriodSeconds: 3600,
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web',
        uid: 'u-2',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    containers: [
      {
        name: 'web',
        image: 'web:1',
        env: [{ name: 'A', value: 'b' }],
        resources: {
          requests: { cpu: '1', 'example.com/gpu': '2' },
          limits: { memory: '1Gi' },
          claims: [{ name: 'c' }],
        },
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
    initContainers: [
      { name: 'side', image: 'side', restartPolicy: 'Always', resources: { requests: { memory: '64Mi' } } },
    ],
    resources: { requests: { cpu: '3' } },
    overhead: { memory: '10Mi' },
    activeDeadlineSeconds: 60,
    priorityClassName: 'high',
    nodeName: 'node-1',
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {} }],
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, podAffinityTerm: { topologyKey: 'zone', namespaceSelector: { matchLabels: { a: 'b' } } } },
        ],
      },
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] },
    },
    volumes: [{ name: 'v', emptyDir: {} }],
  },
  status: {
    phase: 'Running',
    qosClass: 'Burstable',
    podIP: '10.0.0.1',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'PodResizePending', status: 'True', reason: 'Deferred', message: 'later' },
    ],
    containerStatuses: [
      {
        name: 'web',
        image: 'web:1',
        ready: true,
        allocatedResources: { cpu: '2' },
        resources: { requests: { cpu: '4' }, limits: { memory: '2Gi' } },
      },
    ],
    initContainerStatuses: [{ name: 'side', resources: {} }],
    extendedResourceClaimStatus: { resourceClaimName: 'claim', requestMappings: [] },
  },
};

describe('the shape of', () => {
  it('a pod keeps what it is charged by, where it belongs and whose it is, and nothing else', () => {
    expect(shapeOf(core('pods')).metadataOnly).toBe(false);
    expect(shaped(core('pods'), POD)).toStrictEqual({
      metadata: {
        ...IDENTITY,
        deletionTimestamp: '2026-01-01T00:59:00Z',
        deletionGracePeriodSeconds: 3600,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-2', controller: true }],
      },
      spec: {
        containers: [
          { name: 'web', resources: { requests: { cpu: '1', 'example.com/gpu': '2' }, limits: { memory: '1Gi' } } },
        ],
        initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { requests: { memory: '64Mi' } } }],
        resources: { requests: { cpu: '3' } },
        overhead: { memory: '10Mi' },
        activeDeadlineSeconds: 60,
        priorityClassName: 'high',
        nodeName: 'node-1',
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaceSelector: {} }] } },
      },
      status: {
        phase: 'Running',
        qosClass: 'Burstable',
        conditions: [{ type: 'PodResizePending', reason: 'Deferred' }],
        containerStatuses: [
          {
            name: 'web',
            allocatedResources: { cpu: '2' },
            resources: { requests: { cpu: '4' }, limits: { memory: '2Gi' } },
          },
        ],
        // There and empty is not the same as not there.
        initContainerStatuses: [{ name: 'side', resources: {} }],
        extendedResourceClaimStatus: { resourceClaimName: 'claim' },
      },
    });
  });

  it('a pod is charged, and in scope, as the whole pod is', () => {
    const scopes = ['Terminating', 'NotBestEffort', 'CrossNamespacePodAffinity', 'PriorityClass'];
    expect(podCharge(shaped(core('pods'), POD), NOW)).toEqual(podCharge(POD as object, NOW));
    for (const scope of [...scopes, 'NotTerminating', 'BestEffort']) {
      expect([scope, podInScopes({ scopes: [scope] }, shaped(core('pods'), POD))]).toEqual([
        scope,
        scopes.includes(scope),
      ]);
    }
  });

  it('a bare pod is bare', () => {
    const bare = { metadata: METADATA, spec: { containers: [{ name: 'web', resources: {} }] }, status: {} };
    expect(shaped(core('pods'), bare)).toStrictEqual({
      metadata: IDENTITY,
      spec: { containers: [{ name: 'web', resources: {} }] },
      status: {},
    });
  });

  it('a service keeps its type and its ports', () => {
    const service = {
      metadata: METADATA,
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.0.0.7',
        selector: { app: 'web' },
        allocateLoadBalancerNodePorts: false,
        ports: [{ name: 'http', port: 80, nodePort: 30_080 }, { port: 81 }],
      },
      status: { loadBalancer: {} },
    };
    const kept = shaped(core('services'), service);
    expect(kept).toStrictEqual({
      metadata: IDENTITY,
      spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{ nodePort: 30_080 }, {}] },
    });
    expect(serviceCharge(kept)).toEqual(serviceCharge(service));
  });

  it('a volume claim keeps its storage, its classes, and of its annotations the one that names a class', () => {
    const annotations = { ...METADATA.annotations, 'volume.beta.kubernetes.io/storage-class': 'gold' };
    const claim = {
      metadata: { ...METADATA, annotations },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
        storageClassName: 'silver',
        volumeAttributesClassName: 'fast',
        volumeName: 'pv',
      },
      status: {
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        allocatedResources: { storage: '3Gi' },
        currentVolumeAttributesClassName: 'slow',
        modifyVolumeStatus: { status: 'Pending', targetVolumeAttributesClassName: 'fast' },
      },
    };
    const kept = shaped(core('persistentvolumeclaims'), claim);
    expect(kept).toStrictEqual({
      metadata: { ...IDENTITY, annotations: { 'volume.beta.kubernetes.io/storage-class': 'gold' } },
      spec: {
        resources: { requests: { storage: '1Gi' } },
        storageClassName: 'silver',
        volumeAttributesClassName: 'fast',
      },
      status: {
        allocatedResources: { storage: '3Gi' },
        currentVolumeAttributesClassName: 'slow',
        modifyVolumeStatus: { targetVolumeAttributesClassName: 'fast' },
      },
    });
    expect(claimCharge(kept)).toEqual(claimCharge(claim));
  });

  it('a claim for devices is the same whatever version of the API it comes from', () => {
    const resource = { group: 'resource.k8s.io', resource: 'resourceclaims' };
    const annotations = { ...METADATA.annotations, 'resource.kubernetes.io/extended-resource-claim': 'true' };
    const ask = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 };
    const claimWith = (request: object) => ({
      metadata: { ...METADATA, annotations },
      spec: { devices: { requests: [{ name: 'r', ...request }], constraints: [] } },
      status: { allocation: {} },
    });
    const kept = shaped(resource, claimWith({ exactly: { ...ask, selectors: [] } }));
    expect(kept).toStrictEqual({
      metadata: { ...IDENTITY, annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' } },
      spec: { devices: { requests: [{ exactly: ask }] } },
    });
    expect(shaped(resource, claimWith({ ...ask, selectors: [] }))).toStrictEqual(kept);
    const context = { now: NOW, deviceClasses: new Map(), podNamed: () => undefined };
    expect(deviceCharge(kept, context)).toMatchObject({ 'gpu.deviceclass.resource.k8s.io/devices': '2' });
    const either = claimWith({
      firstAvailable: [
        { name: 'a', ...ask },
        { name: 'b', deviceClassName: 'tpu' },
      ],
    });
    expect(shaped(resource, either)).toMatchObject({
      spec: { devices: { requests: [{ firstAvailable: [ask, { deviceClassName: 'tpu' }] }] } },
    });
  });

  it('a device class keeps the extended resource that it stands for', () => {
    const resource = { group: 'resource.k8s.io', resource: 'deviceclasses' };
    const object = { metadata: METADATA, spec: { selectors: [{}], extendedResourceName: 'example.com/gpu' } };
    expect(shaped(resource, object)).toStrictEqual({
      metadata: IDENTITY,
      spec: { extendedResourceName: 'example.com/gpu' },
    });
    expect(shaped(resource, { metadata: METADATA, spec: {} })).toStrictEqual({ metadata: IDENTITY, spec: {} });
  });

  it.each([
    ['a Secret', core('secrets')],
    ['a resource of another group that is called pods', { group: 'metrics.k8s.io', resource: 'pods' }],
    ['a resource of an odd name', core('constructor')],
  ])('%s is its metadata, and no more is asked for', (_, resource) => {
    const { metadataOnly, shape } = shapeOf(resource);
    expect(metadataOnly).toBe(true);
    expect(shape({ metadata: METADATA, data: { key: 'c2VjcmV0' } } as object)).toStrictEqual({ metadata: IDENTITY });
  });

  it('a quota is what it limits and what it says is used', () => {
    const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] };
    expect(
      shapeQuota({
        metadata: { ...METADATA, creationTimestamp: new Date(0) },
        spec: { hard: { pods: '3' }, scopeSelector },
        status: { hard: { pods: '2' } },
      }),
    ).toStrictEqual({
      metadata: IDENTITY,
      spec: { hard: { pods: '3' }, scopeSelector },
      status: { hard: { pods: '2' } },
    });
    expect(shapeQuota({ metadata: METADATA as object })).toStrictEqual({ metadata: IDENTITY, spec: {}, status: {} });
  });
});
