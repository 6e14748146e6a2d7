import type { QuotaTarget } from '../kernel/target.ts';

/** The workflow id of the roll-up of a cluster's writes. */
export function quotaUsageRollUpId(cluster: string): string {
  return `quota-usage/${cluster}`;
}

/** The workflow id of a quota's usage episode: what a person has to know of it, until its status is right. */
export function quotaUsageId(target: QuotaTarget): string {
  return `quota-usage/${target.cluster}/${target.namespace}/${target.quota}`;
}
