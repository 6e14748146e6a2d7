/** Nodes with pods, a kubelet that ends them, and processes that drain: real servers, no mocks. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  V1MicroTime,
  type V1Node,
  type V1Pod,
} from '@kubernetes/client-node';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { connectKubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { MACHINES } from '../../../activities/node-group/machines/machine-objects.ts';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';
import { claimPlan } from '../../../activities/node-group/machines/claim-plan.ts';
import { orNull } from '../../../activities/kubernetes/failure.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { API_VERSION, GROUP_LABEL, KIND, MACHINE_KIND, PLURAL } from '../../../domain/node-group/api/names.ts';
import { PLAN_LEASE, removalsOf } from '../../../domain/node-group/plan-claim.ts';
import type { DrainEnding } from '../../../domain/node-group/drain/steps.ts';
import { type DrainTarget, nodeDrainId } from '../../../domain/node-group/target.ts';
import type { nodeDrain, NodeDrainInput } from '../../../workflows/node-group/drain.ts';
import { drainStatus, type NodeDrainStatus } from '../../../workflows/node-group/drain-messages.ts';
import { clientConnectionOptions } from '../../../platform/temporal/temporal.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { type KubernetesGate, openKubernetesGate } from '../../kernel/servers/kubernetes-gate.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { borrowTemporal } from '../../kernel/servers/shared-temporal.ts';
import {
  logTail,
  type SupervisedProcess,
  startProcess,
  temporaryDirectory,
} from '../../kernel/servers/supervised-process.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyManifests } from '../../kernel/stack/manifests.ts';
import { DRAIN_CLUSTER, SYSTEM_NAMESPACE } from './names.ts';

const CRD = new URL('../../../deploy/chart-crds/definitions/node-group.yaml', import.meta.url);
const PROGRAM = fileURLToPath(new URL('./worker-main.ts', import.meta.url));
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
/** Milliseconds. A start takes some seconds, and ten times as long where all cores are busy with those of others. */
const START_MS = 120_000;
/** Nodes are taken for lost after 50 s without a sign of life. */
const ALIVE_MS = 10_000;
/** How often the kubelet looks for pods that are to end. */
const KUBELET_MS = 250;
const GROUP = 'pool';
/** Nobody makes the pods here again. */
const MAY_GO = { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' };

/** Of a NodeGroup that a test pauses. */
export const PAUSED_GROUP = 'pool-paused';

export type DrainHandle = WorkflowHandle<typeof nodeDrain>;

export class DrainCluster {
  readonly plane: ControlPlane;
  readonly gate: KubernetesGate;
  readonly client: Client;
  readonly core: CoreV1Api;
  readonly policy: PolicyV1Api;
  readonly #coordination: CoordinationV1Api;
  readonly #custom: CustomObjectsApi;
  readonly #temporal: { readonly address: string; readonly namespace: string };
  readonly #dir: string;
  readonly #undo: (() => Promise<void>)[] = [];
  readonly #nodes = new Set<string>();
  readonly #processes: SupervisedProcess[] = [];
  readonly #namespaces = new Set<string>();
  /** The kubelets of these nodes are silent: they end no pods. */
  readonly #silent = new Set<string>();

  private constructor(
    given: Pick<DrainCluster, 'plane' | 'gate' | 'client'>,
    dir: string,
    temporal: { address: string; namespace: string },
  ) {
    this.plane = given.plane;
    this.gate = given.gate;
    this.client = given.client;
    const config = accessOf(given.plane.adminKubeconfig);
    this.core = config.makeApiClient(CoreV1Api);
    this.policy = config.makeApiClient(PolicyV1Api);
    this.#coordination = config.makeApiClient(CoordinationV1Api);
    this.#custom = config.makeApiClient(CustomObjectsApi);
    this.#dir = dir;
    this.#temporal = temporal;
  }

  static async start(): Promise<DrainCluster> {
    const [plane, temporal, dir] = await Promise.all([
      borrowControlPlane(),
      borrowTemporal(),
      temporaryDirectory('drains'),
    ]);
    const gate = await openKubernetesGate(plane);
    const connection = await Connection.connect(clientConnectionOptions({ address: temporal.address }, 10_000));
    const client = new Client({ connection, namespace: temporal.namespace });
    const cluster = new DrainCluster({ plane, gate, client }, dir, temporal);
    const alive = setInterval(() => void cluster.#signsOfLife(), ALIVE_MS);
    const ending = setInterval(() => void cluster.#endPods(), KUBELET_MS);
    cluster.#undo.push(
      async () => await plane.stop(),
      async () => await gate.stop(),
      async () => await connection.close(),
      async () => {
        clearInterval(alive);
        clearInterval(ending);
        await Promise.all(cluster.#processes.map(async (process) => await process.stop()));
      },
    );
    await cluster.core.createNamespace({ body: { metadata: { name: SYSTEM_NAMESPACE } } });
    await cluster.#defineGroups();
    return cluster;
  }

  async stop(): Promise<void> {
    for (const step of this.#undo.splice(0).reverse()) await step();
  }

  async #defineGroups(): Promise<void> {
    await applyManifests(this.plane.adminKubeconfig, [CRD]);
    await eventually('VPSieNodes are served', async () => await this.#custom.listNamespacedCustomObject(MACHINES));
    for (const name of [GROUP, PAUSED_GROUP]) {
      const spec = { provider: 'kwok', mode: 'act', minNodes: 0, maxNodes: 1000, offeringIDs: ['small'] };
      const body = { apiVersion: API_VERSION, kind: KIND, metadata: { name }, spec };
      await this.#custom.createNamespacedCustomObject({ ...MACHINES, plural: PLURAL, body });
    }
  }

  /** The machine of a node, which is called as the node is. A drain counts the ready nodes of its group by machines that are Ready: none. */
  async #createMachine(name: string, group: string): Promise<void> {
    const metadata = { name, labels: { [GROUP_LABEL]: group } };
    const spec = { instanceType: 'small', nodeGroupName: group };
    const body = { apiVersion: API_VERSION, kind: MACHINE_KIND, metadata, spec };
    await this.#custom.createNamespacedCustomObject({ ...MACHINES, body });
    const status = { phase: 'Joining', nodeName: name };
    await this.#custom.patchNamespacedCustomObjectStatus({ ...MACHINES, name, body: { status } }, merge);
  }

  /** The plan has the node drained: its group has claimed it. */
  async #claim({ cluster, group, uid }: DrainTarget): Promise<void> {
    const kubernetes = connectKubernetes(accessOf(this.plane.adminKubeconfig));
    const guard = async (): Promise<void> => await Promise.resolve();
    const log = { warn: () => undefined };
    const clock = new ServerClock();
    const options = { kubernetes, systemNamespace: SYSTEM_NAMESPACE, clock, guard, log };
    await eventually(`the node ${uid} is claimed`, async () => {
      const lease = await orNull(
        this.#coordination.readNamespacedLease({ name: PLAN_LEASE, namespace: SYSTEM_NAMESPACE }),
      );
      const fence = { lease: lease?.metadata?.resourceVersion ?? '', plan: uid };
      const removals = { decision: removalsOf(fence, group), group, machines: {}, givenUp: [], removals: [uid] };
      return (await claimPlan(options, { cluster, group }, fence, removals, () => null)).claim !== null;
    });
  }

  async startWorker(): Promise<SupervisedProcess> {
    const logFile = join(this.#dir, `worker-${this.#processes.length}.log`);
    const started = await startProcess({
      name: 'drain worker',
      command: process.execPath,
      args: [PROGRAM, this.#temporal.address, this.#temporal.namespace, await this.gate.kubeconfigFor('admin')],
      logFile,
    });
    this.#processes.push(started);
    await eventually(
      'the worker runs',
      async () => started.exit() !== undefined || (await readFile(logFile, 'utf8')).includes('running'),
      START_MS,
    );
    if (started.exit() !== undefined) throw new Error(`the drain worker ended:\n${await logTail(logFile)}`);
    return started;
  }

  /** A namespace, and a node of the same name that is ready; pods run at once there, and end when they are told to. */
  async create(name: string, pods: readonly string[] = [], group = GROUP): Promise<V1Node> {
    await this.core.createNamespace({ body: { metadata: { name } } });
    this.#namespaces.add(name);
    const node = await this.createNode(name);
    await this.#createMachine(name, group);
    for (const pod of pods) await this.run(name, pod);
    return node;
  }

  async createNode(name: string): Promise<V1Node> {
    const node = await this.core.createNode({ body: { metadata: { name } } });
    this.#nodes.add(name);
    await this.#signOfLife(name);
    return node;
  }

  /** A pod with the label `app: web` that runs on a node, and is ready; of no controller, and allowed to go where `annotations` says nothing else. */
  async run(
    namespace: string,
    name: string,
    more: {
      readonly grace?: number;
      readonly annotations?: Record<string, string>;
      readonly node?: string;
      readonly app?: string;
    } = {},
  ): Promise<V1Pod> {
    const { grace = 30, annotations = {}, node = namespace, app = 'web' } = more;
    const body: V1Pod = {
      metadata: { name, labels: { app }, annotations: { ...MAY_GO, ...annotations } },
      spec: { nodeName: node, terminationGracePeriodSeconds: grace, containers: [{ name: 'web', image: 'web' }] },
    };
    // Without its service account, which a controller makes, a namespace takes no pods.
    const pod = await eventually(
      `${namespace} takes pods`,
      async () => await this.core.createNamespacedPod({ namespace, body }),
    );
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await this.core.patchNamespacedPodStatus({ namespace, name, body: { status } }, merge);
    return pod;
  }

  /** A budget for the pods of a namespace, once it is in effect. */
  async protect(namespace: string, name: string, minAvailable: number): Promise<void> {
    const spec = { minAvailable, selector: { matchLabels: { app: 'web' } } };
    await this.policy.createNamespacedPodDisruptionBudget({ namespace, body: { metadata: { name }, spec } });
    await eventually(`the budget ${name} is observed`, async () => {
      const { status } = await this.policy.readNamespacedPodDisruptionBudget({ namespace, name });
      return (status?.observedGeneration ?? 0) > 0 && (status?.currentHealthy ?? 0) > 0;
    });
  }

  /** Starts the drain of a node. */
  async drain(name: string, more: Partial<NodeDrainInput> = {}): Promise<DrainHandle> {
    const target = await this.target(name);
    const removal = { machine: name, reason: 'Underutilized', detail: 'its pods fit elsewhere' } as const;
    const input: NodeDrainInput = {
      target,
      groupUid: 'uid-group',
      removal,
      ...more,
    };
    await this.#claim(input.target);
    return await this.client.workflow.start<typeof nodeDrain>('nodeDrain', {
      workflowId: nodeDrainId(input.target),
      taskQueue: taskQueue(DRAIN_CLUSTER),
      args: [input],
    });
  }

  /** How a drain ends. */
  async ending(handle: DrainHandle, withinMs = 120_000): Promise<DrainEnding> {
    await eventually(
      `${handle.workflowId} has ended`,
      async () => (await handle.describe()).status.name !== 'RUNNING',
      withinMs,
    );
    return await handle.result();
  }

  /** What a drain has told the workflow of its group. */
  async toldGroup(handle: DrainHandle): Promise<readonly unknown[]> {
    const { events } = await handle.fetchHistory();
    return (events ?? []).flatMap(({ signalExternalWorkflowExecutionInitiatedEventAttributes: told }) =>
      (told?.input?.payloads ?? []).map(({ data }): unknown => JSON.parse(Buffer.from(data ?? []).toString())),
    );
  }

  async status(handle: DrainHandle): Promise<NodeDrainStatus> {
    return await handle.query(drainStatus);
  }

  async untilShown(handle: DrainHandle, reason: string): Promise<NodeDrainStatus> {
    let seen = '';
    return await eventually(
      () => `${handle.workflowId} shows ${reason}: it shows ${seen}`,
      async () => {
        const status = await this.status(handle);
        seen = `${status.reason}: ${status.detail}`;
        return status.reason === reason && status;
      },
    );
  }

  async cordon(name: string): Promise<void> {
    await this.core.patchNode({ name, body: { spec: { unschedulable: true } } }, merge);
  }

  async uncordon(name: string): Promise<void> {
    await this.core.patchNode({ name, body: { spec: { unschedulable: null } } }, merge);
  }

  async target(name: string): Promise<DrainTarget> {
    const { metadata: { uid = '' } = {} } = await this.core.readNode({ name });
    return { cluster: DRAIN_CLUSTER, group: GROUP, node: name, uid };
  }

  /** What people and machines see of the marks. */
  async marks(name: string): Promise<{ readonly isCordoned: boolean; readonly annotations: readonly string[] }> {
    const { metadata, spec } = await this.core.readNode({ name });
    const annotations = Object.keys(metadata?.annotations ?? {}).filter((key) => key.includes('vpsie'));
    return { isCordoned: spec?.unschedulable === true, annotations };
  }

  async pods(namespace: string): Promise<readonly V1Pod[]> {
    return (await this.core.listNamespacedPod({ namespace })).items;
  }

  /** The writes of drains about a node and its pods that took effect, in order. */
  writes(name: string): readonly { readonly shape: string; readonly method: string; readonly path: string }[] {
    return this.gate.writes
      .filter(({ status, path }) => status < 300 && isAbout(path, name))
      .map(({ method, path }) => ({ method, path, shape: `${method} ${shapeOf(path, name)}` }));
  }

  /** From now on nobody ends pods of this node, and it is not ready. */
  async silence(name: string): Promise<void> {
    this.#silent.add(name);
    const status = { conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: new Date() }] };
    await this.core.patchNodeStatus({ name, body: { status } }, merge);
  }

  async #signsOfLife(): Promise<void> {
    for (const name of this.#nodes) if (!this.#silent.has(name)) await this.#signOfLife(name).catch(() => {});
  }

  async #signOfLife(name: string): Promise<void> {
    const renewTime = new V1MicroTime();
    const namespace = 'kube-node-lease';
    const known = await orNull(this.#coordination.readNamespacedLease({ name, namespace }));
    if (known === null) {
      const status = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date() }] };
      await this.core.patchNodeStatus({ name, body: { status } }, merge);
      const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
      await this.#coordination.createNamespacedLease({ namespace, body: { metadata: { name }, spec } });
      return;
    }
    await this.#coordination.patchNamespacedLease({ name, namespace, body: { spec: { renewTime } } }, merge);
  }

  /** As a kubelet does when the containers of a pod have ended. */
  async #endPods(): Promise<void> {
    for (const namespace of this.#namespaces) {
      const pods = await this.pods(namespace).catch(() => []);
      for (const { metadata, spec } of pods) {
        const { name = '', uid = '', deletionTimestamp, annotations } = metadata ?? {};
        const isKept = annotations?.['test/keep'] !== undefined || this.#silent.has(spec?.nodeName ?? '');
        if (deletionTimestamp === undefined || isKept) continue;
        const body = { gracePeriodSeconds: 0, preconditions: { uid } };
        await orNull(this.core.deleteNamespacedPod({ namespace, name, body })).catch(() => null);
      }
    }
  }
}

function isAbout(path: string, name: string): boolean {
  return path === `/api/v1/nodes/${name}` || path.startsWith(`/api/v1/namespaces/${name}/`);
}

/** `nodes`, or `pods/<pod>/eviction`. */
function shapeOf(path: string, name: string): string {
  return path === `/api/v1/nodes/${name}` ? 'node' : path.slice(`/api/v1/namespaces/${name}/`.length);
}
