/** A cluster with nodes, on which Headroom runs node groups of kwok's machines. */
import {
  AppsV1Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  type V1Node,
  type V1Pod,
} from '@kubernetes/client-node';
import { DECISION, GROUP, MACHINE_PLURAL, NAMESPACE, PLURAL, VERSION } from '../../../domain/node-group/api/names.ts';
import { markOf } from '../../../domain/node-group/drain/marks.ts';
import { claimedRemovals, parseClaims, PLAN_CLAIMS, PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import { type GroupWishes, parseWishes, PLAN_WISHES } from '../../../domain/node-group/plan-wishes.ts';
import { nodeDrainId, nodeGroupId } from '../../../domain/node-group/target.ts';
import { drainStatus, drainUpdates, type NodeDrainStatus } from '../../../workflows/node-group/drain-messages.ts';
import {
  commandUpdates,
  type NodeGroupCommandInput,
  type NodeGroupRunStatus,
  status,
} from '../../../workflows/node-group/messages.ts';
import { type AuditEvent, changesNothing } from '../../kernel/servers/audit-log.ts';
import { untilAllowed } from '../../activities/until-allowed.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import {
  CLUSTER,
  type HeadroomPlane,
  type HeadroomPlaneOptions,
  startHeadroomPlane,
} from '../../kernel/stack/headroom-plane.ts';
import { startNodePlane } from '../plane.ts';

export const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const GROUPS = { group: GROUP, version: VERSION, plural: PLURAL, namespace: NAMESPACE } as const;
const MACHINES = { ...GROUPS, plural: MACHINE_PLURAL } as const;

export interface GroupObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly currentNodes?: number;
    readonly readyNodes?: number;
    readonly desiredNodes?: number;
    readonly instanceTypes?: readonly { readonly id: string }[];
    readonly inVain?: readonly { readonly machine: string; readonly pod: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

export interface MachineObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: { readonly nodeGroupName: string; readonly instanceType: string };
  /** Moments are RFC 3339. */
  readonly status?: { readonly phase?: string; readonly nodeName?: string; readonly readyAt?: string };
}

/** An instance type as kwok's ConfigMap has it. */
export interface KwokType {
  readonly id: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly pricePerHour?: number;
}

type PodSpec = NonNullable<V1Pod['spec']>;

/** Labels and taints of a group whose nodes take the pods of `onlyOn` and no others. */
export function ownNodes(group: string) {
  return { labels: { pool: group }, taints: [{ key: 'pool', value: group, effect: 'NoSchedule' }] };
}

/** Places pods on the nodes of one group with `ownNodes`, and nowhere else. */
export function onlyOn(group: string) {
  return {
    nodeSelector: { pool: group },
    tolerations: [{ key: 'pool', operator: 'Equal', value: group, effect: 'NoSchedule' }],
  } satisfies Partial<PodSpec>;
}

/** Takes nodes back as soon as it is allowed to. */
const QUICK_DOWN = { stabilizationWindowSeconds: 1, cooldownSeconds: 1 };

/** Starts a plane whose worker and starter run node groups that act; neither of them is started yet. */
export async function startNodeGroupPlane(options: Partial<HeadroomPlaneOptions> = {}): Promise<HeadroomPlane> {
  const plane = await startHeadroomPlane({
    startPlane: startNodePlane,
    ...options,
    values: {
      ...options.values,
      config: { ...options.values?.config, nodeGroups: { enabled: true } },
      rights: { kwokNodes: true },
    },
    manifests: [
      new URL('../../../deploy/chart-crds/definitions/node-group.yaml', import.meta.url),
      ...(options.manifests ?? []),
    ],
    env: { HEADROOM_NODE_GROUPS: 'true', HEADROOM_NODE_GROUPS_MODE: 'act', ...options.env },
  });
  try {
    await untilServed(plane);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

/** A definition is stored before it is served, and a binding before it is gone by. */
async function untilServed({ plane: { adminKubeconfig } }: HeadroomPlane): Promise<void> {
  const custom = accessOf(adminKubeconfig).makeApiClient(CustomObjectsApi);
  await eventually('NodeGroups are served', async () => {
    await custom.listNamespacedCustomObject(GROUPS);
    await custom.listNamespacedCustomObject(MACHINES);
    return true;
  });
  await untilAllowed(adminKubeconfig, 'headroom-worker', [
    { verb: 'get', resource: 'configmaps', name: 'headroom-pause', namespace: 'namespace-resizer-system' },
    { verb: 'create', group: GROUP, resource: MACHINE_PLURAL, namespace: NAMESPACE },
  ]);
  await untilAllowed(adminKubeconfig, 'headroom-starter', [{ verb: 'watch', group: GROUP, resource: PLURAL }]);
}

/** The cluster as an admin, who counts as a person. */
export class NodeGroupCluster {
  readonly plane: HeadroomPlane;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly policy: PolicyV1Api;
  readonly coordination: CoordinationV1Api;
  readonly custom: CustomObjectsApi;

  constructor(plane: HeadroomPlane) {
    this.plane = plane;
    const config = accessOf(plane.plane.adminKubeconfig);
    this.core = config.makeApiClient(CoreV1Api);
    this.apps = config.makeApiClient(AppsV1Api);
    this.policy = config.makeApiClient(PolicyV1Api);
    this.coordination = config.makeApiClient(CoordinationV1Api);
    this.custom = config.makeApiClient(CustomObjectsApi);
  }

  async defineTypes(types: readonly KwokType[]): Promise<void> {
    const body = { metadata: { name: 'kwok-instance-types' }, data: { types: JSON.stringify(types) } };
    await this.core.createNamespacedConfigMap({ namespace: NAMESPACE, body });
  }

  /** Creates a group of kwok's machines that takes nodes back quickly; `spec` says what else it is. */
  async createGroup(name: string, spec: Readonly<Record<string, unknown>>): Promise<GroupObject> {
    const body = {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: 'NodeGroup',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        provider: 'kwok',
        minNodes: 0,
        maxNodes: 10,
        scaleDownPolicy: QUICK_DOWN,
        budgets: [{ nodes: '100%' }],
        ...spec,
      },
    };
    return (await this.custom.createNamespacedCustomObject({ ...GROUPS, body })) as GroupObject;
  }

  async group(name: string): Promise<GroupObject> {
    return (await this.custom.getNamespacedCustomObject({ ...GROUPS, name })) as GroupObject;
  }

  async patchGroup(name: string, body: object): Promise<void> {
    await this.custom.patchNamespacedCustomObject({ ...GROUPS, name, body }, merge);
  }

  /** As a person does who edits the status. */
  async patchGroupStatus(name: string, status: object): Promise<void> {
    await this.custom.patchNamespacedCustomObjectStatus({ ...GROUPS, name, body: { status } }, merge);
  }

  async deleteGroup(name: string, propagationPolicy?: 'Foreground'): Promise<void> {
    const how = propagationPolicy === undefined ? {} : { propagationPolicy };
    await this.custom.deleteNamespacedCustomObject({ ...GROUPS, name, ...how });
  }

  async patchMachine(name: string, metadata: object): Promise<void> {
    await this.custom.patchNamespacedCustomObject({ ...MACHINES, name, body: { metadata } }, merge);
  }

  async deleteMachine(name: string): Promise<void> {
    await this.custom.deleteNamespacedCustomObject({ ...MACHINES, name });
  }

  async groupNames(): Promise<readonly string[]> {
    const { items } = (await this.custom.listNamespacedCustomObject(GROUPS)) as { items: GroupObject[] };
    return items.map(({ metadata }) => metadata.name);
  }

  async machines(group: string): Promise<readonly MachineObject[]> {
    const { items } = (await this.custom.listNamespacedCustomObject(MACHINES)) as { items: MachineObject[] };
    return items.filter(({ spec }) => spec.nodeGroupName === group);
  }

  /** Nodes of a group, by name. */
  async nodes(group: string): Promise<readonly V1Node[]> {
    const { items } = await this.core.listNode({ labelSelector: `${GROUP}/nodegroup=${group}` });
    return items;
  }

  /** Creates a namespace that takes pods. */
  async createNamespace(name: string): Promise<void> {
    await this.core.createNamespace({ body: { metadata: { name } } });
    await eventually(`${name} has its service account`, async () =>
      this.core.readNamespacedServiceAccount({ namespace: name, name: 'default' }),
    );
  }

  /** Creates pods in a namespace of their own, of 1 CPU, 1 GiB and 1 s of grace each where `spec` says nothing else. */
  async createPods(namespace: string, count: number, spec: Partial<PodSpec> = {}): Promise<void> {
    await this.createNamespace(namespace);
    // At once, since a plan that is made after some of them is right and needs another one.
    await Promise.all(
      Array.from({ length: count }, async (_, index) => this.createPod(namespace, `pod-${index}`, spec)),
    );
  }

  /** As `createPods` does, one pod with the label `app: web`. */
  async createPod(namespace: string, name: string, spec: Partial<PodSpec> = {}): Promise<V1Pod> {
    const body = { metadata: { name, labels: WEB }, spec: { ...SMALL_POD, ...spec } };
    return await this.core.createNamespacedPod({ namespace, body });
  }

  /** Pods as those of `createPods`, which a Deployment makes again when they are gone. */
  async createDeployment(namespace: string, replicas: number, spec: Partial<PodSpec> = {}): Promise<void> {
    await this.createNamespace(namespace);
    const template = { metadata: { labels: WEB }, spec: { ...SMALL_POD, ...spec } };
    const body = { metadata: { name: 'web' }, spec: { replicas, selector: { matchLabels: WEB }, template } };
    await this.apps.createNamespacedDeployment({ namespace, body });
  }

  /** How many pods the Deployment of `createDeployment` has from now on. */
  async scale(namespace: string, replicas: number): Promise<void> {
    await this.apps.patchNamespacedDeployment({ namespace, name: 'web', body: { spec: { replicas } } }, merge);
  }

  /** A budget that lets none of a namespace's pods go, once it is in effect. */
  async protect(namespace: string, name: string): Promise<void> {
    const body = { metadata: { name }, spec: { minAvailable: MANY, selector: { matchLabels: WEB } } };
    await this.policy.createNamespacedPodDisruptionBudget({ namespace, body });
    await eventually(`the budget ${name} is in effect`, async () => {
      const budget = await this.policy.readNamespacedPodDisruptionBudget({ namespace, name });
      return (budget.status?.expectedPods ?? 0) > 0;
    });
  }

  async pods(namespace: string): Promise<readonly V1Pod[]> {
    return (await this.core.listNamespacedPod({ namespace })).items;
  }

  /** How many pods run and are to stay. */
  async running(namespace: string): Promise<number> {
    return (await this.pods(namespace)).filter(
      ({ metadata, status: is }) => is?.phase === 'Running' && metadata?.deletionTimestamp === undefined,
    ).length;
  }

  async untilRunning(namespace: string, count: number, withinMs = LONG_MS): Promise<void> {
    let seen = 0;
    await eventually(
      () => `${count} pods of ${namespace} run: ${seen} do`,
      async () => {
        seen = await this.running(namespace);
        return seen === count;
      },
      withinMs,
    );
  }

  /** Waits until a group has no nodes and no machines any more. */
  async untilEmpty(group: string): Promise<void> {
    await eventually(`${group} has no nodes`, async () => (await this.nodes(group)).length === 0, LONG_MS);
    await eventually(`${group} has no machines`, async () => (await this.machines(group)).length === 0, LONG_MS);
  }

  /** Waits until a group has as many machines, each a ready node that has the marks of its group; answers the nodes. */
  async untilReady(group: string, count: number): Promise<readonly V1Node[]> {
    let phases: readonly unknown[] = [];
    return await eventually(
      () => `${group} has ${count} ready machines: it has ${phases.join(', ')}`,
      async () => {
        phases = (await this.machines(group)).map(({ status: is }) => is?.phase);
        const nodes = await this.nodes(group);
        return nodes.length === count && phases.length === count && phases.every((phase) => phase === 'Ready') && nodes;
      },
      LONG_MS,
    );
  }

  /** Waits until a group's workflow has nothing to do; answers what it shows. */
  async untilSteady(group: string): Promise<NodeGroupRunStatus> {
    return await this.untilStatus(group, 'steady', ({ phase }) => phase === 'Steady');
  }

  async untilNodeGone(name: string): Promise<void> {
    await eventually(
      `${name} is gone`,
      async () => (await this.core.listNode()).items.every(({ metadata }) => metadata?.name !== name),
      LONG_MS,
    );
  }

  /** The kubelet of a node says nothing any more. */
  async hide(name: string): Promise<void> {
    // Whom kwok does not play, nobody does.
    await this.core.patchNode({ name, body: { metadata: { annotations: { [KWOK]: null } } } }, merge);
  }

  /** The kubelet of a node is there again. */
  async show(name: string): Promise<void> {
    await this.core.patchNode({ name, body: { metadata: { annotations: { [KWOK]: 'fake' } } } }, merge);
  }

  /** The kubelet of a node says nothing any more since that moment, as far as the API server knows. */
  async silence(name: string, since: number): Promise<void> {
    await this.hide(name);
    await eventually(`${name} is not ready, and stays so`, async () => {
      const { status: is } = await this.core.readNode({ name });
      const ready = is?.conditions?.find(({ type }) => type === 'Ready');
      const isLost = ready !== undefined && ready.status !== 'True';
      if (isLost && ready.lastTransitionTime?.getTime() === since) return true;
      const lost = isLost ? ready.status : 'False';
      const now = { status: lost, reason: 'KubeletNotReady', lastTransitionTime: new Date(since).toISOString() };
      const conditions = (is?.conditions ?? []).map(({ type, status: other, reason, message }) =>
        type === 'Ready' ? { type, ...now } : { type, status: other, reason, message },
      );
      await this.core.patchNodeStatus({ name, body: { status: { conditions } } }, merge);
      return false;
    });
  }

  /** The decisions that the machines of a group were created by. */
  async decisions(group: string): Promise<readonly string[]> {
    const machines = await this.machines(group);
    return [...new Set(machines.map(({ metadata }) => metadata.annotations?.[DECISION] ?? ''))];
  }

  async status(group: string): Promise<NodeGroupRunStatus> {
    return await this.#workflow(group).query(status);
  }

  async untilStatus(
    group: string,
    what: string,
    is: (seen: NodeGroupRunStatus) => boolean,
  ): Promise<NodeGroupRunStatus> {
    let seen = '';
    return await eventually(
      () => `${group} is ${what}: it is ${seen}`,
      async () => {
        const shown = await this.status(group);
        seen = JSON.stringify(shown);
        return is(shown) && shown;
      },
      LONG_MS,
    );
  }

  /** What Temporal says of the group's workflow. */
  async describe(group: string) {
    return await this.#workflow(group).describe();
  }

  /** Events of the history of the group's workflow, oldest first. */
  async history(group: string) {
    const { events } = await this.#workflow(group).fetchHistory();
    return events ?? [];
  }

  /** Sends a command as a person does; answers what the workflow says. */
  async command(group: string, name: keyof typeof commandUpdates, input: NodeGroupCommandInput = {}): Promise<unknown> {
    return await this.#workflow(group).executeUpdate(commandUpdates[name], { args: [{ by: 'alice', ...input }] });
  }

  async drainStatus({ metadata }: V1Node): Promise<NodeDrainStatus> {
    return await this.#drain(metadata?.uid ?? '').query(drainStatus);
  }

  async stopDrain({ metadata }: V1Node): Promise<void> {
    await this.#drain(metadata?.uid ?? '').executeUpdate(drainUpdates.stopDrain, { args: [{ by: 'alice' }] });
  }

  /** Nodes of a group that are cordoned, that have marks of a drain, or taints that are not the group's. */
  async marked(group: string): Promise<readonly string[]> {
    return (await this.nodes(group)).flatMap(({ metadata, spec }) => {
      const isMarked = markOf({ annotations: metadata?.annotations ?? {} }) !== null;
      const isTainted = (spec?.taints ?? []).some(({ key }) => key !== 'pool');
      return isMarked || isTainted || spec?.unschedulable === true ? [metadata?.name ?? ''] : [];
    });
  }

  /** What Headroom's processes changed, by the audit log; with what had no effect left out. */
  async writes(): Promise<readonly AuditEvent[]> {
    const events = await this.plane.plane.auditEvents();
    return events.filter(
      (event) =>
        event.user.username.startsWith('headroom-') &&
        WRITES.includes(event.verb) &&
        (event.responseStatus?.code ?? 500) < 300 &&
        !changesNothing(event),
    );
  }

  /** The names of all Nodes that Headroom has created for a group, in order, each as often as it did. */
  async createdNodes(group: string): Promise<readonly string[]> {
    return (await this.writes()).flatMap(({ verb, objectRef }) =>
      verb === 'create' && objectRef?.resource === 'nodes' && objectRef.name?.startsWith(`${group}-`) === true
        ? [objectRef.name]
        : [],
    );
  }

  /** Successful evictions of the pods of a namespace: when each was asked for, RFC 3339. */
  async evictions(namespace: string): Promise<readonly string[]> {
    return (await this.writes())
      .filter(({ objectRef }) => objectRef?.subresource === 'eviction' && objectRef.namespace === namespace)
      .map(({ requestReceivedTimestamp }) => requestReceivedTimestamp);
  }

  /** The UIDs of nodes that are claimed, because they go. */
  async claimedRemovals(): Promise<readonly string[]> {
    const where = { namespace: 'namespace-resizer-system', name: PLAN_LEASE };
    const { metadata } = await this.coordination.readNamespacedLease(where);
    return claimedRemovals(parseClaims(metadata?.annotations?.[PLAN_CLAIMS]).claims);
  }

  /** What is written down of a group's nodes for whoever plans. */
  async wishes(group: string): Promise<readonly GroupWishes[]> {
    const where = { namespace: 'namespace-resizer-system', name: PLAN_LEASE };
    const { metadata } = await this.coordination.readNamespacedLease(where);
    return parseWishes(metadata?.annotations?.[PLAN_WISHES]).filter((each) => each.group === group);
  }

  #workflow(group: string) {
    return this.plane.client.workflow.getHandle(nodeGroupId({ cluster: CLUSTER, group }));
  }

  #drain(uid: string) {
    return this.plane.client.workflow.getHandle(nodeDrainId({ cluster: CLUSTER, uid }));
  }
}

/** Milliseconds for what takes a plan, a node and a look or two, on a machine that does other things too. */
const LONG_MS = 100_000;
/** The annotation of nodes whose kubelet kwok plays. */
const KWOK = 'kwok.x-k8s.io/node';
const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];
/** More pods than a budget ever finds: it lets none go, whoever made them. */
const MANY = 1_000;
const WEB = { app: 'web' };
const SMALL_POD = {
  containers: [{ name: 'main', image: 'test/none:1', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
  terminationGracePeriodSeconds: 1,
} satisfies PodSpec;
