/** What a schedule does to every workload of a cluster at a moment, one by one, and why it leaves the others alone. */
import { desiredOf } from '../workload/desired.ts';
import { evaluate } from '../workload/evaluate.ts';
import type { ChangeReason, EvaluationContext, KeepReason } from '../workload/evaluation.ts';
import { belongs } from '../workload/ownership.ts';
import { disagreement, recalled } from '../workload/remembered.ts';
import { savedStateOf, isScaledDown } from '../workload/saved-state.ts';
import { type ScopedNamespace, type Workload, workloadName, type WorkloadRef } from '../workload/workload.ts';
import { holdsNamespace, selects, SYSTEM_NAMESPACES } from '../schedule/scope.ts';

/** Not selected, for one of these reasons, in the order in which they are looked at. */
const outsideReasons = [
  'NamespaceProtected',
  'NamespaceExcluded',
  'NamespaceNotSelected',
  'KindNotSelected',
  'LabelExcluded',
] as const;
type OutsideReason = (typeof outsideReasons)[number];

export interface SurveyedWorkload {
  readonly workload: WorkloadRef;
  readonly does: 'sleeps' | 'wakes' | 'stays';
  /** `Awake`: something keeps it awake at that moment, although the schedule selects it. */
  readonly reason: ChangeReason | KeepReason | OutsideReason | 'Awake';
  /** One sentence for people, without a full stop. */
  readonly detail: string;
  /** The present and the planned replicas; null for a CronJob and for what stays. */
  readonly from: number | null;
  readonly to: number | null;
  /** The autoscalers that are held or released with it: `ScaledObject web`. */
  readonly autoscalers: readonly string[];
}

const DETAILS: Readonly<Partial<Record<SurveyedWorkload['reason'], string>>> = {
  Down: 'the schedule selects it',
  DownAgain: 'somebody who keeps it as in Git had scaled it up',
  DownTo: 'it sleeps already, and the schedule keeps another number of replicas now',
  Up: 'the schedule wakes it',
  LeftScope: 'it sleeps, and the schedule selects it no more',
  ScheduleDeleted: 'the schedule is being deleted',
  Released: 'it is up already, and only its marks are taken away',
  NotApproved: 'it joined after the approval, and stays up until it is approved as well',
  AtRest: 'it has no more replicas than the schedule keeps',
  SuspendedByUser: 'its people have suspended it',
  Deleting: 'it is being deleted',
  Awake: 'a command or an annotation keeps it awake then',
  NamespaceProtected: 'its namespace is protected from every schedule',
  NamespaceExcluded: 'spec.excludeNamespaces has its namespace',
  NamespaceNotSelected: 'the schedule does not select its namespace',
  KindNotSelected: 'spec.workloadTypes does not have its kind',
  LabelExcluded: 'spec.excludeLabels match its labels',
};

/** What the schedule is about, as `workloadName` has them: the same set that its status has the digest of. */
export function workloadsInScope(
  context: EvaluationContext,
  namespaces: readonly ScopedNamespace[],
  workloads: readonly Workload[],
): readonly string[] {
  const byName = new Map(namespaces.map((namespace) => [namespace.name, namespace]));
  return workloads
    .filter((workload) => belongs(recalled(workload, context), byName.get(workload.namespace) ?? null, context))
    .map(workloadName);
}

/** Every workload once: those that are touched first, then those that are selected and left, then the others. */
export function surveyWorkloads(
  context: EvaluationContext,
  namespaces: readonly ScopedNamespace[],
  workloads: readonly Workload[],
): readonly SurveyedWorkload[] {
  const byName = new Map(namespaces.map((namespace) => [namespace.name, namespace]));
  return workloads
    .map((workload) => survey(recalled(workload, context), byName.get(workload.namespace) ?? null, context))
    .toSorted((a, b) => rank(a) - rank(b) || (placeOf(a) < placeOf(b) ? -1 : 1));
}

function survey(workload: Workload, namespace: ScopedNamespace | null, context: EvaluationContext): SurveyedWorkload {
  const { kind, namespace: place, name } = workload;
  const ref = { workload: { kind, namespace: place, name } };
  const evaluation = evaluate(workload, namespace, context);
  if (evaluation.kind === 'change') {
    const { direction, reason, from, to, owner, autoscalers = [] } = evaluation.item;
    return {
      ...ref,
      does: direction === 'Down' ? 'sleeps' : 'wakes',
      reason,
      detail: `${DETAILS[reason] ?? reason}${owner === undefined ? '' : `; it is set by its owner, ${owner}`}`,
      from,
      to,
      autoscalers: autoscalers.map((autoscaler) => `${autoscaler.kind} ${autoscaler.name}`),
    };
  }
  const stays = { ...ref, does: 'stays', from: null, to: null, autoscalers: [] } as const;
  const difference = disagreement(workload, context);
  if (evaluation.reason === 'AsDesired' && difference !== null) return { ...stays, ...difference };
  const { reason, detail } = evaluation;
  if (reason !== 'AsDesired') return { ...stays, reason, detail: detail ?? DETAILS[reason] ?? reason };
  const outside = outsideOf(workload, namespace, context);
  if (outside !== null) return { ...stays, reason: outside, detail: DETAILS[outside] ?? outside };
  const isAwake = namespace !== null && desiredOf(workload, namespace, context).state === 'Up';
  if (isAwake) return { ...stays, reason: 'Awake', detail: DETAILS.Awake ?? 'Awake' };
  const isAsleep = isScaledDown(savedStateOf(workload), kind);
  return { ...stays, reason, detail: isAsleep ? 'it sleeps already' : 'it is as the schedule wants it' };
}

function outsideOf(
  workload: Workload,
  namespace: ScopedNamespace | null,
  { spec, protectedNamespaces }: EvaluationContext,
): OutsideReason | null {
  if (namespace === null || !holdsNamespace(spec, namespace, protectedNamespaces)) {
    const isProtected =
      SYSTEM_NAMESPACES.includes(workload.namespace) || protectedNamespaces.includes(workload.namespace);
    if (isProtected) return 'NamespaceProtected';
    return spec.excludeNamespaces.includes(workload.namespace) ? 'NamespaceExcluded' : 'NamespaceNotSelected';
  }
  if (selects(workload, namespace, spec, protectedNamespaces)) return null;
  return spec.workloadTypes.length > 0 && !spec.workloadTypes.includes(workload.kind)
    ? 'KindNotSelected'
    : 'LabelExcluded';
}

function rank({ does, reason }: SurveyedWorkload): number {
  if (does !== 'stays') return 0;
  return outsideReasons.some((outside) => outside === reason) ? 2 : 1;
}

function placeOf({ workload }: SurveyedWorkload): string {
  return `${workload.namespace} ${workloadName(workload)}`;
}

/** How many there are of each, the most first: `stays KindNotSelected 12`. */
export function countsOf(
  surveyed: readonly SurveyedWorkload[],
): readonly { readonly does: SurveyedWorkload['does']; readonly reason: string; readonly count: number }[] {
  const counts = new Map<string, { does: SurveyedWorkload['does']; reason: string; count: number }>();
  for (const { does, reason } of surveyed) {
    const key = `${does} ${reason}`;
    const found = counts.get(key) ?? { does, reason, count: 0 };
    found.count += 1;
    counts.set(key, found);
  }
  const order = ['sleeps', 'wakes', 'stays'];
  return [...counts.values()].toSorted((a, b) => order.indexOf(a.does) - order.indexOf(b.does) || b.count - a.count);
}
