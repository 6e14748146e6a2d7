/**
 * Names that more than one process must agree on: workflow ids, schedule ids and task queues. Nobody else builds these
 * strings, so that an id is always the same lock.
 */

import type { ControllerName } from './controllers.ts';

/** A ResourceQuota in a namespace of a named cluster: what one quota-resize workflow is about. */
export interface QuotaTarget {
  readonly cluster: string;
  readonly namespace: string;
  readonly quota: string;
}

/** Workflow id of the resize episode of one quota; Temporal runs at most one workflow with this id. */
export function quotaResizeId(target: QuotaTarget): string {
  return `quota-resize/${target.cluster}/${target.namespace}/${target.quota}`;
}

/** Workflow id of the usage episode of one quota: from a change to a true status. */
export function quotaUsageId(target: QuotaTarget): string {
  return `quota-usage/${target.cluster}/${target.namespace}/${target.quota}`;
}

/** A LightsOutSchedule of a named cluster. */
export interface ScheduleTarget {
  readonly cluster: string;
  readonly schedule: string;
}

/** Workflow id of a LightsOutSchedule, for as long as it exists. */
export function lightsOutId(target: ScheduleTarget): string {
  return `lights-out/${target.cluster}/${target.schedule}`;
}

/** Id of the Schedule (and of the workflows it starts) that collects old Leases of a cluster. */
export function leaseGcId(cluster: string): string {
  return `lease-gc/${cluster}`;
}

const GITHUB_BUDGET = 'github-budget/';

/**
 * Workflow id of the budget of writes to GitHub of one credential. It names no cluster, because several may share the
 * credential.
 */
export function githubBudgetId({
  host,
  credentialId,
}: {
  readonly host: string;
  readonly credentialId: string;
}): string {
  return `${GITHUB_BUDGET}${host}/${credentialId}`;
}

/** `<host>/<credential id>`, from the id of a budget. */
export function githubBudgetTarget(workflowId: string): string {
  return workflowId.startsWith(GITHUB_BUDGET) ? workflowId.slice(GITHUB_BUDGET.length) : workflowId;
}

/**
 * Task queue of the budgets of writes to GitHub. Workers of every cluster poll it, for workflows only: a budget must not
 * stop with the cluster whose worker happened to start it.
 */
export const githubBudgetTaskQueue = 'headroom-github';

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
