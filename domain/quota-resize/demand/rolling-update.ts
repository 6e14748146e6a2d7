/** The rolling update of a Deployment: what it adds for as long as it lasts, and what it still has to replace. */
import type { Pod } from '../../quota-usage/pod.ts';
import { type Child, type DeploymentOwner, isControlledBy, type ReplicatedOwner } from './owner.ts';

/** A rolling update that has more to come than is missing now: pods that take the place of others, which may be smaller. */
export interface Rollout {
  /** The replicas at its end. */
  readonly replicas: number;
  /** How many pods there may be beyond them while it lasts. */
  readonly maxSurge: number;
  /** The pods of the new template that are there. */
  readonly updated: readonly Pod[];
  /** The pods of earlier templates that are there. */
  readonly outdated: readonly Pod[];
}

/** On a Deployment and its ReplicaSets: the number of the template, counted up. */
const REVISION = 'deployment.kubernetes.io/revision';

/**
 * The rolling update of a Deployment to the template of this ReplicaSet; undefined where the ReplicaSet is an earlier one,
 * or there is nothing left to replace.
 *
 * @param pods the pods of the Deployment that a quota counts.
 */
export function rolloutOf(
  deployment: DeploymentOwner,
  replicaSet: ReplicatedOwner,
  pods: readonly (Pod & Child)[],
): Rollout | undefined {
  const revision = deployment.metadata?.annotations?.[REVISION];
  const uid = replicaSet.metadata?.uid ?? '';
  const outdated = pods.filter((pod) => !isControlledBy(pod, uid));
  if (revision === undefined || replicaSet.metadata?.annotations?.[REVISION] !== revision) return undefined;
  if (outdated.length === 0) return undefined;
  const { replicas = 1, strategy } = deployment.spec ?? {};
  return {
    replicas,
    maxSurge: strategy?.type === 'Recreate' ? 0 : shareOf(strategy?.rollingUpdate?.maxSurge ?? '25%', replicas),
    updated: pods.filter((pod) => isControlledBy(pod, uid)),
    outdated,
  };
}

/** How many pods the ReplicaSets of a Deployment want beyond its replicas: the surge of a rolling update, while it lasts. */
export function rollingSurge(deployment: DeploymentOwner, replicaSets: readonly ReplicatedOwner[]): number {
  const uid = deployment.metadata?.uid ?? '';
  const wanted = replicaSets
    .filter((replicaSet) => isControlledBy(replicaSet, uid))
    .reduce((sum, replicaSet) => sum + (replicaSet.spec?.replicas ?? 1), 0);
  return Math.max(0, wanted - (deployment.spec?.replicas ?? 1));
}

/** `maxSurge` as a number of pods: a share is rounded up, as Kubernetes does. */
export function shareOf(value: number | string, total: number): number {
  if (typeof value === 'number') return value;
  const percent = /^([0-9]+)%$/.exec(value)?.[1];
  return percent === undefined ? 0 : Math.ceil((Number(percent) * total) / 100);
}
