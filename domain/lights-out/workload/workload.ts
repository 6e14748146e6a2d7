import type { EpochMs } from '../../kernel/time.ts';
import type { WorkloadType } from '../schedule/names.ts';

/** Who last set the field that matters (`spec.replicas`, `spec.suspend`), by the object's managed fields. */
export interface FieldChange {
  readonly manager: string;
  /** Whole seconds; null when the entry has no time, as after `kubectl scale`: the API server omits it for `/scale`. */
  readonly at: EpochMs | null;
  /** For an entry without a time: an upper bound, because the controller has seen the object since. Absent: unknown. */
  readonly latest?: EpochMs;
  /**
   * Changed through `/scale`, or by an entry that owns nothing else of the spec: this field is certainly what was
   * changed.
   */
  readonly isOnlyIt: boolean;
}

/** Who last set a field of an autoscaler, and when. */
export interface SetBy {
  readonly manager: string;
  readonly at: EpochMs;
}

/** An autoscaler whose target is the workload. */
export type Autoscaler = {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Bytes by which its annotations may grow, where that is little. Absent: enough for all marks of a schedule. */
  readonly annotationRoom?: number;
  /** For the fields that hold it: its bounds, or KEDA's annotation. Absent when the managed fields do not tell. */
  readonly setBy?: Readonly<Partial<Record<'minReplicas' | 'maxReplicas' | 'paused', SetBy>>>;
} & (
  | { readonly kind: 'HorizontalPodAutoscaler'; readonly minReplicas: number; readonly maxReplicas: number }
  /** KEDA's. */
  | { readonly kind: 'ScaledObject' }
);

/** The data of a workload that a schedule needs. */
export interface Workload {
  readonly kind: WorkloadType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAt: EpochMs;
  readonly isDeleting: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Only the annotations that schedules write, and those by which people direct schedules. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Absent counts as 1, as Kubernetes itself has it; null for a CronJob or a ScaledJob. */
  readonly replicas: number | null;
  /** Whether its spec names no replicas. Only a Rollout may lack them, because the API server has no default for it. */
  readonly isUnwritten?: true;
  /** Whether a CronJob is suspended, or a ScaledJob paused; false for the others. */
  readonly isSuspended: boolean;
  /** Ready and existing replicas by the status; 0 where there are none. */
  readonly ready: number;
  readonly present: number;
  /** What one of its pods requests by the template: CPU in millicores, memory in bytes. Absent: nothing, or a CronJob. */
  readonly requests?: Readonly<Partial<Record<'cpu' | 'memory', number>>>;
  readonly changed: FieldChange | null;
  /** Who created the object, by its oldest entry in the managed fields; null when unknown. */
  readonly createdBy: string | null;
  readonly autoscalers: readonly Autoscaler[];
  /** A StatefulSet whose controller deletes the claims of the pods that it is scaled down by. */
  readonly deletesVolumes?: true;
  /**
   * The latest time at which its annotation sleep-until can have been written; absent when there is none or the time is
   * unknown. Whole seconds.
   */
  readonly sleepingSince?: EpochMs;
  /** Like `sleepingSince`, of the annotation with its own times. */
  readonly timesSince?: EpochMs;
  /** The object that owns it as a controller. */
  readonly controller?: {
    readonly group: string;
    readonly kind: string;
    readonly name: string;
    readonly uid?: string;
  };
  /** The owner whose number is set in place of its own; `replicas` and `changed` are the owner's then: see scaled-owner.ts. */
  readonly owner?: ScaledOwner & {
    /** What the workload itself has. */
    readonly workloadReplicas: number;
    /** Another workload of the owner has the owner's number as well. */
    readonly isShared?: true;
  };
  /** Like that of an autoscaler. */
  readonly annotationRoom?: number;
  /** Its marks were lost, and are those of the memory: see remembered.ts. */
  readonly isRecalled?: true;
  /** Replicas by its mark, and by the memory (null: it has none), where the memory counts: see remembered.ts. */
  readonly overruledMark?: { readonly marked: number; readonly remembered: number | null };
}

/** A custom resource with a scale subresource that owns a workload, and its number. */
export interface ScaledOwner extends OwnerResource {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt: EpochMs;
  readonly createdBy: string | null;
  /** Null where it has none. */
  readonly replicas: number | null;
  /** Of that number. */
  readonly changed: FieldChange | null;
}

/** How a kind of owners is asked for. */
export interface OwnerResource {
  /** The name of its CustomResourceDefinition: `widgets.example.com`. */
  readonly definition: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/** The data of a Namespace that scope and overrides need. */
export interface ScopedNamespace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isDeleting: boolean;
  readonly createdAt?: EpochMs;
  /** Like those of a workload. */
  readonly sleepingSince?: EpochMs;
  readonly timesSince?: EpochMs;
}

/** A workload by its name. */
export type WorkloadRef = Pick<Workload, 'kind' | 'namespace' | 'name'>;

/** `Deployment team-a/web`, for messages and as the key of a remembered workload. */
export function workloadName({ kind, namespace, name }: WorkloadRef): string {
  return `${kind} ${namespace}/${name}`;
}

/** What it was before it was put to sleep. */
export interface Saved {
  readonly original: string;
  readonly since: string;
  /** As the mark has it. Absent: the workload itself is set. */
  readonly owner?: string;
}
