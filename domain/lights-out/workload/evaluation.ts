/** What a workload is evaluated by, and what comes of it. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ScheduleState } from '../schedule/names.ts';
import type { Override } from '../schedule/override.ts';
import type { Period } from '../schedule/period.ts';
import type { ScheduleSpec } from '../schedule/schedule.ts';
import type { Autoscaler, Workload } from './workload.ts';

/** Another schedule of the cluster, as far as it can own a workload. */
export interface OtherSchedule {
  readonly name: string;
  readonly createdAt: EpochMs;
  readonly spec: ScheduleSpec;
  /** It puts nothing down: suspended, a dry run, not approved, invalid, or being deleted. What it annotated is its own all the same. */
  readonly isIdle: boolean;
}

/** What is the same for every workload in one observation. */
export interface EvaluationContext {
  readonly schedule: string;
  readonly createdAt: EpochMs;
  readonly spec: ScheduleSpec;
  readonly now: EpochMs;
  readonly period: Pick<Period, 'state' | 'since'>;
  /** The schedule is being deleted, or gone: everything that it put down is restored, whatever else holds. */
  readonly isRestoringAll: boolean;
  /** Of people, by command and by the schedule's own annotations; those that are over may be among them. */
  readonly overrides: readonly Override[];
  /**
   * A moment at which everything was as it should be; null where that is not known. Where it is in the night, or in the sleep,
   * that holds now, what is up was put up by somebody since. Before that, a workload whose managed fields changed for another
   * reason (a new image) is not taken for one that was scaled.
   */
  readonly completedAt: EpochMs | null;
  /** Never touched, whatever the schedule selects. */
  readonly protectedNamespaces: readonly string[];
  /** Managers whose writes are not people's: GitOps engines put up what Git says. */
  readonly gitopsManagers: readonly string[];
  readonly others: readonly OtherSchedule[];
  /** By `workloadName`: those that are scaled up again and again, and the earliest moment at which each is put to sleep again. */
  readonly contested: Readonly<Record<string, EpochMs>>;
  /** By `workloadName`: tried last, because they failed before. */
  readonly failing: readonly string[];
}

/** Why a workload is left as it is. */
export type KeepReason =
  /** As the schedule wants it. */
  | 'AsDesired'
  /** It had no more replicas than the schedule keeps. */
  | 'AtRest'
  | 'SuspendedByUser'
  /** Scaled up or created during the night, by a person or an unknown manager: left until the next transition. */
  | 'ChangedByPerson'
  /** Scaled up again by GitOps, and put to sleep again later. */
  | 'Contested'
  | 'Grace'
  | 'OwnedByOther'
  /** Its namespace is paused. */
  | 'Paused'
  | 'Deleting'
  /** The annotation wake-until or sleep-until, of the workload or its namespace, cannot be read. */
  | 'BadAnnotation';

/** What is done to a workload. */
export type ChangeReason =
  | 'Down'
  /** GitOps had put it up again. */
  | 'DownAgain'
  /** The schedule keeps another number of replicas now. */
  | 'DownTo'
  | 'Up'
  /** It left the scope while down. */
  | 'LeftScope'
  /** The schedule is being deleted, or gone. */
  | 'ScheduleDeleted'
  /** Its annotations say something else than what it is: it is up, and the annotations go. */
  | 'Released';

/** How an object is to be written: a merge patch against the version that was seen. */
export interface ObjectChange {
  readonly kind: Workload['kind'] | Autoscaler['kind'];
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `spec` and `metadata.annotations|labels` of a merge patch; null takes a key away. */
  readonly patch: Readonly<Record<string, unknown>>;
}

/** One step of a plan: a workload with the autoscalers that go with it, written in this order. */
export interface PlanItem {
  readonly workload: Pick<Workload, 'kind' | 'namespace' | 'name' | 'uid'>;
  readonly direction: ScheduleState;
  readonly reason: ChangeReason;
  /** Replicas that it has now, and is to have; null for a CronJob. */
  readonly from: number | null;
  readonly to: number | null;
  readonly priority: number;
  readonly writes: readonly ObjectChange[];
  /** Who had put it up, for `DownAgain`. */
  readonly manager?: string;
}

export type Evaluation =
  | { readonly kind: 'change'; readonly item: PlanItem }
  | {
      readonly kind: 'keep';
      readonly reason: KeepReason;
      /** One sentence for people, where there is something to say. */
      readonly detail?: string;
      /** When it is to be evaluated again at the latest. */
      readonly until?: EpochMs;
    };
