import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import { readPod } from '../../../domain/node-group/scheduling/read-pod.ts';
import type { ClusterState } from '../../../domain/node-group/model/cluster-state.ts';
import type { InstanceType, Machine, NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';

export const NOW = Date.UTC(2026, 0, 1);

/** A pending pod that kube-scheduler found no node for; `spec` and `metadata` as Kubernetes has them. */
export function podOf(
  name: string,
  requests: Readonly<Record<string, string>>,
  spec: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): Pod {
  return readPod({
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: new Date(NOW).toISOString(),
      ...metadata,
    },
    spec: { containers: [{ name: 'main', resources: { requests } }], ...spec },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '' }],
    },
  });
}

export function boundTo(node: string, pod: Pod): Pod {
  return { ...pod, node, phase: 'Running', unscheduled: null };
}

export function nodeOf(
  name: string,
  allocatable: Readonly<Record<string, string>> = { cpu: '4', memory: '16Gi', pods: '110' },
  labels: Readonly<Record<string, string>> = {},
  spec: Readonly<Record<string, unknown>> = {},
): Node {
  return readNode({
    metadata: { name, uid: `uid-${name}`, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

export function stateOf(over: Partial<ClusterState> = {}): ClusterState {
  return {
    at: NOW,
    nodes: [],
    pods: [],
    daemonSets: [],
    limitRanges: [],
    runtimeClasses: [],
    budgets: [],
    claims: [],
    volumes: [],
    storageClasses: [],
    attachLimits: [],
    namespaces: { default: { 'kubernetes.io/metadata.name': 'default' } },
    groups: [],
    machines: [],
    leaving: [],
    lingering: [],
    instanceTypes: {},
    utilization: {},
    ...over,
  };
}

const GIB = 1024 ** 3;

export function typeOf(id: string, cpus: number, gib: number, over: Partial<InstanceType> = {}): InstanceType {
  const allocatable = { cpu: cpus * 1000, memory: gib * GIB, pods: 110, 'ephemeral-storage': 100 * GIB };
  return { id, capacity: allocatable, allocatable, labels: {}, pricePerHour: null, isAvailable: true, ...over };
}

export function groupOf(name: string, over: Partial<NodeGroup> = {}): NodeGroup {
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    isDeleting: false,
    annotations: {},
    provider: 'kwok',
    mode: 'act',
    minNodes: 0,
    maxNodes: 100,
    offeringIds: ['small'],
    preferredInstanceType: null,
    labels: {},
    taints: [],
    startupTaints: [],
    expander: 'least-waste',
    estimate: 'simulation',
    exclusive: false,
    scaleUp: { enabled: true, cooldownMs: 0, batchSize: 0 },
    scaleDown: {
      enabled: true,
      stabilizationMs: 600_000,
      cooldownMs: 600_000,
      cpuThreshold: 50,
      memoryThreshold: 50,
      consolidation: false,
    },
    replaceBeforeDrain: false,
    deletionPolicy: 'Drain',
    budgets: [],
    approval: 'none',
    maxNodeProvisionMs: 900_000,
    providerSpec: {},
    desiredNodes: null,
    lastScaleUp: null,
    lastScaleDown: null,
    backoff: null,
    instanceTypes: [],
    instanceTypesAt: null,
    inVain: [],
    ...over,
  };
}

export function machineOf(name: string, group: string, over: Partial<Machine> = {}): Machine {
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    group,
    instanceType: 'small',
    phase: 'Provisioning',
    providerId: null,
    node: null,
    hostname: '',
    fillLater: 0,
    createdAt: NOW,
    phaseSince: NOW,
    isDeleting: false,
    isDrainRequested: false,
    isLabelled: true,
    heldBy: `uid-${group}`,
    decision: 'd1',
    creationReason: 'metrics',
    cameFor: [],
    replaces: null,
    ...over,
  };
}
