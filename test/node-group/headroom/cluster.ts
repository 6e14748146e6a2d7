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
import { GROUP, MACHINE_PLURAL, NAMESPACE, PLURAL, VERSION } from '../../../domain/node-group/api/names.ts';
import { nodeGroupId } from '../../../domain/node-group/target.ts';
import { type NodeGroupRunStatus, status } from '../../../workflows/node-group/messages.ts';
import { untilAllowed } from '../../activities/until-allowed.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import {
  CLUSTER,
  type HeadroomPlane,
  type HeadroomPlaneOptions,
  startHeadroomPlane,
} from '../../kernel/stack/headroom-plane.ts';
import { podOf, startNodePlane } from '../plane.ts';

const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const GROUPS = { group: GROUP, version: VERSION, plural: PLURAL, namespace: NAMESPACE } as const;
const MACHINES = { ...GROUPS, plural: MACHINE_PLURAL } as const;

export interface GroupObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly currentNodes?: number;
    readonly readyNodes?: number;
    readonly desiredNodes?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

export interface MachineObject {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeGroupName: string; readonly instanceType: string };
  readonly status?: { readonly phase?: string; readonly nodeName?: string };
}

/** An instance type as kwok's ConfigMap has it. */
export interface KwokType {
  readonly id: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly pricePerHour?: number;
}

/** Takes nodes back as soon as it is allowed to. */
const QUICK_DOWN = { stabilizationWindowSeconds: 1, cooldownSeconds: 1 };

/** Starts a plane whose worker and starter run node groups that act; neither of them is started yet. */
export async function startNodeGroupPlane(options: Partial<HeadroomPlaneOptions> = {}): Promise<HeadroomPlane> {
  const plane = await startHeadroomPlane({
    ...options,
    startPlane: startNodePlane,
    manifests: [
      'node-group/crd.yaml',
      'node-group/rbac.yaml',
      'node-group/kwok/rbac.yaml',
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

  async machines(group: string): Promise<readonly MachineObject[]> {
    const { items } = (await this.custom.listNamespacedCustomObject(MACHINES)) as { items: MachineObject[] };
    return items.filter(({ spec }) => spec.nodeGroupName === group);
  }

  /** Nodes of a group, by name. */
  async nodes(group: string): Promise<readonly V1Node[]> {
    const { items } = await this.core.listNode({ labelSelector: `${GROUP}/nodegroup=${group}` });
    return items;
  }

  /** Creates pods in a namespace of their own, of 1 CPU, 1 GiB and 1 s of grace each where `spec` says nothing else. */
  async createPods(namespace: string, count: number, spec: Partial<NonNullable<V1Pod['spec']>> = {}): Promise<void> {
    await this.core.createNamespace({ body: { metadata: { name: namespace } } });
    await eventually(`${namespace} has its service account`, async () =>
      this.core.readNamespacedServiceAccount({ namespace, name: 'default' }),
    );
    const resources = { requests: { cpu: '1', memory: '1Gi' } };
    const containers = [{ name: 'main', image: 'test/none:1', resources }];
    for (let index = 0; index < count; index += 1) {
      await this.core.createNamespacedPod({
        namespace,
        body: podOf(`pod-${index}`, { containers, terminationGracePeriodSeconds: 1, ...spec }),
      });
    }
  }

  async pods(namespace: string): Promise<readonly V1Pod[]> {
    return (await this.core.listNamespacedPod({ namespace })).items;
  }

  async running(namespace: string): Promise<number> {
    return (await this.pods(namespace)).filter((pod) => pod.status?.phase === 'Running').length;
  }

  async status(group: string): Promise<NodeGroupRunStatus> {
    return await this.plane.client.workflow.getHandle(nodeGroupId({ cluster: CLUSTER, group })).query(status);
  }
}
