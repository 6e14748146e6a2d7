import { describe, expect, it } from 'vitest';
import type { ClusterState, DisruptionBudget } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { isControlPlanePod, PodSafety, podsOnNode } from '../../../../domain/node-group/scale-down/pod-safety.ts';
import { boundTo, NOW, podOf, stateOf } from '../builders.ts';
import { aBudget } from '../drain/pods.ts';

const HOUR = 3_600_000;

/** A pod of a ReplicaSet that runs on node `a`. */
function running(name: string, over: Partial<Pod> = {}): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
  return { ...boundTo('a', podOf(name, { cpu: '1' })), owner, isReady: true, labels: { app: 'web' }, ...over };
}

const budget = (over: Partial<DisruptionBudget> = {}): DisruptionBudget =>
  aBudget('web-pdb', { namespace: 'default', ...over });

function keptBy(pods: readonly Pod[], state: Partial<ClusterState> = {}) {
  return new PodSafety(stateOf(state)).keptByPods(podsOnNode(pods).evicted);
}

const reason = (pods: readonly Pod[], state: Partial<ClusterState> = {}) => keptBy(pods, state)?.reason ?? null;

describe('a PodDisruptionBudget', () => {
  it('keeps the node while it allows none, and is named with the pod', () => {
    expect(keptBy([running('web-1')], { budgets: [budget()] })).toEqual({
      reason: 'PodDisruptionBudget',
      detail:
        'the PodDisruptionBudget default/web-pdb does not let default/web-1 be evicted now: it needs 2 healthy pods and has 2',
      until: null,
    });
    expect(reason([running('web-1')], { budgets: [budget({ disruptionsAllowed: 1 })] })).toBeNull();
  });

  it('keeps it where its status is old, or a second one selects the pod', () => {
    const allowing = budget({ disruptionsAllowed: 1 });
    expect(reason([running('p')], { budgets: [{ ...allowing, isObserved: false }] })).toBe('PodDisruptionBudget');
    expect(keptBy([running('p')], { budgets: [allowing, { ...allowing, name: 'all', selector: {} }] })?.detail).toBe(
      'default/p cannot be evicted: more than one PodDisruptionBudget selects it (default/all and default/web-pdb)',
    );
  });

  it('of another namespace, or with no selector, says nothing', () => {
    expect(
      reason([running('p')], { budgets: [budget({ namespace: 'other' }), budget({ selector: null })] }),
    ).toBeNull();
  });

  it('lets a pod go that is not ready where enough others are healthy, or where it says so', () => {
    const unready = running('p', { isReady: false });
    expect(reason([unready], { budgets: [budget()] })).toBeNull();
    expect(reason([unready], { budgets: [budget({ currentHealthy: 1 })] })).toBe('PodDisruptionBudget');
    const budgets = [budget({ currentHealthy: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' })];
    expect(reason([unready], { budgets })).toBeNull();
    expect(reason([running('p')], { budgets })).toBe('PodDisruptionBudget');
  });

  it('is not asked about a pod that has not started, however many select it', () => {
    const waiting = running('p', { phase: 'Pending', isReady: false });
    const budgets = [budget({ currentHealthy: 0, isObserved: false }), budget({ name: 'all', selector: {} })];
    expect(reason([waiting], { budgets })).toBeNull();
  });
});

describe('local storage', () => {
  it('keeps the node, and names the volume', () => {
    expect(keptBy([running('p', { localVolumes: ['cache'] })])?.detail).toBe(
      'the volume cache of default/p would be lost with the node',
    );
  });

  it('in memory passes, and so does what the pod gives up', () => {
    const volumes = [{ name: 'm', emptyDir: { medium: 'Memory' } }];
    expect(reason([running('p', { localVolumes: podOf('q', {}, { volumes }).localVolumes })])).toBeNull();
    const annotations = { 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes': 'cache, tmp' };
    expect(reason([running('p', { localVolumes: ['cache', 'tmp'], annotations })])).toBeNull();
    expect(reason([running('p', { localVolumes: ['cache', 'data'], annotations })])).toBe('LocalStorage');
  });

  it('by a claim: a volume of the node blocks, and so does what nobody can read', () => {
    const claim = { namespace: 'default', name: 'data', volume: 'pv', storageClass: null, isLost: false };
    const volume = { name: 'pv', nodeAffinity: null, driver: null, handle: 'pv', isLocal: false };
    const pods = [running('p', { claims: ['data'] })];
    expect(reason(pods, { claims: [claim], volumes: [volume] })).toBeNull();
    expect(reason(pods, { claims: [claim], volumes: [{ ...volume, isLocal: true }] })).toBe('LocalStorage');
    expect(keptBy(pods)?.detail).toBe('the PersistentVolumeClaim data of default/p is not there');
    expect(reason(pods, { claims: [claim] })).toBe('LocalStorage');
    expect(reason(pods, { claims: [{ ...claim, isLost: true }], volumes: [volume] })).toBe('LocalStorage');
    const named = { ...claim, volume: null, wantedVolume: 'pv' };
    expect(reason(pods, { claims: [named], volumes: [{ ...volume, isLocal: true }] })).toBe('LocalStorage');
    expect(reason(pods, { claims: [named], volumes: [volume] })).toBeNull();
    expect(reason(pods, { claims: [{ ...claim, volume: null }] })).toBeNull();
  });
});

describe('pods of kube-system', () => {
  const system = (over: Partial<Pod> = {}) => running('coredns-1', { namespace: 'kube-system', ...over });

  it('keep the node for an hour', () => {
    expect(keptBy([system()])).toMatchObject({ reason: 'SystemPod', until: NOW + HOUR });
    expect(reason([system({ createdAt: NOW - HOUR })])).toBeNull();
  });

  it('do not where a PodDisruptionBudget or an annotation lets them go', () => {
    const budgets = [budget({ namespace: 'kube-system', disruptionsAllowed: 1 })];
    expect(reason([system()], { budgets })).toBeNull();
    const annotations = { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' };
    expect(reason([system({ annotations })])).toBeNull();
  });

  it('of the control plane always do', () => {
    expect(reason([system({ name: 'etcd-a', createdAt: NOW - 9 * HOUR })])).toBe('SystemPod');
    const names = ['coredns-abc123', 'kube-proxy-xyz', 'kube-apiserver-a'];
    expect(names.map((name) => isControlPlanePod({ namespace: 'kube-system', name }))).toEqual([false, false, true]);
  });
});

describe("Kubernetes' practice", () => {
  it('a pod that is not safe to evict keeps the node, and one that is may have local storage and no controller', () => {
    const safe = (value: string) => ({ 'cluster-autoscaler.kubernetes.io/safe-to-evict': value });
    expect(reason([running('p', { annotations: safe('false') })])).toBe('NotSafeToEvict');
    expect(reason([running('p', { annotations: safe('true'), owner: null, localVolumes: ['x'] })])).toBeNull();
    expect(reason([running('p', { annotations: safe('true') })], { budgets: [budget()] })).toBe('PodDisruptionBudget');
  });

  it('do-not-disrupt keeps it, also for a time', () => {
    const held = (value: string, age = 0) =>
      keptBy([running('p', { annotations: { 'karpenter.sh/do-not-disrupt': value }, createdAt: NOW - age })]);
    expect(held('true')).toMatchObject({ reason: 'DoNotDisrupt', until: null });
    expect(held('30m', HOUR / 4)).toMatchObject({ reason: 'DoNotDisrupt', until: NOW + HOUR / 4 });
    expect([held('30m', HOUR), held('false'), held('no idea')]).toEqual([null, null, null]);
  });

  it('a pod without a controller keeps it', () => {
    expect(keptBy([running('p', { owner: null })])?.detail).toBe(
      'default/p has no controller that would make it again',
    );
  });

  it('pods of DaemonSets, static pods, pods that are being deleted and pods that have ended do not', () => {
    const daemon = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'log', uid: 'd' };
    const pods = [
      running('daemon', { owner: daemon, localVolumes: ['x'] }),
      running('static', { owner: { ...daemon, apiVersion: 'v1', kind: 'Node' }, namespace: 'kube-system' }),
      running('deleted', { deletesAt: NOW, owner: null }),
      running('ended', { phase: 'Succeeded', owner: null }),
      running('job', { owner: { ...daemon, kind: 'Job' } }),
    ];
    expect(reason(pods)).toBeNull();
    const { evicted, goWithNode } = podsOnNode(pods);
    expect(evicted.map(({ name }) => name)).toEqual(['job']);
    expect(goWithNode.map(({ name }) => name)).toEqual(['daemon', 'static', 'deleted']);
  });
});

it('the checks are asked in the order of the VPSie autoscaler, each of all pods', () => {
  const pods = [
    running('alone', { owner: null, labels: {} }),
    running('coredns', { namespace: 'kube-system', labels: {} }),
    running('local', { localVolumes: ['x'], labels: {} }),
    running('web-1'),
  ];
  const left = (count: number) => reason(pods.slice(0, count), { budgets: [budget()] });
  expect([4, 3, 2].map(left)).toEqual(['PodDisruptionBudget', 'LocalStorage', 'SystemPod']);
  expect(reason([running('alone', { owner: null, labels: {} })])).toBe('UnreplicatedPod');
});
