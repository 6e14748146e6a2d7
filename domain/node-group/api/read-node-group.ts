/** Reads a NodeGroup of a cluster: with its defaults, or with what is wrong with it. */
import type { z } from 'zod';
import { parseDuration } from '../../kernel/duration.ts';
import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';
import type { InstanceType, Mode, NodeBudget, NodeGroup } from '../model/node-group.ts';
import type { Taint } from '../model/pod.ts';
import { type Amounts, finiteAmount } from '../../kernel/amounts.ts';
import { listOf } from '../../kernel/pod-requests.ts';
import { fieldsOf, labelsOf, momentOf, textOf } from '../scheduling/read-pod.ts';
import { readInVain } from './in-vain.ts';
import { LONGEST_VALUE } from './label-rules.ts';
import { NAMESPACE } from './names.ts';
import { MAX_NODES, nodeGroupSpec, type NodeGroupSpec, VPSIE_FIELDS } from './node-group-spec.ts';
import { invalid, specProblems } from './spec-problems.ts';

/** The VPSie autoscaler's DefaultScaleDownCooldown, in seconds: 0 counts as absent there. */
const SCALE_DOWN_COOLDOWN = 600;
/** Karpenter's default. */
const DEFAULT_BUDGETS: readonly NodeBudget[] = [{ nodes: '10%', reasons: [], window: null }];
const MOST_PROBLEMS = 20;

export interface ReadNodeGroup
  extends Pick<NodeGroup, 'name' | 'uid' | 'resourceVersion' | 'generation' | 'isDeleting'> {
  /**
   * Null when there are problems: nothing is done for it then. One that is being deleted is there all the same, by what can be read of
   * it, unless nobody can tell where its machines are.
   */
  readonly group: NodeGroup | null;
  /** Sentences in the form of the API server's, each with what would be right. */
  readonly problems: readonly string[];
}

/**
 * Reads a complete object, any part of which may be missing. Never throws.
 *
 * @param defaults what holds for groups that say nothing of their own.
 */
export function readNodeGroup(object: unknown, defaults: { readonly mode: Mode }): ReadNodeGroup {
  const whole = fieldsOf(object);
  const metadata = fieldsOf(whole['metadata']);
  const { data, error } = nodeGroupSpec.safeParse(withSections(whole['spec']));
  const name = textOf(metadata['name']);
  const misplaced = [
    ...(textOf(metadata['namespace']) === NAMESPACE
      ? []
      : [invalid('metadata.namespace', metadata['namespace'], `NodeGroups are in ${NAMESPACE}`)]),
    ...(name.length <= LONGEST_VALUE
      ? []
      : [invalid('metadata.name', name, `at most ${LONGEST_VALUE} characters, as it is a label of its nodes`)]),
  ];
  const problems = [
    ...misplaced,
    ...(error === undefined ? specProblems(data, name) : error.issues.slice(0, MOST_PROBLEMS).map(problemOf)),
  ];
  const identity = {
    name,
    uid: textOf(metadata['uid']),
    resourceVersion: textOf(metadata['resourceVersion']),
    generation: typeof metadata['generation'] === 'number' ? metadata['generation'] : 0,
    isDeleting: metadata['deletionTimestamp'] !== undefined,
  };
  const isGoing = identity.isDeleting && misplaced.length === 0;
  const spec = problems.length > 0 && isGoing ? lastSpec(whole['spec']) : data;
  const isUsed = spec !== undefined && (problems.length === 0 || isGoing);
  if (!isUsed) return { ...identity, group: null, problems };
  const group = {
    ...identity,
    annotations: labelsOf(metadata['annotations']),
    ...ofSpec(spec, defaults.mode),
    ...ofStatus(fieldsOf(whole['status'])),
  };
  return { ...identity, group, problems };
}

/** In place of fields that cannot be read, of a group that is being deleted: it makes no machines, and puts nothing on nodes that go. */
const MAKES_NOTHING = { minNodes: 0, maxNodes: MAX_NODES, offeringIDs: ['none'] };
const ON_NODES = ['labels', 'taints', 'startupTaints'] as const;
/** Without these fields nobody knows where the machines are, or the defaults would remove machines that are to stay, or too fast. */
const NEEDED: readonly string[] = ['provider', 'resourceIdentifier', 'mode', 'deletionPolicy', 'budgets'];

/**
 * The spec of a group that is being deleted and is not valid, without the fields that are wrong.
 *
 * @returns undefined where nobody can tell where its machines are, or whether they may go.
 */
function lastSpec(written: unknown): NodeGroupSpec | undefined {
  const { error } = nodeGroupSpec.safeParse(withSections(written));
  const wrong = new Set([...(error?.issues ?? []).map(({ path: [field] }) => String(field)), ...ON_NODES]);
  if (NEEDED.some((field) => wrong.has(field))) return undefined;
  const right = Object.entries(fieldsOf(written)).filter(([field]) => !wrong.has(field));
  const { data } = nodeGroupSpec.safeParse(withSections({ ...MAKES_NOTHING, ...Object.fromEntries(right) }));
  return data?.provider === 'vpsie' && !data.resourceIdentifier ? undefined : data;
}

function problemOf({ path, message }: z.core.$ZodIssue): string {
  const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return `spec${field}: Invalid value: ${message}`;
}

/** Sections that are absent have the defaults of their fields. */
function withSections(written: unknown): object {
  const spec = fieldsOf(written);
  return { ...spec, scaleUpPolicy: spec['scaleUpPolicy'] ?? {}, scaleDownPolicy: spec['scaleDownPolicy'] ?? {} };
}

type OfStatus = Pick<
  NodeGroup,
  'desiredNodes' | 'lastScaleUp' | 'lastScaleDown' | 'backoff' | 'instanceTypes' | 'instanceTypesAt' | 'inVain'
>;
type OfSpec = Omit<
  NodeGroup,
  keyof OfStatus | 'name' | 'uid' | 'resourceVersion' | 'generation' | 'isDeleting' | 'annotations'
>;

function ofSpec(spec: NodeGroupSpec, mode: Mode): OfSpec {
  const { scaleUpPolicy: up, scaleDownPolicy: down } = spec;
  const { provider, minNodes, maxNodes, expander, estimate, exclusive } = spec;
  const { replaceBeforeDrain, deletionPolicy, approval } = spec;
  return {
    provider,
    minNodes,
    maxNodes,
    expander,
    estimate,
    exclusive,
    replaceBeforeDrain,
    deletionPolicy,
    approval,
    mode: spec.mode ?? mode,
    offeringIds: spec.offeringIDs,
    preferredInstanceType: spec.preferredInstanceType || null,
    labels: spec.labels ?? {},
    taints: taintsOf(spec.taints),
    startupTaints: taintsOf(spec.startupTaints),
    scaleUp: {
      enabled: up?.enabled ?? true,
      cooldownMs: (up?.cooldownSeconds ?? 0) * 1000,
      batchSize: spec.scaleUpBatchSize,
    },
    scaleDown: {
      enabled: down?.enabled ?? true,
      stabilizationMs: (down?.stabilizationWindowSeconds ?? 0) * 1000,
      cooldownMs: (down?.cooldownSeconds || SCALE_DOWN_COOLDOWN) * 1000,
      cpuThreshold: down?.cpuThreshold ?? 0,
      memoryThreshold: down?.memoryThreshold ?? 0,
      consolidation: down?.consolidation ?? false,
    },
    budgets: spec.budgets?.map(budgetOf) ?? DEFAULT_BUDGETS,
    // A group that is older than the rule of the definition may say less.
    maxNodeProvisionMs: Math.max(MINUTE_MS, parseDuration(spec.maxNodeProvisionTime)),
    providerSpec: Object.fromEntries(
      [...VPSIE_FIELDS, 'osImageID' as const].flatMap((field) =>
        spec[field] === undefined ? [] : [[field, String(spec[field])]],
      ),
    ),
  };
}

function taintsOf(taints: NodeGroupSpec['taints'] = []): readonly Taint[] {
  return taints.map(({ key, value, effect }) => ({ key, effect, ...(value === undefined ? {} : { value }) }));
}

/** A budget as it is written, of the right types. */
export function budgetOf({
  nodes,
  reasons = [],
  schedule,
  duration,
}: NonNullable<NodeGroupSpec['budgets']>[number]): NodeBudget {
  const window =
    schedule === undefined || duration === undefined ? null : { schedule, durationMs: parseDuration(duration) };
  return { nodes, reasons, window };
}

function ofStatus(status: Readonly<Record<string, unknown>>): OfStatus {
  const { desiredNodes, lastScaleUpTime, lastScaleDownTime, backoff: written } = status;
  const { until, failures, reason } = fieldsOf(written);
  const end = momentOrNull(until);
  return {
    desiredNodes: typeof desiredNodes === 'number' ? desiredNodes : null,
    lastScaleUp: momentOrNull(lastScaleUpTime),
    lastScaleDown: momentOrNull(lastScaleDownTime),
    backoff:
      end === null
        ? null
        : { until: end, failures: typeof failures === 'number' ? failures : 1, reason: textOf(reason) },
    instanceTypes: listOf(status['instanceTypes']).map(readInstanceType),
    instanceTypesAt: momentOrNull(status['instanceTypesTime']),
    inVain: listOf(status['inVain']).map(readInVain),
  };
}

function readInstanceType(object: Readonly<Record<string, unknown>>): InstanceType {
  const { pricePerHour } = object;
  return {
    id: textOf(object['id']),
    capacity: amountsIn(object['capacity']),
    allocatable: amountsIn(object['allocatable']),
    labels: labelsOf(object['labels']),
    pricePerHour: typeof pricePerHour === 'number' && Number.isFinite(pricePerHour) ? pricePerHour : null,
    isAvailable: object['isAvailable'] === true,
  };
}

function amountsIn(value: unknown): Amounts {
  return Object.fromEntries(
    Object.entries(fieldsOf(value)).flatMap(([resource, amount]) =>
      typeof amount === 'number' ? [[resource, finiteAmount(amount)] as const] : [],
    ),
  );
}

function momentOrNull(value: unknown): EpochMs | null {
  return momentOf(value) || null;
}
