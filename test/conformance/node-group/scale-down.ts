/** The cases of which nodes go: who keeps them, utilization, order, minimum, cooldown and drains. */
import * as z from 'zod';
import { planCluster } from '../../../domain/node-group/plan/plan-cluster.ts';
import { podsToEvict } from '../../../domain/node-group/drain/pods-to-evict.ts';
import { isHourInWindow } from '../../../domain/node-group/rules/allowed-hours.ts';
import { isCoolingDown } from '../../../domain/node-group/rules/cooldown.ts';
import { type Candidate, candidateScore, inRemovalOrder } from '../../../domain/node-group/scale-down/candidates.ts';
import { freshPlanMemory } from '../../../domain/node-group/scale-down/memory.ts';
import { isProtected, keptByHours, keptByPolicy } from '../../../domain/node-group/scale-down/node-policy.ts';
import { averageOf, isUnderutilized, utilizationRule } from '../../../domain/node-group/scale-down/utilization.ts';
import { groupOf, machineOf, nodeOf, NOW, podOf, stateOf } from '../../domain/node-group/builders.ts';
import { type Adapter, adapter, notApplicable, unsampled } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';
import { minimumFirst, unreadableHoursKeep } from './deviations.ts';
import { count, flag, MINUTE_MS, sameAnswers, stringMap } from './shapes.ts';

const HOUR_MS = 60 * MINUTE_MS;

const marks = z.strictObject({ annotations: stringMap, labels: stringMap });

const window = z.strictObject({
  cpuThreshold: z.number(),
  memoryThreshold: z.number(),
  windowMinutes: z.number(),
  requiredShare: z.number().default(0.8),
  maxStalenessMinutes: z.number().default(5),
  samples: z.array(z.strictObject({ ageMinutes: z.number(), cpu: z.number(), memory: z.number() })).default([]),
  /** When the data were written; now where the case does not say it, however old the samples are. */
  lastUpdatedAgeMinutes: z.number().default(0),
});

function isLowInWindow(input: z.output<typeof window>): boolean {
  const { cpuThreshold, memoryThreshold, requiredShare, samples } = input;
  const windowMs = input.windowMinutes * MINUTE_MS;
  const rule = { cpuThreshold, memoryThreshold, requiredShare, windowMs };
  const read = samples.map(({ ageMinutes, cpu, memory }) => ({ at: NOW - ageMinutes * MINUTE_MS, cpu, memory }));
  // The cases say how old the data are as a whole, and not by their newest sample: Headroom is asked about such a one.
  const written = { at: NOW - input.lastUpdatedAgeMinutes * MINUTE_MS, cpu: 0, memory: 0 };
  const freshness = { ...rule, maxStalenessMs: input.maxStalenessMinutes * MINUTE_MS };
  return (
    averageOf([written], freshness, NOW) !== null &&
    isUnderutilized(read, { ...rule, maxStalenessMs: windowMs - 1 }, NOW)
  );
}

const size = z.strictObject({
  minNodes: z.number(),
  maxNodes: z.number(),
  nodes: z.number(),
  cooldownMinutes: z.number().default(10),
  lastScaleDownAgeMinutes: z.number().optional(),
});

/** In the words of the other implementation. */
const REASONS = [
  ['Cooldown', 'within cooldown period'],
  ['AtMinimum', 'at minimum nodes'],
] as const;

/** A group of idle nodes, and whether the planner gives one of them back. */
function canScaleDown({ nodes, cooldownMinutes, lastScaleDownAgeMinutes, ...bounds }: z.output<typeof size>): object {
  const base = groupOf('web');
  const group = groupOf('web', {
    ...bounds,
    lastScaleDown: lastScaleDownAgeMinutes === undefined ? null : NOW - lastScaleDownAgeMinutes * MINUTE_MS,
    scaleDown: { ...base.scaleDown, stabilizationMs: 0, cooldownMs: cooldownMinutes * MINUTE_MS },
  });
  const names = Array.from({ length: nodes }, (_, index) => `node-${index}`);
  const state = stateOf({
    groups: [group],
    nodes: names.map((name) => nodeOf(name)),
    machines: names.map((name) => machineOf(`machine-of-${name}`, 'web', { phase: 'Ready', node: name })),
    utilization: Object.fromEntries(names.map((name) => [name, [{ at: NOW, cpu: 1, memory: 1 }]])),
  });
  const { plan } = planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] });
  if (plan.removals.length > 0) return { allowed: true, reason: 'safe to remove' };
  const found = REASONS.find(([reason]) => plan.kept.some((kept) => kept.reason === reason));
  return { allowed: false, reason: found?.[1] ?? plan.kept[0]?.reason };
}

const candidate = z.strictObject({
  name: z.string(),
  cpu: z.number().optional(),
  memory: z.number().optional(),
  samples: z.number().default(1),
  pods: z.number().default(0),
  systemPods: z.number().default(0),
  creationReason: z.string().default(''),
  annotations: stringMap,
  labels: stringMap,
});

/** Nodes with samples of every minute, of which those that use little are sorted as the cases have it. */
function candidates(input: {
  readonly nodes: readonly z.output<typeof candidate>[];
  readonly thresholds: number;
  readonly managed: boolean;
}): readonly string[] {
  const { scaleDown } = groupOf('web');
  const rule = utilizationRule({ ...scaleDown, cpuThreshold: input.thresholds, memoryThreshold: input.thresholds });
  const low = input.nodes.flatMap((node): readonly Candidate[] => {
    const { name, cpu, memory, annotations, labels, creationReason } = node;
    const samples =
      cpu === undefined || memory === undefined
        ? []
        : Array.from({ length: node.samples }, (_, age) => ({ at: NOW - age * MINUTE_MS, cpu, memory }));
    const policy = keptByPolicy(groupOf('web'), { annotations, labels, createdAt: NOW }, { creationReason }, NOW);
    if (policy !== null || !isUnderutilized(samples, rule, NOW)) return [];
    const counts = { podCount: node.pods + node.systemPods, systemPodCount: node.systemPods };
    const use = averageOf(samples, rule, NOW);
    return [{ name, isReady: true, createdAt: NOW, unneededSince: null, use, ...counts }];
  });
  return input.managed ? inRemovalOrder(low, 'score').map(({ name }) => name) : [];
}

/** Candidates of which only the score is known: ten points are a percent of use. */
function ordered(priorities: readonly number[]): readonly number[] {
  const given = priorities.map((priority) => {
    const use = { cpu: priority / 10, memory: priority / 10 };
    const rest = { isReady: true, createdAt: NOW, unneededSince: null, podCount: 0, systemPodCount: 0 };
    return { priority, name: `node-${priority}`, use, ...rest };
  });
  return inRemovalOrder(given, 'score').map(({ priority }) => priority);
}

const allow = z.strictObject({
  mode: z.enum(['aggressive', 'balanced', 'conservative', 'disabled']).default('balanced'),
  scaleDownEnabled: z.boolean().default(true),
  nodeAnnotations: stringMap,
  hour: z.number().optional(),
});

/** Nothing is taken away in the mode `disabled`, as in a group whose policy is not enabled. */
function isAllowed({ mode, scaleDownEnabled, nodeAnnotations: annotations, hour }: z.output<typeof allow>): boolean {
  const base = groupOf('web');
  const enabled = scaleDownEnabled && mode !== 'disabled';
  const group = groupOf('web', { scaleDown: { ...base.scaleDown, enabled } });
  const at = hour === undefined ? NOW : NOW - (NOW % (24 * HOUR_MS)) + hour * HOUR_MS;
  const node = { annotations, labels: {}, createdAt: NOW };
  return keptByPolicy(group, node, { creationReason: '' }, at) === null && keptByHours(group, node, at) === null;
}

const drained = z.strictObject({
  name: z.string(),
  /** A kind of controller, or `mirror` or `static` for a pod that the kubelet makes by itself. */
  owner: z.string().optional(),
  phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']).default('Running'),
  annotations: stringMap,
  mirror: z.boolean().default(false),
  static: z.boolean().default(false),
});

const MIRROR = 'kubernetes.io/config.mirror';

function evicted(pods: readonly z.output<typeof drained>[]): readonly string[] {
  const read = pods.map(({ name, owner, phase, annotations, ...pod }) => {
    const isMirror =
      pod.mirror || pod.static || /^(?:mirror|static)$/i.test(owner ?? '') || Object.hasOwn(annotations, MIRROR);
    // Cases leave out what every pod of a kubelet has: the annotation, and its Node as the owner.
    const kind = isMirror ? 'Node' : owner;
    const controller = { apiVersion: 'v1', kind, name: 'owner', uid: 'owner', controller: true };
    const metadata = {
      annotations: { ...annotations, ...(isMirror ? { [MIRROR]: 'hash' } : {}) },
      ownerReferences: kind === undefined ? [] : [controller],
    };
    return { ...podOf(name, {}, {}, metadata), phase };
  });
  return podsToEvict(read).map(({ name }) => name);
}

export const nodeGroupScaleDownKinds: Readonly<Record<string, Adapter>> = {
  protected: adapter(marks, flag('protected'), (node) => ({ protected: isProtected(node) }), sameExpectedKeys),
  'underutilized-window': adapter(
    window,
    flag('underutilized'),
    (input) => ({ underutilized: isLowInWindow(input) }),
    sameExpectedKeys,
  ),
  'scale-down-cooldown': adapter(
    z.strictObject({ cooldownMinutes: z.number(), lastScaleDownAgeMinutes: z.number().optional() }),
    flag('outsideCooldown'),
    ({ cooldownMinutes, lastScaleDownAgeMinutes: age }) => ({
      outsideCooldown: !isCoolingDown(age === undefined ? null : -age * MINUTE_MS, cooldownMinutes * MINUTE_MS, 0),
    }),
    sameExpectedKeys,
  ),
  'candidate-order': adapter(
    z.strictObject({ priorities: z.array(z.number()) }),
    z.strictObject({ order: z.array(z.number()) }),
    ({ priorities }) => ({ order: ordered(priorities) }),
    sameExpectedKeys,
  ),
  'candidate-priority': unsampled(
    adapter(
      z.strictObject({
        cpu: z.number(),
        memory: z.number(),
        pods: z.number().default(0),
        systemPods: z.number().default(0),
      }),
      count('priority'),
      ({ cpu, memory, pods: podCount, systemPods: systemPodCount }) => ({
        priority: candidateScore({ use: { cpu, memory }, podCount, systemPodCount }),
      }),
      sameExpectedKeys,
    ),
  ),
  candidates: adapter(
    z.strictObject({
      nodes: z.array(candidate).default([]),
      thresholds: z.number(),
      managed: z.boolean().default(true),
    }),
    z.strictObject({ candidates: z.array(z.string()) }),
    (input) => ({ candidates: candidates(input) }),
    sameExpectedKeys,
  ),
  'can-scale-down': adapter(
    size,
    z.strictObject({ allowed: z.boolean(), reason: z.string().optional() }),
    canScaleDown,
    sameExpectedKeys,
    [minimumFirst],
  ),
  'time-window': adapter(
    z.strictObject({ hour: z.number(), start: z.number(), end: z.number() }),
    flag('inWindow'),
    ({ hour, start, end }) => ({ inWindow: isHourInWindow(hour, { start, end }) }),
    sameExpectedKeys,
  ),
  'policy-thresholds': notApplicable('there are no presets: a NodeGroup names its thresholds itself'),
  'policy-allow': adapter(allow, flag('allowed'), (input) => ({ allowed: isAllowed(input) }), sameExpectedKeys, [
    unreadableHoursKeep,
  ]),
  'drain-filter': adapter(
    z.strictObject({ pods: z.array(drained).default([]) }),
    z.strictObject({ evict: z.array(z.string()).nullable() }),
    ({ pods }) => ({ evict: evicted(pods) }),
    sameAnswers,
  ),
};
