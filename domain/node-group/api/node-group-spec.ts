/** The type of a NodeGroup, from which its definition, its webhook and its controller are derived. */
import { z } from 'zod';
import { keptInVain } from './in-vain.ts';
import { keptLowered } from './lowered-for.ts';
import { LABEL_KEY, LABEL_KEY_FORM, LABEL_VALUE, LONGEST_KEY, LONGEST_VALUE } from './label-rules.ts';

/** The most nodes of a group: the VPSie autoscaler's webhook takes no more. */
export const MAX_NODES = 1000;

/** Semantic versions, as the VPSie autoscaler's definition has them. */
const KUBERNETES_VERSION = /^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
/** The characters that the VPSie autoscaler's webhook takes, as far as they make the value of a label. */
const DATACENTER = /^[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?$/;
const OFFERING = /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/;
const OS_IMAGE = /^[a-zA-Z0-9_.-]+$/;
const LABEL_VALUE_FORM = 'letters, digits and, between them, dashes, underscores and dots';
/** A duration of `parseDuration`, with at most 16 characters. */
const DURATION = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/;

const seconds = (most: number, otherwise: number) => z.int().min(0).max(most).default(otherwise);
const percent = (otherwise: number) => z.int().min(0).max(100).default(otherwise);
const enabled = z.boolean().default(true);
const milliseconds = z.string().max(16).regex(DURATION);

const labelValue = z.string().max(LONGEST_VALUE).regex(LABEL_VALUE, LABEL_VALUE_FORM);

const taint = z.object({
  key: z.string().max(LONGEST_KEY).regex(LABEL_KEY, LABEL_KEY_FORM),
  value: labelValue.optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  timeAdded: z.string().optional().describe('Kept as it is, and ignored.'),
});

const scaleUpPolicy = z.object({
  enabled: enabled.describe('Whether nodes are added for pending pods.'),
  stabilizationWindowSeconds: seconds(1800, 60).describe(
    'Kept as it is, and ignored: what kube-scheduler cannot place is pending.',
  ),
  cooldownSeconds: seconds(3600, 0).describe('How long after nodes came no more are added.'),
  cpuThreshold: percent(80).describe('Kept as it is, and ignored: pending pods decide.'),
  memoryThreshold: percent(80).describe('Kept as it is, and ignored: pending pods decide.'),
});

const scaleDownPolicy = z.object({
  enabled: enabled.describe('Whether nodes are taken away.'),
  stabilizationWindowSeconds: seconds(3600, 600).describe('How long a node must have been underutilized.'),
  cooldownSeconds: seconds(3600, 600).describe('How long after nodes came or went none is taken away; 0 is 600.'),
  cpuThreshold: percent(50).describe('A node that uses less of its CPU, in percent, and of its memory may go.'),
  memoryThreshold: percent(50).describe('A node that uses less of its memory, in percent, and of its CPU may go.'),
  consolidation: z.boolean().default(false).describe('Whether nodes are replaced by cheaper ones.'),
});

const budget = z.object({
  nodes: z
    .string()
    .max(5)
    .regex(/^([0-9]{1,4}|(100|[0-9]{1,2})%)$/)
    .describe('How many nodes may go at once: a count, or a share of the group such as 10%, rounded up.'),
  reasons: z
    .array(z.enum(['Empty', 'Underutilized', 'Consolidation', 'NotReady', 'Overprovisioned', 'Requested']))
    .max(6)
    .optional()
    .describe('For which reasons; absent or empty: all.'),
  schedule: z.string().max(100).optional().describe('When it begins to hold, as a cron expression in UTC.'),
  duration: milliseconds.optional().describe('For how long it then holds, such as 8h. Beside schedule.'),
});

const texts = z.array(z.string()).optional();
const unused = z.looseObject({}).optional().describe('Kept as it is, and ignored.');

/** `spec` of a NodeGroup, with the defaults of its definition. */
export const nodeGroupSpec = z.object({
  provider: z.enum(['vpsie', 'kwok']).default('vpsie').describe('Who makes the machines.'),
  mode: z
    .enum(['observe', 'act'])
    .optional()
    .describe('observe: only says what would be done, and why. Absent: as HEADROOM_NODE_GROUPS_MODE says.'),
  minNodes: z.int().min(0).max(MAX_NODES).describe('The fewest nodes.'),
  maxNodes: z.int().min(1).max(MAX_NODES).describe('The most nodes.'),
  offeringIDs: z
    .array(z.string().max(LONGEST_VALUE).regex(OFFERING, 'letters, digits and, between them, dashes'))
    .min(1)
    .max(100)
    .describe('The instance types of its nodes.'),
  preferredInstanceType: z.string().optional().describe('The one of offeringIDs that is preferred.'),
  labels: z.record(z.string(), labelValue).optional().describe('Labels of its nodes.'),
  taints: z.array(taint).max(100).optional().describe('Taints of its nodes.'),
  startupTaints: z
    .array(taint)
    .max(100)
    .optional()
    .describe('Taints of new nodes that are taken off later; pods are placed as if they were not there.'),
  scaleUpBatchSize: z.int().min(0).max(MAX_NODES).default(0).describe('The most nodes of one decision; 0: no limit.'),
  scaleUpPolicy: scaleUpPolicy.optional(),
  scaleDownPolicy: scaleDownPolicy.optional(),
  expander: z
    .enum(['least-waste', 'price'])
    .default('least-waste')
    .describe('How it is chosen among instance types and groups that fit.'),
  estimate: z
    .enum(['simulation', 'simple'])
    .default('simulation')
    .describe("simple: the VPSie autoscaler's fixed estimate of 4 CPUs a node in place of the simulation."),
  exclusive: z
    .boolean()
    .default(false)
    .describe("Whether it takes only pods that select its labels, as the VPSie autoscaler's labelled groups do."),
  budgets: z.array(budget).max(50).optional().describe('How many nodes may go at once. Absent: 10%.'),
  replaceBeforeDrain: z
    .boolean()
    .default(false)
    .describe('Whether a node is drained only when another one is ready in its place.'),
  maxNodeProvisionTime: milliseconds
    .default('15m')
    .describe('A machine whose node is not ready after this time, 1m at least, is deleted.'),
  deletionPolicy: z
    .enum(['Drain', 'Orphan'])
    .default('Drain')
    .describe(
      'What becomes of its nodes when it is deleted. Drain: they are drained and given back. Orphan: nodes and machines stay.',
    ),
  approval: z
    .enum(['none', 'scale-down', 'replacement'])
    .default('none')
    .describe('For what a person is asked first: to take nodes away, or only to replace them.'),
  datacenterID: z
    .string()
    .max(LONGEST_VALUE)
    .regex(DATACENTER, 'letters, digits and, between them, dashes and underscores')
    .optional()
    .describe('VPSie: the datacenter.'),
  resourceIdentifier: z.string().optional().describe('VPSie: the Kubernetes cluster.'),
  project: z.string().optional().describe('VPSie: the project.'),
  kubernetesVersion: z.string().regex(KUBERNETES_VERSION).optional().describe('VPSie: the version, such as v1.34.1.'),
  kubeSizeID: z.int().min(1).optional().describe('VPSie: the size of the nodes, one of /k8s/offers.'),
  osImageID: z.string().regex(OS_IMAGE).optional().describe('VPSie: the image of the operating system.'),
  sshKeyIDs: texts.describe('VPSie: the SSH keys of the nodes.'),
  userData: z.string().optional().describe('Kept as it is, and ignored.'),
  tags: texts.describe('Kept as it is, and ignored.'),
  notes: z.string().optional().describe('Kept as it is, and ignored.'),
  allowMixedInstances: z.boolean().optional().describe('Kept as it is, and ignored.'),
  spotConfig: unused,
  multiRegion: unused,
  costOptimization: unused,
});
export type NodeGroupSpec = z.output<typeof nodeGroupSpec>;

/** The fields without which VPSie is not asked for a machine. */
export const VPSIE_FIELDS = [
  'datacenterID',
  'resourceIdentifier',
  'project',
  'kubernetesVersion',
  'kubeSizeID',
] as const satisfies readonly (keyof NodeGroupSpec)[];

const moment = z.string().optional();

/** Looser than Kubernetes' own: the VPSie autoscaler leaves reasons and messages out. */
export const statusCondition = z.object({
  type: z.string(),
  status: z.string(),
  lastTransitionTime: moment,
  lastUpdateTime: moment,
  reason: z.string().optional(),
  message: z.string().optional(),
});

/** An instance type as the status keeps it: amounts as kube-scheduler calculates with them. */
const keptInstanceType = z.object({
  id: z.string().describe('One of offeringIDs.'),
  capacity: z.record(z.string(), z.int()).describe('Of a node: cpu in millicores, everything else in whole units.'),
  allocatable: z.record(z.string(), z.int()).describe('What is left for pods, in the same units.'),
  labels: z.record(z.string(), z.string()).describe('Labels that each of its nodes has.'),
  pricePerHour: z.number().optional().describe('In any one currency; absent where the provider tells none.'),
  isAvailable: z.boolean().describe('Whether the provider has machines of it now.'),
});

/** `status` of a NodeGroup; every field may be missing. */
export const nodeGroupStatus = z.object({
  currentNodes: z.int().optional().describe('How many nodes there are, or are on their way.'),
  desiredNodes: z.int().optional().describe('How many there should be; a person may lower it.'),
  readyNodes: z.int().optional().describe('How many are ready.'),
  nodes: z.array(z.looseObject({})).optional().describe("Kept as it is: the VPSie autoscaler's list."),
  conditions: z.array(statusCondition).optional(),
  lastScaleTime: moment.describe('When nodes came or went last.'),
  lastScaleUpTime: moment.describe('When nodes came last.'),
  lastScaleDownTime: moment.describe('When nodes went last.'),
  observedGeneration: z.int().optional().describe('The generation of the spec that this status is about.'),
  vpsieGroupID: z.int().optional().describe('VPSie: the number of its group of nodes.'),
  backoff: z
    .object({
      until: z.string().describe('Until when no machine is asked for.'),
      failures: z.int().describe('How many machines failed one after the other.'),
      reason: z.string().describe('Why the last one failed.'),
    })
    .optional()
    .describe('Present after machines that failed.'),
  instanceTypes: z
    .array(keptInstanceType)
    .optional()
    .describe('The instance types of offeringIDs that the provider has.'),
  instanceTypesTime: moment.describe('When the provider was asked for them last.'),
  loweredFor: z
    .array(keptLowered)
    .optional()
    .describe('Machines that are there, and that desiredNodes counts no more.'),
  inVain: z.array(keptInVain).optional().describe('Nodes that came for pods which did not get them.'),
});
