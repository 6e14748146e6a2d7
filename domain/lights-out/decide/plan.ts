/** Computes what a schedule wants of every workload, and the order of the writes. */
import type { EpochMs } from '../../kernel/time.ts';
import { annotationProblems, overridesOf } from '../workload/annotations.ts';
import { exclusionProblem } from '../workload/excluded.ts';
import { desiredOf } from '../workload/desired.ts';
import { evaluate, evaluateWanted } from '../workload/evaluate.ts';
import { isScaledDown, labelValue, originalReplicas, savedStateOf } from '../workload/saved-state.ts';
import { inOrder } from './order.ts';
import { type Note, Notes } from './notes.ts';
import { packItem } from './packed.ts';
import { type IdleByNamespace, IdleCount } from './savings.ts';
import { type ScopeDigest, scopeDigest } from './scope-digest.ts';
import { disagreement, recalled } from '../workload/remembered.ts';
import { expiriesOf, ownChange } from '../workload/moments.ts';
import { ignored, namespaceWishes } from '../workload/own-wishes.ts';
import { carriedJoins, isUnapproved, type Night } from '../workload/joined.ts';
import { annotatedOwner, belongs } from '../workload/ownership.ts';
import { WORKLOAD_KINDS } from '../workload/kinds.ts';
import { MANAGED_BY } from '../schedule/names.ts';
import { replicasAt } from '../schedule/level.ts';
import type { WorkloadStats } from '../schedule/schedule.ts';
import { namespacesInScope } from '../schedule/scope.ts';
import type { KeepReason, EvaluationContext, PlanItem } from '../workload/evaluation.ts';
import type { JoinedWorkloads, Unmarked } from '../workload/unmarked.ts';
import { wantedOf } from '../workload/wanted.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../workload/workload.ts';

/** The findings of an observation, and what is to be written first. */
export interface Plan {
  /** Namespaces in scope, sorted. */
  readonly namespaces: readonly string[];
  /** In the order of writing; at most `PLAN_LIMIT` items with `PLAN_LENGTH` characters. */
  readonly items: readonly PlanItem[];
  /** Those of the namespaces that came into scope in this night, and when. Absent: none. */
  readonly joined?: Readonly<Record<string, EpochMs>>;
  /** Those of the workloads that came into scope in this night by themselves, by when. Absent: none. */
  readonly joinedWorkloads?: readonly JoinedWorkloads[];
  /** What is to be asleep and is not. Absent in the history of an earlier release. */
  readonly unmarked?: Unmarked;
  /** The number of all items, including those beyond the limit and the withheld ones. */
  readonly total: number;
  /**
   * How many of them a pause of their namespace withholds; they are in `items` when the pause is over. Absent when
   * there are none.
   */
  readonly withheld?: number;
  readonly stats: Readonly<WorkloadStats>;
  /** What does not run because of this schedule. Absent in the history of an earlier release. */
  readonly idle?: IdleByNamespace;
  /** Every workload that it puts to sleep and wakes, as one text. Absent in the history of an earlier release. */
  readonly scope?: ScopeDigest;
  /** How many of what it selects are left alone, by reason. Absent in the history of an earlier release. */
  readonly leftAlone?: Readonly<Partial<Record<KeepReason, number>>>;
  /** Workloads that are left alone for a reason worth reporting, what people did first; at most `NOTES_LIMIT`. */
  readonly notes: readonly Note[];
  readonly notesTotal: number;
  /** The earliest moment at which a workload has to be evaluated again; null when there is none. */
  readonly until: EpochMs | null;
  /** UIDs of entries of the memory that say nothing any more, of workloads that are not among the items. Absent: none. */
  readonly outdated?: readonly string[];
}

/** Maximum of items in one observation: each takes some 45 bytes of history, and 600 with the longest names. */
export const PLAN_LIMIT = 1_000;
/**
 * Maximum of characters of the items in one observation. A page of a history has up to 256 events, and Temporal sends
 * at most 4 MB at once.
 */
export const PLAN_LENGTH = 60_000;
const UNAPPROVED =
  'it joined after the approval, and stays up until it is approved as well: headroom lights-out approve';

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
  rolloutsManaged: 0,
  rolloutsScaled: 0,
  scaledjobsManaged: 0,
  scaledjobsPaused: 0,
};

/** Whether a workload that the schedule put to sleep has at most the replicas that the schedule keeps. */
function isDown(workload: Workload, namespace: ScopedNamespace | null, context: EvaluationContext): boolean {
  const savedState = savedStateOf(workload);
  if (!isScaledDown(savedState, workload.kind)) return false;
  if (workload.replicas === null) return workload.isSuspended;
  const own = { replicas: context.spec.downscaleReplicas };
  const level = namespace === null ? own : desiredOf(workload, namespace, context).level;
  return workload.replicas <= replicasAt(level, originalReplicas(savedState));
}

/** Whether it, or one of its autoscalers, says that it is this schedule's. */
function isMarked({ annotations, labels, autoscalers }: Workload, schedule: string, mark: string): boolean {
  return (
    annotations[MANAGED_BY] === schedule ||
    labels[MANAGED_BY] === mark ||
    autoscalers.some((autoscaler) => autoscaler.annotations[MANAGED_BY] === schedule)
  );
}

/** A sentence for each annotation of a namespace that is ignored, or that keeps its workloads from being touched. */
function namespaceProblems(namespace: ScopedNamespace, context: EvaluationContext): readonly string[] {
  const exclusion = exclusionProblem(namespace);
  return [
    ...overridesOf(namespace.annotations, context.now).problems,
    ...(exclusion === null ? [] : [exclusion]),
    ...namespaceWishes(namespace, context),
  ];
}

/** A sentence for each annotation of a workload that is ignored. */
function workloadProblems(workload: Workload, context: EvaluationContext): readonly string[] {
  return [...annotationProblems(workload.annotations, context.now), ...ignored(workload, context)];
}

/** The moments at which annotations of namespaces expire; what is wrong with them is noted. */
function readNamespaces(
  inScope: readonly ScopedNamespace[],
  context: EvaluationContext,
  notes: Notes,
): readonly EpochMs[] {
  return inScope.flatMap((namespace) => {
    for (const problem of namespaceProblems(namespace, context)) {
      notes.add(`Namespace ${namespace.name}`, 'BadAnnotation', problem);
    }
    return expiriesOf(namespace, context.now);
  });
}

/** A target that does not exist cannot be put to sleep: only what holds its autoscalers is taken off. */
function released(
  missing: Workload,
  namespaces: ReadonlyMap<string, ScopedNamespace>,
  context: EvaluationContext,
): readonly PlanItem[] {
  const evaluation = evaluate(recalled(missing, context), namespaces.get(missing.namespace) ?? null, context);
  return evaluation.kind === 'change' && evaluation.item.direction === 'Up' ? [evaluation.item] : [];
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
  const notes = new Notes();
  const moments: EpochMs[] = context.overrides.map(({ until }) => until).filter((until) => until > now);
  const stats = { ...NO_STATS };
  const owned: string[] = [];
  const idle = new IdleCount();
  const nights: { readonly workload: Workload; readonly night: Night }[] = [];
  moments.push(
    ...readNamespaces(
      inScope.flatMap((name) => byName.get(name) ?? []),
      context,
      notes,
    ),
  );
  const mark = labelValue(schedule);
  const scoped = new Set(inScope);
  for (const listed of workloads) {
    const workload = recalled(listed, context);
    // Most workloads of a large cluster are nothing to this schedule.
    if (!scoped.has(workload.namespace) && !isMarked(workload, schedule, mark)) continue;
    const name = workloadName(workload);
    const namespace = byName.get(workload.namespace) ?? null;
    const wanted = wantedOf(workload, namespace, context);
    if (wanted.state === 'Down') nights.push({ workload, night: wanted.night });
    const evaluation = evaluateWanted(workload, wanted, context);
    if (evaluation.kind === 'change') items.push(evaluation.item);
    else if (evaluation.reason !== 'AsDesired' && evaluation.reason !== 'NotApproved')
      notes.add(name, evaluation.reason, evaluation.detail);
    if (evaluation.kind === 'keep' && evaluation.until !== undefined) moments.push(evaluation.until);
    const difference = disagreement(workload, context);
    if (difference !== null) notes.add(name, difference.reason, difference.detail);
    const isAnnotated = annotatedOwner(workload, context) === schedule;
    const isOwned = belongs(workload, namespace, context);
    if (isOwned) {
      owned.push(name);
      // By day as well: it can be approved before the night.
      if (!isAnnotated && isUnapproved(workload, context)) notes.add(name, 'NotApproved', UNAPPROVED);
      moments.push(...expiriesOf(workload, now), ...ownChange(workload, namespace, context));
      for (const problem of workloadProblems(workload, context)) notes.add(name, 'BadAnnotation', problem);
    }
    const { managed, asleep } = WORKLOAD_KINDS[workload.kind].counters;
    if (isOwned || isAnnotated) stats[managed] += 1;
    if (isAnnotated) {
      if (isDown(workload, namespace, context)) stats[asleep] += 1;
      idle.addAsleep(workload);
    }
  }
  items.push(...missing.flatMap((workload) => released(workload, byName, context)));
  // Before the limit is applied: items that may not be written must not displace others.
  const allowed = items.filter(({ workload }) => !isPaused(workload.namespace));
  const withheld = items.length - allowed.length;
  const until = moments.reduce<EpochMs | null>((first, at) => (first === null || at < first ? at : first), null);
  return {
    namespaces: inScope,
    ...carriedJoins(nights, context),
    items: asManyAsFit(inOrder(allowed, context.failing)),
    total: items.length,
    ...(withheld === 0 ? {} : { withheld }),
    stats,
    idle: idle.byNamespace,
    scope: scopeDigest(owned),
    leftAlone: notes.counts,
    notes: notes.first,
    notesTotal: notes.total,
    until,
  };
}

/** Long names and autoscalers make an item several times as long. The next observation finds the rest. */
function asManyAsFit(items: readonly PlanItem[]): readonly PlanItem[] {
  const fit: PlanItem[] = [];
  let length = 0;
  for (const item of items) {
    length += packItem(item).length;
    if (fit.length === PLAN_LIMIT || (length > PLAN_LENGTH && fit.length > 0)) break;
    fit.push(item);
  }
  return fit;
}
