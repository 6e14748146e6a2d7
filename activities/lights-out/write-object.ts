import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { FIELD_MANAGER } from '../../domain/lights-out/schedule/names.ts';
import type { ObjectChange } from '../../domain/lights-out/workload/evaluation.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { SCALED_OBJECTS } from './read-cluster.ts';

/** Makes the API server treat the body as a merge patch. */
export const MERGE_PATCH = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

interface PatchRequest {
  readonly name: string;
  readonly namespace: string;
  readonly body: object;
  readonly fieldManager: string;
}

const PATCHES: Readonly<
  Record<ObjectChange['kind'], (kubernetes: Kubernetes, request: PatchRequest) => Promise<unknown>>
> = {
  Deployment: async ({ apps }, request) => await apps.patchNamespacedDeployment(request, MERGE_PATCH),
  StatefulSet: async ({ apps }, request) => await apps.patchNamespacedStatefulSet(request, MERGE_PATCH),
  CronJob: async ({ batch }, request) => await batch.patchNamespacedCronJob(request, MERGE_PATCH),
  HorizontalPodAutoscaler: async ({ autoscaling }, request) =>
    await autoscaling.patchNamespacedHorizontalPodAutoscaler(request, MERGE_PATCH),
  ScaledObject: async ({ custom }, request) =>
    await custom.patchNamespacedCustomObject({ ...SCALED_OBJECTS, ...request }, MERGE_PATCH),
};

/** The API server accepted the write but stored something else: an admission webhook or policy reverted it. */
export class SetBack extends Error {
  override readonly name = 'SetBack';
}

/**
 * One merge patch, bound to the observed resourceVersion: after a concurrent write the API server responds with a
 * conflict (409).
 *
 * @throws SetBack when the response has another spec than was written.
 */
export async function writeObject(kubernetes: Kubernetes, namespace: string, change: ObjectChange): Promise<void> {
  const written = fieldsOf(change.patch['spec']);
  const answered = fieldsOf(fieldsOf(await patched(kubernetes, namespace, change))['spec']);
  for (const [field, value] of Object.entries(written)) {
    if (answered[field] === value) continue;
    const now = answered[field] === undefined ? 'nothing' : JSON.stringify(answered[field]);
    throw new SetBack(`accepted, but something set spec.${field} back to ${now}: an admission webhook or policy`);
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

async function patched(kubernetes: Kubernetes, namespace: string, change: ObjectChange): Promise<unknown> {
  const { kind, name, uid, resourceVersion, patch } = change;
  const metadata = typeof patch['metadata'] === 'object' ? patch['metadata'] : {};
  const body = { ...patch, metadata: { ...metadata, uid, resourceVersion } };
  const request = { name, namespace, body, fieldManager: FIELD_MANAGER };
  return await PATCHES[kind](kubernetes, request);
}
