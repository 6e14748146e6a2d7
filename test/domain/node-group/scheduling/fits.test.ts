import { describe, expect, it } from 'vitest';
import { fits, snapshotOf } from '../../../../domain/node-group/scheduling/fits.ts';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { boundTo, nodeOf, podOf, stateOf } from '../builders.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const nodes = [
  nodeOf('a1', { cpu: '4', memory: '16Gi', pods: '3', 'example.com/gpu': '1' }, { [ZONE]: 'a', size: '4' }),
  nodeOf('b1', { cpu: '2', memory: '8Gi', pods: '3' }, { [ZONE]: 'b', size: '2' }),
];

/** The nodes that the pod fits, or the rule that keeps it from both. */
function where(pod: Pod, over: Partial<ClusterState> = {}): string {
  const state = stateOf({ nodes, ...over });
  const snapshot = snapshotOf({ ...state, pods: [...state.pods, pod] });
  const results = state.nodes.map(({ name }) => ({ name, result: fits(pod, name, snapshot) }));
  const fitting = results.filter(({ result }) => result.kind === 'fits').map(({ name }) => name);
  if (fitting.length > 0) return fitting.join(' ');
  const reasons = results.map(({ result }) => (result.kind === 'misfit' ? result.by : ''));
  return [...new Set(reasons)].join(' ');
}

const small = { cpu: '100m' };
const term = (topologyKey: string, app: string, more: object = {}): object => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
  ...more,
});
const affinity = (kind: 'podAffinity' | 'podAntiAffinity', ...terms: readonly object[]): object => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const nodeAffinity = (...nodeSelectorTerms: readonly object[]): object => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const app = (name: string): object => ({ labels: { app: name } });
const spread = (topologyKey: string, more: object = {}): object => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'x' } },
      ...more,
    },
  ],
});

describe('a pod fits a node as kube-scheduler has it', () => {
  it.each<[string, object, string]>([
    ['cpu', { cpu: '3' }, 'a1'],
    ['more than any node has', { cpu: '5' }, 'Resources'],
    ['a device', { 'example.com/gpu': '1' }, 'a1'],
    ['nothing', {}, 'a1 b1'],
  ])('by what it requests: %s', (_, requests, expected) => {
    expect(where(podOf('p', requests as Record<string, string>))).toBe(expected);
  });

  it('by what is left beside the pods that are there', () => {
    const pods = [boundTo('a1', podOf('q', { cpu: '2500m' })), boundTo('b1', podOf('r', { cpu: '1' }))];
    expect(where(podOf('p', { cpu: '1500m' }), { pods })).toBe('a1');
    expect(where(podOf('p', { cpu: '1501m' }), { pods })).toBe('Resources');
  });

  it('by the number of pods, of which those that ended do not count', () => {
    const three = ['q', 'r', 's'].map((name) => boundTo('b1', podOf(name, {})));
    expect(where(podOf('p', small), { pods: three })).toBe('a1');
    const ended = three.map((pod): Pod => ({ ...pod, phase: 'Succeeded' }));
    expect(where(podOf('p', small), { pods: ended })).toBe('a1 b1');
  });

  it.each<[string, object, string]>([
    ['selector', { nodeSelector: { [ZONE]: 'b' } }, 'b1'],
    ['an empty term, which matches nothing', nodeAffinity({}), 'NodeSelector'],
    [
      'one of two terms',
      nodeAffinity({}, { matchExpressions: [{ key: 'size', operator: 'Gt', values: ['3'] }] }),
      'a1',
    ],
    ['Lt', nodeAffinity({ matchExpressions: [{ key: 'size', operator: 'Lt', values: ['3'] }] }), 'b1'],
    [
      'NotIn, also without the label',
      nodeAffinity({ matchExpressions: [{ key: 'no', operator: 'NotIn', values: ['x'] }] }),
      'a1 b1',
    ],
    ['a field', nodeAffinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b1'] }] }), 'b1'],
  ])('by node selectors and affinity: %s', (_, spec, expected) => {
    expect(where(podOf('p', small, spec as Record<string, unknown>))).toBe(expected);
  });

  it('by taints and cordons', () => {
    const tainted = [
      nodeOf('t1', undefined, {}, { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }),
      nodeOf('t2', undefined, {}, { taints: [{ key: 'k', value: 'v', effect: 'PreferNoSchedule' }] }),
      nodeOf('t3', undefined, {}, { unschedulable: true }),
    ];
    expect(where(podOf('p', small), { nodes: tainted })).toBe('t2');
    const tolerant = podOf('p', small, { tolerations: [{ key: 'k', operator: 'Equal', value: 'v' }] });
    expect(where(tolerant, { nodes: tainted })).toBe('t1 t2');
    expect(where(podOf('p', small, { tolerations: [{ operator: 'Exists' }] }), { nodes: tainted })).toBe('t1 t2 t3');
  });

  it('by host ports: one address against all of them, and each protocol on its own', () => {
    const port = (hostIP: string, protocol: string): object => ({
      containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80, hostIP, protocol }] }],
    });
    const pods = [boundTo('a1', podOf('q', {}, port('10.0.0.1', 'TCP') as Record<string, unknown>))];
    const placed = (hostIP: string, protocol: string): string =>
      where(podOf('p', {}, port(hostIP, protocol) as Record<string, unknown>), { pods });
    expect(placed('', 'TCP')).toBe('b1');
    expect(placed('10.0.0.1', 'TCP')).toBe('b1');
    expect(placed('10.0.0.2', 'TCP')).toBe('a1 b1');
    expect(placed('', 'UDP')).toBe('a1 b1');
  });

  it('by affinity: with a pod of the same zone, or anywhere as the first of its group', () => {
    const withApp = affinity('podAffinity', term(ZONE, 'x')) as Record<string, unknown>;
    expect(where(podOf('p', small, withApp))).toBe('PodAffinity');
    expect(where(podOf('p', small, withApp, app('x') as Record<string, unknown>))).toBe('a1 b1');
    const pods = [boundTo('b1', podOf('q', small, {}, app('x') as Record<string, unknown>))];
    expect(where(podOf('p', small, withApp), { pods })).toBe('b1');
    const elsewhere = [boundTo('b1', podOf('q', small, {}, { ...app('x'), namespace: 'other' }))];
    expect(where(podOf('p', small, withApp), { pods: elsewhere })).toBe('PodAffinity');
    const all = affinity('podAffinity', term(ZONE, 'x', { namespaceSelector: {} })) as Record<string, unknown>;
    expect(where(podOf('p', small, all), { pods: elsewhere })).toBe('b1');
  });

  it('by anti-affinity in both directions', () => {
    const away = affinity('podAntiAffinity', term(HOST, 'x')) as Record<string, unknown>;
    const pods = [boundTo('b1', podOf('q', small, {}, app('x') as Record<string, unknown>))];
    expect(where(podOf('p', small, away), { pods })).toBe('a1');
    const shy = [boundTo('a1', podOf('q', small, away))];
    expect(where(podOf('p', small, {}, app('x') as Record<string, unknown>), { pods: shy })).toBe('b1');
    expect(where(podOf('p', small, {}, app('y') as Record<string, unknown>), { pods: shy })).toBe('a1 b1');
  });

  it('nowhere while the labels of a namespace that a selector asks about are not known, in any direction', () => {
    const selector = (key: string) => ({
      namespaceSelector: { matchExpressions: [{ key, operator: 'DoesNotExist' }] },
    });
    const pods = [boundTo('b1', podOf('q', small, {}, { ...app('x'), namespace: 'fresh' }))];
    for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
      const asking = podOf('p', small, affinity(kind, term(ZONE, 'x', selector('team'))) as Record<string, unknown>);
      expect(where(asking, { pods })).toBe('NamespaceUnknown');
      expect(
        where(podOf('p', small, affinity(kind, term(ZONE, 'y', selector('team'))) as Record<string, unknown>), {
          pods,
        }),
      ).not.toBe('NamespaceUnknown');
    }
    const away = affinity('podAntiAffinity', term(ZONE, 'x', selector('team'))) as Record<string, unknown>;
    const holders = [boundTo('b1', podOf('q', small, away))];
    const kept = podOf('p', small, {}, { ...app('x'), namespace: 'fresh' });
    expect(where(kept, { pods: holders })).toBe('NamespaceUnknown');
    const namespaces = { default: {}, fresh: { team: 'a' } };
    expect(where(kept, { pods: holders, namespaces })).toBe('a1 b1');
    expect(where(kept, { pods: holders, namespaces: { default: {}, fresh: {} } })).toBe('a1');
  });

  it('by spread: skew, the least of all domains, and how many domains there must be', () => {
    const x = app('x') as Record<string, unknown>;
    const pods = [boundTo('a1', podOf('q', small, {}, x))];
    const pod = (more: object = {}): Pod => podOf('p', small, spread(ZONE, more) as Record<string, unknown>, x);
    expect(where(pod(), { pods })).toBe('b1');
    expect(where(pod({ maxSkew: 2 }), { pods })).toBe('a1 b1');
    const both = [...pods, boundTo('b1', podOf('r', small, {}, x))];
    expect(where(pod(), { pods: both })).toBe('a1 b1');
    expect(where(pod({ minDomains: 3 }), { pods: both })).toBe('Spread');
    const leaving = pods.map((each): Pod => ({ ...each, deletesAt: 1 }));
    expect(where(pod(), { pods: leaving })).toBe('a1 b1');
  });

  it('by its claims', () => {
    const claimed = podOf('p', small, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] });
    expect(where(claimed)).toBe('ClaimMissing');
    const claim = { namespace: 'default', name: 'c', volume: null, storageClass: 'sc', isLost: false };
    const storageClass = { name: 'sc', bindsAtOnce: true, provisioner: 'csi', allowedTopologies: null };
    expect(where(claimed, { claims: [claim], storageClasses: [storageClass] })).toBe('ClaimNotBound');
    const inB = [{ matchExpressions: [{ key: ZONE, operator: 'In' as const, values: ['b'] }] }];
    const late = { ...storageClass, bindsAtOnce: false, allowedTopologies: inB };
    expect(where(claimed, { claims: [claim], storageClasses: [late] })).toBe('b1');
    const volume = { name: 'pv', nodeAffinity: inB, driver: 'csi', handle: 'h', isLocal: false };
    const bound = { ...claim, volume: 'pv' };
    expect(where(claimed, { claims: [bound], volumes: [volume] })).toBe('b1');
    expect(
      where(claimed, { claims: [bound], volumes: [{ ...volume, nodeAffinity: null, zones: { [ZONE]: 'a__c' } }] }),
    ).toBe('a1');
    const attachLimits = [{ node: 'b1', limits: { csi: 0 } }];
    expect(where(claimed, { claims: [bound], volumes: [{ ...volume, nodeAffinity: null }], attachLimits })).toBe('a1');
  });
});
