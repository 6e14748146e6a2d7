/** The VPSieNode of a machine: its type, how it is read, and how it is created. */
import { z } from 'zod';
import { type Machine, type MachinePhase, machinePhases, type NodeGroup } from '../model/node-group.ts';
import type { ScaleUpReason } from '../model/plan.ts';
import { fieldsOf, labelsOf, momentOf, textOf } from '../scheduling/read-pod.ts';
import { LATEST } from '../rules/fill-later.ts';
import { holderOf } from './holder.ts';
import {
  API_VERSION,
  CAME_FOR,
  CREATION_REASON,
  DATACENTER_LABEL,
  DECISION,
  DELETE_WITHOUT_DRAIN,
  FILL_LATER,
  GROUP_LABEL,
  GROUP_UID_LABEL,
  MACHINE_FINALIZER,
  MACHINE_KIND,
  MANAGED_LABEL,
  NAMESPACE,
  OFFERING_LABEL,
  REPLACES,
  SCALE_UP_REASON,
} from './names.ts';
import { statusCondition } from './node-group-spec.ts';

const text = z.string().optional();

/** `spec` of a VPSieNode: the VPSie autoscaler's. */
export const machineSpec = z.object({
  instanceType: z.string().describe('Its instance type.'),
  nodeGroupName: z.string().describe('The NodeGroup that it belongs to.'),
  datacenterID: text.describe('VPSie: the datacenter.'),
  resourceIdentifier: text.describe('VPSie: the Kubernetes cluster.'),
  project: text.describe('VPSie: the project.'),
  kubernetesVersion: text.describe('VPSie: the version.'),
  osImageID: text.describe('VPSie: the image of the operating system.'),
  sshKeyIDs: z.array(z.string()).optional().describe('VPSie: the SSH keys.'),
  vpsieInstanceID: z.int().optional().describe('VPSie: the number of the machine; 0 before there is one.'),
  vpsieGroupID: z.int().optional().describe('VPSie: the number of its group of nodes.'),
  vpsieNodeIdentifier: text.describe('VPSie: the identifier of the machine.'),
  nodeName: text.describe('The wanted name of the Node.'),
  ipAddress: text.describe('Kept as it is.'),
  ipv6Address: text.describe('Kept as it is.'),
});

/** `status` of a VPSieNode; every field may be missing. */
export const machineStatus = z.object({
  phase: z.enum(machinePhases).optional().describe('Where it is in its life.'),
  phaseSince: text.describe('When the phase began.'),
  providerID: text.describe("The provider's own name of the machine."),
  nodeName: text.describe('The Node that it became.'),
  vpsieStatus: text.describe("VPSie's own word for its state."),
  hostname: text,
  resources: z.looseObject({}).optional().describe('Kept as it is.'),
  createdAt: text,
  provisionedAt: text,
  joinedAt: text,
  readyAt: text,
  terminatingAt: text,
  deletedAt: text,
  conditions: z.array(statusCondition).optional(),
  lastError: text.describe('What went wrong last.'),
  observedGeneration: z.int().optional(),
});

/** Reads a complete object, any part of which may be missing, the VPSie autoscaler's as well. Never throws. */
export function readMachine(object: unknown): Machine {
  const whole = fieldsOf(object);
  const metadata = fieldsOf(whole['metadata']);
  const spec = fieldsOf(whole['spec']);
  const status = fieldsOf(whole['status']);
  const { vpsieInstanceID: number } = spec;
  const createdAt = momentOf(metadata['creationTimestamp']);
  const annotations = labelsOf(metadata['annotations']);
  const provider = textOf(status['providerID']) || textOf(spec['vpsieNodeIdentifier']);
  // The VPSie autoscaler keeps no time of the phase: the latest of its times is when it began.
  const times = [
    createdAt,
    ...['provisionedAt', 'joinedAt', 'readyAt', 'terminatingAt'].map((key) => momentOf(status[key])),
  ];
  const phase = machinePhases.find((known) => known === status['phase']) ?? 'Pending';
  const node = textOf(status['nodeName']) || null;
  const isDeleted = metadata['deletionTimestamp'] !== undefined;
  const isDrainRequested = node !== null && drainsFirst(metadata, phase);
  return {
    name: textOf(metadata['name']),
    uid: textOf(metadata['uid']),
    resourceVersion: textOf(metadata['resourceVersion']),
    group: textOf(spec['nodeGroupName']),
    instanceType: textOf(spec['instanceType']),
    phase,
    providerId: provider || (typeof number === 'number' && number > 0 ? String(number) : null),
    node,
    hostname: textOf(status['hostname']) || textOf(spec['nodeName']),
    createdAt,
    phaseSince: momentOf(status['phaseSince']) || Math.max(...times),
    isDeleting: isDeleted && !isDrainRequested,
    isDrainRequested,
    isLabelled: labelsOf(metadata['labels'])[GROUP_LABEL] === spec['nodeGroupName'],
    heldBy: holderOf(metadata),
    decision: annotations[DECISION] ?? '',
    creationReason: annotations[CREATION_REASON] ?? '',
    cameFor: (annotations[CAME_FOR] ?? '').split(' ').filter((kind) => kind !== ''),
    fillLater: fillLaterOf(annotations[FILL_LATER]),
    replaces: annotations[REPLACES] ?? null,
  };
}

/** Anything else than a number of taints is none. */
function fillLaterOf(text = ''): number {
  return /^\d$/.test(text) ? Math.min(LATEST, Number(text)) : 0;
}

/**
 * Whether the machine's object was deleted in a phase in which its Node is drained before anything else. `Deleting` is written when that
 * is done, and `Failed` of machines that are given up.
 */
export function drainsFirst(metadata: Readonly<Record<string, unknown>>, phase: MachinePhase): boolean {
  return (
    metadata['deletionTimestamp'] !== undefined &&
    phase !== 'Deleting' &&
    phase !== 'Failed' &&
    !goesUndrained(metadata)
  );
}

/** Whether its object says that its deletion is no request to drain its Node. */
export function goesUndrained(metadata: Readonly<Record<string, unknown>>): boolean {
  return labelsOf(metadata['annotations'])[DELETE_WITHOUT_DRAIN] === 'true';
}

/** The VPSieNode of a machine that is to come. Its finalizer keeps it until the machine is gone at the provider. */
export function machineBody(
  { name: group, uid, providerSpec }: Pick<NodeGroup, 'name' | 'uid' | 'providerSpec'>,
  {
    name,
    instanceType,
    decision,
    cameFor,
    fillLater = 0,
    replaces,
    reason,
  }: Pick<Machine, 'name' | 'instanceType' | 'decision' | 'cameFor' | 'replaces'> &
    Partial<Pick<Machine, 'fillLater'>> & { readonly reason: ScaleUpReason },
) {
  // The size belongs to the group at the provider: a VPSieNode has no such field.
  const { kubeSizeID: _, ...ofMachine } = providerSpec;
  const { datacenterID } = ofMachine;
  return {
    apiVersion: API_VERSION,
    kind: MACHINE_KIND,
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: {
        [MANAGED_LABEL]: 'true',
        [GROUP_LABEL]: group,
        [GROUP_UID_LABEL]: uid,
        [OFFERING_LABEL]: instanceType,
        ...(datacenterID === undefined ? {} : { [DATACENTER_LABEL]: datacenterID }),
      },
      annotations: {
        [DECISION]: decision,
        [CREATION_REASON]: 'metrics',
        [SCALE_UP_REASON]: reason,
        ...(cameFor.length === 0 ? {} : { [CAME_FOR]: cameFor.join(' ') }),
        ...(fillLater === 0 ? {} : { [FILL_LATER]: String(fillLater) }),
        ...(replaces === null ? {} : { [REPLACES]: replaces }),
      },
      finalizers: [MACHINE_FINALIZER],
    },
    spec: { ...ofMachine, instanceType, nodeGroupName: group, vpsieInstanceID: 0 },
  };
}
