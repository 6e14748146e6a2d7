/** Machines that are nothing but Nodes, whose kubelets kwok plays: for demos, tests and measurements. */
import type { V1Node } from '@kubernetes/client-node';
import type { InstanceType, NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Taint } from '../../../../domain/node-group/model/pod.ts';
import type { Amounts } from '../../../../domain/kernel/amounts.ts';
import { laterTaints } from '../../../../domain/node-group/rules/fill-later.ts';
import { failure } from '../../../kernel/failure.ts';
import { inParallel } from '../../../kernel/in-parallel.ts';
import { orNull, statusCode } from '../../../kubernetes/failure.ts';
import type { Kubernetes } from '../../../kubernetes/kubernetes.ts';
import type { Creation, Deletion, MachineRequest, MachineToDelete, NodeProvider } from '../provider.ts';
import { INSTANCE_TYPES, readInstanceTypes } from './instance-types.ts';

/** kwok manages the Nodes with this annotation. */
const KWOK_NODE = { 'kwok.x-k8s.io/node': 'fake' };

/** How many Nodes are created at once: the API server answers each within some milliseconds. */
const AT_ONCE = 20;

/** A Node that something else keeps with a finalizer. */
const GOING_MS = 2_000;

/**
 * The provider `kwok`. A machine is a Node of the machine's name, so that a second creation finds the first one; `providerId` is
 * `kwok://<name>`. What the API server refuses is thrown as it comes.
 */
export function createKwokProvider({ kubernetes }: { readonly kubernetes: Pick<Kubernetes, 'core'> }): NodeProvider {
  const { core } = kubernetes;
  return {
    instanceTypes: async ({ offeringIds }) => {
      const types = await listTypes(kubernetes);
      return types.filter(({ id }) => offeringIds.includes(id));
    },
    ensureCreated: async (group, requests) => {
      if (requests.length === 0) return [];
      const types = await listTypes(kubernetes);
      return await inParallel(AT_ONCE, requests, async (request) => {
        const type = types.find(({ id }) => id === request.instanceType);
        return type === undefined ? unknownType(request) : await ensureNode(kubernetes, group, request, type);
      });
    },
    ensureDeleted: async (_group, machine) => {
      const { name } = machine;
      const node = await orNull(core.readNode({ name }));
      if (node === null || !isOf(node, machine)) return GONE;
      if (node.metadata?.deletionTimestamp === undefined) {
        const uid = node.metadata?.uid ?? '';
        await orNull(core.deleteNode({ name, body: { preconditions: { uid } } }));
        if ((await orNull(core.readNode({ name }))) === null) return GONE;
      }
      return { kind: 'going', detail: `the Node ${name} is being deleted`, retryAfterMs: GOING_MS };
    },
  };
}

const GONE: Deletion = { kind: 'gone' };

async function listTypes({ core }: Pick<Kubernetes, 'core'>): Promise<readonly InstanceType[]> {
  const { namespace, name, key } = INSTANCE_TYPES;
  const written = await orNull(core.readNamespacedConfigMap({ namespace, name }));
  const text = written?.data?.[key];
  if (text === undefined) return [];
  try {
    return readInstanceTypes(text);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    const message = `the ConfigMap ${namespace}/${name} has no list of instance types in its key ${key}: ${words}`;
    throw failure({ type: 'ProviderUnavailable', message });
  }
}

function unknownType({ instanceType }: MachineRequest): Creation {
  const { namespace, name } = INSTANCE_TYPES;
  return { kind: 'failed', detail: `the ConfigMap ${namespace}/${name} has no instance type ${instanceType}` };
}

async function ensureNode(
  { core }: Pick<Kubernetes, 'core'>,
  group: NodeGroup,
  request: MachineRequest,
  type: InstanceType,
): Promise<Creation> {
  const { name } = request;
  const made: Creation = { kind: 'made', providerId: idOf(name), nodeName: name };
  try {
    await core.createNode({ body: nodeOf(group, request, type) });
    return made;
  } catch (error) {
    if (statusCode(error) !== 409) throw error;
  }
  const existing = await orNull(core.readNode({ name }));
  if (existing === null) {
    return { kind: 'waiting', detail: `the Node ${name} was deleted just now`, retryAfterMs: GOING_MS };
  }
  return isOf(existing, request)
    ? made
    : { kind: 'failed', detail: `there is a Node ${name} already, which is not its machine` };
}

/** As a kubelet registers that was started with the group's labels and taints, and those of its machine. */
function nodeOf(group: NodeGroup, { name, fillLater = 0 }: MachineRequest, type: InstanceType): V1Node {
  return {
    metadata: {
      name,
      annotations: KWOK_NODE,
      labels: { ...type.labels, ...group.labels, 'kubernetes.io/hostname': name },
    },
    spec: {
      providerID: idOf(name),
      taints: distinct([...group.taints, ...group.startupTaints, ...laterTaints(fillLater)]),
    },
    status: { capacity: quantitiesOf(type.capacity), allocatable: quantitiesOf(type.allocatable) },
  };
}

/** The API server takes a key with an effect only once. */
function distinct(taints: readonly Taint[]): Taint[] {
  return [...new Map(taints.map((taint) => [`${taint.key}:${taint.effect}`, taint])).values()];
}

function idOf(name: string): string {
  return `kwok://${name}`;
}

/** Whether a Node is this machine: another one may have its name. */
function isOf(node: V1Node, { name }: Pick<MachineToDelete, 'name'>): boolean {
  return node.spec?.providerID === idOf(name);
}

function quantitiesOf(amounts: Amounts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(amounts).map(([resource, amount]) => [resource, resource === 'cpu' ? `${amount}m` : String(amount)]),
  );
}
