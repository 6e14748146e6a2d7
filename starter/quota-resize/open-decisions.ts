import type { QuotaLease } from '../../domain/quota-resize/model/lease.ts';
import { type OpenDecision, openDecisionOf } from '../../domain/quota-resize/model/open-decision.ts';

/** The decisions that hold the Leases of quotas. */
export class OpenDecisions {
  /** By the quota's name in the form of `targetName`. */
  readonly byQuota = new Map<string, OpenDecision>();
  readonly #quotaOfLease = new Map<string, string>();

  put(name: string, lease: QuotaLease): void {
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
