import { setImmediate as turn } from 'node:timers/promises';
import { isBound } from '../../activities/lights-out/evaluation-context.ts';
import type { KeptMemory } from '../../activities/lights-out/scaling-memory.ts';
import { evaluate } from '../../domain/lights-out/workload/evaluate.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../../domain/lights-out/workload/workload.ts';
import type { EvaluationContext, OtherSchedule } from '../../domain/lights-out/workload/evaluation.ts';
import { isInScope } from '../../domain/lights-out/schedule/scope.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Evaluator, WatchedSchedule } from './schedule-registry.ts';

export interface WatchedWorkload {
  readonly workload: Workload;
  readonly namespace: ScopedNamespace;
}

export interface ResyncOptions {
  readonly evaluators: () => readonly Evaluator[];
  readonly workloads: () => readonly WatchedWorkload[];
  /** The missing schedule in the workload's annotations; null for every other workload. */
  readonly orphanedBy: (workload: WatchedWorkload) => string | null;
  /** Called first. */
  readonly onBegin: () => void;
  /** Called when something in the schedule's scope differs from what it wants; `cause` says what. */
  readonly onWork: (schedule: WatchedSchedule, cause: string, resourceVersion: string) => void;
  /** Called with one workload of each missing schedule. */
  readonly onOrphan: (schedule: string, workload: Workload) => void;
  /** The memory of a schedule, read now. */
  readonly memory: (schedule: string, scheduleUid: string) => Promise<Pick<KeptMemory, 'approved'>>;
  readonly log: Log;
}

/** Several schedules applied together cause only one evaluation; milliseconds. */
const DELAY_MS = 1_000;
/** How many workloads are evaluated in one turn of the event loop: a few milliseconds. */
const EVALUATED_AT_ONCE = 500;
/** How many missing schedules a resync asks about: anybody may write names into annotations. */
const ORPHANS = 20;

/** Evaluates every workload for every schedule, periodically and without blocking the event loop. */
export class Resync {
  readonly #options: ResyncOptions;
  /** Schedules that the next resync may skip, because their workflow was asked to observe everything. */
  #except: Set<string> | null = null;
  /** Schedules as they were before they changed or went: what they selected may be new to others. */
  #before: OtherSchedule[] = [];
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #underWay = 0;
  #isStopped = false;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  /**
   * Requests a resync, soon and once for several requests.
   *
   * @param before a schedule as it was, of which others may take over what it selected.
   */
  request({ except, before }: { readonly except: string | null; readonly before?: OtherSchedule }): void {
    if (this.#isStopped) return;
    if (before !== undefined) this.#before.push(before);
    if (this.#timer === null) {
      this.#except = except === null ? null : new Set([except]);
      this.#timer = setTimeout(() => {
        const skipped = this.#except ?? new Set<string>();
        const earlier = this.#before;
        this.#before = [];
        this.#timer = null;
        this.#underWay += 1;
        // Resyncs run one after the other.
        this.#running = this.#running
          .then(async () => await this.run(skipped, earlier))
          .catch((error: unknown) => {
            // The next resync visits the same workloads.
            this.#options.log.error({ err: error }, 'the workloads of the schedules could not be evaluated');
          })
          .finally(() => {
            this.#underWay -= 1;
          });
      }, DELAY_MS);
    } else if (except === null) this.#except = null;
    else this.#except?.add(except);
  }

  /** Whether all requested evaluations are done. */
  get isDone(): boolean {
    return this.#timer === null && this.#underWay === 0;
  }

  /** Evaluates everything now, except for schedules with these names. */
  async run(skipped: ReadonlySet<string>, earlier: readonly OtherSchedule[] = []): Promise<void> {
    const workloads = this.#options.workloads();
    const gone = new Set<string>();
    for (const workload of workloads) {
      const schedule = this.#options.orphanedBy(workload);
      if (schedule === null || gone.has(schedule) || gone.size === ORPHANS) continue;
      gone.add(schedule);
      this.#options.onOrphan(schedule, workload.workload);
    }
    this.#options.onBegin();
    for (const evaluator of this.#options.evaluators()) {
      if (!skipped.has(evaluator.schedule.name) && isAtRest(evaluator))
        await this.#evaluateAll(evaluator, workloads, earlier);
    }
  }

  async #evaluateAll(
    { schedule, context }: Evaluator,
    workloads: readonly WatchedWorkload[],
    earlier: readonly OtherSchedule[],
  ): Promise<void> {
    const others = earlier.filter(({ name }) => name !== schedule.name);
    const wasOthers = ({ workload, namespace }: WatchedWorkload): boolean =>
      others.some(({ spec }) => isInScope(workload, namespace, spec, context.protectedNamespaces));
    let whole: EvaluationContext | null = null;
    for (const [index, { workload, namespace }] of workloads.entries()) {
      if (index % EVALUATED_AT_ONCE === EVALUATED_AT_ONCE - 1) await turn();
      if (this.#isStopped) return;
      const first = evaluate(workload, namespace, whole ?? context);
      if (first.kind === 'keep') {
        // Only the workflow knows whether it has joined, and what was done before then was not against its schedule.
        if (first.reason === 'AsDesired' || !wasOthers({ workload, namespace })) continue;
        const cause = `${workloadName(workload)}: another schedule may have given it up`;
        this.#options.onWork(schedule, cause, workload.resourceVersion);
        return;
      }
      // What is approved is no part of the schedule's object, and is read only where it matters.
      whole ??= await this.#withApproved(schedule, context);
      const evaluation = evaluate(workload, namespace, whole);
      if (evaluation.kind === 'keep') continue;
      this.#options.onWork(schedule, `${workloadName(workload)}: ${evaluation.item.reason}`, workload.resourceVersion);
      return;
    }
  }

  /** Where it cannot be read, the schedule's workflow finds out what there is to do. */
  async #withApproved(schedule: WatchedSchedule, context: EvaluationContext): Promise<EvaluationContext> {
    if (!isBound(schedule)) return context;
    try {
      const { approved } = await this.#options.memory(schedule.name, schedule.uid);
      return { ...context, approved: approved ?? new Map() };
    } catch (error) {
      this.#options.log.warn({ err: error, schedule: schedule.name }, 'what is approved of a schedule cannot be read');
      return context;
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }
}

/** A scaling workflow observes again by itself, and a dry run has already reported its plan. */
function isAtRest({ schedule: { status }, context }: Evaluator): boolean {
  return !context.spec.dryRun && status.scalingProgress?.inProgress !== true;
}
