/** The objects that a load test fills its clusters with: quotas of several kinds, pods of several shapes. */
import type { V1Container, V1ContainerStatus, V1PodSpec, V1Service } from '@kubernetes/client-node';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { Pod } from '../../domain/quota-usage/pod.ts';
import type { Random } from '../../test/chaos/random.ts';

/** Nothing is ever refused: it is the counting that is measured, not the refusing. */
const PLENTY = '100000';
const PLENTY_OF_MEMORY = '1Pi';

/** Each limits pods, something that pods request, ConfigMaps and node ports, so that no change leaves the usage as it is. */
const hards: readonly ResourceList[] = [
  {
    'requests.cpu': PLENTY,
    'requests.memory': PLENTY_OF_MEMORY,
    'limits.cpu': PLENTY,
    'limits.memory': PLENTY_OF_MEMORY,
    pods: PLENTY,
    'count/configmaps': PLENTY,
    'services.nodeports': PLENTY,
  },
  {
    'requests.cpu': PLENTY,
    'limits.memory': PLENTY_OF_MEMORY,
    pods: PLENTY,
    'count/pods': PLENTY,
    configmaps: PLENTY,
    services: PLENTY,
    'services.nodeports': PLENTY,
    'services.loadbalancers': PLENTY,
  },
  {
    cpu: PLENTY,
    memory: PLENTY_OF_MEMORY,
    pods: PLENTY,
    'count/pods': PLENTY,
    'count/configmaps': PLENTY,
    'count/services': PLENTY,
    'services.nodeports': PLENTY,
    'requests.example.com/device': PLENTY,
  },
  {
    'requests.cpu': PLENTY,
    'requests.memory': PLENTY_OF_MEMORY,
    'requests.ephemeral-storage': PLENTY_OF_MEMORY,
    pods: PLENTY,
    configmaps: PLENTY,
    'services.nodeports': PLENTY,
    'count/deployments.apps': PLENTY,
    persistentvolumeclaims: PLENTY,
  },
];

/** `spec.hard` of the quota of the namespace with this number. */
export function hardOf(index: number): ResourceList {
  return hards[index % hards.length] ?? {};
}

const IMAGE = 'registry.example/app:1';

/**
 * @param extra asked for and limited alike, as extended resources must be.
 */
function container(name: string, asked: ResourceList, extra: ResourceList = {}) {
  return {
    name,
    image: IMAGE,
    resources: { requests: { ...asked, ...extra }, limits: { ...twice(asked), ...extra } },
  };
}

function compute(random: Random): ResourceList {
  return { cpu: `${random.between(1, 20) * 50}m`, memory: `${random.between(1, 64) * 16}Mi` };
}

/** Where a quota limits cpu or memory, admission wants every container to name both, as a request and as a limit. */
function twice({ cpu = '0m', memory = '0Mi' }: ResourceList): ResourceList {
  return { cpu: `${Number.parseInt(cpu, 10) * 2}m`, memory: `${Number.parseInt(memory, 10) * 2}Mi` };
}

/** A pod, as far as it is counted. */
export interface LoadPod {
  readonly name: string;
  readonly spec: V1PodSpec;
  /** A running one has a kubelet that reports what its containers were given; there is no node for the others. */
  readonly phase: 'Pending' | 'Running' | 'Succeeded';
}

export const podLabels = { app: 'load' };

/** A pod with the resources that one of several kinds of workload has. */
export function somePod(random: Random, name: string): LoadPod {
  const asked = compute(random);
  const app = container('app', asked);
  const small = { cpu: '25m', memory: '32Mi' };
  const shapes: readonly V1PodSpec[] = [
    { containers: [app] },
    { containers: [app, container('proxy', small)] },
    { containers: [app], initContainers: [container('migrate', compute(random))] },
    { containers: [app], initContainers: [{ ...container('mesh', small), restartPolicy: 'Always' }] },
    { containers: [container('app', asked, { 'ephemeral-storage': '1Gi' })] },
    { containers: [container('app', asked, { 'example.com/device': '2' })] },
  ];
  return { name, spec: random.pick(shapes), phase: 'Pending' };
}

/** A pod of one container that runs on a node that can resize it. */
export function runningPod(random: Random, name: string): LoadPod {
  return { name, spec: { containers: [resizedContainer(random.between(1, 40))] }, phase: 'Running' };
}

/** The container of a running pod, in steps of 50 milli-CPUs and 32 MiB. */
export function resizedContainer(steps: number): V1Container {
  return container('app', { cpu: `${steps * 50}m`, memory: `${steps * 32}Mi` });
}

/** The pod in the shape of Kubernetes' JSON, as its quota counts it. */
export function countedPod({ spec, phase }: LoadPod): Pod {
  return {
    spec,
    status: { phase, ...(phase === 'Running' ? { containerStatuses: spec.containers.map(actuated) } : {}) },
  };
}

/** What the kubelet reports of a running container once it has the resources that its spec asks for. */
export function actuated({ name, resources }: V1Container): V1ContainerStatus {
  return {
    name,
    image: IMAGE,
    imageID: IMAGE,
    ready: true,
    started: true,
    restartCount: 0,
    state: { running: {} },
    allocatedResources: { ...resources?.requests },
    resources: { requests: { ...resources?.requests }, limits: { ...resources?.limits } },
  };
}

export const SERVICE = 'front';
const SERVICE_PORTS = [
  { name: 'web', port: 80 },
  { name: 'metrics', port: 9090 },
];

/** A service without node ports. */
export const closedService: V1Service = {
  metadata: { name: SERVICE },
  spec: { type: 'ClusterIP', selector: podLabels, ports: SERVICE_PORTS },
};

/** How many node ports the service has when it has any. */
export const nodePorts = SERVICE_PORTS.length;
