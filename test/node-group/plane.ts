/** A control plane with nodes: kube-scheduler binds pods, and kwok plays the kubelets of nodes that carry its annotation. */
import { join } from 'node:path';
import { CoreV1Api, type V1Node, type V1Pod, type V1PodSpec } from '@kubernetes/client-node';
import { resolveServer } from '../../tools/resolver/resolve-server.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../kernel/servers/control-plane.ts';
import { goMemory } from '../kernel/servers/go-memory.ts';
import { untilReady } from '../kernel/servers/readiness.ts';
import { type SupervisedProcess, startProcess } from '../kernel/servers/supervised-process.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';

/** The annotation of the nodes that kwok manages. */
const KWOK_NODE = { 'kwok.x-k8s.io/node': 'fake' };

const SCHEDULER = 'system:kube-scheduler';
const KWOK = 'kwok';
const MASTERS = 'system:masters';
const STAGES = join(import.meta.dirname, 'stages.yaml');

/** kwok renews a node's Lease every quarter of this, in seconds. */
const LEASE_SECONDS = 40;
/** Kubernetes' own 50 s are too few where tests take all cores: a node must not turn NotReady by itself. */
const NOT_READY_AFTER_SECONDS = 180;

export interface NodePlaneOptions extends ControlPlaneOptions {
  /** Seconds without a heartbeat until a node is NotReady: 180, or fewer for a test of exactly that. */
  readonly notReadyAfterSeconds?: number;
}

/** A control plane whose pods are scheduled and run. */
export interface NodePlane extends ControlPlane {
  /** SIGKILL: its nodes stay as they are until they turn NotReady, and terminating pods stay. */
  readonly killKwok: () => Promise<void>;
  /** Starts it again: it goes on with the nodes that it finds. */
  readonly startKwok: () => Promise<void>;
}

/**
 * Starts a control plane, kube-scheduler and kwok. When this resolves, the scheduler answers pods; it is never shared between files.
 * @throws ServerUnavailable when a binary is nowhere and cannot be built; Error with the end of a log when a server does not start.
 */
export async function startNodePlane(options: NodePlaneOptions = {}): Promise<NodePlane> {
  const { notReadyAfterSeconds = NOT_READY_AFTER_SECONDS, ...rest } = options;
  const binaries = { scheduler: await resolveServer('kube-scheduler'), kwok: await resolveServer('kwok') };
  const plane = await startControlPlane({
    ...rest,
    users: [{ name: SCHEDULER, groups: [MASTERS] }, { name: KWOK, groups: [MASTERS] }, ...(options.users ?? [])],
    controllerManagerFlags: [
      `--node-monitor-grace-period=${notReadyAfterSeconds}s`,
      ...(options.controllerManagerFlags ?? []),
    ],
  });
  const started: SupervisedProcess[] = [];
  let kwok: SupervisedProcess | null = null;
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(async (server) => await server.kill()));
    await plane.stop();
  };
  try {
    const scheduler = await startServer(plane, 'kube-scheduler', binaries.scheduler, [
      `--kubeconfig=${plane.kubeconfigFor(SCHEDULER)}`,
      '--leader-elect=false',
      '--secure-port=0',
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
    ]);
    started.push(scheduler);
    const startKwok = async (): Promise<void> => {
      kwok = await startServer(plane, 'kwok', binaries.kwok, [
        `--kubeconfig=${plane.kubeconfigFor(KWOK)}`,
        '--manage-all-nodes=false',
        '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
        `--node-lease-duration-seconds=${LEASE_SECONDS}`,
        `--config=${STAGES}`,
      ]);
      started.push(kwok);
    };
    await startKwok();
    await untilScheduling(plane, scheduler);
    return { ...plane, stop, killKwok: async () => void (await kwok?.kill()), startKwok };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServer(
  { dir }: ControlPlane,
  name: string,
  command: string,
  args: readonly string[],
): Promise<SupervisedProcess> {
  return await startProcess({ name, command, args, cwd: dir, env: goMemory(512), logFile: join(dir, `${name}.log`) });
}

/** It has no port to ask; a pod that it finds no node for says that it works. */
async function untilScheduling({ adminKubeconfig }: ControlPlane, scheduler: SupervisedProcess): Promise<void> {
  const core = accessOf(adminKubeconfig).makeApiClient(CoreV1Api);
  const probe = { namespace: 'default', name: 'scheduler-probe' };
  await core.createNamespacedPod({ namespace: probe.namespace, body: podOf(probe.name) });
  await untilReady(scheduler, async () => isUnschedulable(await core.readNamespacedPod(probe)));
  await core.deleteNamespacedPod({ ...probe, gracePeriodSeconds: 0 });
}

/** Whether kube-scheduler found no node for a pod. */
export function isUnschedulable({ status }: V1Pod): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable') === true;
}

/** A pod of one container; `spec` replaces what it names. */
export function podOf(name: string, spec: Partial<V1PodSpec> = {}): V1Pod {
  return { metadata: { name }, spec: { containers: [{ name: 'main', image: 'test/none:1' }], ...spec } };
}

/** A node that kwok manages, of 4 CPUs, 8 GiB and 110 pods where `allocatable` says nothing else. */
export function nodeOf(name: string, allocatable: Readonly<Record<string, string>> = {}): V1Node {
  const resources = { cpu: '4', memory: '8Gi', pods: '110', ...allocatable };
  return {
    metadata: { name, annotations: KWOK_NODE, labels: { 'kubernetes.io/hostname': name } },
    status: { allocatable: resources, capacity: resources },
  };
}

/** Waits until a node is Ready and pods may be placed on it. */
export async function untilNodeReady(core: CoreV1Api, name: string): Promise<V1Node> {
  return await eventually(`the node ${name} is ready`, async () => {
    const node = await core.readNode({ name });
    const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    return isReady === true && (node.spec?.taints ?? []).length === 0 && node;
  });
}
