/** Computes what a schedule wants of every workload, and the order of the writes. */
import type { EpochMs } from '../../kernel/time.ts';
import { annotationProblems, overridesOf } from '../workload/annotations.ts';
import { evaluate } from '../workload/evaluate.ts';
import { isScaledDown, savedStateOf, originalReplicas } from '../workload/saved-state.ts';
import { inOrder } from './order.ts';
import { annotatedOwner, ownerOf } from '../workload/ownership.ts';
import { WORKLOAD_KINDS } from '../workload/kinds.ts';
import type { ScheduleSpec, WorkloadStats } from '../schedule/schedule.ts';
import { isInScope, namespacesInScope } from '../schedule/scope.ts';
import type { KeepReason, EvaluationContext, PlanItem } from '../workload/evaluation.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../workload/workload.ts';

/** The findings of an observation and the writes that come first. */
export interface Plan {
  /** Namespaces in scope, sorted. */
  readonly namespaces: readonly string[];
  /** In the order of writing; at most `PLAN_LIMIT` items with `PLAN_LENGTH` characters. */
  readonly items: readonly PlanItem[];
  /** The number of all items, including those beyond the limit and the withheld ones. */
  readonly total: number;
  /**
   * How many of them a pause of their namespace withholds; they are in `items` when the pause is over. Absent when
   * there are none.
   */
  readonly withheld?: number;
  readonly stats: Readonly<WorkloadStats>;
  /** Replicas that do not run because of this schedule. */
  readonly savedReplicas: number;
  /** Workloads that are left alone for a reason worth reporting, sorted; at most `NOTES_LIMIT`. */
  readonly notes: readonly { readonly workload: string; readonly reason: KeepReason; readonly detail: string }[];
  readonly notesTotal: number;
  /** The earliest moment at which a workload has to be evaluated again; null when there is none. */
  readonly until: EpochMs | null;
}

/**
 * Maximum of items in one observation: each takes some 650 bytes of history, 1,000 with a ScaledObject, and 2,300 with
 * the longest names.
 */
export const PLAN_LIMIT = 1_000;
/**
 * Maximum of characters of the items in one observation, as JSON: Temporal rejects activity results above two
 * megabytes.
 */
export const PLAN_LENGTH = 1_000_000;
export const NOTES_LIMIT = 50;

export interface PlanInput {
  readonly context: EvaluationContext;
  readonly namespaces: readonly ScopedNamespace[];
  readonly workloads: readonly Workload[];
  /** Targets of annotated autoscalers that do not exist: without a UID and with only those autoscalers. */
  readonly missing?: readonly Workload[];
  /** Whether a namespace is paused. */
  readonly isPaused?: (namespace: string) => boolean;
}

const NO_STATS: WorkloadStats = {
  deploymentsManaged: 0,
  deploymentsScaled: 0,
  statefulsetsManaged: 0,
  statefulsetsScaled: 0,
  cronjobsManaged: 0,
  cronjobsSuspended: 0,
};

/** Whether a workload that the schedule put to sleep has at most the replicas that the schedule keeps. */
function isDown(workload: Workload, spec: ScheduleSpec): boolean {
  const savedState = savedStateOf(workload);
  if (!isScaledDown(savedState, workload.kind)) return false;
  if (workload.replicas === null) return workload.isSuspended;
  return workload.replicas <= Math.min(originalReplicas(savedState), spec.downscaleReplicas);
}

/** The replicas that a workload would have if it had not been put to sleep, beyond its present ones. */
function savedOf(workload: Workload): number {
  const savedState = savedStateOf(workload);
  if (workload.replicas === null || !isScaledDown(savedState, workload.kind)) return 0;
  // By spec.replicas: pods take a moment to terminate, and their end alone causes no new observation.
  return Math.max(0, originalReplicas(savedState) - workload.replicas);
}

/** The moments at which an object's annotations expire. */
function expiriesOf({ annotations }: Workload | ScopedNamespace, now: EpochMs): readonly EpochMs[] {
  const { wakeUntil, sleepUntil } = overridesOf(annotations, now);
  return [wakeUntil, sleepUntil].filter((at) => at !== null);
}

/** Evaluates every workload and orders the items. */
export function planSchedule({
  context,
  namespaces,
  workloads,
  missing = [],
  isPaused = () => false,
}: PlanInput): Plan {
  const { spec, now, schedule, protectedNamespaces } = context;
  const byName = new Map(namespaces.map((namespace) => [namespace.name, namespace]));
  const inScope = namespacesInScope(spec, namespaces, protectedNamespaces);
  const items: PlanItem[] = [];
  const notes: Plan['notes'][number][] = [];
  const moments: EpochMs[] = context.overrides.map(({ until }) => until).filter((until) => until > now);
  const stats = { ...NO_STATS };
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
    const evaluation = evaluate(workload, namespace, context);
    if (evaluation.kind === 'change') items.push(evaluation.item);
    else if (evaluation.detail !== undefined) note(name, evaluation.reason, evaluation.detail);
    if (evaluation.kind === 'keep' && evaluation.until !== undefined) moments.push(evaluation.until);
    const isAnnotated = annotatedOwner(workload, context) === schedule;
    const isOwned =
      namespace !== null &&
      isInScope(workload, namespace, spec, protectedNamespaces) &&
      ownerOf(workload, namespace, context) === schedule;
    if (isOwned) {
      moments.push(...expiriesOf(workload, now));
      for (const problem of annotationProblems(workload.annotations, now)) note(name, 'BadAnnotation', problem);
    }
    const { managed, asleep } = WORKLOAD_KINDS[workload.kind].counters;
    if (isOwned || isAnnotated) stats[managed] += 1;
    if (isAnnotated) {
      if (isDown(workload, spec)) stats[asleep] += 1;
      savedReplicas += savedOf(workload);
    }
  }
  for (const workload of missing) {
    const evaluation = evaluate(workload, byName.get(workload.namespace) ?? null, context);
    // A target that does not exist cannot be put to sleep, only released.
    if (evaluation.kind === 'change' && evaluation.item.direction === 'Up') items.push(evaluation.item);
  }
  // Before the limit is applied: items that may not be written must not displace others.
  const allowed = items.filter(({ workload }) => !isPaused(workload.namespace));
  const withheld = items.length - allowed.length;
  const until = moments.reduce<EpochMs | null>((first, at) => (first === null || at < first ? at : first), null);
  return {
    namespaces: inScope,
    items: asManyAsFit(inOrder(allowed, context.failing)),
    total: items.length,
    ...(withheld === 0 ? {} : { withheld }),
    stats,
    savedReplicas,
    notes: notes
      .toSorted((a, b) => (a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : 0))
      .slice(0, NOTES_LIMIT),
    notesTotal: notes.length,
    until,
  };
}

/** Long names and autoscalers make an item several times as long. The next observation finds the rest. */
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
