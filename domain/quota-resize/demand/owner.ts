/** The fields of the owners of pods and claims that decide what they lack, in the shape of Kubernetes' JSON. */
import type { EpochMs } from '../../kernel/time.ts';
import type { Claim } from '../../quota-usage/volume-claim-charge.ts';
import type { Pod, PodSpec } from '../../quota-usage/pod.ts';
import { podCharge } from '../../quota-usage/pod-charge.ts';

/** A pod template's spec, in the shape of Kubernetes' JSON. */
export interface TemplateSpec extends PodSpec {
  readonly runtimeClassName?: string | undefined;
  readonly volumes?:
    | readonly {
        readonly name: string;
        /** An ephemeral volume: its claim is created for each pod and deleted with it. */
        readonly ephemeral?: { readonly volumeClaimTemplate?: ClaimTemplate | undefined } | undefined;
      }[]
    | undefined;
  /**
   * Dynamic resource allocation: for a template, a claim is created for each pod; a claim named directly exists
   * already.
   */
  readonly resourceClaims?: readonly { readonly resourceClaimTemplateName?: string | undefined }[] | undefined;
}

/** A StatefulSet's claim template; its name is the prefix of each claim's name. */
export type ClaimTemplate = Claim & { readonly metadata?: { readonly name?: string | undefined } | undefined };

export interface PodTemplate {
  readonly spec?: TemplateSpec | undefined;
}

export interface Metadata {
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
  /** Counts the writes of the spec. */
  readonly generation?: number | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly creationTimestamp?: Date | string | undefined;
  readonly deletionTimestamp?: Date | string | undefined;
  readonly ownerReferences?:
    | readonly { readonly uid: string; readonly kind?: string; readonly controller?: boolean | undefined }[]
    | undefined;
  readonly managedFields?:
    | readonly { readonly time?: Date | string | undefined; readonly subresource?: string | undefined }[]
    | undefined;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
}

/** Which write of its spec the controller of an owner has seen. */
interface ObservedStatus {
  readonly observedGeneration?: number | undefined;
}

/** A ReplicaSet or a ReplicationController. */
export interface ReplicatedOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?: { readonly replicas?: number | undefined; readonly template?: PodTemplate | undefined } | undefined;
  readonly status?:
    | (ObservedStatus & {
        readonly replicas?: number | undefined;
        readonly conditions?: readonly Condition[] | undefined;
      })
    | undefined;
}

export interface StatefulSetOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?:
    | {
        readonly replicas?: number | undefined;
        readonly template?: PodTemplate | undefined;
        readonly ordinals?: { readonly start?: number | undefined } | undefined;
        readonly volumeClaimTemplates?: readonly ClaimTemplate[] | undefined;
        readonly updateStrategy?:
          | { readonly rollingUpdate?: { readonly partition?: number | undefined } | undefined }
          | undefined;
      }
    | undefined;
  readonly status?:
    | (ObservedStatus & {
        readonly currentRevision?: string | undefined;
        readonly updateRevision?: string | undefined;
      })
    | undefined;
}

export interface DaemonSetOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?:
    | {
        readonly template?: PodTemplate | undefined;
        readonly updateStrategy?:
          | {
              readonly type?: string | undefined;
              readonly rollingUpdate?: { readonly maxSurge?: number | string | undefined } | undefined;
            }
          | undefined;
      }
    | undefined;
  readonly status?:
    | (ObservedStatus & {
        readonly desiredNumberScheduled?: number | undefined;
        readonly updatedNumberScheduled?: number | undefined;
        /** Nodes that have a pod and should have none. */
        readonly numberMisscheduled?: number | undefined;
      })
    | undefined;
}

export interface JobSpec {
  readonly parallelism?: number | undefined;
  readonly completions?: number | undefined;
  readonly suspend?: boolean | undefined;
  readonly template?: PodTemplate | undefined;
}

export interface JobOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?: JobSpec | undefined;
  readonly status?:
    | {
        readonly active?: number | undefined;
        readonly succeeded?: number | undefined;
        /** The indexes that are not tried again, as `1,4-6`. */
        readonly failedIndexes?: string | undefined;
        readonly conditions?: readonly Condition[] | undefined;
      }
    | undefined;
}

export interface CronJobOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?:
    | {
        readonly suspend?: boolean | undefined;
        readonly jobTemplate?: { readonly spec?: JobSpec | undefined } | undefined;
      }
    | undefined;
  readonly status?: { readonly lastScheduleTime?: Date | string | undefined } | undefined;
}

export interface DeploymentOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?:
    | {
        readonly replicas?: number | undefined;
        /** Its ReplicaSets are kept at its replicas, and its template is not rolled out. */
        readonly paused?: boolean | undefined;
        readonly strategy?:
          | {
              readonly type?: string | undefined;
              readonly rollingUpdate?: { readonly maxSurge?: number | string | undefined } | undefined;
            }
          | undefined;
      }
    | undefined;
  readonly status?: (ObservedStatus & { readonly conditions?: readonly Condition[] | undefined }) | undefined;
}

/** An object that belongs to an owner. */
export interface Child {
  readonly metadata?: Metadata | undefined;
}

/** Whether `child` is controlled by the owner with this UID; another object with the owner's name does not count. */
export function isControlledBy(child: Child, ownerUid: string): boolean {
  return (child.metadata?.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === ownerUid);
}

/**
 * The pods of an owner that a quota still charges. A pod that is being deleted is included: its successor uses the
 * charge that it frees.
 */
export function chargedPods<P extends Pod & Child>(pods: readonly P[], ownerUid: string, now: EpochMs): readonly P[] {
  // A pod that has terminated, or whose deletion is stuck, is charged only `count/pods`.
  return pods.filter((pod) => isControlledBy(pod, ownerUid) && 'pods' in podCharge(pod, now));
}

/**
 * The pods that are being deleted and whose grace is not over. A successor that is refused until they are gone is let in
 * then, by what they free; whatever outlives its grace may never free it.
 */
export function leavingPods<P extends Child>(pods: readonly P[], now: EpochMs): readonly P[] {
  return pods.filter(({ metadata }) => timesOf(metadata?.deletionTimestamp).some((end) => end > now));
}

/** The UID of the Deployment that controls a ReplicaSet; null for a ReplicaSet without one. */
export function deploymentUidOf(replicaSet: Child): string | null {
  const owner = (replicaSet.metadata?.ownerReferences ?? []).find((reference) => reference.controller === true);
  return owner?.kind === 'Deployment' ? owner.uid : null;
}

/** Since when an owner has had its present template. */
export interface TemplateAge {
  /** Null: it never had another one. Infinity: nothing is recorded. */
  readonly since: EpochMs | null;
  /** Whether the template itself was written then; if not, it was something of the object, perhaps the template. */
  readonly isExact: boolean;
}

/** The age of a template that never changed. */
export const ALWAYS: TemplateAge = { since: null, isExact: true };

/**
 * The age of an owner's template. It is exact for an owner whose spec was written once, for a ReplicaSet of a
 * Deployment, which is created anew for each template, and where the controller has made a revision of the template;
 * otherwise it is the last write of anything but the status, as far as managedFields tell.
 *
 * @param revision the ControllerRevision of the present template.
 */
export function templateAge(owner: Child, revision: Child | null = null): TemplateAge {
  if (deploymentUidOf(owner) !== null || owner.metadata?.generation === 1) return ALWAYS;
  // A template that comes back gets its old revision again, with a higher number: a write of the revision.
  const made = revision === null ? [] : [...timesOf(revision.metadata?.creationTimestamp), ...writesOf(revision)];
  if (made.length > 0) return { since: Math.max(...made), isExact: true };
  const writes = writesOf(owner);
  // Whoever may write an object may also delete the record of its writes.
  return { since: writes.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...writes), isExact: false };
}

/** The times of the writes of anything but the status and the scale. */
function writesOf({ metadata }: Child): readonly EpochMs[] {
  return (metadata?.managedFields ?? []).flatMap(({ time, subresource }) =>
    subresource !== undefined && subresource !== '' ? [] : timesOf(time),
  );
}

function timesOf(time: Date | string | undefined): readonly EpochMs[] {
  return time === undefined ? [] : [new Date(time).getTime()];
}

export function isDeleting(owner: { readonly metadata?: Metadata | undefined }): boolean {
  return owner.metadata?.deletionTimestamp !== undefined;
}
