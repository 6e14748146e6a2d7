import { CoordinationV1Api, type KubeConfig, type V1Lease } from '@kubernetes/client-node';
import {
  backlogOfLease,
  type LeaseBacklog,
  type SeenQuota,
  type UnservedQuota,
  unservedQuota,
} from '../../domain/quota-resize/backlog.ts';
import type { PullRequestRef } from '../../domain/quota-resize/model/decision.ts';
import { type LeaseObject, leaseSelector } from '../../domain/quota-resize/model/lease.ts';
import type { Log } from '../../platform/log/log.ts';
import { type Informer, startInformer } from '../kernel/informer.ts';

/** The pull request that raises a quota. */
interface OpenPullRequest {
  readonly namespace: string;
  readonly quota: string;
  readonly pullRequest: PullRequestRef;
}

/** What of the quotas is not done yet, by their Leases. */
export class QuotaBacklog {
  readonly #seen: () => readonly SeenQuota[];
  readonly #ofLease = new Map<string, LeaseBacklog>();

  constructor(seen: () => readonly SeenQuota[]) {
    this.#seen = seen;
  }

  put(lease: LeaseObject): void {
    const name = lease.metadata?.name ?? '';
    const backlog = backlogOfLease(lease);
    if (backlog === null) this.#ofLease.delete(name);
    else this.#ofLease.set(name, backlog);
  }

  remove(name: string): void {
    this.#ofLease.delete(name);
  }

  /** One for each quota: several may share a pull request. Of a quota that is gone none. */
  pullRequests(): readonly OpenPullRequest[] {
    const existing = new Set(this.#seen().map(keyOf));
    return [...this.#ofLease.values()].flatMap((backlog) => {
      const { namespace, quota, pullRequest } = backlog;
      return pullRequest !== null && existing.has(keyOf(backlog)) ? [{ namespace, quota, pullRequest }] : [];
    });
  }

  /** The quotas that need more than their limits in the cluster are. */
  unserved(): readonly UnservedQuota[] {
    const wanted = new Map([...this.#ofLease.values()].map((backlog) => [keyOf(backlog), backlog.wanted]));
    return this.#seen().flatMap((quota) => unservedQuota(quota, wanted.get(keyOf(quota)) ?? null) ?? []);
  }
}

function keyOf({ namespace, quota }: { readonly namespace: string; readonly quota: string }): string {
  return `${namespace}/${quota}`;
}

interface LeaseListener {
  readonly put: (lease: LeaseObject) => void;
  readonly remove: (name: string) => void;
}

/** Watches the Leases of the resizer. */
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
      onChange: (lease) => {
        for (const { put } of listeners) put(lease);
      },
      onDelete: ({ metadata }) => {
        for (const { remove } of listeners) remove(metadata?.name ?? '');
      },
    },
    { log, signal },
  );
}
