/** What a schedule wants of every workload, and in which order it is done. */
import type { EpochMs } from '../../kernel/time.ts';
import { annotationProblems, overridesOf } from '../workload/annotations.ts';
import { judge } from '../workload/judge.ts';
import { isPutDown, marksOf, originalReplicas } from '../workload/marks.ts';
import type { ScheduleState, WorkloadType } from '../schedule/names.ts';
import { inOrder } from './order.ts';
import type { Override } from '../schedule/override.ts';
import { markedBy, ownerOf } from '../workload/ownership.ts';
import type { Period } from '../schedule/period.ts';
import type { ScheduleSpec } from '../schedule/schedule.ts';
import { isInScope, namespacesInScope } from '../schedule/scope.ts';
import { type Autoscaler, type ScopedNamespace, type Workload, workloadName } from '../workload/workload.ts';

/** Another schedule of the cluster, as far as it can own a workload. */
export interface OtherSchedule {
  readonly name: string;
  readonly createdAt: EpochMs;
  readonly spec: ScheduleSpec;
  /** It puts nothing down: suspended, a dry run, not approved, invalid, or being deleted. What it marked is its own all the same. */
  readonly isIdle: boolean;
}

/** What is the same for every workload in one look. */
export interface PlanContext {
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
  readonly settledAt: EpochMs | null;
  /** Never touched, whatever the schedule selects. */
  readonly protectedNamespaces: readonly string[];
  /** Managers whose writes are not people's: GitOps engines put up what Git says. */
  readonly gitopsManagers: readonly string[];
  readonly others: readonly OtherSchedule[];
  /** By `workloadName`: those that are put up again and again, and not before when they are put down once more. */
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
  /** Put up or created while down, by a person or by nobody known: respected until the next transition. */
  | 'ChangedByPerson'
  /** Put up again by GitOps, and put down again later. */
  | 'Contested'
  | 'Grace'
  | 'OwnedByOther'
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
  /** Its marks say something else than what it is: it is up, and the marks go. */
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

export type Judgement =
  | { readonly kind: 'change'; readonly item: PlanItem }
  | {
      readonly kind: 'keep';
      readonly reason: KeepReason;
      /** One sentence for people, where there is something to say. */
      readonly detail?: string;
      /** When it is to be looked at again at the latest. */
      readonly until?: EpochMs;
    };

/** What was found, and what is to be done first. */
export interface Plan {
  /** Namespaces in scope, sorted. */
  readonly namespaces: readonly string[];
  /** In the order in which they are to be done; at most `PLAN_LIMIT`, and `PLAN_LENGTH` together. */
  readonly items: readonly PlanItem[];
  /** All that are to be done, those beyond the limit included. */
  readonly total: number;
  readonly stats: {
    readonly deploymentsManaged: number;
    readonly deploymentsScaled: number;
    readonly statefulsetsManaged: number;
    readonly statefulsetsScaled: number;
    readonly cronjobsManaged: number;
    readonly cronjobsSuspended: number;
  };
  /** Replicas that do not run now because of this schedule. */
  readonly savedReplicas: number;
  /** What is left as it is for a reason worth saying, sorted; at most `NOTES_LIMIT`. */
  readonly notes: readonly { readonly workload: string; readonly reason: KeepReason; readonly detail: string }[];
  readonly notesTotal: number;
  /** The earliest moment at which some workload is to be looked at again; null where there is none. */
  readonly until: EpochMs | null;
}

/** Items of one look: each is some 650 bytes of history, 1,000 with a ScaledObject, and 2,300 with the longest names. */
export const PLAN_LIMIT = 1_000;
/** Characters of the items of one look, as JSON: Temporal takes no answer of an activity that is longer than two megabytes. */
export const PLAN_LENGTH = 1_000_000;
export const NOTES_LIMIT = 50;

export interface PlanInput {
  readonly context: PlanContext;
  readonly namespaces: readonly ScopedNamespace[];
  readonly workloads: readonly Workload[];
  /** What autoscalers with a schedule's marks would scale, and is not there: without a UID, and with none but those autoscalers. */
  readonly missing?: readonly Workload[];
}

const STATS = {
  deploymentsManaged: 0,
  deploymentsScaled: 0,
  statefulsetsManaged: 0,
  statefulsetsScaled: 0,
  cronjobsManaged: 0,
  cronjobsSuspended: 0,
};

/** The fields of the statistics in which a kind is counted. */
const COUNTED: Readonly<Record<WorkloadType, readonly [managed: keyof typeof STATS, down: keyof typeof STATS]>> = {
  Deployment: ['deploymentsManaged', 'deploymentsScaled'],
  StatefulSet: ['statefulsetsManaged', 'statefulsetsScaled'],
  CronJob: ['cronjobsManaged', 'cronjobsSuspended'],
};

/** Whether a workload that the schedule put down is down, at the level that the schedule keeps or below. */
function isDown(workload: Workload, spec: ScheduleSpec): boolean {
  const marks = marksOf(workload);
  if (!isPutDown(marks, workload.kind)) return false;
  if (workload.replicas === null) return workload.isSuspended;
  return workload.replicas <= Math.min(originalReplicas(marks), spec.downscaleReplicas);
}

/** Replicas that a workload would have if it had not been put down, beyond the pods that it still has. */
function savedOf(workload: Workload): number {
  const marks = marksOf(workload);
  if (workload.replicas === null || !isPutDown(marks, workload.kind)) return 0;
  // By what is asked for: pods take a moment to end, and nobody looks again just for that.
  return Math.max(0, originalReplicas(marks) - workload.replicas);
}

/** The moments of an object's annotations at which something else will hold. */
function expiriesOf({ annotations }: Workload | ScopedNamespace, now: EpochMs): readonly EpochMs[] {
  const { wakeUntil, sleepUntil } = overridesOf(annotations, now);
  return [wakeUntil, sleepUntil].filter((at) => at !== null);
}

/** Judges every workload, and puts what is to be done in order. */
export function planSchedule({ context, namespaces, workloads, missing = [] }: PlanInput): Plan {
  const { spec, now, schedule, protectedNamespaces } = context;
  const byName = new Map(namespaces.map((namespace) => [namespace.name, namespace]));
  const inScope = namespacesInScope(spec, namespaces, protectedNamespaces);
  const items: PlanItem[] = [];
  const notes: Plan['notes'][number][] = [];
  const moments: EpochMs[] = context.overrides.map(({ until }) => until).filter((until) => until > now);
  const stats = { ...STATS };
  let savedReplicas = 0;
  const note = (workload: string, reason: KeepReason, detail: string): void => {
    notes.push({ workload, reason, detail });
  };
  for (const name of inScope) {
    const namespace = byName.get(name);
    if (namespace === undefined) continue;
    moments.push(...expiriesOf(namespace, now));
    for (const problem of overridesOf(namespace.annotations, now).problems) {
      note(`Namespace ${name}`, 'BadAnnotation', problem);
    }
  }
  for (const workload of workloads) {
    const name = workloadName(workload);
    const namespace = byName.get(workload.namespace) ?? null;
    const judgement = judge(workload, namespace, context);
    if (judgement.kind === 'change') items.push(judgement.item);
    else if (judgement.detail !== undefined) note(name, judgement.reason, judgement.detail);
    if (judgement.kind === 'keep' && judgement.until !== undefined) moments.push(judgement.until);
    const isMarked = markedBy(workload, context) === schedule;
    const isOwned =
      namespace !== null &&
      isInScope(workload, namespace, spec, protectedNamespaces) &&
      ownerOf(workload, namespace, context) === schedule;
    if (isOwned) {
      moments.push(...expiriesOf(workload, now));
      for (const problem of annotationProblems(workload.annotations, now)) note(name, 'BadAnnotation', problem);
    }
    const [managed, down] = COUNTED[workload.kind];
    if (isOwned || isMarked) stats[managed] += 1;
    if (isMarked) {
      if (isDown(workload, spec)) stats[down] += 1;
      savedReplicas += savedOf(workload);
    }
  }
  for (const workload of missing) {
    const judgement = judge(workload, byName.get(workload.namespace) ?? null, context);
    // There is nothing to hold down.
    if (judgement.kind === 'change' && judgement.item.direction === 'Up') items.push(judgement.item);
  }
  const until = moments.reduce<EpochMs | null>((first, at) => (first === null || at < first ? at : first), null);
  return {
    namespaces: inScope,
    items: asManyAsFit(inOrder(items, context.failing)),
    total: items.length,
    stats,
    savedReplicas,
    notes: notes
      .toSorted((a, b) => (a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : 0))
      .slice(0, NOTES_LIMIT),
    notesTotal: notes.length,
    until,
  };
}

/** Long names and autoscalers make an item several times as long. The rest is found by the next look. */
function asManyAsFit(items: readonly PlanItem[]): readonly PlanItem[] {
  const fit: PlanItem[] = [];
  let length = 0;
  for (const item of items) {
    length += JSON.stringify(item).length;
    if (fit.length === PLAN_LIMIT || (length > PLAN_LENGTH && fit.length > 0)) break;
    fit.push(item);
  }
  return fit;
}
