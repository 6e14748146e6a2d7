import type { Scaler } from '../../activities/lights-out/read-scaler.ts';
import type { Evaluation, EvaluationContext } from '../../domain/lights-out/workload/evaluation.ts';
import { evaluate } from '../../domain/lights-out/workload/evaluate.ts';
import { holdsNamespace, isInScope } from '../../domain/lights-out/schedule/scope.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../../domain/lights-out/workload/workload.ts';
import { attention, isOtherWish, scalerAttention } from './attention.ts';
import type { Scalers } from './scalers.ts';
import type { ScheduleRegistry, WatchedSchedule } from './schedule-registry.ts';

export interface WorkloadChangesOptions {
  readonly registry: Pick<ScheduleRegistry, 'evaluators'>;
  readonly scalers: Scalers;
  /** From the caches; undefined when the namespace is unknown. */
  readonly namespace: (name: string) => ScopedNamespace | undefined;
  /** From the caches, without their autoscalers. */
  readonly workloadsIn: (namespace: string) => readonly Workload[];
  readonly targets: (of: Scaler) => readonly Workload[];
  /** Called when the schedule's workflow has something to do. */
  readonly request: (schedule: WatchedSchedule, cause: string, resourceVersion: string) => void;
}

/**
 * Evaluates changed objects for every schedule, and enqueues reconcile requests for those whose workflow has something
 * to do.
 */
export class WorkloadChanges {
  readonly #options: WorkloadChangesOptions;

  constructor(options: WorkloadChangesOptions) {
    this.#options = options;
  }

  /** A workload was added, changed or deleted. */
  workloadChanged(last: Workload | undefined, now: Workload | undefined): void {
    const { registry, scalers, request } = this.#options;
    const [before, after] = [last && scalers.with(last), now && scalers.with(now)];
    const latest = after ?? before;
    // If its namespace is not known yet, the workload is evaluated when the namespace arrives.
    const namespace = latest === undefined ? undefined : this.#options.namespace(latest.namespace);
    if (latest === undefined || namespace === undefined) return;
    const isWished = after !== undefined && isOtherWish(before, after);
    for (const { schedule, context } of registry.evaluators(Date.now())) {
      const news =
        isWished && isInScope(after, namespace, context.spec, context.protectedNamespaces)
          ? 'its annotations changed'
          : attention(
              () => evaluatedBy(context, before, namespace),
              evaluatedBy(context, after, namespace),
              context.spec.dryRun,
            );
      if (news !== null) request(schedule, `${workloadName(latest)}: ${news}`, latest.resourceVersion);
    }
  }

  /**
   * The earlier and the present target of an autoscaler are evaluated with the autoscaler before and after the change.
   */
  scalerChanged(before: Scaler | undefined, after: Scaler | undefined): void {
    const { scalers, targets } = this.#options;
    const of = [before, after].flatMap((scaler) => (scaler === undefined ? [] : targets(scaler)));
    this.#changed('an autoscaler', of, () => scalers.put(before, after));
  }

  /** An owner was added, changed or deleted. `change` does it in the caches. */
  ownerChanged(workloads: readonly Workload[], change: () => void): void {
    this.#changed('the owner', workloads, change);
  }

  #changed(what: string, workloads: readonly Workload[], change: () => void): void {
    const { registry, scalers, request } = this.#options;
    const were = new Map(workloads.map((workload) => [workload.uid, { workload, was: scalers.with(workload) }]));
    change();
    for (const { workload, was } of were.values()) {
      const namespace = this.#options.namespace(was.namespace);
      const is = scalers.with(workload);
      for (const { schedule, context } of registry.evaluators(Date.now())) {
        const news = scalerAttention(
          evaluatedBy(context, was, namespace),
          evaluatedBy(context, is, namespace),
          context.spec.dryRun,
        );
        if (news === null) continue;
        request(schedule, `${what} of ${workloadName(was)} changed: ${news}`, was.resourceVersion);
      }
    }
  }

  /** A namespace was added or changed: each schedule gets a request about the first workload in it that is a reason. */
  namespaceChanged(before: ScopedNamespace | undefined, after: ScopedNamespace, resourceVersion: string): void {
    const { registry, scalers, workloadsIn, request } = this.#options;
    const inside = workloadsIn(after.name).map((workload) => scalers.with(workload));
    const isWished = isOtherWish(before, after);
    if (inside.length === 0 && !isWished) return;
    for (const { schedule, context } of registry.evaluators(Date.now())) {
      if (isWished && holdsNamespace(context.spec, after, context.protectedNamespaces)) {
        request(schedule, `the annotations of the namespace ${after.name} changed`, resourceVersion);
        continue;
      }
      for (const workload of inside) {
        const news = attention(
          () => evaluatedBy(context, workload, before),
          evaluatedBy(context, workload, after),
          context.spec.dryRun,
        );
        if (news === null) continue;
        request(schedule, `the namespace ${after.name} changed: ${workloadName(workload)}: ${news}`, resourceVersion);
        break;
      }
    }
  }
}

/** Null when there was, or is, nothing to evaluate. */
function evaluatedBy(
  context: EvaluationContext,
  workload: Workload | undefined,
  namespace: ScopedNamespace | undefined,
): Evaluation | null {
  return workload === undefined || namespace === undefined ? null : evaluate(workload, namespace, context);
}
