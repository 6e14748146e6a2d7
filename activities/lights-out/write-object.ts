import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import { FIELD_MANAGER, KEDA_PAUSED } from '../../domain/lights-out/schedule/names.ts';
import type { ObjectChange, ObjectKind } from '../../domain/lights-out/workload/evaluation.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { SCALED_OBJECTS } from './read-cluster.ts';
import { ROLLOUTS, SCALED_JOBS } from './workload-api.ts';

/** Makes the API server treat the body as a merge patch. */
export const MERGE_PATCH = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

interface PatchRequest {
  readonly name: string;
  readonly namespace: string;
  readonly body: object;
  readonly fieldManager: string;
}

const PATCHES: Readonly<Record<ObjectKind, (kubernetes: Kubernetes, request: PatchRequest) => Promise<unknown>>> = {
  Deployment: async ({ apps }, request) => await apps.patchNamespacedDeployment(request, MERGE_PATCH),
  StatefulSet: async ({ apps }, request) => await apps.patchNamespacedStatefulSet(request, MERGE_PATCH),
  CronJob: async ({ batch }, request) => await batch.patchNamespacedCronJob(request, MERGE_PATCH),
  Rollout: async ({ custom }, request) =>
    await custom.patchNamespacedCustomObject({ ...ROLLOUTS, ...request }, MERGE_PATCH),
  ScaledJob: async ({ custom }, request) =>
    await custom.patchNamespacedCustomObject({ ...SCALED_JOBS, ...request }, MERGE_PATCH),
  HorizontalPodAutoscaler: async ({ autoscaling }, request) =>
    await autoscaling.patchNamespacedHorizontalPodAutoscaler(request, MERGE_PATCH),
  ScaledObject: async ({ custom }, request) =>
    await custom.patchNamespacedCustomObject({ ...SCALED_OBJECTS, ...request }, MERGE_PATCH),
};

/** The API server accepted the write but stored something else: an admission webhook or policy reverted it. */
export class SetBack extends Error {
  override readonly name = 'SetBack';
  /** Whether it sleeps as it was written, and only the annotations and labels that say what it was are not there. */
  readonly isOfMarks: boolean;

  constructor(field: string, now: unknown, isOfMarks: boolean) {
    const value = now === undefined ? 'nothing' : JSON.stringify(now);
    super(`accepted, but something set ${field} back to ${value}: an admission webhook or policy`);
    this.isOfMarks = isOfMarks;
  }
}

/** The parts of a patch that are compared with the answer, the spec first. */
const COMPARED = [
  ['spec', ['spec']],
  ['metadata.annotations', ['metadata', 'annotations']],
  ['metadata.labels', ['metadata', 'labels']],
] as const;

/**
 * One merge patch, bound to the observed resourceVersion: after a concurrent write the API server responds with a
 * conflict (409).
 *
 * @returns the new resourceVersion.
 * @throws SetBack when anything in the response is not as it was written.
 */
export async function writeObject(
  kubernetes: Kubernetes,
  namespace: string,
  change: ObjectChange,
  fieldManager = FIELD_MANAGER,
): Promise<string> {
  const answer = await patched(kubernetes, namespace, change, fieldManager);
  // A Scale of no replicas has none in its JSON.
  const absent = change.kind === 'ScaledOwner' ? 0 : null;
  for (const [name, path] of COMPARED) {
    const [written, answered] = [partOf(change.patch, path), partOf(answer, path)];
    for (const [field, value] of Object.entries(written)) {
      if ((answered[field] ?? absent) === value) continue;
      const isOfMarks = name !== 'spec' && field !== KEDA_PAUSED;
      throw new SetBack(name === 'spec' ? `spec.${field}` : `${name}[${field}]`, answered[field], isOfMarks);
    }
  }
  const { resourceVersion } = partOf(answer, ['metadata']) as { readonly resourceVersion?: string };
  return resourceVersion ?? '';
}

/**
 * Makes a suspended CronJob count from now: its controller starts what was missed since `status.lastScheduleTime`. The
 * spec stays as it is. Returns the change that wakes it, bound to the version after this.
 */
export async function skipMissedRuns(
  { batch }: Kubernetes,
  namespace: string,
  change: ObjectChange,
  now: EpochMs,
): Promise<ObjectChange> {
  const { name, uid, resourceVersion } = change;
  const body = { metadata: { uid, resourceVersion }, status: { lastScheduleTime: formatInstant(now) } };
  const request = { name, namespace, body, fieldManager: FIELD_MANAGER };
  const { metadata } = await batch.patchNamespacedCronJobStatus(request, MERGE_PATCH);
  return { ...change, resourceVersion: metadata?.resourceVersion ?? resourceVersion };
}

function partOf(object: unknown, path: readonly string[]): Readonly<Record<string, unknown>> {
  return path.reduce((value: unknown, key) => fieldsOf(fieldsOf(value)[key]), object) as Record<string, unknown>;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

async function patched(
  kubernetes: Kubernetes,
  namespace: string,
  { kind, of, name, uid, resourceVersion, patch }: ObjectChange,
  fieldManager: string,
): Promise<unknown> {
  const body = { ...patch, metadata: { ...fieldsOf(patch['metadata']), uid, resourceVersion } };
  const request = { name, namespace, body, fieldManager };
  if (kind !== 'ScaledOwner') return await PATCHES[kind](kubernetes, request);
  if (of === undefined) throw new Error(`expected how ${name} is asked for`);
  const { group, version, plural } = of;
  return await kubernetes.custom.patchNamespacedCustomObjectScale({ group, version, plural, ...request }, MERGE_PATCH);
}
