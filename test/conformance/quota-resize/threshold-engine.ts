/** The cases of an existing resizer, as far as its threshold engine goes. */
import * as z from 'zod';
import { parsePercent } from '../../../domain/kernel/percent.ts';
import { formatQuantity, scaledValue } from '../../../domain/kernel/quantity.ts';
import {
  addLists,
  maskList,
  maxLists,
  multiplyList,
  quantityIn,
  type ResourceList,
} from '../../../domain/kernel/resource-list.ts';
import { parseAdmissionMessage } from '../../../domain/quota-resize/demand/event-message.ts';
import type { ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../../domain/quota-resize/policy/resolve.ts';
import { recommend, type Raise, rulesOf } from '../../../domain/quota-resize/sizing/recommend.ts';
import { isCountable, roundLimitUp } from '../../../domain/quota-resize/sizing/round.ts';
import type { Container } from '../../../domain/quota-usage/pod.ts';
import { podCharge } from '../../../domain/quota-usage/pod-charge.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameAmount, sameAmounts, sameExpectedKeys, sameJson, sameMembers } from '../compare.ts';
import {
  bareAnnotation,
  extendedIsCountable,
  fittingDeficit,
  percentWithoutSign,
  settledBurst,
  settledEngine,
  wholePieces,
  wholePiecesDecided,
} from './deviations.ts';
import { UNCONFIGURED } from './unconfigured.ts';

const list = z.record(z.string(), z.string());

/** A charge does not depend on the moment for a pod that nobody deletes. */
const ANY_TIME = 0;

function chargeOf(containers: readonly Container[], initContainers: readonly Container[] = []): ResourceList {
  return podCharge({ spec: { containers, initContainers } }, ANY_TIME);
}

/** What a workload misses: the replicas that are not there × the charge of one pod. */
function missing(replicas: number, requests: ResourceList): ResourceList {
  return multiplyList(chargeOf([{ resources: { requests } }]), Math.max(0, replicas));
}

function milliOf(list: ResourceList, keys: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(keys.map((key) => [key, Number(scaledValue(quantityIn(list, key), -3))]));
}

const targetsOf = (raises: readonly Raise[]) =>
  Object.fromEntries(raises.map(({ resource, proposed }) => [resource, proposed]));

const decideInput = z.strictObject({
  annotations: list.optional(),
  deficit: list.optional(),
  hard: list,
  used: list,
});

function decide(input: z.infer<typeof decideInput>): unknown {
  const { policy } = resolvePolicy({
    defaults: UNCONFIGURED,
    namespace: { name: 'team-a', annotations: input.annotations },
    quotaAnnotations: undefined,
  });
  const raises = recommend({
    hard: input.hard,
    used: input.used,
    demand: input.deficit ?? {},
    policy: rulesOf(policy),
  });
  return {
    needsResize: raises.length > 0,
    targets: targetsOf(raises),
    triggers: raises.flatMap(({ resource, causes }) =>
      causes.map((cause) => `${resource}:${cause === 'demand' ? 'event' : 'metric'}`),
    ),
  };
}

const decided = z.object({ needsResize: z.boolean(), targets: list, triggers: z.array(z.string()) });

function sameDecision(expected: unknown, got: unknown): boolean {
  const [wanted, given] = [decided.parse(expected), decided.parse(got)];
  return (
    wanted.needsResize === given.needsResize &&
    sameAmounts(wanted.targets, given.targets) &&
    sameMembers(wanted.triggers, given.triggers)
  );
}

/** The resource that the other resizer reads out of a message: its first one. Headroom reads them all. */
function readMessage({ message }: { readonly message: string }, expected: unknown): unknown {
  const rejection = parseAdmissionMessage(message);
  if (rejection.class !== 'exceededQuota') {
    return { ok: false };
  }
  const wanted = z.looseObject({ resource: z.string().optional() }).parse(expected).resource;
  const resource = wanted ?? Object.keys(rejection.requested)[0] ?? '';
  const amount = quantityIn(rejection.requested, resource);
  return {
    ok: Object.hasOwn(rejection.requested, resource),
    resource,
    quantity: formatQuantity(amount),
    milli: Number(scaledValue(amount, -3)),
  };
}

const quantizeInput = z.strictObject({
  resource: z.string(),
  milli: z.number(),
  format: z.enum(['DecimalSI', 'BinarySI', 'DecimalExponent']),
});

/** These cases know no manifest, so there is no text whose unit to keep. */
function quantize({ resource, milli, format }: z.infer<typeof quantizeInput>): string {
  return roundLimitUp(resource, { nano: BigInt(milli) * 1_000_000n, format }, '');
}

/** A case may give one answer for each of two engines; Headroom's strategy is the threshold engine's. */
const ofThresholdEngine: (testCase: Parameters<Adapter>[0]) => Parameters<Adapter>[0] = (testCase) => {
  const both = z.object({ thresholdEngine: z.string() }).safeParse(testCase.expected);
  return both.success ? { ...testCase, expected: both.data.thresholdEngine } : testCase;
};

const quantized = adapter(quantizeInput, quantize, sameAmount, [wholePieces()]);

const container = z.strictObject({
  name: z.string().optional(),
  requests: list.optional(),
  limits: list.optional(),
  restartPolicy: z.string().optional(),
});

const asContainer = ({ requests, limits, restartPolicy }: z.infer<typeof container>): Container => ({
  resources: { requests, limits },
  restartPolicy,
});

const replicas = z.strictObject({
  name: z.string().optional(),
  replicas: z.number(),
  statusReplicas: z.number(),
  podRequests: list,
});

/** "A cpu=2": workload A was refused a pod of 2 cpu. */
function messageDemand(events: readonly string[]): ResourceList {
  const byWorkload = new Map<string, ResourceList>();
  for (const event of events) {
    const [workload = '', amounts = ''] = event.split(' ');
    const { requested } = z
      .object({ requested: list })
      .parse(parseAdmissionMessage(`exceeded quota: q, requested: ${amounts}, used: ${amounts}, limited: ${amounts}`));
    // The same workload told twice is one demand, the larger of the two.
    byWorkload.set(workload, maxLists(byWorkload.get(workload) ?? {}, requested));
  }
  return [...byWorkload.values()].reduce<ResourceList>((sum, demand) => addLists(sum, demand), {});
}

const engineInput = z.strictObject({
  incrementFactor: z.number(),
  hard: list,
  used: list,
  events: z.array(z.string()).optional(),
  replicaSetMissing: z.number().optional(),
  podRequests: list.optional(),
});

/** An increment of nothing asks for exactly what is missing, which Headroom calls `fill`. */
function policyOf(incrementFactor: number): ResizePolicy {
  const increment = parsePercent(`${incrementFactor * 100}`);
  const burst = incrementFactor === 0 ? 'fill' : 'settle';
  const defaults = { ...UNCONFIGURED, increment, burst } as const;
  return resolvePolicy({ defaults, namespace: { name: 'team-a' }, quotaAnnotations: undefined }).policy;
}

function runEngine(input: z.infer<typeof engineInput>): unknown {
  const ofWorkload = missing(input.replicaSetMissing ?? 0, input.podRequests ?? {});
  const demand = input.replicaSetMissing === undefined ? messageDemand(input.events ?? []) : ofWorkload;
  const policy = rulesOf(policyOf(input.incrementFactor));
  return { targets: targetsOf(recommend({ hard: input.hard, used: input.used, demand, policy })) };
}

const targets = z.object({ targets: list });
const deficit = z.object({ deficit: list });

export const thresholdEngineKinds: Readonly<Record<string, Adapter>> = {
  'threshold-decide': adapter(decideInput, decide, sameDecision, [
    bareAnnotation,
    percentWithoutSign,
    fittingDeficit,
    settledBurst,
    wholePiecesDecided,
  ]),
  'event-parse': adapter(z.object({ message: z.string() }), readMessage, sameExpectedKeys),
  quantize: (testCase) => quantized(ofThresholdEngine(testCase)),
  'quantize-threshold-engine': (testCase) => quantized(ofThresholdEngine(testCase)),
  'is-countable': adapter(z.object({ resource: z.string() }), ({ resource }) => isCountable(resource), sameJson, [
    extendedIsCountable,
  ]),
  'pod-requests': adapter(
    z.strictObject({ containers: z.array(container), initContainers: z.array(container).optional() }),
    ({ containers, initContainers = [] }, expected) => {
      const { milli } = z.object({ milli: z.record(z.string(), z.number()) }).parse(expected);
      const charge = chargeOf(containers.map(asContainer), initContainers.map(asContainer));
      return { milli: milliOf(charge, Object.keys(milli)) };
    },
    sameJson,
  ),
  'collect-deficits': adapter(
    z.strictObject({
      quotaHard: list,
      used: list,
      statefulSet: replicas.optional(),
      replicaSet: replicas.optional(),
      daemonSet: replicas.optional(),
      // How many refusals were seen, or the refusals themselves where there is no workload to look at.
      events: z.union([z.number(), z.array(z.string())]).optional(),
    }),
    ({ quotaHard, statefulSet, replicaSet, daemonSet, events }) => {
      const misses = [statefulSet, replicaSet, daemonSet].flatMap((workload) =>
        workload === undefined ? [] : [missing(workload.replicas - workload.statusReplicas, workload.podRequests)],
      );
      const messages = misses.length === 0 && Array.isArray(events) ? [messageDemand(events)] : [];
      const demand = [...misses, ...messages].reduce<ResourceList>((sum, list) => addLists(sum, list), {});
      const ofQuota = maskList(demand, Object.keys(quotaHard));
      return { deficitMilli: milliOf(ofQuota, Object.keys(ofQuota)) };
    },
    sameJson,
  ),
  'workload-deficit': adapter(
    z.strictObject({ kind: z.string(), desired: z.number(), current: z.number(), podRequests: list }),
    (input, expected) => ({
      deficit: maskList(
        missing(input.desired - input.current, input.podRequests),
        Object.keys(deficit.parse(expected).deficit),
      ),
    }),
    (expected, got) => sameAmounts(deficit.parse(expected).deficit, deficit.parse(got).deficit),
  ),
  'threshold-engine': adapter(
    engineInput,
    runEngine,
    (expected, got) => sameAmounts(targets.parse(expected).targets, targets.parse(got).targets),
    [settledEngine],
  ),
};
