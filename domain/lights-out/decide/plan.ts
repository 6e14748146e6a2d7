/** What a schedule wants of every workload, and in which order it is done. */
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

/** What was found, and what is to be done first. */
export interface Plan {
  /** Namespaces in scope, sorted. */
  readonly namespaces: readonly string[];
  /** In the order in which they are to be done; at most `PLAN_LIMIT`, and `PLAN_LENGTH` together. */
  readonly items: readonly PlanItem[];
  /** All that are to be done, those beyond the limit and the withheld ones included. */
  readonly total: number;
  /** Of those, what a pause of their namespaces withholds: it is in `items` when that is over. Absent where nothing is. */
  readonly withheld?: number;
  readonly stats: Readonly<WorkloadStats>;
  /** Replicas that do not run now because of this schedule. */
  readonly savedReplicas: number;
  /** What is left as it is for a reason worth saying, sorted; at most `NOTES_LIMIT`. */
  readonly notes: readonly { readonly workload: string; readonly reason: KeepReason; readonly detail: string }[];
  readonly notesTotal: number;
  /** The earliest moment at which some workload is to be evaluated again; null where there is none. */
  readonly until: EpochMs | null;
}

/** Items of one observation: each is some 650 bytes of history, 1,000 with a ScaledObject, and 2,300 with the longest names. */
export const PLAN_LIMIT = 1_000;
/** Characters of the items of one observation, as JSON: Temporal takes no answer of an activity that is longer than two megabytes. */
export const PLAN_LENGTH = 1_000_000;
export const NOTES_LIMIT = 50;

export interface PlanInput {
  readonly context: EvaluationContext;
  readonly namespaces: readonly ScopedNamespace[];
  readonly workloads: readonly Workload[];
  /** What autoscalers with a schedule's annotations would scale, and is not there: without a UID, and with none but those autoscalers. */
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

/** Whether a workload that the schedule put down is down, at the level that the schedule keeps or below. */
function isDown(workload: Workload, spec: ScheduleSpec): boolean {
  const savedState = savedStateOf(workload);
  if (!isScaledDown(savedState, workload.kind)) return false;
  if (workload.replicas === null) return workload.isSuspended;
  return workload.replicas <= Math.min(originalReplicas(savedState), spec.downscaleReplicas);
}

/** Replicas that a workload would have if it had not been put down, beyond the pods that it still has. */
function savedOf(workload: Workload): number {
  const savedState = savedStateOf(workload);
  if (workload.replicas === null || !isScaledDown(savedState, workload.kind)) return 0;
  // By spec.replicas: pods take a moment to end, and that alone leads to no further observation.
  return Math.max(0, originalReplicas(savedState) - workload.replicas);
}

/** The moments of an object's annotations at which something else will hold. */
function expiriesOf({ annotations }: Workload | ScopedNamespace, now: EpochMs): readonly EpochMs[] {
  const { wakeUntil, sleepUntil } = overridesOf(annotations, now);
  return [wakeUntil, sleepUntil].filter((at) => at !== null);
}

/** Evaluates every workload, and puts what is to be done in order. */
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
    // There is nothing to hold down.
    if (evaluation.kind === 'change' && evaluation.item.direction === 'Up') items.push(evaluation.item);
  }
  // Before the cut: what may not be written must not take the places of what may.
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

/** Long names and autoscalers make an item several times as long. The rest is found by the next observation. */
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
