/** The input and the result of the evaluation of a workload. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ScheduleState } from '../schedule/names.ts';
import type { InEffect } from '../schedule/in-effect.ts';
import type { Override } from '../schedule/override.ts';
import type { OwnTimesReader } from '../schedule/own-times.ts';
import type { Period } from '../schedule/period.ts';
import type { ScheduleSpec } from '../schedule/schedule.ts';
import type { ApprovedWorkloads } from './approved.ts';
import type { UnmarkedUids } from './unmarked.ts';
import type { RememberedWorkloads } from './remembered.ts';
import type { Autoscaler, OwnerResource, Saved, Workload, WorkloadRef } from './workload.ts';

/** Another schedule of the cluster, as a possible owner of a workload. */
export interface OtherSchedule {
  readonly name: string;
  readonly createdAt: EpochMs;
  readonly spec: ScheduleSpec;
  /**
   * Whether it puts nothing to sleep: suspended, a dry run, not approved, invalid, or being deleted. It still owns what
   * it annotated.
   */
  readonly isIdle: boolean;
  /** The schedule whose workloads it takes over when that is deleted. Absent: none. */
  readonly takesOver?: string;
}

/** The input that all workloads of one observation share. */
export interface EvaluationContext {
  readonly schedule: string;
  readonly createdAt: EpochMs;
  readonly spec: ScheduleSpec;
  readonly now: EpochMs;
  readonly period: Pick<Period, 'state' | 'since' | 'level'>;
  /** The schedule is being deleted or gone: everything that it put to sleep is restored unconditionally. */
  readonly isRestoringAll: boolean;
  /** Overrides by command and by the schedule's own annotations; past ones may be included. */
  readonly overrides: readonly Override[];
  /**
   * A moment at which everything was as the schedule wants it; null when unknown. If it is in the current night, a
   * workload that is up now was scaled up by somebody since. Before such a moment, a workload whose managed fields
   * changed for another reason (a new image) is not treated as scaled.
   */
  readonly completedAt: EpochMs | null;
  /** Namespaces that are never touched, whatever the schedule selects. */
  readonly protectedNamespaces: readonly string[];
  /** Field managers that are not people: GitOps engines scale to what Git says. */
  readonly gitopsManagers: readonly string[];
  readonly others: readonly OtherSchedule[];
  /** By `workloadName`: contested workloads, and when each may be put to sleep again at the earliest. */
  readonly contested: Readonly<Record<string, EpochMs>>;
  /** By `workloadName`: workloads that failed before and are written last. */
  readonly failing: readonly string[];
  /** What the schedule put to sleep, by the memory outside of the workloads. Absent: nothing is known. */
  readonly remembered?: RememberedWorkloads;
  /** Since this night began: which workloads the schedule selected until which edit. */
  readonly earlier?: InEffect['earlier'];
  /** Namespaces that came into its scope in this night, and when. */
  readonly joined?: Readonly<Record<string, EpochMs>>;
  /** When it was edited, resumed or approved in the middle of its present state. Absent: it was not. */
  readonly actsFrom?: EpochMs;
  /** Reads annotations with times of their own. Absent: none are followed. */
  readonly ownTimes?: OwnTimesReader;
  /** By the beginning of their UIDs: workloads that came into its scope in this night, and when. */
  readonly joinedWorkloads?: ReadonlyMap<string, EpochMs>;
  /** What was to be asleep and was not, at the last observation. Absent where that is not known, and for a single write. */
  readonly unmarked?: UnmarkedUids;
  /** The workloads that somebody has approved. Absent: none has to be, or whatever is selected is approved. */
  readonly approved?: ApprovedWorkloads;
}

/** Why a workload is left alone. */
export type KeepReason =
  /** As the schedule wants it. */
  | 'AsDesired'
  /** It has no more replicas than the schedule keeps. */
  | 'AtRest'
  | 'SuspendedByUser'
  /** Scaled up or created during the night, by a person or an unknown manager: left until the next transition. */
  | 'ChangedByPerson'
  /** Scaled up again by GitOps, and to be put to sleep again later. */
  | 'Contested'
  | 'Grace'
  /** People exclude it until a moment: see excluded.ts. */
  | 'Excluded'
  | 'OwnedByOther'
  /** Its namespace is paused. */
  | 'Paused'
  | 'Deleting'
  /** An annotation of the workload or its namespace cannot be read, or cannot be followed. */
  | 'BadAnnotation'
  /** The marks of a sleeping workload are gone; the memory has what it was. */
  | 'MarkLost'
  /** The mark and the memory have different numbers. */
  | 'MarkDiffers'
  /** A part of the cluster itself: see exempt.ts. */
  | 'Protected'
  /** Another controller sets its replicas. */
  | 'ControllerOwned'
  /** Nobody can know that the number of its owner is its own: see scaled-owner.ts. */
  | 'OwnerUnclear'
  /** Asleep by the number of its owner, which the operator has not followed yet. */
  | 'OwnerLags'
  /** Scaling it down would delete its volumes: see volumes.ts. */
  | 'DeletesVolumes'
  /** Its annotations, or those of an autoscaler, leave no room for the marks: see annotation-room.ts. */
  | 'AnnotationsFull'
  /** It joined after the approval, and nobody has approved it. */
  | 'NotApproved';

/** Why a workload is changed. */
export type ChangeReason =
  | 'Down'
  /** GitOps had scaled it up again. */
  | 'DownAgain'
  /** The schedule keeps another number of replicas now. */
  | 'DownTo'
  | 'Up'
  /** It left the schedule's scope while asleep. */
  | 'LeftScope'
  /** The schedule is being deleted, or gone. */
  | 'ScheduleDeleted'
  /** It is up although its annotations say asleep; the annotations are removed. */
  | 'Released';

/** What a schedule writes whole. */
export type ObjectKind = Workload['kind'] | Autoscaler['kind'];

/** A write of an object: a merge patch bound to the observed resourceVersion. */
export interface ObjectChange {
  readonly kind: ObjectKind | 'ScaledOwner';
  /** Of a ScaledOwner, whose scale subresource is written. */
  readonly of?: OwnerResource;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `spec` and `metadata.annotations|labels` of a merge patch; null takes a key away. */
  readonly patch: Readonly<Record<string, unknown>>;
}

/**
 * One item of a plan: a workload and its autoscalers by their names. What is written is evaluated again from the
 * objects that are there at the moment of the write.
 */
export interface PlanItem {
  readonly workload: WorkloadRef;
  readonly direction: ScheduleState;
  readonly reason: ChangeReason;
  /** The present and the planned replicas; null for a CronJob. */
  readonly from: number | null;
  readonly to: number | null;
  readonly priority: number;
  /** The owner whose number is set, `widgets.example.com/web`. Absent: its own is. */
  readonly owner?: string;
  /** Absent: it has none. */
  readonly autoscalers?: readonly Pick<Autoscaler, 'kind' | 'name'>[];
  /** Who had scaled it up, for `DownAgain`. */
  readonly manager?: string;
}

export type Evaluation =
  | {
      readonly kind: 'change';
      readonly item: PlanItem;
      /** In the order in which they are to be made. */
      readonly writes: readonly ObjectChange[];
      /** What it was before it was put to sleep, and since when it sleeps (RFC 3339). Only for what is put to sleep. */
      readonly saved?: Saved;
      /** A CronJob that is woken without the run that it missed while asleep. */
      readonly skipsMissedRuns?: true;
    }
  | {
      readonly kind: 'keep';
      readonly reason: KeepReason;
      /** One sentence for people, if there is something to report. */
      readonly detail?: string;
      /** When it has to be evaluated again at the latest. */
      readonly until?: EpochMs;
    };
