/** The cases of how many nodes come: sizes, what pending pods request, which group and type, and when. */
import * as z from 'zod';
import { daemonsOf } from '../../../domain/node-group/plan/daemons.ts';
import { planScaleUp } from '../../../domain/node-group/plan/scale-up.ts';
import { isCoolingDown } from '../../../domain/node-group/rules/cooldown.ts';
import { opensFor } from '../../../domain/node-group/rules/exclusive.ts';
import { nodesForDeficit, simpleScaleUp } from '../../../domain/node-group/rules/simple-estimate.ts';
import { nodesToAdd, nodesToRemove, wantedSize } from '../../../domain/node-group/rules/size.ts';
import { addAmounts, amountsOf } from '../../../domain/kernel/amounts.ts';
import { matchesNode, untolerated } from '../../../domain/node-group/scheduling/node-selection.ts';
import { podRequests } from '../../../domain/kernel/pod-requests.ts';
import { groupOf, podOf, stateOf, typeOf } from '../../domain/node-group/builders.ts';
import { type Adapter, adapter, notApplicable, NotCompared, unsampled } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';
import { preferenceKeepsNobody } from './deviations.ts';
import {
  amounts,
  count,
  cpuAndMemory,
  flag,
  sameAnswers,
  sameRequests,
  stringMap,
  taints,
  tolerations,
} from './shapes.ts';

const size = z.strictObject({
  minNodes: z.number().default(0),
  maxNodes: z.number().default(0),
  currentNodes: z.number().default(0),
  desiredNodes: z.number().default(0),
});

const growing = size.omit({ minNodes: true });
const shrinking = size.omit({ maxNodes: true });

function missing({ currentNodes: current, desiredNodes: desired, maxNodes }: z.output<typeof growing>): number {
  return nodesToAdd({ current, desired }, maxNodes - current);
}

function excess({ currentNodes: current, desiredNodes: desired, minNodes }: z.output<typeof shrinking>): number {
  return nodesToRemove({ current, desired }, minNodes);
}

/** Amounts are those of the requests of one container. */
const request = z.strictObject({ cpu: z.string().optional(), memory: z.string().optional() });
const requested = z.strictObject({ cpu: z.string(), memory: z.string() }).partial();
const containersOf = (all: readonly object[]) => all.map((requests) => ({ resources: { requests } }));

const reservation = z.strictObject({ nodeSelector: stringMap, groupLabels: stringMap, tolerations, taints });

/** Labelled groups are reserved for pods that select them, as the option `exclusive` has it. */
function takes({
  nodeSelector,
  groupLabels,
  tolerations: tolerated,
  taints: own,
}: z.output<typeof reservation>): boolean {
  const pod = { nodeSelector, nodeAffinity: null };
  return (
    opensFor({ exclusive: true, labels: groupLabels }, pod) &&
    matchesNode(pod, groupLabels, '') &&
    untolerated(tolerated, own) === null
  );
}

const matchedGroup = z.strictObject({
  name: z.string(),
  labels: stringMap,
  maxNodes: z.number().default(0),
  desiredNodes: z.number().default(0),
  preferredInstanceType: z.string().default(''),
  managed: z.boolean().default(true),
});

/** A selector as `key=value`, several with commas; empty for a pod that has none. */
function selectorOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair): [string, string] => [pair.split('=')[0] ?? '', pair.split('=')[1] ?? '']),
  );
}

const selectors = z.array(
  z.union([z.string().transform(selectorOf), z.record(z.string(), z.string()), z.null().transform(() => ({}))]),
);

function matched(input: {
  readonly podNodeSelectors: readonly Readonly<Record<string, string>>[];
  readonly groups: readonly z.output<typeof matchedGroup>[];
}): object {
  const fitting = input.groups.filter(
    ({ managed, labels: groupLabels }) =>
      managed &&
      input.podNodeSelectors.some((nodeSelector) => takes({ nodeSelector, groupLabels, tolerations: [], taints: [] })),
  );
  const [first] = fitting;
  const chosen = new NotCompared(
    'expanders choose among groups by what their nodes leave unused or cost, and not by points',
  );
  return { matches: fitting.length, first: fitting.length > 1 ? chosen : (first?.name ?? null) };
}

const choice = z.strictObject({
  offeringIDs: z.array(z.string()).default([]),
  preferredInstanceType: z.string().default(''),
  deficit: z.strictObject({ cpu: z.string(), memory: z.string(), pods: z.number().default(1) }).optional(),
});

/** How the planner chooses with `estimate: simple`, for pods that request the deficit together, or for a minimum of one node. */
function chosenType({ offeringIDs, preferredInstanceType, deficit }: z.output<typeof choice>): object {
  const { pods = 0, ...requests } = deficit ?? {};
  const group = groupOf('web', {
    offeringIds: offeringIDs,
    preferredInstanceType: preferredInstanceType || null,
    estimate: 'simple',
    minNodes: pods === 0 ? 1 : 0,
  });
  const each = Object.fromEntries(
    Object.entries(amountsOf(requests)).map(([resource, amount]) => [
      resource,
      resource === 'cpu' ? `${Math.floor(amount / pods)}m` : `${Math.floor(amount / pods)}`,
    ]),
  );
  const state = stateOf({
    groups: [group],
    // Large enough for any of the pods: the cases do not say what a type has.
    instanceTypes: { web: offeringIDs.map((id) => typeOf(id, 1024, 4096)) },
    pods: Array.from({ length: pods }, (_, index) => podOf(`pod-${index}`, each)),
  });
  const [chosen] = planScaleUp(state, {
    blocked: {},
    daemons: daemonsOf(state),
    promised: state.instanceTypes,
    trials: {},
  }).newNodes;
  return { offering: chosen?.instanceType ?? null, error: chosen === undefined };
}

const NO_EVENTS = 'Headroom reads the pods themselves, and no Events of kube-scheduler';

export const nodeGroupScaleUpKinds: Readonly<Record<string, Adapter>> = {
  desired: adapter(
    size.omit({ currentNodes: true }),
    count('desired'),
    (input) => ({ desired: wantedSize(input.desiredNodes, input) }),
    sameExpectedKeys,
  ),
  'needs-scale-up': adapter(growing, flag('scaleUp'), (input) => ({ scaleUp: missing(input) > 0 }), sameExpectedKeys),
  'needs-scale-down': unsampled(
    adapter(shrinking, flag('scaleDown'), (input) => ({ scaleDown: excess(input) > 0 }), sameExpectedKeys),
  ),
  'nodes-to-add': adapter(growing, count('nodesToAdd'), (input) => ({ nodesToAdd: missing(input) }), sameExpectedKeys),
  'nodes-to-remove': adapter(
    shrinking,
    count('nodesToRemove'),
    (input) => ({ nodesToRemove: excess(input) }),
    sameExpectedKeys,
  ),
  'pod-requests': adapter(
    z.strictObject({ containers: z.array(request).default([]), initContainers: z.array(request).default([]) }),
    requested,
    ({ containers, initContainers }) =>
      cpuAndMemory(
        podRequests({ spec: { containers: containersOf(containers), initContainers: containersOf(initContainers) } }),
      ),
    sameRequests,
  ),
  deficit: adapter(
    z.strictObject({
      pods: z.array(request.extend({ name: z.string() })).default([]),
      events: z.array(z.string()).default([]),
    }),
    requested.extend({ pods: z.number().optional() }),
    ({ pods, events }) => {
      const named = pods.filter(({ name }) => events.includes(name));
      const sum = named
        .map(({ cpu, memory }) =>
          podRequests({ spec: { containers: containersOf([{ cpu: cpu ?? '0', memory: memory ?? '0' }]) } }),
        )
        .reduce(addAmounts, {});
      return { ...cpuAndMemory(sum), pods: named.length };
    },
    sameRequests,
  ),
  'pod-matches-group': adapter(reservation, flag('matches'), (input) => ({ matches: takes(input) }), sameExpectedKeys, [
    preferenceKeepsNobody,
  ]),
  'match-groups': adapter(
    z.strictObject({ podNodeSelectors: selectors.default([]), groups: z.array(matchedGroup).default([]) }),
    z.strictObject({ matches: z.number(), first: z.string().nullable() }).partial(),
    matched,
    sameAnswers,
  ),
  'select-instance-type': adapter(
    choice,
    z.strictObject({ offering: z.string().nullable(), error: z.boolean() }).partial(),
    chosenType,
    sameAnswers,
  ),
  'estimate-nodes': unsampled(
    adapter(
      z.strictObject({
        deficit: z.strictObject({ cpu: z.string(), memory: z.string(), pods: z.number().default(1) }),
        cpu: z.number().default(4),
        memoryMB: z.number().default(8192),
      }),
      count('nodes'),
      ({ deficit: { pods, ...requests }, cpu, memoryMB }) => ({
        nodes: nodesForDeficit({ ...amountsOf(requests), pods }, { cpu: cpu * 1000, memory: memoryMB * 1024 ** 2 }),
      }),
      sameExpectedKeys,
    ),
  ),
  'scale-up-decision': adapter(
    z.strictObject({
      minNodes: z.number().default(0),
      maxNodes: z.number(),
      desiredNodes: z.number().default(0),
      readyNodes: z.number().default(0),
      matchingPods: z.number().default(0),
      deficit: amounts.default({ cpu: 0, memory: 0 }),
      inCooldown: z.boolean().default(false),
    }),
    z.strictObject({ decision: z.boolean(), desiredNodes: z.number().nullable() }).partial(),
    ({ minNodes, maxNodes, desiredNodes: desired, readyNodes: ready, matchingPods: pods, deficit, inCooldown }) => {
      const next = simpleScaleUp({ desired, ready, maxNodes }, { ...deficit, pods }, inCooldown);
      return { decision: next !== null, desiredNodes: next && wantedSize(next, { minNodes, maxNodes }) };
    },
    sameAnswers,
  ),
  'scheduling-message': notApplicable(NO_EVENTS),
  'event-window': notApplicable(NO_EVENTS),
  'scale-up-cooldown': adapter(
    z.strictObject({ cooldownSeconds: z.number(), lastScaleAgeSeconds: z.number().optional() }),
    flag('canScale'),
    ({ cooldownSeconds, lastScaleAgeSeconds }) => ({
      canScale: !isCoolingDown(
        lastScaleAgeSeconds === undefined ? null : -lastScaleAgeSeconds * 1000,
        cooldownSeconds * 1000,
        0,
      ),
    }),
    sameExpectedKeys,
  ),
};
