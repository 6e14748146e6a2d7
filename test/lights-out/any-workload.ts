/** Workloads and their autoscalers as people have them: odd, and valid. */
import * as fc from 'fast-check';
import { KEDA_PAUSED, type WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import { WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import { anyAutoscalers, type DrawnAutoscaler } from './any-autoscaler.ts';
import { anyMetadata, anyName, type DrawnMetadata, shortName, type Texts } from './any-metadata.ts';

/** Without its namespace. */
export type DrawnObject =
  | DrawnAutoscaler
  | {
      readonly apiVersion: string;
      readonly kind: WorkloadType;
      readonly metadata: DrawnMetadata;
      readonly spec: Readonly<Record<string, unknown>>;
    };

/** With its autoscalers. */
export type DrawnWorkload = readonly DrawnObject[];

type Spec = fc.Arbitrary<Readonly<Record<string, unknown>>>;

const INT32 = 2_147_483_647;
const replicas = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom(10_000, INT32));

const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [
      { name: 'app', image: 'registry.example/app:1', resources: { requests: { cpu: '100m', memory: '1Gi' } } },
    ],
  },
};
const selector = { matchLabels: { app: 'web' } };
const required = { selector: fc.constant(selector), template: fc.constant(template) };
const requiredKeys: ('selector' | 'template')[] = ['selector', 'template'];

const deploymentSpec = fc.record(
  {
    replicas,
    ...required,
    paused: fc.boolean(),
    strategy: fc.constantFrom({ type: 'Recreate' }, { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } }),
    minReadySeconds: fc.constant(599),
    revisionHistoryLimit: fc.constantFrom(0, INT32),
    progressDeadlineSeconds: fc.constantFrom(600, INT32),
  },
  { requiredKeys },
);
const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const statefulSetSpec = fc.record(
  {
    replicas,
    ...required,
    serviceName: fc.constant('web'),
    ordinals: fc.record({ start: fc.constantFrom(0, 7, INT32) }),
    podManagementPolicy: fc.constantFrom('OrderedReady', 'Parallel'),
    updateStrategy: fc.constantFrom<object>({ type: 'OnDelete' }, { rollingUpdate: { partition: INT32 } }),
    minReadySeconds: fc.constant(INT32),
    revisionHistoryLimit: fc.constant(0),
    volumeClaimTemplates: fc.constant([claim]),
    persistentVolumeClaimRetentionPolicy: fc.record({
      whenScaled: fc.constantFrom('Retain', 'Delete'),
      whenDeleted: fc.constantFrom('Retain', 'Delete'),
    }),
  },
  { requiredKeys },
);
const jobTemplate = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } };
const cronJobSpec = fc.record(
  {
    schedule: fc.constantFrom('0 0 1 1 *', '@yearly', '@every 100h'),
    jobTemplate: fc.constant(jobTemplate),
    timeZone: fc.constantFrom('Europe/Berlin', 'Etc/UTC'),
    suspend: fc.boolean(),
    concurrencyPolicy: fc.constantFrom('Allow', 'Forbid', 'Replace'),
    startingDeadlineSeconds: fc.constantFrom(0, 100_000_000),
    successfulJobsHistoryLimit: fc.constant(0),
    failedJobsHistoryLimit: fc.constant(INT32),
  },
  { requiredKeys: ['schedule', 'jobTemplate'] },
);
/** Argo's. With pods of its own, or those of a Deployment. */
const rolloutSpec = fc
  .tuple(
    fc.record(
      {
        replicas,
        paused: fc.boolean(),
        strategy: fc.constantFrom<object>({ canary: { steps: [{ setWeight: 20 }] } }, { blueGreen: {} }),
        minReadySeconds: fc.constant(5),
        restartAt: fc.constant('2026-01-01T00:00:00Z'),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom<object>(
      { selector, template },
      { workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', scaleDown: 'onsuccess' } },
    ),
  )
  .map(([own, pods]) => ({ ...own, ...pods }));
/** KEDA's. */
const scaledJobSpec = fc.record(
  {
    jobTargetRef: fc.constant(jobTemplate.spec),
    pollingInterval: fc.constantFrom(1, 3600),
    maxReplicaCount: fc.constantFrom(0, 100),
    minReplicaCount: fc.constant(1),
    triggers: fc.constant([{ type: 'rabbitmq', metadata: { queueName: 'mails' } }]),
  },
  { requiredKeys: ['jobTargetRef', 'triggers'] },
);

const paused = fc.constantFrom('true', 'false', 'False', '0', '', 'no').map((text): Texts => ({ [KEDA_PAUSED]: text }));

const DRAWN: Readonly<
  Record<WorkloadType, { readonly spec: Spec; readonly metadata: fc.Arbitrary<DrawnMetadata>; readonly weight: number }>
> = {
  Deployment: { spec: deploymentSpec, metadata: anyMetadata(anyName), weight: 3 },
  StatefulSet: { spec: statefulSetSpec, metadata: anyMetadata(anyName), weight: 2 },
  CronJob: {
    spec: cronJobSpec,
    metadata: anyMetadata(fc.oneof(shortName, fc.constant('x'.repeat(52)))),
    weight: 2,
  },
  Rollout: { spec: rolloutSpec, metadata: anyMetadata(anyName), weight: 2 },
  ScaledJob: { spec: scaledJobSpec, metadata: anyMetadata(anyName, paused), weight: 2 },
};

function workloadOf(kind: WorkloadType): fc.Arbitrary<DrawnWorkload> {
  const { group, version } = WORKLOAD_KINDS[kind].resource;
  const apiVersion = `${group}/${version}`;
  return fc.record({ metadata: DRAWN[kind].metadata, spec: DRAWN[kind].spec }).chain(({ metadata, spec }) => {
    const workload: DrawnObject = { apiVersion, kind, metadata, spec };
    // One that is none of a CronJob's or a ScaledJob's would be nobody's.
    const autoscalers =
      WORKLOAD_KINDS[kind].field === 'replicas'
        ? anyAutoscalers({ apiVersion, kind, name: metadata.name })
        : fc.constant([]);
    return autoscalers.map((all): DrawnWorkload => [workload, ...all]);
  });
}

export const anyWorkload: fc.Arbitrary<DrawnWorkload> = fc.oneof(
  ...(Object.keys(DRAWN) as WorkloadType[]).map((kind) => ({
    weight: DRAWN[kind].weight,
    arbitrary: workloadOf(kind),
  })),
);
