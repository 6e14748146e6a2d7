/** A control plane with nodes, NodeGroups of the provider kwok, and processes whose activities can be ended at each request. */
import {
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type KubeConfig,
  type V1Lease,
  type V1Node,
} from '@kubernetes/client-node';
import { ApplicationFailure } from '@temporalio/common';
import { orNull } from '../../../activities/kubernetes/failure.ts';
import { connectKubernetes, type Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';
import type { DrainActivities } from '../../../activities/node-group/drain/interface.ts';
import { createDrainActivities } from '../../../activities/node-group/drain/kubernetes-activities.ts';
import type { GroupInput, NodeGroupActivities } from '../../../activities/node-group/interface.ts';
import { MERGE_PATCH } from '../../../activities/node-group/group/group-objects.ts';
import { createMachineActivities } from '../../../activities/node-group/machines/kubernetes-activities.ts';
import type { MachineOptions } from '../../../activities/node-group/machines/options.ts';
import { INSTANCE_TYPES } from '../../../activities/node-group/provider/kwok/instance-types.ts';
import { createKwokProvider } from '../../../activities/node-group/provider/kwok/kwok-provider.ts';
import type { NodeProvider } from '../../../activities/node-group/provider/provider.ts';
import {
  API_VERSION,
  GROUP,
  KIND,
  MACHINE_PLURAL,
  NAMESPACE,
  PLURAL,
  VERSION,
  VPSIENODE_LABEL,
} from '../../../domain/node-group/api/names.ts';
import { type DrainTarget, nodeDrainId } from '../../../domain/node-group/target.ts';
import { markPatch, unmarkPatch } from '../../../domain/node-group/drain/marks.ts';
import { type DrivenMachine, readDrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { NewNodes } from '../../../domain/node-group/model/plan.ts';
import { formatFence, PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { applyRights } from '../../kernel/stack/chart.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyManifests } from '../../kernel/stack/manifests.ts';
import { type NodePlane, startNodePlane } from '../plane.ts';
import { Mortal } from '../provider/mortal.ts';

export const SYSTEM_NAMESPACE = 'namespace-resizer-system';
const CLUSTER = 'machines';
/** Processes have the rights of a worker, and no others. */
const WORKER = `system:serviceaccount:${SYSTEM_NAMESPACE}:headroom-worker`;
const DEFINITION = new URL('../../../deploy/chart-crds/definitions/node-group.yaml', import.meta.url);
const TYPES = `
- { id: small, capacity: { cpu: 2, memory: 4Gi }, pricePerHour: 0.1 }
- { id: large, capacity: { cpu: 8, memory: 32Gi } }
`;
const GROUPS = { group: GROUP, version: VERSION, plural: PLURAL, namespace: NAMESPACE } as const;
const MACHINES = { ...GROUPS, plural: MACHINE_PLURAL } as const;

interface GroupObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly finalizers?: readonly string[];
    readonly resourceVersion: string;
  };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** A clock of a test, which no answer of the API server sets. */
export class TestClock extends ServerClock {
  override async timed<T>(request: () => Promise<T>): Promise<T> {
    return await request();
  }
}

/** What a process is connected with; all of it that of the cluster where absent. */
export interface ProcessOptions {
  readonly mortal?: Mortal;
  readonly provider?: (kubernetes: Kubernetes) => NodeProvider;
  /** The API server's time when absent. */
  readonly clock?: ServerClock;
  /** Called before each of its requests to the API server. */
  readonly before?: () => Promise<void>;
}

export class MachineCluster {
  readonly plane: NodePlane;
  readonly core: CoreV1Api;
  readonly coordination: CoordinationV1Api;
  readonly custom: CustomObjectsApi;
  readonly #worker: KubeConfig;

  private constructor(plane: NodePlane) {
    this.plane = plane;
    const admin = accessOf(plane.adminKubeconfig);
    this.#worker = accessOf(plane.kubeconfigFor(WORKER));
    this.core = admin.makeApiClient(CoreV1Api);
    this.custom = admin.makeApiClient(CustomObjectsApi);
    this.coordination = admin.makeApiClient(CoordinationV1Api);
  }

  static async start(): Promise<MachineCluster> {
    const cluster = new MachineCluster(await startNodePlane({ users: [{ name: WORKER }] }));
    const { adminKubeconfig } = cluster.plane;
    await applyManifests(adminKubeconfig, [DEFINITION]);
    await applyRights(adminKubeconfig, { config: { nodeGroups: { enabled: true } }, rights: { kwokNodes: true } });
    const { namespace, name, key } = INSTANCE_TYPES;
    await cluster.core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { [key]: TYPES } } });
    await eventually('NodeGroups are known', async () => {
      await cluster.custom.listNamespacedCustomObject(GROUPS);
      await cluster.custom.listNamespacedCustomObject(MACHINES);
      return true;
    });
    await cluster.#untilPolicyHolds();
    return cluster;
  }

  async #untilPolicyHolds(): Promise<void> {
    const name = 'policy-probe';
    await this.core.createNode({ body: { metadata: { name } } });
    const worker = this.#worker.makeApiClient(CoreV1Api);
    await eventually('the policy is in force', async () => {
      const body = { metadata: { annotations: { theirs: '1' } } };
      const isRefused = (error: unknown): boolean => String(error).includes('headroom-worker may not');
      return await worker.patchNode({ name, body, dryRun: 'All' }, MERGE_PATCH).then(() => false, isRefused);
    });
    await this.core.deleteNode({ name });
  }

  async stop(): Promise<void> {
    await this.plane.stop();
  }

  /** The activities of a process. */
  process({ mortal = new Mortal(), provider, clock, before }: ProcessOptions = {}): NodeGroupActivities {
    const connected = connectKubernetes(this.#worker);
    const kubernetes = mortalKubernetes(before === undefined ? connected : interrupted(connected, before), mortal);
    const kwok = provider?.(kubernetes) ?? createKwokProvider({ kubernetes });
    const providers: MachineOptions['providers'] = { kwok, vpsie: kwok };
    return createMachineActivities({
      kubernetes,
      systemNamespace: SYSTEM_NAMESPACE,
      providers,
      log: { warn: () => undefined },
      ...(clock === undefined ? {} : { clock }),
    });
  }

  async createGroup(name: string, spec: object = {}): Promise<GroupInput> {
    const body = {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { name },
      spec: { provider: 'kwok', mode: 'act', minNodes: 0, maxNodes: 100, offeringIDs: ['small', 'large'], ...spec },
    };
    const object = (await this.custom.createNamespacedCustomObject({ ...GROUPS, body })) as GroupObject;
    return { target: { cluster: CLUSTER, group: name }, uid: object.metadata.uid };
  }

  /** Null where it is gone. */
  async group(name: string): Promise<GroupObject | null> {
    return (await orNull(this.custom.getNamespacedCustomObject({ ...GROUPS, name }))) as GroupObject | null;
  }

  async status(name: string): Promise<Readonly<Record<string, unknown>>> {
    return (await this.group(name))?.status ?? {};
  }

  async deleteGroup(name: string): Promise<void> {
    await this.custom.deleteNamespacedCustomObject({ ...GROUPS, name });
  }

  async machines(group: string): Promise<readonly DrivenMachine[]> {
    const answer = (await this.custom.listNamespacedCustomObject(MACHINES)) as { readonly items: readonly unknown[] };
    return answer.items.map(readDrivenMachine).filter((machine) => machine.group === group);
  }

  async nodes(group: string): Promise<readonly V1Node[]> {
    const { items } = await this.core.listNode();
    return items.filter(({ metadata }) => metadata?.name?.startsWith(`${group}-`));
  }

  async patchMachineStatus(name: string, status: object): Promise<void> {
    await this.custom.patchNamespacedCustomObjectStatus({ ...MACHINES, name, body: { status } }, MERGE_PATCH);
  }

  /** As a person does who edits the status. */
  async patchGroupStatus(name: string, status: object): Promise<void> {
    await this.custom.patchNamespacedCustomObjectStatus({ ...GROUPS, name, body: { status } }, MERGE_PATCH);
  }

  /** @param machine that the label of the Node is to name; null: none. */
  async labelNode(name: string, machine: string | null): Promise<void> {
    await this.core.patchNode({ name, body: { metadata: { labels: { [VPSIENODE_LABEL]: machine } } } }, MERGE_PATCH);
  }

  /** Puts the marks of a drain on a node, as the drain itself does. */
  async markDrained(name: string): Promise<void> {
    const { metadata: { uid = '' } = {} } = await this.core.readNode({ name });
    const body = markPatch({ annotations: {}, isCordoned: false }, nodeDrainId({ cluster: CLUSTER, uid }), Date.now());
    await this.core.patchNode({ name, body }, MERGE_PATCH);
  }

  /** As a person does who takes a node back. */
  async unmark(name: string): Promise<void> {
    const { metadata: { uid = '', annotations = {} } = {} } = await this.core.readNode({ name });
    const body = unmarkPatch({ annotations, isCordoned: true }, nodeDrainId({ cluster: CLUSTER, uid })) ?? {};
    await this.core.patchNode({ name, body }, MERGE_PATCH);
  }

  /** The activities of drains. */
  drains(): DrainActivities {
    const kubernetes = connectKubernetes(this.#worker);
    return createDrainActivities({ kubernetes, systemNamespace: SYSTEM_NAMESPACE, log: { warn: () => undefined } });
  }

  async drainTarget(group: string, node: string): Promise<DrainTarget> {
    const { metadata: { uid = '' } = {} } = await this.core.readNode({ name: node });
    return { cluster: CLUSTER, group, node, uid };
  }

  /** A group with nodes that are ready, and whose machines are. */
  async populated(name: string, count: number, spec: object = {}): Promise<GroupInput> {
    const input = await this.createGroup(name, spec);
    const process = this.process();
    const fence = await this.fence(`plan-${name}`);
    const { kind } = await process.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, count)] });
    if (kind !== 'created') throw new Error(`${name} got no machines`);
    await this.untilDone('the machines are ready', async () => await process.ensureMachinesSettled(input));
    return input;
  }

  /** A pod that runs on a node, wherever kube-scheduler would have put it. */
  async run(name: string, node: string): Promise<void> {
    const body = { metadata: { name }, spec: { nodeName: node, containers: [{ name: 'main', image: 'test/none:1' }] } };
    await this.core.createNamespacedPod({ namespace: 'default', body });
    await eventually(`${name} runs`, async () => {
      const { status } = await this.core.readNamespacedPod({ namespace: 'default', name });
      return status?.phase === 'Running';
    });
  }

  /** Whether kwok plays the kubelet of a node; without one it is not Ready. */
  async playKubelet(name: string, isPlayed: boolean): Promise<void> {
    const annotations = { 'kwok.x-k8s.io/node': isPlayed ? 'fake' : null };
    await this.core.patchNode({ name, body: { metadata: { annotations } } }, MERGE_PATCH);
    await eventually(`${name} is ${isPlayed ? '' : 'not '}ready`, async () => {
      const { status } = await this.core.readNode({ name });
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
      if (ready === isPlayed) return true;
      const conditions = [{ type: 'Ready', status: 'Unknown' }];
      if (!isPlayed) await this.core.patchNodeStatus({ name, body: { status: { conditions } } }, MERGE_PATCH);
      return false;
    });
  }

  async lease(): Promise<V1Lease | null> {
    return await orNull(this.coordination.readNamespacedLease({ name: PLAN_LEASE, namespace: SYSTEM_NAMESPACE }));
  }

  /** The version of a plan that is made now. */
  async fence(plan: string): Promise<string> {
    return formatFence({ lease: (await this.lease())?.metadata?.resourceVersion ?? '', plan });
  }

  async events(group: string): Promise<readonly string[]> {
    const { items } = await this.core.listNamespacedEvent({ namespace: NAMESPACE });
    return items
      .filter(({ involvedObject }) => involvedObject.kind === KIND && involvedObject.name === group)
      .map(({ type, reason }) => `${type} ${reason}`)
      .toSorted();
  }

  /** Looks again and again, as Temporal does, until nothing is left to do. */
  async untilDone<T>(what: string, activity: () => Promise<T>): Promise<T> {
    return await eventually(what, async () => {
      const answer = await attempt(activity);
      return answer === 'again' ? false : { answer };
    }).then(({ answer }) => answer as T);
  }
}

/** One attempt of an activity that polls by retry: `again` where it is to be asked again. */
export async function attempt<T>(activity: () => Promise<T>): Promise<T | 'again'> {
  try {
    return await activity();
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === 'NotYet') return 'again';
    throw error;
  }
}

export function nodesOf(group: string, count: number, over: Partial<NewNodes> = {}): NewNodes {
  return { group, instanceType: 'small', count, reason: 'PendingPods', pods: [], podCount: count, ...over };
}

/** Whose process ends at one of its writes: between two of them nothing is left behind that was not before. */
function mortalKubernetes(kubernetes: Kubernetes, mortal: Mortal): Kubernetes {
  return withClients(kubernetes, (api) => mortalWrites(api, mortal));
}

/** Whose requests wait for what happens before each of them. */
function interrupted(kubernetes: Kubernetes, before: () => Promise<void>): Kubernetes {
  return withClients(
    kubernetes,
    (api) =>
      new Proxy(api, {
        get: (target, key) => {
          const member: unknown = Reflect.get(target, key);
          if (typeof member !== 'function') return member;
          return async (...args: unknown[]) => {
            await before();
            return (await Reflect.apply(member, target, args)) as unknown;
          };
        },
      }),
  );
}

function withClients(kubernetes: Kubernetes, change: (api: object) => object): Kubernetes {
  return Object.fromEntries(
    Object.entries(kubernetes).map(([name, api]: [string, object]) => [name, change(api)]),
  ) as unknown as Kubernetes;
}

function mortalWrites(api: object, mortal: Mortal): object {
  const mortalApi = mortal.client(api);
  return new Proxy(api, {
    get: (target, key) => {
      const isRead = /^(?:get|list|read)/.test(String(key)) && !mortal.isDead;
      const member: unknown = Reflect.get(isRead ? target : mortalApi, key);
      return isRead && typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}
