/** A real API server, on which NodeGroups go through their lives with machines that become Nodes. */
import { CoreV1Api, CustomObjectsApi, type V1Node } from '@kubernetes/client-node';
import { ApplicationFailure } from '@temporalio/common';
import { orNull } from '../../activities/kubernetes/failure.ts';
import { connectKubernetes, type Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { ensureMarked, ensureUnmarked } from '../../activities/node-group/drain/node-marks.ts';
import { MERGE_PATCH } from '../../activities/node-group/group/group-objects.ts';
import type { GroupInput, NodeGroupActivities } from '../../activities/node-group/interface.ts';
import { createMachineActivities } from '../../activities/node-group/machines/kubernetes-activities.ts';
import { INSTANCE_TYPES } from '../../activities/node-group/provider/kwok/instance-types.ts';
import { createKwokProvider } from '../../activities/node-group/provider/kwok/kwok-provider.ts';
import {
  API_VERSION,
  GROUP,
  GROUP_LABEL,
  KIND,
  MACHINE_PLURAL,
  NAMESPACE,
  PLURAL,
  VERSION,
} from '../../domain/node-group/api/names.ts';
import { readNodeGroup } from '../../domain/node-group/api/read-node-group.ts';
import { reviewNodeGroup } from '../../domain/node-group/api/review.ts';
import { type DrivenMachine, readDrivenMachine } from '../../domain/node-group/machine/driven-machine.ts';
import type { NodeGroup } from '../../domain/node-group/model/node-group.ts';
import { formatFence, PLAN_LEASE } from '../../domain/node-group/plan-claim.ts';
import { nodeDrainId } from '../../domain/node-group/target.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyManifests } from '../kernel/stack/manifests.ts';
import { OFFERINGS, type WrittenGroup } from './any-group.ts';
import { silent } from './machines/providers.ts';

const GROUPS = { group: GROUP, version: VERSION, plural: PLURAL, namespace: NAMESPACE } as const;
const MACHINES = { ...GROUPS, plural: MACHINE_PLURAL } as const;
/** Those of a kubelet, and of whoever prepares its node. */
const FOREIGN_TAINTS = [
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
  { key: 'example.com/theirs', effect: 'NoExecute', timeAdded: new Date(0) },
];
const HOUR_MS = 3_600_000;

/** Of one group at a time, with a plan of its own. */
interface Lane {
  readonly systemNamespace: string;
  readonly activities: NodeGroupActivities;
}

interface StoredGroup {
  readonly input: GroupInput;
  readonly group: NodeGroup;
}

export class AcceptingCluster {
  readonly #plane: ControlPlane;
  readonly #core: CoreV1Api;
  readonly #custom: CustomObjectsApi;
  readonly #kubernetes: Kubernetes;
  readonly #lanes = new Map<number, Promise<Lane>>();

  private constructor(plane: ControlPlane) {
    this.#plane = plane;
    const config = accessOf(plane.adminKubeconfig);
    this.#core = config.makeApiClient(CoreV1Api);
    this.#custom = config.makeApiClient(CustomObjectsApi);
    this.#kubernetes = connectKubernetes(config);
  }

  static async start(): Promise<AcceptingCluster> {
    const plane = await borrowControlPlane();
    const cluster = new AcceptingCluster(plane);
    const definitions = new URL('../../deploy/chart-crds/definitions/node-group.yaml', import.meta.url);
    await applyManifests(plane.adminKubeconfig, [definitions]);
    const types = OFFERINGS.map((id) => ({ id, capacity: { cpu: '1500m', memory: '4Gi', 'example.com/gpu': 1 } }));
    const { namespace, name, key } = INSTANCE_TYPES;
    const body = { metadata: { name }, data: { [key]: JSON.stringify(types) } };
    await cluster.#core.createNamespacedConfigMap({ namespace, body });
    await eventually('NodeGroups are known', async () => {
      await cluster.#custom.listNamespacedCustomObject(GROUPS);
      await cluster.#custom.listNamespacedCustomObject(MACHINES);
      return true;
    });
    return cluster;
  }

  async stop(): Promise<void> {
    await this.#plane.stop();
  }

  /**
   * Everything that Headroom writes in the life of a group.
   *
   * @returns what the API server refused, and what is not as the group says; null where the group is not admitted.
   */
  async life(written: WrittenGroup, lane: number): Promise<readonly string[] | null> {
    const stored = await this.#admitted(written);
    if (stored === null) return null;
    try {
      return await this.#live(stored, await this.#laneOf(lane));
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    } finally {
      await this.#clear(written.name);
    }
  }

  async #laneOf(number: number): Promise<Lane> {
    const lane = this.#lanes.get(number) ?? this.#newLane(`lane-${number}`);
    this.#lanes.set(number, lane);
    return await lane;
  }

  async #newLane(systemNamespace: string): Promise<Lane> {
    await this.#core.createNamespace({ body: { metadata: { name: systemNamespace } } });
    const kubernetes = this.#kubernetes;
    const warn = (_: unknown, message?: string): never => {
      throw new Error(message);
    };
    const providers = { kwok: createKwokProvider({ kubernetes }), vpsie: silent() };
    // An Event that cannot be written is only logged.
    return {
      systemNamespace,
      activities: createMachineActivities({ kubernetes, systemNamespace, providers, log: { warn } }),
    };
  }

  /** Null where the webhook or the definition refuses it. */
  async #admitted({ name, spec }: WrittenGroup): Promise<StoredGroup | null> {
    const body = { apiVersion: API_VERSION, kind: KIND, metadata: { name, namespace: NAMESPACE }, spec };
    if (reviewNodeGroup(body).problems.length > 0) return null;
    const object: unknown = await this.#custom.createNamespacedCustomObject({ ...GROUPS, body }).catch(() => null);
    if (object === null) return null;
    const { group, uid, problems } = readNodeGroup(object, { mode: 'act' });
    if (group === null) throw new Error(`stored, and not read: ${problems.join()}`);
    return { input: { target: { cluster: 'accepted', group: name }, uid }, group };
  }

  async #live({ input, group }: StoredGroup, { systemNamespace, activities }: Lane): Promise<readonly string[]> {
    const { name, offeringIds } = group;
    await activities.ensureInstanceTypes(input);
    const lease = { namespace: systemNamespace, name: PLAN_LEASE };
    const seen = await orNull(this.#kubernetes.coordination.readNamespacedLease(lease));
    const scaledUp = await activities.ensureScaledUp({
      ...input,
      fence: formatFence({ lease: seen?.metadata?.resourceVersion ?? '', plan: input.uid }),
      newNodes: offeringIds.map((instanceType) => ({
        group: name,
        instanceType,
        count: 1,
        reason: 'PendingPods',
        pods: [],
        podCount: 1,
        kinds: ['0123456789abcdef', '*'],
      })),
    });
    if (!group.scaleUp.enabled) return scaledUp.kind === 'created' ? [`${name} grew, and is not to`] : [];
    if (scaledUp.kind !== 'created') return [scaledUp.detail];
    await driven(activities, input);
    if (group.provider === 'vpsie') await this.#register(group, scaledUp.machines);
    await driven(activities, input);
    for (const node of await this.#nodesOf(name)) await this.#makeReady(node);
    await driven(activities, input);
    const wrong = [...(await this.#machinesOf(name)).flatMap(wrongMachine), ...(await this.#wrongNodes(group))];
    // What is written of one is written of each.
    const [node] = await this.#nodesOf(name);
    const drain = { ...input.target, node: node?.metadata?.name ?? '', uid: node?.metadata?.uid ?? '' };
    const allowed = (): Promise<void> => Promise.resolve();
    const marking = { kubernetes: this.#kubernetes, now: Date.now, guard: allowed, ensureOrdered: allowed };
    await ensureMarked(marking, drain);
    await ensureUnmarked(marking, drain, nodeDrainId(drain));
    await ensureMarked(marking, drain);
    const until = Date.now() + HOUR_MS;
    const wishes = {
      requested: scaledUp.machines.map((machine) => ({ node: machine.name, by: 'jane' })),
      failed: [{ node: drain.node, uid: drain.uid, detail: 'it has no room elsewhere', until, isStopped: true }],
      rejected: [{ key: `${drain.uid} Empty`, by: 'jane', until }],
    };
    await activities.ensureWishesKept({ ...input, wishes });
    await activities.ensureGroupStatus(input);
    const { name: machine = '' } = (await this.#machinesOf(name)).find(({ node: of }) => of === drain.node) ?? {};
    const drained = { ...drain, reason: 'Requested' } as const;
    await untilDone(async () => {
      if (await activities.ensureMachineDeleted({ ...input, machine, drained })) throw new Error(`${machine} stays`);
    });
    return wrong;
  }

  /** As kubelets register that know nothing of the group but its startup taints. */
  async #register({ startupTaints }: NodeGroup, machines: readonly { readonly name: string }[]): Promise<void> {
    const taints = [
      ...FOREIGN_TAINTS,
      ...new Map(startupTaints.map((taint) => [`${taint.key} ${taint.effect}`, taint])).values(),
    ];
    for (const { name } of machines) {
      await this.#core.createNode({
        body: { metadata: { name }, spec: { providerID: `vpsie://a/silent-${name}`, taints } },
      });
    }
  }

  async #makeReady({ metadata }: V1Node): Promise<void> {
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }];
    await this.#core.patchNodeStatus({ name: metadata?.name ?? '', body: { status: { conditions } } }, MERGE_PATCH);
  }

  async #nodesOf(group: string): Promise<readonly V1Node[]> {
    return (await this.#core.listNode({ labelSelector: `${GROUP_LABEL}=${group}` })).items;
  }

  async #machinesOf(group: string): Promise<readonly DrivenMachine[]> {
    const labelSelector = `${GROUP_LABEL}=${group}`;
    const answer: unknown = await this.#custom.listNamespacedCustomObject({ ...MACHINES, labelSelector });
    return (answer as { readonly items: readonly unknown[] }).items.map(readDrivenMachine);
  }

  /** What of the group's labels and taints its nodes do not have, and what they have too much. */
  async #wrongNodes({ name, labels, taints, startupTaints, offeringIds }: NodeGroup): Promise<readonly string[]> {
    const nodes = await this.#nodesOf(name);
    const keyOf = ({
      key,
      value = '',
      effect,
    }: {
      readonly key: string;
      readonly value?: string;
      readonly effect: string;
    }) => `${key}=${value}:${effect}`;
    const kept = new Set(taints.map(({ key, effect }) => `${key}:${effect}`));
    const over = startupTaints.filter(({ key, effect }) => !kept.has(`${key}:${effect}`)).map(keyOf);
    return [
      ...(nodes.length === offeringIds.length ? [] : [`${nodes.length} nodes of ${offeringIds.length} machines`]),
      ...nodes.flatMap(({ metadata, spec }) => {
        const there = new Set((spec?.taints ?? []).map(keyOf));
        return [
          ...Object.entries(labels)
            .filter(([key, value]) => metadata?.labels?.[key] !== value)
            .map(([key]) => `no label ${key}`),
          ...taints
            .map(keyOf)
            .filter((taint) => !there.has(taint))
            .map((taint) => `no taint ${taint}`),
          ...over.filter((taint) => there.has(taint)).map((taint) => `still the taint ${taint}`),
        ];
      }),
    ];
  }

  /** What is left of a group, whether or not its life was one. */
  async #clear(group: string): Promise<void> {
    for (const { metadata } of await this.#nodesOf(group).catch(() => [])) {
      await orNull(this.#core.deleteNode({ name: metadata?.name ?? '' }));
    }
    const body = { metadata: { finalizers: null } };
    for (const { name } of await this.#machinesOf(group).catch(() => [])) {
      await orNull(this.#custom.patchNamespacedCustomObject({ ...MACHINES, name, body }, MERGE_PATCH));
      await orNull(this.#custom.deleteNamespacedCustomObject({ ...MACHINES, name }));
    }
    await orNull(this.#custom.patchNamespacedCustomObject({ ...GROUPS, name: group, body }, MERGE_PATCH));
    await orNull(this.#custom.deleteNamespacedCustomObject({ ...GROUPS, name: group }));
  }
}

function wrongMachine({ name, phase, lastError }: DrivenMachine): readonly string[] {
  return phase === 'Ready' ? [] : [`${name} is ${phase}: ${lastError}`];
}

/** One look: what is on its way is so. */
async function driven(activities: NodeGroupActivities, input: GroupInput): Promise<void> {
  try {
    const { failed } = await activities.ensureMachinesSettled(input);
    if (failed.length > 0) throw new Error(failed.join('; '));
  } catch (error) {
    if (!isNotYet(error)) throw error;
  }
}

async function untilDone(activity: () => Promise<unknown>): Promise<void> {
  await eventually('it is done', async () => {
    try {
      await activity();
      return true;
    } catch (error) {
      if (!isNotYet(error)) throw error;
      return false;
    }
  });
}

function isNotYet(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'NotYet';
}
