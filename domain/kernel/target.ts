/**
 * Targets and task queues that several processes must agree on. The workflow ids are built only in `target.ts` of each
 * controller, so that the same target always has the same id.
 */

import type { ControllerName } from './controllers.ts';

/** A ResourceQuota in a namespace of a named cluster. */
export interface QuotaTarget {
  readonly cluster: string;
  readonly namespace: string;
  readonly quota: string;
}

/**
 * The task queue of a cluster's workflows. It contains the cluster's name, so that no cluster runs another's workflows.
 */
export function taskQueue(cluster: string): string {
  return `headroom/${cluster}`;
}

/**
 * The task queue of one controller's activities, besides that of a cluster's workflows. Each has its own slots, so that
 * a backlog of one controller delays no other.
 */
export function activityTaskQueue(workflowTaskQueue: string, controller: ControllerName): string {
  return `${workflowTaskQueue}/${controller}`;
}

/** Task queue of the activities that read the informer caches of a cluster; its starters poll it. */
export function cacheTaskQueue(cluster: string): string {
  return `headroom-cache/${cluster}`;
}

/** The pause subject of a write about a quota. */
export function quotaPauseSubject(
  controller: ControllerName,
  target: QuotaTarget,
): { readonly controller: ControllerName; readonly namespace: string; readonly name: string } {
  return { controller, namespace: target.namespace, name: targetName(target) };
}

/** Whether both are the same quota of one cluster. */
export function isSameQuota(a: Pick<QuotaTarget, 'namespace' | 'quota'>, b: typeof a): boolean {
  return a.namespace === b.namespace && a.quota === b.quota;
}

/** `<namespace>/<quota>`, the value of the search attribute `HeadroomTarget` and the short name in messages. */
export function targetName(target: Pick<QuotaTarget, 'namespace' | 'quota'>): string {
  return `${target.namespace}/${target.quota}`;
}
