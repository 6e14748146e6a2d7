/** The cases of what Memcacheds own and of their status. */
import * as z from 'zod';
import { secretHash } from '../../../activities/memcached/secret-hash.ts';
import { withDefaults } from '../../../domain/memcached/api/defaults.ts';
import {
  isAutoscaled,
  type Memcached,
  memcachedSpec,
  type WrittenSpec,
} from '../../../domain/memcached/api/memcached.ts';
import { serverArguments } from '../../../domain/memcached/children/arguments.ts';
import {
  CHILD_BODIES,
  type ChildContext,
  type ChildKind,
  deploymentReplicas,
} from '../../../domain/memcached/children/children.ts';
import { podAnnotations } from '../../../domain/memcached/children/pod-template.ts';
import type { LiveObject } from '../../../domain/memcached/plan/live.ts';
import { type ConditionFacts, conditionsOf } from '../../../domain/memcached/status/conditions.ts';
import { serverList } from '../../../domain/memcached/status/status.ts';
import { type Adapter, adapter, type Deviation, NotApplicable, notApplicable } from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';
import { kubernetesObject } from '../kubernetes-object.ts';
import { keysOf } from '../unknown-keys.ts';
import { Reconciled } from './reconciled.ts';

const anySpec = keysOf(memcachedSpec).default({});
const metadata = z.strictObject({ name: z.string(), namespace: z.string().default('default') });
const { memcached: server, security, highAvailability } = memcachedSpec.shape;
const { sasl, tls } = security.unwrap().shape;

/** What a case gives may be without what a webhook fills in; of autoscaling, only what the case says. */
function built({ autoscaling, ...rest }: WrittenSpec): Memcached['spec'] {
  const filled = memcachedSpec.parse(withDefaults(rest));
  const scaling = memcachedSpec.pick({ autoscaling: true }).parse({ autoscaling });
  return { ...filled, ...scaling, replicas: rest.replicas };
}

const NO_CONTEXT: ChildContext = { secretHash: '', isTakenOver: false, slots: [] };

function memcachedOf(name: string, namespace: string, spec: WrittenSpec): Memcached {
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
  readonly memcached?: WrittenSpec['memcached'];
  readonly tls?: NonNullable<WrittenSpec['security']>['tls'];
}

/** The words of the first implementation with our own after those of TLS, before what people added. */
function withOwn(words: readonly string[], own: readonly string[]): readonly string[] {
  const last = words.findLastIndex((word) => /^ssl_(?:key|ca_cert)=\/etc\/memcached\/tls\//.test(word));
  return words.toSpliced(last + 1, 0, ...own);
}

const BOTH_PORTS = ['-l', '*:11211,*:11212'];

function portsFor({ memcached = {} }: ArgumentsInput): readonly string[] {
  const { extraArgs = [] } = memcached;
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

const counts = z.strictObject({
  readyReplicas: z.number().default(0),
  updatedReplicas: z.number().default(0),
  replicas: z.number().default(0),
});

const factsInput = z.strictObject({
  replicas: z.number().optional(),
  deployment: counts.optional(),
  missingSecrets: z.array(z.string()).default([]),
  hpaActive: z.boolean().default(false),
});

function factsOf({ replicas, deployment, missingSecrets, hpaActive }: z.output<typeof factsInput>): ConditionFacts {
  return { replicas: replicas ?? null, deployment: deployment ?? null, missingSecrets, isAutoscaled: hpaActive };
}

/** One value, or one for each of the states that follow one another. */
const each = <T extends z.ZodType>(type: T) => z.union([z.array(type), type.transform((value) => [value])]);
const replicaCount = z.number();

const autoscalerStates = z.strictObject({
  /** Absent: only the numbers are given, and it is on. */
  autoscaling: z
    .strictObject({
      enabled: each(z.boolean()).optional(),
      minReplicas: each(replicaCount).optional(),
      maxReplicas: each(replicaCount).optional(),
    })
    .optional(),
  minReplicas: each(replicaCount).optional(),
  maxReplicas: each(replicaCount).optional(),
  /** Of the Memcached, before autoscaling and after it. */
  replicas: replicaCount.optional(),
  replicasAfter: replicaCount.optional(),
  hpaDeletedExternally: z.boolean().default(false),
  /** Fields of the autoscaler that somebody else has changed. */
  drift: keysOf(memcachedSpec.shape.autoscaling.unwrap().pick({ minReplicas: true, maxReplicas: true })).optional(),
});

const autoscalerOutcome = z
  .strictObject({
    hpaExists: z.boolean(),
    newUid: z.boolean(),
    minReplicas: replicaCount,
    maxReplicas: replicaCount,
    metrics: z.array(z.unknown()),
    behavior: z.unknown(),
    scaleTargetRef: z.strictObject({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
    deploymentReplicas: replicaCount,
  })
  .partial();

/** What becomes of an autoscaler and of the count of pods, through the states of a case and what others do after them. */
function lifecycle(input: z.output<typeof autoscalerStates>): object {
  const { hpaDeletedExternally, drift } = input;
  const { enabled = [true], ...own } = input.autoscaling ?? {};
  const { minReplicas = input.minReplicas ?? [], maxReplicas = input.maxReplicas ?? [5] } = own;
  const length = Math.max(enabled.length, minReplicas.length, maxReplicas.length);
  const valueAt = <T>(values: readonly T[], at: number): T | undefined => values[at] ?? values.at(-1);
  const specs = Array.from({ length }, (_, at): WrittenSpec => {
    const isEnabled = valueAt(enabled, at) ?? true;
    const replicas = at === length - 1 ? (input.replicasAfter ?? input.replicas) : input.replicas;
    const bounds = { minReplicas: valueAt(minReplicas, at), maxReplicas: valueAt(maxReplicas, at) };
    return {
      resources: { requests: { cpu: '100m' } },
      autoscaling: { enabled: isEnabled, ...bounds },
      ...(isEnabled ? {} : { replicas }),
    };
  });
  const world = new Reconciled('cache');
  const uid = () => world.get('HorizontalPodAutoscaler')?.metadata?.['uid'];
  const [first] = specs.flatMap((spec) => {
    world.reconcile(spec);
    return uid() ?? [];
  });
  const [last = {}] = specs.slice(-1);
  if (hpaDeletedExternally) world.remove('HorizontalPodAutoscaler');
  if (drift !== undefined) world.edit('HorizontalPodAutoscaler', { spec: drift });
  world.reconcile(last);
  const autoscaler = world.get('HorizontalPodAutoscaler');
  return {
    hpaExists: autoscaler !== null,
    newUid: autoscaler !== null && uid() !== first,
    ...autoscaler?.spec,
    deploymentReplicas: world.get('Deployment')?.spec?.['replicas'],
  };
}

const writtenKinds = ['Deployment', 'Service'] as const satisfies readonly ChildKind[];

const reconcileInput = z.strictObject({
  exists: z.boolean(),
  /** Whether the Memcached wants something else by now. */
  changed: z.boolean().default(false),
  /** Whether somebody else has changed the object, or the field of it, or the fields with their values. */
  drift: z.union([z.boolean(), z.string(), z.record(z.string(), z.unknown())]).default(false),
  kind: z.enum(writtenKinds).default('Service'),
  name: z.string().default('test'),
});

const CHANGED: WrittenSpec = { image: 'memcached:1.6.38', service: { annotations: { team: 'web' } } };

/** What somebody else has made of an object that Headroom applied. */
function drifted(
  drift: z.output<typeof reconcileInput>['drift'],
  live: LiveObject,
): Pick<LiveObject, 'metadata' | 'spec'> {
  if (typeof drift === 'object') return { spec: drift };
  if (typeof drift === 'boolean') return { spec: { selector: {} } };
  if (live.spec !== undefined && drift in live.spec) return { spec: { [drift]: null } };
  if (drift === 'labels') return { metadata: { labels: {} } };
  throw new NotApplicable(`no adapter knows a drift of ${drift}`);
}

/** What one look does to an object that Headroom has applied before, where it exists. */
function reconciled({ exists, changed, drift, kind, name }: z.output<typeof reconcileInput>): object {
  const world = new Reconciled(name);
  if (exists) world.reconcile({});
  const live = world.get(kind);
  if (live !== null && drift !== false) world.edit(kind, drifted(drift, live));
  return world.report(kind, changed ? CHANGED : {});
}

const condition = z.strictObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() });

export const memcachedChildKinds: Readonly<Record<string, Adapter>> = {
  constructHPA: adapter(
    z.strictObject({ metadata, spec: anySpec }),
    kubernetesObject('V2HorizontalPodAutoscaler'),
    ({ metadata: { name, namespace }, spec }) =>
      CHILD_BODIES.HorizontalPodAutoscaler(memcachedOf(name, namespace, spec), NO_CONTEXT),
    sameOrLeftOut,
  ),
  deploymentReplicas: adapter(
    z.strictObject({ spec: anySpec }),
    z.strictObject({ replicas: replicaCount.nullable() }),
    ({ spec }) => ({ replicas: deploymentReplicas(built(spec)) }),
    sameJson,
  ),
  deploymentReplicasAfterApiServer: notApplicable(
    'what the API server does with a Deployment that is put without replicas; Headroom applies, and never sends null',
  ),
  memcachedArgs: adapter(
    z.strictObject({
      memcached: keysOf(server).optional(),
      sasl: keysOf(sasl).optional(),
      tls: keysOf(tls).optional(),
    }),
    z.array(z.string()),
    ({ memcached, ...rest }) => serverArguments(built({ memcached, security: rest })),
    sameJson,
    [demandedCertificates, bothPorts],
  ),
  podTemplateAnnotations: adapter(
    z.strictObject({ secretHash: z.string().default(''), restartTrigger: z.string().default('') }),
    z.record(z.string(), z.string()).nullable(),
    (causes) => podAnnotations(causes) ?? null,
    sameJson,
  ),
  constructPDB: adapter(
    z.strictObject({ podDisruptionBudget: keysOf(highAvailability.unwrap().shape.podDisruptionBudget.unwrap()) }),
    kubernetesObject('V1PodDisruptionBudgetSpec').nullable(),
    ({ podDisruptionBudget: budget }) => {
      const podDisruptionBudget = { enabled: true, ...budget };
      const memcached = memcachedOf('cache', 'default', { highAvailability: { podDisruptionBudget } });
      return CHILD_BODIES.PodDisruptionBudget(memcached, NO_CONTEXT)?.spec ?? null;
    },
    sameOrLeftOut,
  ),
  conditions: adapter(factsInput, z.array(condition), (input) => conditionsOf(factsOf(input)), sameJson),
  serverList: adapter(
    z.strictObject({
      metadata,
      spec: anySpec,
      deployment: counts.optional(),
      missingSecrets: z.array(z.string()).default([]),
    }),
    z.array(z.string()).nullable(),
    ({ metadata: owner, spec, deployment, missingSecrets }) => {
      const { replicas } = spec;
      const hpaActive = isAutoscaled(spec);
      const list = serverList(owner, factsOf({ replicas, deployment, missingSecrets, hpaActive }));
      return list.length === 0 ? null : list;
    },
    sameJson,
  ),
  reconcileResource: adapter(
    reconcileInput,
    z.strictObject({ result: z.string(), event: z.string().nullable() }).partial(),
    reconciled,
    sameExpectedKeys,
  ),
  secretHash: adapter(
    z.strictObject({
      secrets: z.array(z.strictObject({ name: z.string(), data: z.record(z.string(), z.string()).default({}) })),
    }),
    z.string(),
    ({ secrets }) => secretHash(secrets),
    sameJson,
  ),
  hpaLifecycle: adapter(autoscalerStates, autoscalerOutcome, lifecycle, sameExpectedKeys),
};
