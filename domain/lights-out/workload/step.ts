/** Builds the evaluation of a workload: left alone, or one item with its writes in order. */
import type { EpochMs } from '../../kernel/time.ts';
import { readPriority } from './annotations.ts';
import type { ChangeReason, Evaluation, KeepReason, ObjectChange, EvaluationContext, PlanItem } from './evaluation.ts';
import { PRIORITY, type ScheduleState } from '../schedule/names.ts';
import type { ScheduleSpec } from '../schedule/schedule.ts';
import { matchesSelector } from '../../kernel/label-selector.ts';
import { isEmptyPatch, type MetadataPatch } from './saved-state.ts';
import type { Workload } from './workload.ts';

const DETAIL_LENGTH = 300;

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
  readonly spec?: { readonly replicas?: number; readonly suspend?: boolean };
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

/** An item of the plan. */
export function change(workload: Workload, { spec: schedule }: EvaluationContext, step: Change): Evaluation {
  const { direction, reason, savedState = {}, spec, autoscalers = [], manager } = step;
  const { kind, namespace, name, uid, resourceVersion, replicas } = workload;
  const patch = {
    ...(isEmptyPatch(savedState) ? {} : { metadata: savedState }),
    ...(spec === undefined ? {} : { spec }),
  };
  const own: ObjectChange[] = Object.keys(patch).length === 0 ? [] : [{ kind, name, uid, resourceVersion, patch }];
  const item: PlanItem = {
    workload: { kind, namespace, name, uid },
    direction,
    reason,
    from: replicas,
    to: step.to ?? replicas,
    priority: priorityOf(workload, schedule),
    writes: inTurn(direction, (direction === 'Up' ? replicas : (step.to ?? replicas)) ?? 0, own, autoscalers),
    ...(manager === undefined ? {} : { manager }),
  };
  return { kind: 'change', item };
}
