/** Builds the evaluation of a workload: left alone, or one item with its writes in order. */
import type { EpochMs } from '../../kernel/time.ts';
import { readPriority } from './annotations.ts';
import type { ChangeReason, Evaluation, KeepReason, ObjectChange, EvaluationContext, PlanItem } from './evaluation.ts';
import { PRIORITY, type ScheduleState } from '../schedule/names.ts';
import type { ScheduleSpec } from '../schedule/schedule.ts';
import { matchesSelector } from '../../kernel/label-selector.ts';
import { isEmptyPatch, type MetadataPatch, savedWith } from './saved-state.ts';
import { hasReplicas } from './kinds.ts';
import { pausing } from './keda-paused.ts';
import type { Autoscaler, ScaledOwner, Workload } from './workload.ts';

const DETAIL_LENGTH = 300;

/**
 * Below every priority that people can give, by which it is lowered: when a schedule wakes, CronJobs and ScaledJobs come after
 * everything that their Jobs may need. What is woken for another reason waits for nothing.
 */
const AFTER_ALL_OTHERS = 3_000_000;

/** The priority of an item in the order of writing. */
function orderOf(workload: Workload, { direction, reason }: Change, spec: ScheduleSpec): number {
  const isLast = !hasReplicas(workload.kind) && direction === 'Up' && reason === 'Up';
  return priorityOf(workload, spec) - (isLast ? AFTER_ALL_OTHERS : 0);
}

/** The priority of a workload: its own annotation, otherwise the first rule that matches its labels, otherwise 0. */
export function priorityOf(
  workload: Pick<Workload, 'annotations' | 'labels'>,
  spec: Pick<ScheduleSpec, 'priorities'>,
): number {
  const own = readPriority(workload.annotations[PRIORITY] ?? '');
  const rule = spec.priorities.find(({ selector }) => matchesSelector(selector, workload.labels));
  return own ?? rule?.priority ?? 0;
}

/** Leaves a workload alone. */
export function keep(reason: KeepReason, detail?: string, until?: EpochMs): Evaluation {
  return {
    kind: 'keep',
    reason,
    ...(detail === undefined ? {} : { detail: detail.slice(0, DETAIL_LENGTH) }),
    ...(until === undefined ? {} : { until }),
  };
}

interface Change {
  readonly direction: ScheduleState;
  readonly reason: ChangeReason;
  /** The planned replicas; absent: unchanged. */
  readonly to?: number;
  readonly savedState?: MetadataPatch;
  /** Null: none is written any more. */
  readonly spec?: { readonly replicas?: number | null; readonly suspend?: boolean };
  readonly autoscalers?: readonly ObjectChange[];
  readonly manager?: string;
}

/**
 * The writes of an item, in order. Autoscalers are held before their workload goes down and released once it is up,
 * because they would revert it. Lowered bounds scale the workload themselves if replicas are kept, maybe before the
 * annotations contain the earlier number; so they are written after the workload on the way down and before it on the
 * way up.
 */
function inTurn(
  direction: ScheduleState,
  kept: number,
  own: readonly ObjectChange[],
  autoscalers: readonly ObjectChange[],
): readonly ObjectChange[] {
  const isBound = ({ kind }: ObjectChange): boolean => kind === 'HorizontalPodAutoscaler' && kept > 0;
  const bound = autoscalers.filter(isBound);
  const others = autoscalers.filter((autoscaler) => !isBound(autoscaler));
  return direction === 'Up' ? [...bound, ...own, ...others] : [...others, ...own, ...bound];
}

/** A merge patch. What suspends a ScaledJob is an annotation of KEDA. */
function patchOf(
  { kind, annotations }: Workload,
  savedState: MetadataPatch,
  spec: Change['spec'],
): Readonly<Record<string, unknown>> {
  if (kind === 'ScaledJob' && spec?.suspend !== undefined) {
    const own = { ...savedState.annotations, ...pausing(annotations, spec.suspend) };
    return { metadata: { ...savedState, annotations: own } };
  }
  return {
    ...(isEmptyPatch(savedState) ? {} : { metadata: savedState }),
    ...(spec === undefined ? {} : { spec }),
  };
}

/** An item of the plan. */
export function change(workload: Workload, { spec: schedule, now }: EvaluationContext, step: Change): Evaluation {
  const { direction, reason, savedState = {}, spec, autoscalers = [], manager } = step;
  const { kind, namespace, name, uid, resourceVersion, replicas, owner } = workload;
  const patch = patchOf(workload, savedState, owner === undefined ? spec : undefined);
  // What is gone has no marks any more; its owner may still be there.
  const isWritten = Object.keys(patch).length > 0 && uid !== '';
  const own: ObjectChange[] = isWritten ? [{ kind, name, uid, resourceVersion, patch }] : [];
  const byOwner = owner === undefined || spec?.replicas == null ? [] : [scaleOf(owner, spec.replicas)];
  const item: PlanItem = {
    workload: { kind, namespace, name },
    direction,
    reason,
    from: replicas,
    to: step.to ?? replicas,
    priority: orderOf(workload, step, schedule),
    ...(owner === undefined ? {} : { owner: `${owner.definition}/${owner.name}` }),
    ...(workload.autoscalers.length === 0 ? {} : { autoscalers: workload.autoscalers.map(nameOf) }),
    ...(manager === undefined ? {} : { manager }),
  };
  const kept = (direction === 'Up' ? replicas : item.to) ?? 0;
  const saved = direction === 'Down' ? savedWith(workload, savedState, now) : undefined;
  return {
    kind: 'change',
    item,
    // What the owner was is noted before its number goes, and until it is back.
    writes: inTurn(direction, kept, direction === 'Down' ? [...own, ...byOwner] : [...byOwner, ...own], autoscalers),
    ...(saved === undefined ? {} : { saved }),
    ...(kind === 'CronJob' && spec?.suspend === false && schedule.cronJobs.catchUp === 'none'
      ? { skipsMissedRuns: true }
      : {}),
  };
}

function scaleOf(owner: ScaledOwner, replicas: number): ObjectChange {
  const { definition, group, version, plural, name, uid, resourceVersion } = owner;
  const of = { definition, group, version, plural };
  return { kind: 'ScaledOwner', of, name, uid, resourceVersion, patch: { spec: { replicas } } };
}

function nameOf({ kind, name }: Autoscaler): Pick<Autoscaler, 'kind' | 'name'> {
  return { kind, name };
}
