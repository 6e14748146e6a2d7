/** Namespaces whose quota can be brought over its threshold by one object, so that an episode needs no controller. */
import type { CoreV1Api } from '@kubernetes/client-node';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { type ResizeStatus, status } from '../../workflows/quota-resize/messages.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { HistoryWatch } from '../kernel/stack/history-watch.ts';
import type { Stack } from '../kernel/stack/stack.ts';

export const QUOTA = 'objects';
const CLUSTER = 'test';

/** Nothing is waited for longer than the forge and the syncer of the tests need. */
export const quickTimings = {
  HEADROOM_MODE: 'propose',
  ENABLE_AUTO_MERGE: 'true',
  'timings.demandSettle': '0s',
  HEADROOM_SETTLE: '0s',
  'timings.checksPollMin': '200ms',
  'timings.syncPoll': '200ms',
} as const;

/** The manifests of namespaces with a quota of one secret each, as the repository has them. */
export function namespaceFiles(
  namespaces: readonly string[],
  annotations: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(namespaces.map((name) => [pathOf(name), manifestOf(name, annotations)]));
}

/** Where a namespace's manifests are in the repository. */
export function pathOf(namespace: string): string {
  return `managed-resources/${CLUSTER}/${namespace}/quota.yaml`;
}

function manifestOf(name: string, annotations: Readonly<Record<string, string>>): string {
  return `apiVersion: v1
kind: Namespace
metadata:
  name: ${name}
  annotations: ${JSON.stringify(annotations)}
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: ${QUOTA}
  namespace: ${name}
spec:
  hard:
    secrets: "1" # raised to 2, which a second secret would need
`;
}

export function targetOf(namespace: string): QuotaTarget {
  return { cluster: CLUSTER, namespace, quota: QUOTA };
}

/**
 * Uses the quota up, which is over every threshold. The API server counts the secret as it takes it, unless it has not
 * heard of the quota yet: then nobody would count it for minutes. It counts it when it is asked to take it once more.
 */
export async function press({ core }: Pick<Stack, 'core'>, namespace: string): Promise<void> {
  const isUsedUp = async (): Promise<boolean> => {
    const quota = await core.readNamespacedResourceQuota({ namespace, name: QUOTA });
    return quota.status?.used?.['secrets'] === '1';
  };
  await eventually(`${namespace} takes a secret, and its quota counts it`, async () => {
    if (await isUsedUp()) return true;
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'first' } } });
    return await isUsedUp();
  });
}

/** What the episode of a namespace says of itself, or null when it does not run or nobody answers for it. */
export async function statusOf({ client }: Pick<Stack, 'client'>, namespace: string): Promise<ResizeStatus | null> {
  return await client.workflow
    .getHandle(quotaResizeId(targetOf(namespace)))
    .query(status)
    .catch(() => null);
}

/** Whether the cluster has the raised limit. */
export async function isRaised({ core }: { readonly core: CoreV1Api }, namespace: string): Promise<boolean> {
  const quota = await core.readNamespacedResourceQuota({ namespace, name: QUOTA });
  return quota.spec?.hard?.['secrets'] === '2';
}

/** Waits until the cluster has the raised limit and the episode of the namespace cools down. */
export async function untilResized(
  stack: Pick<Stack, 'client' | 'core'>,
  namespace: string,
  withinMs: number,
): Promise<void> {
  await eventually(
    `${namespace} is resized and cools down`,
    async () => {
      const seen = await statusOf(stack, namespace);
      return seen?.reason === 'CoolingDown' && (await isRaised(stack, namespace));
    },
    withinMs,
    new HistoryWatch(stack.client, quotaResizeId(targetOf(namespace))),
  );
}
