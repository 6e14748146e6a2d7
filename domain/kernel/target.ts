/**
 * Targets and task queues that more than one process must agree on. The workflow ids are in `target.ts` of each controller:
 * nobody else builds these strings, so that an id is always the same lock.
 */

import type { ControllerName } from './controllers.ts';

/** A ResourceQuota in a namespace of a named cluster. */
export interface QuotaTarget {
  readonly cluster: string;
  readonly namespace: string;
  readonly quota: string;
}

/** Task queue of a cluster's workflows. It carries the cluster's name so that no cluster runs another's. */
export function taskQueue(cluster: string): string {
  return `headroom/${cluster}`;
}

/**
 * Task queue of the activities of one controller, beside that of a cluster's workflows. Each has slots of its own, so that
 * a backlog of one controller delays no other.
 */
export function activityTaskQueue(workflowTaskQueue: string, controller: ControllerName): string {
  return `${workflowTaskQueue}/${controller}`;
}

/** Task queue of the activities that read the informer caches of a cluster; its starters poll it. */
export function cacheTaskQueue(cluster: string): string {
  return `headroom-cache/${cluster}`;
}

/** What a controller wants to write for when it is about a quota. */
export function quotaPauseSubject(
  controller: ControllerName,
  target: QuotaTarget,
): { readonly controller: ControllerName; readonly namespace: string; readonly name: string } {
  return { controller, namespace: target.namespace, name: targetName(target) };
}

/** `<namespace>/<quota>`, the value of the search attribute `HeadroomTarget` and the short name in messages. */
export function targetName(target: QuotaTarget): string {
  return `${target.namespace}/${target.quota}`;
}
