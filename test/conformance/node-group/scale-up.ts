/** The cases of how many nodes come: sizes, what pending pods request, which group and type, and when. */
import * as z from 'zod';
import { plainOffer, rosters } from '../../../domain/node-group/plan/offers.ts';
import { isCoolingDown } from '../../../domain/node-group/rules/cooldown.ts';
import { opensFor } from '../../../domain/node-group/rules/exclusive.ts';
import { groupScore } from '../../../domain/node-group/rules/group-score.ts';
import { constraintOf, recentEvents } from '../../../domain/node-group/rules/scheduling-message.ts';
import { nodesForDeficit, simpleScaleUp } from '../../../domain/node-group/rules/simple-estimate.ts';
import { nodesToAdd, nodesToRemove, wantedSize } from '../../../domain/node-group/rules/size.ts';
import { addAmounts, amountsOf } from '../../../domain/kernel/amounts.ts';
import { matchesNode, untolerated } from '../../../domain/node-group/scheduling/node-selection.ts';
import { podRequests } from '../../../domain/kernel/pod-requests.ts';
import { groupOf, stateOf, typeOf } from '../../domain/node-group/builders.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';
import { preferenceKeepsNobody } from './deviations.ts';
import {
  amounts,
  cpuAndMemory,
  sameAnswers,
  sameRequests,
  stringMap,
  taints,
  tolerations,
  unsampled,
} from './shapes.ts';

const size = z.object({
  minNodes: z.number().default(0),
  maxNodes: z.number().default(0),
  currentNodes: z.number().default(0),
  desiredNodes: z.number().default(0),
});

type Size = z.output<typeof size>;

function missing({ currentNodes: current, desiredNodes: desired, maxNodes }: Size): number {
  return nodesToAdd({ current, desired }, maxNodes - current);
}

function excess({ currentNodes: current, desiredNodes: desired, minNodes }: Size): number {
  return nodesToRemove({ current, desired }, minNodes);
}

/** Amounts are those of the requests of one container. */
const request = z.object({ cpu: z.string().optional(), memory: z.string().optional() });
const containersOf = (all: readonly object[]) => all.map((requests) => ({ resources: { requests } }));

const reservation = z.object({ nodeSelector: stringMap, groupLabels: stringMap, tolerations, taints });

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

const matchedGroup = z.object({
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
  const scored = input.groups
    .filter(({ managed }) => managed)
    .map(({ name, labels, preferredInstanceType, ...bounds }) => {
      const fitting = input.podNodeSelectors.filter((nodeSelector) =>
        takes({ nodeSelector, groupLabels: labels, tolerations: [], taints: [] }),
      );
      const group = { ...bounds, preferredInstanceType: preferredInstanceType || null };
      return { name, podCount: fitting.length, score: groupScore(group, fitting.length) };
    })
    .filter(({ podCount }) => podCount > 0)
    .toSorted((a, b) => b.score - a.score);
  return { matches: scored.length, first: scored[0]?.name ?? null };
}

/** As the planner chooses for a node that no pod asks for, or with `estimate: simple`. */
function chosenType(offeringIds: readonly string[], preferred: string): object {
  const group = groupOf('web', { offeringIds, preferredInstanceType: preferred || null, estimate: 'simple' });
  const state = stateOf({ groups: [group], instanceTypes: { web: offeringIds.map((id) => typeOf(id, 4, 8)) } });
  const [roster] = rosters(state, {});
  const offer = roster === undefined ? null : plainOffer(roster);
  return { offering: offer?.type.id ?? null, error: offer === null };
}

export const nodeGroupScaleUpKinds: Readonly<Record<string, Adapter>> = {
  desired: adapter(size, (input) => ({ desired: wantedSize(input.desiredNodes, input) }), sameExpectedKeys),
  'needs-scale-up': adapter(size, (input) => ({ scaleUp: missing(input) > 0 }), sameExpectedKeys),
  'needs-scale-down': unsampled(size, (input) => ({ scaleDown: excess(input) > 0 })),
  'nodes-to-add': adapter(size, (input) => ({ nodesToAdd: missing(input) }), sameExpectedKeys),
  'nodes-to-remove': adapter(size, (input) => ({ nodesToRemove: excess(input) }), sameExpectedKeys),
  'pod-requests': adapter(
    z.object({ containers: z.array(request).default([]), initContainers: z.array(request).default([]) }),
    ({ containers, initContainers }) =>
      cpuAndMemory(podRequests({ containers: containersOf(containers), initContainers: containersOf(initContainers) })),
    sameRequests,
  ),
  deficit: adapter(
    z.object({
      pods: z.array(request.extend({ name: z.string() })).default([]),
      events: z.array(z.string()).default([]),
    }),
    ({ pods, events }) => {
      const named = pods.filter(({ name }) => events.includes(name));
      const sum = named
        .map(({ cpu, memory }) =>
          podRequests({ containers: containersOf([{ cpu: cpu ?? '0', memory: memory ?? '0' }]) }),
        )
        .reduce(addAmounts, {});
      return { ...cpuAndMemory(sum), pods: named.length };
    },
    sameRequests,
  ),
  'pod-matches-group': adapter(reservation, (input) => ({ matches: takes(input) }), sameExpectedKeys, [
    preferenceKeepsNobody,
  ]),
  'match-groups': adapter(
    z.object({ podNodeSelectors: selectors.default([]), groups: z.array(matchedGroup).default([]) }),
    matched,
    sameAnswers,
  ),
  'select-instance-type': adapter(
    z.object({ offeringIDs: z.array(z.string()).default([]), preferredInstanceType: z.string().default('') }),
    ({ offeringIDs, preferredInstanceType }) => chosenType(offeringIDs, preferredInstanceType),
    sameAnswers,
  ),
  'estimate-nodes': unsampled(
    z.object({
      deficit: z.object({ cpu: z.string(), memory: z.string(), pods: z.number().default(1) }),
      cpu: z.number().default(4),
      memoryMB: z.number().default(8192),
    }),
    ({ deficit: { pods, ...requests }, cpu, memoryMB }) => ({
      nodes: nodesForDeficit({ ...amountsOf(requests), pods }, { cpu: cpu * 1000, memory: memoryMB * 1024 ** 2 }),
    }),
  ),
  'scale-up-decision': adapter(
    z.object({
      maxNodes: z.number(),
      desiredNodes: z.number().default(0),
      readyNodes: z.number().default(0),
      matchingPods: z.number().default(0),
      deficit: amounts.default({ cpu: 0, memory: 0 }),
      inCooldown: z.boolean().default(false),
    }),
    ({ desiredNodes: desired, readyNodes: ready, maxNodes, matchingPods: pods, deficit, inCooldown }) => {
      const next = simpleScaleUp({ desired, ready, maxNodes }, { ...deficit, pods }, inCooldown);
      return { decision: next !== null, desiredNodes: next };
    },
    sameAnswers,
  ),
  'scheduling-message': adapter(
    z.object({ message: z.string() }),
    ({ message }) => ({ constraint: constraintOf(message) }),
    sameExpectedKeys,
  ),
  'event-window': adapter(
    z.object({ windowSeconds: z.number(), eventAgesSeconds: z.array(z.number()).default([]) }),
    ({ windowSeconds, eventAgesSeconds }) => ({
      keptAges: recentEvents(
        eventAgesSeconds.map((age) => ({ ageMs: age * 1000 })),
        windowSeconds * 1000,
      ).map(({ ageMs }) => ageMs / 1000),
    }),
    sameExpectedKeys,
  ),
  'scale-up-cooldown': adapter(
    z.object({ cooldownSeconds: z.number(), lastScaleAgeSeconds: z.number().optional() }),
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
