/** Workloads of which a quota refuses a part, and which are seen only when Kubernetes is through with them. */
import { eventually } from '../kernel/stack/eventually.ts';
import type { WatchedQuota } from '../kernel/stack/watched-quota.ts';

/** Whether a controller was told that a quota of the namespace is exceeded, and has said so. */
export async function isRefused({ stack, target: { namespace } }: WatchedQuota): Promise<boolean> {
  const { items } = await stack.core.listNamespacedEvent({ namespace, fieldSelector: 'reason=FailedCreate' });
  return items.some(({ message }) => message?.includes('exceeded quota'));
}

/**
 * Uses more than fits while the namespace is opted out, and opts it in again when what fits is there and the rest was
 * refused. On a machine under load this takes longer than a need must stand still in these tests, and what is seen of it
 * halfway is another need: a threshold that is reached, and nothing that is missing.
 *
 * @param fits how many pods are admitted.
 */
export async function refusedUnseen(quota: WatchedQuota, fits: number, use: () => Promise<unknown>): Promise<void> {
  await quota.annotate({ 'resizer.io/enabled': 'false' });
  await use();
  await eventually(
    `${fits} pods of ${quota.target.namespace} are there and others are refused`,
    async () => (await quota.pods()) === fits && (await isRefused(quota)),
  );
  await quota.annotate({ 'resizer.io/enabled': null });
}
