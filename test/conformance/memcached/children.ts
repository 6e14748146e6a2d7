/** The cases of what Memcacheds own and of their status. */
import * as z from 'zod';
import { secretHash } from '../../../activities/memcached/secret-hash.ts';
import { withDefaults } from '../../../domain/memcached/api/defaults.ts';
import { isAutoscaled, type Memcached, memcachedSpec } from '../../../domain/memcached/api/memcached.ts';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { serverArguments } from '../../../domain/memcached/children/arguments.ts';
import { budgetLimit, CHILD_BODIES, deploymentReplicas } from '../../../domain/memcached/children/children.ts';
import { podAnnotations } from '../../../domain/memcached/children/pod-template.ts';
import { writeEvent } from '../../../domain/memcached/plan/events.ts';
import type { LiveObject } from '../../../domain/memcached/plan/live.ts';
import { planOf, type Step } from '../../../domain/memcached/plan/plan.ts';
import { type ConditionFacts, conditionsOf } from '../../../domain/memcached/status/conditions.ts';
import { serverList } from '../../../domain/memcached/status/status.ts';
import { type Adapter, adapter, type Deviation, notApplicable } from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';

const anySpec = z.looseObject({}).default({});
const metadata = z.object({ name: z.string(), namespace: z.string().default('default') });
const intOrString = z.union([z.number(), z.string()]).optional();

/** What a case gives may be without what a webhook fills in; of autoscaling, only what the case says. */
function built(spec: object): Memcached['spec'] {
  const { autoscaling, ...rest } = spec as { readonly autoscaling?: unknown };
  const filled = memcachedSpec.parse(withDefaults(rest));
  const scaling = memcachedSpec.pick({ autoscaling: true }).parse({ autoscaling });
  const { replicas } = rest as { readonly replicas?: number };
  return { ...filled, ...scaling, replicas };
}

function memcachedOf(name: string, namespace: string, spec: object): Memcached {
  return { name, namespace, uid: 'uid', generation: 1, annotations: {}, spec: built(spec) };
}

/** JSON's null is Kubernetes' absent: every key that is expected as null is left out. */
function sameOrLeftOut(expected: unknown, got: unknown): boolean {
  if (expected === null) return got === undefined || got === null;
  if (Array.isArray(expected)) {
    return (
      Array.isArray(got) && got.length === expected.length && expected.every((item, at) => sameOrLeftOut(item, got[at]))
    );
  }
  if (typeof expected !== 'object') return expected === got;
  return Object.entries(expected).every(([key, value]) =>
    sameOrLeftOut(value, (got as Readonly<Record<string, unknown>> | undefined)?.[key]),
  );
}

interface ArgumentsInput {
  readonly memcached?: object | undefined;
  readonly sasl?: object | undefined;
  readonly tls?: { readonly enabled?: unknown; readonly enableClientCert?: unknown } | undefined;
}

/** The words of the first implementation with our own after those of TLS, before what people added. */
function withOwn(words: readonly string[], own: readonly string[]): readonly string[] {
  const last = words.findLastIndex((word) => /^ssl_(?:key|ca_cert)=\/etc\/memcached\/tls\//.test(word));
  return words.toSpliced(last + 1, 0, ...own);
}

const BOTH_PORTS = ['-l', '*:11211,*:11212'];

function portsFor({ memcached = {} }: ArgumentsInput): readonly string[] {
  const { extraArgs = [] } = memcached as { readonly extraArgs?: readonly string[] };
  return extraArgs.some((word) => word.startsWith('-l') || word.startsWith('--listen')) ? [] : BOTH_PORTS;
}

/** A certificate authority alone asks clients for nothing, so who wants their certificates gets a mode that demands them. */
const demandedCertificates: Deviation<ArgumentsInput> = {
  name: 'client-certificates-are-demanded',
  applies: ({ tls }) => tls?.enabled === true && tls.enableClientCert === true,
  expected: (input, expected) =>
    withOwn(expected as readonly string[], ['-o', 'ssl_verify_mode=2', ...portsFor(input)]),
};

/** The Service names two ports, and nobody listens on the second one. */
const bothPorts: Deviation<ArgumentsInput> = {
  name: 'both-ports-listen',
  applies: (input) => input.tls?.enabled === true && portsFor(input).length > 0,
  expected: (input, expected) => withOwn(expected as readonly string[], portsFor(input)),
};

const counts = z.object({
  readyReplicas: z.number().default(0),
  updatedReplicas: z.number().default(0),
  replicas: z.number().default(0),
});

const factsInput = z.object({
  replicas: z.number().optional(),
  deployment: counts.optional(),
  missingSecrets: z.array(z.string()).default([]),
  hpaActive: z.boolean().default(false),
});

function factsOf({ replicas, deployment, missingSecrets, hpaActive }: z.output<typeof factsInput>): ConditionFacts {
  return { replicas: replicas ?? null, deployment: deployment ?? null, missingSecrets, isAutoscaled: hpaActive };
}

const OWNED = { uid: 'child', ownerReferences: [{ controller: true, uid: 'uid' }] };

/** What is written for a Memcached whose objects are there, but for those that are given as null. */
function stepsFor(spec: object, children: Readonly<Record<string, LiveObject | null>>): readonly Step[] {
  const seen = { metadata: { name: 'cache', namespace: 'default', uid: 'uid', generation: 1 }, spec };
  const none = { HorizontalPodAutoscaler: null, PodDisruptionBudget: null, ServiceMonitor: null, NetworkPolicy: null };
  const there = { metadata: OWNED };
  return planOf({
    memcached: readMemcached(seen),
    children: { Deployment: there, Service: there, ConfigMap: null, ...none, ...children },
    at: 0,
    otherOperator: null,
    endpointSlices: [],
    unserved: [],
    secrets: { hash: '', missing: [], unreadable: [] },
  }).steps;
}

const requests = { resources: { requests: { cpu: '100m' } } };

/** What becomes of an autoscaler, by what is planned: each of the states of a case follows the one before. */
function lifecycle(input: {
  readonly autoscaling?:
    | { readonly enabled: readonly boolean[]; readonly maxReplicas?: number | undefined }
    | undefined;
  readonly hpaDeletedExternally?: boolean | undefined;
  readonly maxReplicas?: number | undefined;
  readonly replicasAfter?: number | undefined;
}): object {
  const { autoscaling, hpaDeletedExternally = false, replicasAfter } = input;
  const maxReplicas = autoscaling?.maxReplicas ?? input.maxReplicas ?? 5;
  const isEnabled = autoscaling?.enabled.at(-1) ?? true;
  const wasEnabled = autoscaling?.enabled.at(-2) ?? true;
  const there = wasEnabled && !hpaDeletedExternally ? { metadata: OWNED } : null;
  const spec = {
    ...requests,
    autoscaling: { enabled: isEnabled, maxReplicas },
    ...(isEnabled || replicasAfter === undefined ? {} : { replicas: replicasAfter }),
  };
  const steps = stepsFor(spec, { HorizontalPodAutoscaler: there });
  const about = steps.find((step) => step.kind !== 'scale' && step.child === 'HorizontalPodAutoscaler');
  const scaled = steps.find((step) => step.kind === 'scale');
  const exists = about === undefined ? there !== null : about.kind === 'apply';
  return {
    hpaExists: exists,
    newUid: exists && there === null,
    ...(exists ? { maxReplicas } : {}),
    ...(isEnabled ? {} : { deploymentReplicas: scaled?.replicas ?? 1 }),
  };
}

export const memcachedChildKinds: Readonly<Record<string, Adapter>> = {
  constructHPA: adapter(
    z.object({ metadata, spec: anySpec }),
    ({ metadata: { name, namespace }, spec }) =>
      CHILD_BODIES.HorizontalPodAutoscaler(memcachedOf(name, namespace, spec), {
        secretHash: '',
        isTakenOver: false,
        slots: [],
      }),
    sameOrLeftOut,
  ),
  deploymentReplicas: adapter(
    z.object({ spec: anySpec }),
    ({ spec }) => ({ replicas: deploymentReplicas(built(spec)) }),
    sameJson,
  ),
  deploymentReplicasAfterApiServer: notApplicable(
    'what the API server does with a Deployment that is put without replicas; Headroom applies, and never sends null',
  ),
  memcachedArgs: adapter(
    z.object({
      memcached: z.looseObject({}).optional(),
      sasl: z.looseObject({}).optional(),
      tls: z.looseObject({ enabled: z.unknown(), enableClientCert: z.unknown() }).partial().optional(),
    }),
    ({ memcached, sasl, tls }) => serverArguments(built({ memcached, security: { sasl, tls } })),
    sameJson,
    [demandedCertificates, bothPorts],
  ),
  podTemplateAnnotations: adapter(
    z.object({ secretHash: z.string().default(''), restartTrigger: z.string().default('') }),
    (causes) => podAnnotations(causes) ?? null,
    sameJson,
  ),
  constructPDB: adapter(
    z.object({
      podDisruptionBudget: z.object({ minAvailable: intOrString, maxUnavailable: intOrString }),
    }),
    ({ podDisruptionBudget }) => budgetLimit(podDisruptionBudget),
    sameOrLeftOut,
  ),
  conditions: adapter(factsInput, (input) => conditionsOf(factsOf(input)), sameJson),
  serverList: adapter(
    z.object({
      metadata,
      spec: anySpec,
      deployment: counts.optional(),
      missingSecrets: z.array(z.string()).default([]),
    }),
    ({ metadata: owner, spec, deployment, missingSecrets }) => {
      const { replicas } = spec as { readonly replicas?: number };
      const hpaActive = isAutoscaled(spec);
      const list = serverList(owner, factsOf({ replicas, deployment, missingSecrets, hpaActive }));
      return list.length === 0 ? null : list;
    },
    sameJson,
  ),
  reconcileResource: adapter(
    z.object({
      exists: z.boolean(),
      changed: z.boolean().default(false),
      kind: z.literal('Service').default('Service'),
      name: z.string().default('test'),
    }),
    ({ exists, changed, kind, name }) => {
      const result = exists ? (changed ? 'updated' : 'unchanged') : 'created';
      const event = writeEvent(result, kind, name);
      return { result, event: event === null ? null : `${event.type} ${event.reason} ${event.message}` };
    },
    sameExpectedKeys,
  ),
  secretHash: adapter(
    z.object({ secrets: z.array(z.object({ name: z.string(), data: z.record(z.string(), z.string()).default({}) })) }),
    ({ secrets }) => secretHash(secrets),
    sameJson,
  ),
  hpaLifecycle: adapter(
    z.object({
      autoscaling: z.object({ enabled: z.array(z.boolean()), maxReplicas: z.number().optional() }).optional(),
      hpaDeletedExternally: z.boolean().optional(),
      maxReplicas: z.number().optional(),
      replicasAfter: z.number().optional(),
    }),
    lifecycle,
    sameExpectedKeys,
  ),
};
