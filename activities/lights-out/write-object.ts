import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { FIELD_MANAGER } from '../../domain/lights-out/schedule/names.ts';
import type { ObjectChange } from '../../domain/lights-out/workload/evaluation.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { SCALED_OBJECTS } from './read-cluster.ts';

/** What a merge patch of the API server goes by. */
export const MERGE_PATCH = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** The API server took what was written and stored something else: an admission webhook or policy holds it to its own. */
export class SetBack extends Error {
  override readonly name = 'SetBack';
}

/**
 * One merge patch, which takes effect only upon the very version that was seen: whoever wrote in between is answered with a
 * conflict (409), not overwritten.
 *
 * @throws SetBack where the answer has something else in its spec than was written.
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
  switch (kind) {
    case 'Deployment':
      return await kubernetes.apps.patchNamespacedDeployment(request, MERGE_PATCH);
    case 'StatefulSet':
      return await kubernetes.apps.patchNamespacedStatefulSet(request, MERGE_PATCH);
    case 'CronJob':
      return await kubernetes.batch.patchNamespacedCronJob(request, MERGE_PATCH);
    case 'HorizontalPodAutoscaler':
      return await kubernetes.autoscaling.patchNamespacedHorizontalPodAutoscaler(request, MERGE_PATCH);
    case 'ScaledObject':
      return await kubernetes.custom.patchNamespacedCustomObject({ ...SCALED_OBJECTS, ...request }, MERGE_PATCH);
  }
}
