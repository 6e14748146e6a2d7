/** The Leases of the quotas, with what is read from them once: which pull request is whose, and what is decided. */
import { CoordinationV1Api, type KubeConfig, type V1Lease } from '@kubernetes/client-node';
import { leaseSelector } from '../../domain/quota-resize/model/lease.ts';
import { type OpenDecision, openDecisionOf } from '../../domain/quota-resize/model/open-decision.ts';
import type { Log } from '../../platform/log/log.ts';
import { type Informer, startInformer } from '../kernel/informer.ts';
import { PullRequestIndex } from './webhooks/pull-request-index.ts';

export interface LeaseWatch {
  readonly leases: Informer<V1Lease>;
  readonly pullRequests: PullRequestIndex;
  /** Decisions that hold the Lease of a quota, by its name in the form of `targetName`. */
  readonly decisions: ReadonlyMap<string, OpenDecision>;
}

export async function watchLeases(options: {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  /** Where the Leases are. */
  readonly systemNamespace: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}): Promise<LeaseWatch> {
  const { kubeConfig, cluster, systemNamespace, log, signal } = options;
  const pullRequests = new PullRequestIndex(cluster);
  const decisions = new OpenDecisions();
  const coordination = kubeConfig.makeApiClient(CoordinationV1Api);
  const leases = await startInformer<V1Lease>(
    kubeConfig,
    {
      name: 'leases',
      path: `/apis/coordination.k8s.io/v1/namespaces/${systemNamespace}/leases`,
      labelSelector: leaseSelector,
      listPage: async (page) =>
        await coordination.listNamespacedLease({ ...page, namespace: systemNamespace, labelSelector: leaseSelector }),
      shape: shapeLease,
      onChange: (lease) => {
        pullRequests.put(lease);
        decisions.put(lease);
      },
      onDelete: (lease) => {
        pullRequests.remove(lease.metadata?.name ?? '');
        decisions.remove(lease.metadata?.name ?? '');
      },
    },
    { log, signal },
  );
  return { leases, pullRequests, decisions: decisions.byQuota };
}

/** Who wrote which field is not looked at, and is often the larger half. */
function shapeLease(lease: V1Lease): V1Lease {
  delete lease.metadata?.managedFields;
  return lease;
}

/** Follows changes of Leases. */
export class OpenDecisions {
  readonly byQuota = new Map<string, OpenDecision>();
  readonly #quotaOfLease = new Map<string, string>();

  put(lease: Parameters<typeof openDecisionOf>[0]): void {
    const name = lease.metadata?.name ?? '';
    this.remove(name);
    const decision = openDecisionOf(lease);
    if (decision === null) return;
    const quota = `${decision.namespace}/${decision.quota}`;
    this.#quotaOfLease.set(name, quota);
    this.byQuota.set(quota, decision);
  }

  remove(name: string): void {
    const quota = this.#quotaOfLease.get(name);
    this.#quotaOfLease.delete(name);
    if (quota !== undefined) this.byQuota.delete(quota);
  }
}
