/** The rolling update of a Deployment: its surge, and the pods that it still has to replace. */
import type { Pod } from '../../quota-usage/pod.ts';
import { type Child, type DeploymentOwner, isControlledBy, type ReplicatedOwner } from './owner.ts';

/** A rolling update that will create more pods than are missing now, in place of old ones that may be smaller. */
export interface Rollout {
  /** The number of replicas at the end of the update. */
  readonly replicas: number;
  /** How many pods may exist beyond `replicas` during the update. */
  readonly maxSurge: number;
  /** The existing pods of the new template. */
  readonly updated: readonly Pod[];
  /** The existing pods of earlier templates. */
  readonly outdated: readonly Pod[];
}

/** Annotation of a Deployment and its ReplicaSets: the revision number of the template. */
const REVISION = 'deployment.kubernetes.io/revision';

/**
 * The rolling update of a Deployment to the template of this ReplicaSet; undefined when the ReplicaSet has an earlier
 * template, nothing is left to replace, or the Deployment is paused.
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
  if (outdated.length === 0 || deployment.spec?.paused === true) return undefined;
  const { replicas = 1, strategy } = deployment.spec ?? {};
  return {
    replicas,
    maxSurge: strategy?.type === 'Recreate' ? 0 : shareOf(strategy?.rollingUpdate?.maxSurge ?? '25%', replicas),
    updated: pods.filter((pod) => isControlledBy(pod, uid)),
    outdated,
  };
}

/** How many pods the ReplicaSets of a Deployment want beyond its replicas: the surge of a running rolling update. */
export function rollingSurge(deployment: DeploymentOwner, replicaSets: readonly ReplicatedOwner[]): number {
  const uid = deployment.metadata?.uid ?? '';
  const wanted = replicaSets
    .filter((replicaSet) => isControlledBy(replicaSet, uid))
    .reduce((sum, replicaSet) => sum + (replicaSet.spec?.replicas ?? 1), 0);
  return Math.max(0, wanted - (deployment.spec?.replicas ?? 1));
}

/** `maxSurge` as a number of pods; a percentage is rounded up, as in Kubernetes. */
export function shareOf(value: number | string, total: number): number {
  if (typeof value === 'number') return value;
  const percent = /^([0-9]+)%$/.exec(value)?.[1];
  return percent === undefined ? 0 : Math.ceil((Number(percent) * total) / 100);
}
