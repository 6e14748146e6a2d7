/** The cases of an existing resizer, as far as its threshold engine goes. */
import * as z from 'zod';
import { parsePercent } from '../../../domain/kernel/percent.ts';
import { formatQuantity, scaledValue } from '../../../domain/kernel/quantity.ts';
import { addLists, quantityIn, type ResourceList } from '../../../domain/kernel/resource-list.ts';
import { parseAdmissionMessage } from '../../../domain/quota-resize/demand/event-message.ts';
import type { ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../../domain/quota-resize/policy/resolve.ts';
import { recommend, type Raise, rulesOf } from '../../../domain/quota-resize/sizing/recommend.ts';
import { isCountable, roundLimitUp } from '../../../domain/quota-resize/sizing/round.ts';
import type { Container } from '../../../domain/quota-usage/pod.ts';
import { podCharge } from '../../../domain/quota-usage/pod-charge.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameAmount, sameAmounts, sameExpectedKeys, sameJson, sameMembers } from '../compare.ts';
import { demandOf, denialsIn, messageDemand, SOME_DENIAL } from './demand.ts';
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

const decided = z.strictObject({ needsResize: z.boolean(), targets: list, triggers: z.array(z.string()) });

function sameDecision(expected: unknown, got: unknown): boolean {
  const [wanted, given] = [decided.parse(expected), decided.parse(got)];
  return (
    wanted.needsResize === given.needsResize &&
    sameAmounts(wanted.targets, given.targets) &&
    sameMembers(wanted.triggers, given.triggers)
  );
}

const parsedMessage = z.strictObject({
  ok: z.boolean(),
  resource: z.string().optional(),
  quantity: z.string().optional(),
  milli: z.number().optional(),
});

/** The resource that the other resizer reads out of a message: its first one. Headroom reads them all. */
function readMessage(
  { message }: { readonly message: string },
  { resource: wanted }: z.infer<typeof parsedMessage>,
): unknown {
  const rejection = parseAdmissionMessage(message);
  if (rejection.class !== 'exceededQuota') {
    return { ok: false };
  }
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
const quantized = adapter(
  quantizeInput,
  z.union([
    z.string(),
    z
      .strictObject({ thresholdEngine: z.string(), headroomEngine: z.string() })
      .transform(({ thresholdEngine }) => thresholdEngine),
  ]),
  quantize,
  sameAmount,
  [wholePieces()],
);

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
  const { hard, replicaSetMissing: wanted, podRequests = {}, events = [] } = input;
  const demand =
    wanted === undefined
      ? messageDemand(hard, events)
      : demandOf(hard, { kind: 'ReplicaSet', wanted, present: 0, podRequests }, [SOME_DENIAL]);
  const policy = rulesOf(policyOf(input.incrementFactor));
  return { targets: targetsOf(recommend({ hard: input.hard, used: input.used, demand, policy })) };
}

const targets = z.strictObject({ targets: list });
const deficit = z.strictObject({ deficit: list });

export const thresholdEngineKinds: Readonly<Record<string, Adapter>> = {
  'threshold-decide': adapter(decideInput, decided, decide, sameDecision, [
    bareAnnotation,
    percentWithoutSign,
    fittingDeficit,
    settledBurst,
    wholePiecesDecided,
  ]),
  'event-parse': adapter(z.strictObject({ message: z.string() }), parsedMessage, readMessage, sameExpectedKeys),
  quantize: quantized,
  'quantize-threshold-engine': quantized,
  'is-countable': adapter(
    z.strictObject({ resource: z.string() }),
    z.boolean(),
    ({ resource }) => isCountable(resource),
    sameJson,
    [extendedIsCountable],
  ),
  'pod-requests': adapter(
    z.strictObject({ containers: z.array(container), initContainers: z.array(container).optional() }),
    z.strictObject({ milli: z.record(z.string(), z.number()) }),
    ({ containers, initContainers = [] }, { milli }) => {
      const charge = chargeOf(containers.map(asContainer), initContainers.map(asContainer));
      return { milli: milliOf(charge, Object.keys(milli)) };
    },
    sameJson,
  ),
  'collect-deficits': adapter(
    z.strictObject({
      quotaHard: list,
      /** What is missing does not depend on it. */
      used: list,
      statefulSet: replicas.optional(),
      replicaSet: replicas.optional(),
      daemonSet: replicas.optional(),
      // How many denials were seen, or the denials themselves where there is no workload to look at.
      events: z.union([z.number(), z.array(z.string())]).default(1),
    }),
    z.strictObject({ deficitMilli: z.record(z.string(), z.number()) }),
    ({ quotaHard: hard, statefulSet, replicaSet, daemonSet, events }) => {
      const named = Object.entries({ StatefulSet: statefulSet, ReplicaSet: replicaSet, DaemonSet: daemonSet });
      const workloads = named.flatMap(([kind, given]) => (given === undefined ? [] : [{ kind, ...given }]));
      const denials = Array.isArray(events)
        ? denialsIn(events).map(([, denial]) => denial)
        : Array.from({ length: events }, () => SOME_DENIAL);
      const lists = workloads.map(({ replicas: wanted, statusReplicas: present, ...rest }) =>
        demandOf(hard, { ...rest, wanted, present }, denials),
      );
      if (lists.length === 0 && Array.isArray(events)) lists.push(messageDemand(hard, events));
      const demand = lists.reduce<ResourceList>((sum, one) => addLists(sum, one), {});
      return { deficitMilli: milliOf(demand, Object.keys(demand)) };
    },
    sameJson,
  ),
  'workload-deficit': adapter(
    z.strictObject({ kind: z.string(), desired: z.number(), current: z.number(), podRequests: list }),
    deficit,
    ({ desired: wanted, current: present, ...workload }) => {
      // A quota that limits the requests of such a pod.
      const hard = Object.fromEntries(Object.keys(workload.podRequests).map((name) => [`requests.${name}`, '0']));
      return { deficit: demandOf(hard, { ...workload, wanted, present }, [SOME_DENIAL]) };
    },
    (expected, got) => sameAmounts(deficit.parse(expected).deficit, deficit.parse(got).deficit),
  ),
  'threshold-engine': adapter(
    engineInput,
    targets,
    runEngine,
    (expected, got) => sameAmounts(targets.parse(expected).targets, targets.parse(got).targets),
    [settledEngine],
  ),
};
