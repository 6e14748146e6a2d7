/** Nodes are imagined with what DaemonSets and the kubelet really put on them: a pod that would not fit beside it gets none. */
import { describe, expect, it } from 'vitest';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import {
  readAttachLimits,
  readClaim,
  readDaemonSet,
  readLimitRange,
  readRuntimeClass,
  readStorageClass,
} from '../../../../domain/node-group/scheduling/read-objects.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';

const MINUTE = 60_000;
const GIB = 1024 ** 3;
const LABELS = {
  'kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  'node.kubernetes.io/instance-type': 'small',
};
const allocatable = { cpu: 4000, memory: 16 * GIB, pods: 110 };
const base = { groups: [groupOf('web')], instanceTypes: { web: [typeOf('small', 4, 16)] } };

/** What is said of the pods of one DaemonSet, and of itself. */
interface DaemonOf {
  readonly annotations?: object;
  readonly metadata?: object;
  readonly status?: object;
}

function daemonSet(spec: object, { annotations = {}, metadata = {}, status = {} }: DaemonOf = {}) {
  const created = new Date(NOW - 60 * MINUTE).toISOString();
  return readDaemonSet({
    metadata: {
      namespace: 'kube-system',
      name: 'agent',
      uid: 'ds',
      creationTimestamp: created,
      annotations,
      ...metadata,
    },
    spec: { template: { metadata: { labels: { app: 'agent' } }, spec } },
    status,
  });
}

/** A pod of the DaemonSet on the node. */
function daemonPod(node: string, spec: object, labels: Readonly<Record<string, string>> = {}): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'ds', controller: true };
  const metadata = { namespace: 'kube-system', labels: { app: 'agent', ...labels }, ownerReferences: [owner] };
  return boundTo(node, podOf(`agent-${node}`, {}, { ...spec }, metadata));
}

/** As the controller of DaemonSets has a pod wait for its node. */
function namedNode(name: string): NonNullable<Pod['nodeAffinity']> {
  return [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }];
}

/** A node of the type that is ready for a long time and has no room for anything more. */
function settled(name: string, over: Partial<Node> = {}): Pick<ClusterState, 'nodes' | 'machines' | 'pods'> {
  return {
    nodes: [{ ...nodeOf(name, {}, LABELS), allocatable, ...over }],
    machines: [machineOf(`m-${name}`, 'web', { node: name, phase: 'Ready' })],
    pods: [boundTo(name, podOf(`full-${name}`, { cpu: '3' }))],
  };
}

function asked(state: Partial<ClusterState>) {
  const { plan } = planCluster(stateOf({ ...base, ...state }), { blocked: {}, memory: freshPlanMemory, requested: [] });
  return {
    count: plan.newNodes.reduce((sum, { count }) => sum + count, 0),
    unhelped: plan.unhelped.map(({ name, reason }) => `${name} ${reason}`),
  };
}

function withNode(node: ReturnType<typeof settled>, { pods = [], ...state }: Partial<ClusterState>) {
  return asked({ ...node, ...state, pods: [...node.pods, ...pods] });
}

const requesting = (requests: object) => ({ containers: [{ resources: { requests } }] });
const large = podOf('large', { cpu: '3500m' });
const listening = podOf(
  'listening',
  { cpu: '1500m' },
  { containers: [{ resources: { requests: { cpu: '1500m' } }, ports: [{ containerPort: 9100, hostPort: 9100 }] }] },
);

describe('a DaemonSet takes of a new node what the API server fills into its pods', () => {
  const tooLarge = { count: 0, unhelped: ['large TooLarge'] };

  it('its limits, where it states no requests', () => {
    const limits = daemonSet({ containers: [{ resources: { limits: { cpu: '1' } } }] });
    expect(asked({ pods: [large], daemonSets: [limits] })).toEqual(tooLarge);
  });

  it('the defaults of the LimitRanges of its namespace, and not of another', () => {
    const limits = [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }];
    const range = (namespace: string) => readLimitRange({ metadata: { namespace, name: 'l' }, spec: { limits } });
    const daemonSets = [daemonSet({ containers: [{}] })];
    expect(asked({ pods: [large], daemonSets, limitRanges: [range('kube-system')] })).toEqual(tooLarge);
    expect(asked({ pods: [large], daemonSets, limitRanges: [range('default')] }).count).toBe(1);
  });

  it('the overhead of its RuntimeClass, where that lets it run', () => {
    const overhead = { podFixed: { cpu: '1' } };
    const runtimeClass = (scheduling?: object) =>
      readRuntimeClass({ metadata: { name: 'sandbox' }, overhead, ...(scheduling ? { scheduling } : {}) });
    const daemonSets = [daemonSet({ runtimeClassName: 'sandbox', containers: [{}] })];
    expect(asked({ pods: [large], daemonSets, runtimeClasses: [runtimeClass()] })).toEqual(tooLarge);
    const elsewhere = runtimeClass({ nodeSelector: { sandbox: 'yes' } });
    expect(asked({ pods: [large], daemonSets, runtimeClasses: [elsewhere] }).count).toBe(1);
  });

  it('nothing, once it is being deleted', () => {
    const metadata = { deletionTimestamp: new Date(NOW - MINUTE).toISOString() };
    const daemonSets = [daemonSet(requesting({ cpu: '1' }), { metadata })];
    expect(asked({ pods: [large], daemonSets }).count).toBe(1);
  });

  it('the ports of its containers, in the network of the host', () => {
    const containers = [{ ports: [{ containerPort: 9100 }] }];
    expect(asked({ pods: [listening], daemonSets: [daemonSet({ hostNetwork: true, containers })] })).toEqual({
      count: 0,
      unhelped: ['listening NoGroupMatches'],
    });
    expect(asked({ pods: [listening], daemonSets: [daemonSet({ containers })] }).count).toBe(1);
  });
});

describe('what live nodes of the type show is what a new one has', () => {
  const agent = daemonSet(requesting({ cpu: '100m' }));

  it('the pods of a DaemonSet as they are, changed by a webhook', () => {
    const pods = [large, daemonPod('n', requesting({ cpu: '1' }))];
    expect(withNode(settled('n'), { pods, daemonSets: [agent] }).count).toBe(0);
    const modest = [large, daemonPod('n', requesting({ cpu: '10m' }))];
    const stating = daemonSet(requesting({ cpu: '2' }));
    expect(withNode(settled('n'), { pods: modest, daemonSets: [stating] }).count).toBe(1);
  });

  it('and not what a tenant says to be one of them: in another namespace, kept by a finalizer, or waiting with more than the template', () => {
    const forged = daemonPod('n', requesting({ cpu: '3900m' }));
    const waiting = { ...forged, node: null, phase: 'Pending' as const, nodeAffinity: namedNode('n') };
    for (const pod of [{ ...forged, namespace: 'tenant' }, { ...forged, deletesAt: NOW - MINUTE }, waiting]) {
      const own = daemonPod('n', requesting({ cpu: '100m' }));
      expect(withNode(settled('n'), { pods: [large, own, { ...pod, name: 'x' }], daemonSets: [agent] }).count).toBe(1);
    }
  });

  it('those of an earlier template say nothing', () => {
    const pods = [large, daemonPod('n', requesting({ cpu: '10m' }), { 'pod-template-generation': '1' })];
    const annotations = { 'deprecated.daemonset.template.generation': '2' };
    const next = daemonSet(requesting({ cpu: '1' }), { annotations });
    expect(withNode(settled('n'), { pods, daemonSets: [next] }).count).toBe(0);
  });

  it('the least favourable of all of them', () => {
    const [one, two] = [settled('n'), settled('o')];
    const both = {
      nodes: [...one.nodes, ...two.nodes],
      machines: [...one.machines, ...two.machines],
      pods: [...one.pods, ...two.pods],
    };
    const pods = [large, daemonPod('n', requesting({ cpu: '10m' })), daemonPod('o', requesting({ cpu: '1' }))];
    expect(withNode(both, { pods, daemonSets: [agent] }).count).toBe(0);
  });

  it('the host ports of the pods of its kubelet', () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'uid-n', controller: true };
    const spec = { containers: [{ ports: [{ containerPort: 9100, hostPort: 9100 }] }] };
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    const mirror = boundTo('n', podOf('proxy-n', {}, spec, { annotations, ownerReferences: [owner] }));
    expect(withNode(settled('n'), { pods: [listening, mirror] }).count).toBe(0);
    expect(withNode(settled('n'), { pods: [listening] }).count).toBe(1);
  });

  it('as many volumes as the least of them can attach', () => {
    const claims = ['a', 'b'].map((name) =>
      readClaim({ metadata: { namespace: 'default', name }, spec: { storageClassName: 'disks' } }),
    );
    const storageClass = { volumeBindingMode: 'WaitForFirstConsumer', provisioner: 'disks.csi' };
    const storageClasses = [readStorageClass({ metadata: { name: 'disks' }, ...storageClass })];
    const volumes = claims.map(({ name }) => ({ name, persistentVolumeClaim: { claimName: name } }));
    const pods = [podOf('claiming', { cpu: '2' }, { volumes, ...requesting({ cpu: '2' }) })];
    const limited = (count: number) =>
      readAttachLimits({
        metadata: { name: 'n' },
        spec: { drivers: [{ name: 'disks.csi', allocatable: { count } }] },
      });
    const storage = { pods, claims, storageClasses };
    expect(withNode(settled('n'), { ...storage, attachLimits: [limited(1)] })).toMatchObject({
      count: 0,
      unhelped: ['claiming TooLarge'],
    });
    expect(withNode(settled('n'), { ...storage, attachLimits: [limited(2)] }).count).toBe(1);
    // One that is not ready yet may have said it already.
    const joining = { ...settled('n'), pods: [], machines: [machineOf('m', 'web', { node: 'n', phase: 'Joining' })] };
    const unhelped = (count: number) => withNode(joining, { ...storage, attachLimits: [limited(count)] }).unhelped;
    expect([unhelped(1), unhelped(2)]).toEqual([['claiming TooLarge'], ['claiming FitsUpcoming']]);
  });
});

describe('a DaemonSet whose pods do not come takes nothing', () => {
  const agent = daemonSet(requesting({ cpu: '1' }));

  it('as a live node of the type has none of it, though it has had the time', () => {
    const since = NOW - 2 * MINUTE;
    const long = { ready: { status: 'True', since } } as const;
    expect(withNode(settled('n', long), { pods: [large], daemonSets: [agent] }).count).toBe(1);
  });

  it('but it may be on its way to a node that has only just become ready, or waits for room there', () => {
    const just = { ready: { status: 'True', since: NOW - 1_000 } } as const;
    expect(withNode(settled('n', just), { pods: [large], daemonSets: [agent] }).count).toBe(0);
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['n'] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } };
    const waiting = daemonPod('n', { ...requesting({ cpu: '1' }), affinity: { nodeAffinity } });
    const pods = [large, { ...waiting, node: null, phase: 'Pending' as const }];
    expect(withNode(settled('n'), { pods, daemonSets: [agent] }).count).toBe(0);
  });

  it('as nodes that it does not select say nothing about it', () => {
    // One that says nothing about the next node.
    const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] as const;
    expect(withNode(settled('n', { taints }), { pods: [large], daemonSets: [agent] }).count).toBe(0);
  });

  it('as no node of the cluster has any, where some should', () => {
    const refused = { desiredNumberScheduled: 3, currentNumberScheduled: 0 };
    const denied = daemonSet(requesting({ cpu: '1' }), { status: refused });
    expect(asked({ pods: [large], daemonSets: [denied] }).count).toBe(1);
    expect(asked({ at: NOW - 60 * MINUTE + 1_000, pods: [large], daemonSets: [denied] }).count).toBe(0);
    const some = daemonSet(requesting({ cpu: '1' }), { status: { ...refused, currentNumberScheduled: 1 } });
    expect(asked({ pods: [large], daemonSets: [some] }).count).toBe(0);
  });
});

describe('a claim that one pod may use at a time', () => {
  const accessModes = ['ReadWriteOncePod'];
  const claims = [
    readClaim({ metadata: { namespace: 'default', name: 'data' }, spec: { accessModes, storageClassName: 'disks' } }),
  ];
  const storageClass = { volumeBindingMode: 'WaitForFirstConsumer', provisioner: 'disks.csi' };
  const storageClasses = [readStorageClass({ metadata: { name: 'disks' }, ...storageClass })];
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const claiming = (name: string) => podOf(name, {}, { volumes, ...requesting({ cpu: '2' }) });

  it('makes no node for the pod that waits for another one', () => {
    const pods = [boundTo('n', claiming('first')), claiming('second')];
    const state = { claims, storageClasses, pods };
    expect(withNode(settled('n'), state)).toEqual({ count: 0, unhelped: ['second ClaimInUse'] });
  });

  it('makes one node for several pods that name it', () => {
    const pods = [claiming('first'), claiming('second'), claiming('third')];
    expect(asked({ claims, storageClasses, pods })).toEqual({
      count: 1,
      unhelped: ['second ClaimInUse', 'third ClaimInUse'],
    });
  });
});
