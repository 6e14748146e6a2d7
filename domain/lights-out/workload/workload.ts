import type { EpochMs } from '../../kernel/time.ts';
import type { WorkloadType } from '../schedule/names.ts';

/** Who last set the field that matters (`spec.replicas`, `spec.suspend`), by the object's managed fields. */
export interface FieldChange {
  readonly manager: string;
  /** Whole seconds; null where the entry does not say, as that of `kubectl scale`: the API server gives those of `/scale` none. */
  readonly at: EpochMs | null;
  /** Of one that does not say: not later than this, because the controller has looked at it since. Absent: not known. */
  readonly latest?: EpochMs;
  /** Through `/scale`, or by an entry that owns nothing else of the spec: surely this field is what was changed. */
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
  /** Of what it is held by: its bounds, or KEDA's annotation. Absent where the managed fields do not say it. */
  readonly setBy?: Readonly<Partial<Record<'minReplicas' | 'maxReplicas' | 'paused', SetBy>>>;
} & (
  | { readonly kind: 'HorizontalPodAutoscaler'; readonly minReplicas: number; readonly maxReplicas: number }
  /** KEDA's. */
  | { readonly kind: 'ScaledObject' }
);

/** What a schedule needs to know of a workload. */
export interface Workload {
  readonly kind: WorkloadType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAt: EpochMs;
  readonly isDeleting: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Those of the schedule and its people only. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Absent counts as 1, as Kubernetes itself has it; null for a CronJob. */
  readonly replicas: number | null;
  /** Of a CronJob; false for the others. */
  readonly isSuspended: boolean;
  /** Replicas that are ready, and that exist, by the status; 0 for a CronJob. */
  readonly ready: number;
  readonly present: number;
  readonly changed: FieldChange | null;
  /** Who made the object: the manager of its oldest entry; null where it is not said. */
  readonly createdBy: string | null;
  readonly autoscalers: readonly Autoscaler[];
  /** When its annotation sleep-until was written, at the latest; absent where there is none, or nothing says it. Whole seconds. */
  readonly sleepingSince?: EpochMs;
}

/** A Namespace as far as scope and overrides go. */
export interface ScopedNamespace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isDeleting: boolean;
  /** As that of a workload. */
  readonly sleepingSince?: EpochMs;
}

/** `Deployment team-a/web`, in messages and as the key of what is remembered of a workload. */
export function workloadName({ kind, namespace, name }: Pick<Workload, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace}/${name}`;
}
