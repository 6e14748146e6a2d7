import type { QuotaTarget } from '../kernel/target.ts';

/** The workflow id of a quota's resize episode; Temporal runs at most one workflow with this id at a time. */
export function quotaResizeId(target: QuotaTarget): string {
  return `quota-resize/${target.cluster}/${target.namespace}/${target.quota}`;
}

/** The id of the workflow that searches for open pull requests which no Lease of a cluster knows. */
export function orphanSearchId(cluster: string): string {
  return `orphan-search/${cluster}`;
}
