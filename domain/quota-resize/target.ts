import type { QuotaTarget } from '../kernel/target.ts';

/** Workflow id of the resize episode of one quota; Temporal runs at most one workflow with this id. */
export function quotaResizeId(target: QuotaTarget): string {
  return `quota-resize/${target.cluster}/${target.namespace}/${target.quota}`;
}
