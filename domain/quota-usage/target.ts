import type { QuotaTarget } from '../kernel/target.ts';

/** The workflow id of a quota's usage episode: from a change to a correct status. */
export function quotaUsageId(target: QuotaTarget): string {
  return `quota-usage/${target.cluster}/${target.namespace}/${target.quota}`;
}
