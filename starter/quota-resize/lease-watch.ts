import { CoordinationV1Api, type KubeConfig, type V1Lease } from '@kubernetes/client-node';
import {
  type LeaseObject,
  leaseSelector,
  type QuotaLease,
  quotaOfLease,
} from '../../domain/quota-resize/model/lease.ts';
import type { Log } from '../../platform/log/log.ts';
import { type Informer, startInformer } from '../../activities/kubernetes/informer.ts';

/** What is kept of the Leases, as they change. */
interface LeaseListener {
  put(name: string, lease: QuotaLease): void;
  /** Of one that is gone, or is about something else than a quota. */
  remove(name: string): void;
}

/** It is read once for all of them: a decision is large. */
export function tellOf(lease: LeaseObject, listeners: readonly LeaseListener[]): void {
  const name = lease.metadata?.name ?? '';
  const read = quotaOfLease(lease);
  for (const listener of listeners) {
    if (read === null) listener.remove(name);
    else listener.put(name, read);
  }
}

/** Watches the Leases of the resizer, once for everything that is read from them. */
export async function watchLeases(
  {
    kubeConfig,
    systemNamespace,
    log,
    signal,
  }: {
    readonly kubeConfig: KubeConfig;
    /** Where the Leases are. */
    readonly systemNamespace: string;
    readonly log: Log;
    readonly signal: AbortSignal;
  },
  listeners: readonly LeaseListener[],
): Promise<Informer<V1Lease>> {
  const coordination = kubeConfig.makeApiClient(CoordinationV1Api);
  return await startInformer<V1Lease>(
    kubeConfig,
    {
      name: 'leases',
      path: `/apis/coordination.k8s.io/v1/namespaces/${systemNamespace}/leases`,
      labelSelector: leaseSelector,
      listPage: async (page) =>
        await coordination.listNamespacedLease({ ...page, namespace: systemNamespace, labelSelector: leaseSelector }),
      shape: shapeLease,
      onChange: (lease) => tellOf(lease, listeners),
      onDelete: ({ metadata }) => {
        for (const listener of listeners) listener.remove(metadata?.name ?? '');
      },
    },
    { log, signal },
  );
}

/** Who wrote which field is not looked at, and is often the larger half. */
function shapeLease(lease: V1Lease): V1Lease {
  delete lease.metadata?.managedFields;
  return lease;
}
