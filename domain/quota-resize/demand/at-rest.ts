/**
 * Whether the owner of refused objects is done: its controller has seen its spec, and has created what admission let in.
 * Until then the number of missing objects may still change. Each kind says it in its own way.
 */
import {
  type Child,
  type DeploymentOwner,
  isDeleting,
  type JobOwner,
  type Metadata,
  type ReplicatedOwner,
} from './owner.ts';

/** An owner whose status says which write of its spec was seen. */
interface Observed {
  readonly metadata?: Metadata | undefined;
  readonly status?: { readonly observedGeneration?: number | undefined } | undefined;
}

/** Whether the controller of an owner has seen its present spec. */
export function hasSeenItsSpec({ metadata, status }: Observed): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
}

/**
 * A refused ReplicaSet or ReplicationController is done when it says that pods could not be created, and counts those that
 * there are: its controller writes the status after it has tried to create all that are missing.
 *
 * @param pods its pods, without those that have ended.
 * @param deployment of the ReplicaSet, which decides how many replicas it gets.
 */
export function isReplicatedAtRest(
  owner: ReplicatedOwner,
  pods: readonly Child[],
  deployment: DeploymentOwner | null = null,
): boolean {
  const { status } = owner;
  const isCounted = status?.replicas === pods.filter((pod) => !isDeleting(pod)).length;
  return hasSeenItsSpec(owner) && isFailing(owner) && isCounted && (deployment === null || hasSeenItsSpec(deployment));
}

/** Whether a ReplicaSet or ReplicationController creates pods at this moment, refused or not. */
export function isCreating(owner: ReplicatedOwner): boolean {
  if (isDeleting(owner)) return false;
  const isShort = (owner.status?.replicas ?? 0) < (owner.spec?.replicas ?? 1);
  return !hasSeenItsSpec(owner) || (isShort && !isFailing(owner));
}

/** A refused Job is done when its status counts the pods that there are: it is written after each attempt to create more. */
export function isJobAtRest({ status }: JobOwner, pods: readonly Child[]): boolean {
  return (status?.active ?? 0) === pods.filter((pod) => !isDeleting(pod)).length;
}

function isFailing({ status }: ReplicatedOwner): boolean {
  return (status?.conditions ?? []).some(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
}
