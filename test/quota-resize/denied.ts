/** Workloads of which a quota denies a part, and which an episode observes only after Kubernetes has created the rest. */
import { eventually } from '../kernel/stack/eventually.ts';
import type { WatchedQuota } from '../kernel/stack/watched-quota.ts';

/** Whether a controller has reported in an Event that admission denied its pods for a quota of the namespace. */
export async function isDenied({ stack, target: { namespace } }: WatchedQuota): Promise<boolean> {
  const { items } = await stack.core.listNamespacedEvent({ namespace, fieldSelector: 'reason=FailedCreate' });
  return items.some(({ message }) => message?.includes('exceeded quota'));
}

/**
 * Uses more than fits while the namespace is opted out, and opts it in again when what fits is there and the rest was
 * denied. On a machine under load this takes longer than the debounce of these tests, and an observation halfway would
 * see another demand: a threshold that is reached, and nothing that is missing.
 *
 * @param fits how many pods are admitted.
 */
export async function deniedWhileOptedOut(
  quota: WatchedQuota,
  fits: number,
  use: () => Promise<unknown>,
): Promise<void> {
  await quota.annotate({ 'resizer.io/enabled': 'false' });
  await use();
  await eventually(
    `${fits} pods of ${quota.target.namespace} are there and others are refused`,
    async () => (await quota.pods()) === fits && (await isDenied(quota)),
  );
  await quota.annotate({ 'resizer.io/enabled': null });
}
