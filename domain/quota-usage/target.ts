import type { QuotaTarget } from '../kernel/target.ts';

/** Workflow id of the usage episode of one quota: from a change to a true status. */
export function quotaUsageId(target: QuotaTarget): string {
  return `quota-usage/${target.cluster}/${target.namespace}/${target.quota}`;
}
