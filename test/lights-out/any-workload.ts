/** Workloads and their autoscalers as people have them: odd, and valid. */
import * as fc from 'fast-check';
import {
  DELETES_VOLUMES,
  DOWN_SINCE,
  EXCLUDE_UNTIL,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  OWN_REPLICAS,
  OWN_TIMES,
  PRIORITY,
  SLEEP_UNTIL,
  WAKE_UNTIL,
} from '../../domain/lights-out/schedule/names.ts';
import { anyMoment } from './any-schedule.ts';

interface Metadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** One of the kinds that every cluster serves, without its namespace. */
export interface DrawnObject {
  readonly apiVersion: string;
  readonly kind: 'Deployment' | 'StatefulSet' | 'CronJob' | 'HorizontalPodAutoscaler';
  readonly metadata: Metadata;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** With its autoscalers. */
export type DrawnWorkload = readonly DrawnObject[];

const INT32 = 2_147_483_647;
/** Of all annotations of an object, keys and values: as many as the API server takes. */
const ANNOTATION_BYTES = 262_144;

const labels = fc.dictionary(
  fc.constantFrom('team', 'example.com/tier', 'constructor', `${'a.'.repeat(126)}a/${'x'.repeat(63)}`),
  fc.constantFrom('', 'a', 'b', 'x'.repeat(63)),
  { maxKeys: 3 },
);

/** What people write for schedules, right or wrong. */
const forSchedules = fc.record(
  {
    [WAKE_UNTIL]: anyMoment,
    [SLEEP_UNTIL]: anyMoment,
    [EXCLUDE_UNTIL]: anyMoment,
    [OWN_TIMES]: fc.constantFrom(
      'upscale: 0 9 * * 1-5; downscale: 0 22 * * 1-5',
      'upscale: 0 9 * * *; downscale: 0 22 * * *; timezone: Asia/Tokyo',
      'never',
    ),
    [OWN_REPLICAS]: fc.constantFrom('0', '2', '50%', 'half', '99999999999'),
    [DELETES_VOLUMES]: fc.constantFrom('true', 'false', 'maybe'),
    [PRIORITY]: fc.constantFrom('5', '-1000000', 'first'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;

/** What another tool, another release or a person has left there. */
const leftMarks = fc.record(
  {
    [ORIGINAL_REPLICAS]: fc.constantFrom('3', '', 'many', '-1', '99999999999'),
    [ORIGINAL_SUSPEND]: fc.constantFrom('lightsout', 'user', 'true'),
    [ORIGINAL_BOUNDS]: fc.constantFrom('1-5', '0-3', '5-3', '0-0', '9999999999-9999999999', '1', 'all'),
    [MANAGED_BY]: fc.constantFrom('gone', '', 'Not A Name', 'ü'),
    [DOWN_SINCE]: anyMoment,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;

const rarely = <T extends object>(some: fc.Arbitrary<T>): fc.Arbitrary<T | Record<string, never>> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: some });

/** Long texts, up to the last byte that is left beside the others. */
function filled(annotations: Readonly<Record<string, string>>, left: number | null): Record<string, string> {
  if (left === null) return annotations;
  const taken = Object.entries({ ...annotations, long: '' }).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return { ...annotations, long: 'x'.repeat(Math.max(0, ANNOTATION_BYTES - taken - left)) };
}

const annotations = fc
  .tuple(
    fc.constantFrom<Record<string, string>>({}, { note: 'ours', 'example.com/empty': '' }),
    rarely(forSchedules),
    rarely(leftMarks),
    fc.oneof({ weight: 30, arbitrary: fc.constant(null) }, fc.constantFrom(0, 100, 2000)),
  )
  .map(([own, wishes, marks, left]) => filled({ ...own, ...wishes, ...marks }, left));

const metadata = (name: fc.Arbitrary<string>): fc.Arbitrary<Metadata> => fc.record({ name, labels, annotations });

const longName = fc.constantFrom('x'.repeat(63), 'x'.repeat(253), Array.from({ length: 100 }, () => 'a').join('.'));
const shortName = fc.constantFrom('web', 'a', '1st', 'a.b');
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

const deploymentSpec = fc.record(
  {
    replicas,
    selector: fc.constant(selector),
    template: fc.constant(template),
    paused: fc.boolean(),
    strategy: fc.constantFrom({ type: 'Recreate' }, { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } }),
    minReadySeconds: fc.constant(599),
  },
  { requiredKeys: ['selector', 'template'] },
);
const claim = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const statefulSetSpec = fc.record(
  {
    replicas,
    selector: fc.constant(selector),
    template: fc.constant(template),
    serviceName: fc.constant('web'),
    ordinals: fc.record({ start: fc.constantFrom(0, 7, INT32) }),
    podManagementPolicy: fc.constantFrom('OrderedReady', 'Parallel'),
    volumeClaimTemplates: fc.constant([claim]),
    persistentVolumeClaimRetentionPolicy: fc.record({
      whenScaled: fc.constantFrom('Retain', 'Delete'),
      whenDeleted: fc.constantFrom('Retain', 'Delete'),
    }),
  },
  { requiredKeys: ['selector', 'template'] },
);
const cronJobSpec = fc.record(
  {
    schedule: fc.constantFrom('0 0 1 1 *', '@yearly', '@every 100h'),
    jobTemplate: fc.constant({
      spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
    }),
    timeZone: fc.constantFrom('Europe/Berlin', 'Etc/UTC'),
    suspend: fc.boolean(),
    concurrencyPolicy: fc.constantFrom('Allow', 'Forbid', 'Replace'),
    startingDeadlineSeconds: fc.constantFrom(0, 100_000_000),
    successfulJobsHistoryLimit: fc.constant(0),
  },
  { requiredKeys: ['schedule', 'jobTemplate'] },
);

function autoscalerOf(apiVersion: string, kind: string, name: string): fc.Arbitrary<DrawnObject> {
  const bounds = fc
    .tuple(fc.constantFrom(undefined, 0, 1, 2, 5), fc.constantFrom(1, 2, 5, 10_000, INT32))
    .map(([minReplicas, most]) => ({
      ...(minReplicas === undefined ? {} : { minReplicas }),
      maxReplicas: Math.max(minReplicas ?? 1, most),
    }));
  const metric = {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
  };
  // One that may scale to zero has a metric of something else than its pods.
  const other = {
    type: 'External',
    external: { metric: { name: 'queue' }, target: { type: 'Value', value: '10' } },
  };
  return fc
    .record({ metadata: metadata(fc.oneof(shortName, longName)), bounds, behavior: fc.boolean() })
    .map(({ metadata: own, bounds: written, behavior }) => ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler' as const,
      metadata: own,
      spec: {
        scaleTargetRef: { apiVersion, kind, name },
        ...written,
        metrics: [metric, other],
        ...(behavior ? { behavior: { scaleDown: { stabilizationWindowSeconds: 3600 } } } : {}),
      },
    }));
}

const scaled = fc
  .tuple(
    fc.oneof(
      fc.record({ kind: fc.constant('Deployment' as const), spec: deploymentSpec }),
      fc.record({ kind: fc.constant('StatefulSet' as const), spec: statefulSetSpec }),
    ),
    metadata(fc.oneof(shortName, longName)),
  )
  .chain(([{ kind, spec }, own]) => {
    const workload: DrawnObject = { apiVersion: 'apps/v1', kind, metadata: own, spec };
    return fc
      .array(autoscalerOf('apps/v1', kind, own.name), { maxLength: 2 })
      .map((autoscalers): DrawnWorkload => [workload, ...autoscalers]);
  });
const cronJob = fc
  .record({ metadata: metadata(fc.oneof(shortName, fc.constant('x'.repeat(52)))), spec: cronJobSpec })
  .map(({ metadata: own, spec }): DrawnWorkload => [{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: own, spec }]);

export const anyWorkload: fc.Arbitrary<DrawnWorkload> = fc.oneof(
  { weight: 3, arbitrary: scaled },
  { weight: 1, arbitrary: cronJob },
);
