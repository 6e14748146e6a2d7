/** HorizontalPodAutoscalers and KEDA's ScaledObjects of a workload. */
import * as fc from 'fast-check';
import { KEDA_PAUSED, KEDA_PAUSED_REPLICAS } from '../../domain/lights-out/schedule/names.ts';
import { anyMetadata, anyName, type DrawnMetadata, type Texts } from './any-metadata.ts';

const INT32 = 2_147_483_647;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export interface DrawnAutoscaler {
  readonly apiVersion: string;
  readonly kind: 'HorizontalPodAutoscaler' | 'ScaledObject';
  readonly metadata: DrawnMetadata;
  readonly spec: Readonly<Record<string, unknown>>;
}

interface Target {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

const applied = fc
  .constantFrom('{"spec":{"minReplicas":1}}', '{"spec":{}}', 'no JSON')
  .map((text): Texts => ({ [LAST_APPLIED]: text }));
const bounds = fc
  .tuple(fc.constantFrom(undefined, 0, 1, 2, 5), fc.constantFrom(1, 2, 5, 10_000, INT32))
  .map(([minReplicas, most]) => ({
    ...(minReplicas === undefined ? {} : { minReplicas }),
    maxReplicas: Math.max(minReplicas ?? 1, most),
  }));
const METRICS = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
  // One that may scale to zero has a metric of something else than its pods.
  { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '10' } } },
];
const behavior = fc.record(
  { behavior: fc.constant({ scaleDown: { stabilizationWindowSeconds: 3600 } }) },
  { requiredKeys: [] },
);

function horizontal(scaleTargetRef: Target): fc.Arbitrary<DrawnAutoscaler> {
  return fc.tuple(anyMetadata(anyName, applied), bounds, behavior).map(([metadata, written, rest]) => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { scaleTargetRef, ...written, ...rest, metrics: METRICS },
  }));
}

const paused = fc.record(
  {
    [KEDA_PAUSED]: fc.constantFrom('true', 'false', ''),
    [KEDA_PAUSED_REPLICAS]: fc.constantFrom('0', '3', ''),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Texts>;
const kedaSpec = fc.record(
  {
    minReplicaCount: fc.constantFrom(0, 2),
    maxReplicaCount: fc.constantFrom(1, 100),
    idleReplicaCount: fc.constant(0),
    triggers: fc.constant([{ type: 'cron', metadata: { timezone: 'UTC', start: '0 6 * * *', end: '0 20 * * *' } }]),
  },
  { requiredKeys: ['triggers'] },
);

function ofKeda({ apiVersion, kind, name }: Target): fc.Arbitrary<DrawnAutoscaler> {
  // What KEDA takes where nothing else is written.
  const isDefault = apiVersion === 'apps/v1' && kind === 'Deployment';
  const target = fc.constantFrom<object>({ apiVersion, kind, name }, isDefault ? { name } : { apiVersion, kind, name });
  return fc.tuple(anyMetadata(anyName, paused), kedaSpec, target).map(([metadata, rest, scaleTargetRef]) => ({
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata,
    spec: { scaleTargetRef, ...rest },
  }));
}

/** None, one, or two that may be of the same name. */
export function anyAutoscalers(target: Target): fc.Arbitrary<readonly DrawnAutoscaler[]> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fc.oneof(horizontal(target), ofKeda(target)), { minLength: 1, maxLength: 2 }) },
  );
}
