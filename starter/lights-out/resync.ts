import { setImmediate as turn } from 'node:timers/promises';
import { evaluate } from '../../domain/lights-out/workload/evaluate.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../../domain/lights-out/workload/workload.ts';
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
  /** Called when something in the schedule's scope differs from what it wants; `cause` says what. */
  readonly onWork: (schedule: WatchedSchedule, cause: string, resourceVersion: string) => void;
  /** Called with one workload of each missing schedule. */
  readonly onOrphan: (schedule: string, workload: Workload) => void;
  readonly log: Log;
}

/** Several schedules applied together cause only one evaluation; milliseconds. */
const DELAY_MS = 1_000;
/** How many workloads are evaluated in one turn of the event loop: a few milliseconds. */
const EVALUATED_AT_ONCE = 500;

/** Evaluates every workload for every schedule, periodically and without blocking the event loop. */
export class Resync {
  readonly #options: ResyncOptions;
  /** Schedules that the next resync may skip, because their workflow was asked to observe everything. */
  #except: Set<string> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #underWay = 0;
  #isStopped = false;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  /** Requests a resync, soon and once for several requests. */
  request({ except }: { readonly except: string | null }): void {
    if (this.#isStopped) return;
    if (this.#timer === null) {
      this.#except = except === null ? null : new Set([except]);
      this.#timer = setTimeout(() => {
        const skipped = this.#except ?? new Set<string>();
        this.#timer = null;
        this.#underWay += 1;
        // Resyncs run one after the other.
        this.#running = this.#running
          .then(async () => await this.run(skipped))
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
  async run(skipped: ReadonlySet<string>): Promise<void> {
    const workloads = this.#options.workloads();
    const gone = new Set<string>();
    for (const workload of workloads) {
      const schedule = this.#options.orphanedBy(workload);
      if (schedule === null || gone.has(schedule)) continue;
      gone.add(schedule);
      this.#options.onOrphan(schedule, workload.workload);
    }
    for (const evaluator of this.#options.evaluators()) {
      if (!skipped.has(evaluator.schedule.name) && isAtRest(evaluator)) await this.#evaluateAll(evaluator, workloads);
    }
  }

  async #evaluateAll({ schedule, context }: Evaluator, workloads: readonly WatchedWorkload[]): Promise<void> {
    for (const [index, { workload, namespace }] of workloads.entries()) {
      if (index % EVALUATED_AT_ONCE === EVALUATED_AT_ONCE - 1) await turn();
      if (this.#isStopped) return;
      const evaluation = evaluate(workload, namespace, context);
      if (evaluation.kind === 'keep') continue;
      this.#options.onWork(schedule, `${workloadName(workload)}: ${evaluation.item.reason}`, workload.resourceVersion);
      return;
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
