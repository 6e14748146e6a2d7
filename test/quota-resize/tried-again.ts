/** What a quota refused, once there is room for it. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { eventually } from '../kernel/stack/eventually.ts';
import type { WatchedQuota } from '../kernel/stack/watched-quota.ts';

const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/**
 * Has Kubernetes try at once what was refused. By itself it waits about as long again as it has tried so far, a minute where
 * the raise took one; a change of the owner is a reason to try now.
 */
export async function tryAgain({ stack: { apps }, target: { namespace } }: WatchedQuota): Promise<void> {
  const body = { metadata: { annotations: { 'example.com/tried-again': new Date().toISOString() } } };
  const [replicaSets, statefulSets] = await Promise.all([
    apps.listNamespacedReplicaSet({ namespace }),
    apps.listNamespacedStatefulSet({ namespace }),
  ]);
  for (const { metadata } of replicaSets.items) {
    await apps.patchNamespacedReplicaSet({ name: metadata?.name ?? '', namespace, body }, mergePatch);
  }
  for (const { metadata } of statefulSets.items) {
    await apps.patchNamespacedStatefulSet({ name: metadata?.name ?? '', namespace, body }, mergePatch);
  }
}

/** Waits until all the pods of a namespace are there whose last ones a quota refused before. */
export async function podsCome(quota: WatchedQuota, count: number): Promise<void> {
  await eventually(`${count} of ${count} pods of ${quota.target.namespace} are there`, async () => {
    if ((await quota.pods()) === count) return true;
    await tryAgain(quota);
    return false;
  });
}
