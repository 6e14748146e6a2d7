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
  /** The schedule whose annotation the workload bears although it does not exist; null for every other workload. */
  readonly orphanedBy: (one: WatchedWorkload) => string | null;
  /** Something in the scope of the schedule is not as it wants it: what, in words. */
  readonly onWork: (schedule: WatchedSchedule, cause: string, resourceVersion: string) => void;
  /** Called with one workload of each such schedule. */
  readonly onOrphan: (schedule: string, workload: Workload) => void;
  readonly log: Log;
}

/** Several schedules that are applied at once are one reason to evaluate everything for the others; milliseconds. */
const DELAY_MS = 1_000;
/** Evaluated in one turn of the event loop: a few milliseconds. */
const EVALUATED_AT_ONCE = 500;

/** Evaluates every workload for every schedule, now and then, without holding up anything else. */
export class Resync {
  readonly #options: ResyncOptions;
  /** Schedules that need not be evaluated by the next resync, because their workflow was asked to observe everything. */
  #except: Set<string> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #underWay = 0;
  #isStopped = false;

  constructor(options: ResyncOptions) {
    this.#options = options;
  }

  /** Soon, and once for several requests. */
  request({ except }: { readonly except: string | null }): void {
    if (this.#isStopped) return;
    if (this.#timer === null) {
      this.#except = except === null ? null : new Set([except]);
      this.#timer = setTimeout(() => {
        const skipped = this.#except ?? new Set<string>();
        this.#timer = null;
        this.#underWay += 1;
        // One after the other.
        this.#running = this.#running
          .then(async () => await this.run(skipped))
          .catch((error: unknown) => {
            // The next one comes to the same workloads.
            this.#options.log.error({ err: error }, 'the workloads of the schedules could not be evaluated');
          })
          .finally(() => {
            this.#underWay -= 1;
          });
      }, DELAY_MS);
    } else if (except === null) this.#except = null;
    else this.#except?.add(except);
  }

  /** Whether everything that was asked for is evaluated. */
  get isDone(): boolean {
    return this.#timer === null && this.#underWay === 0;
  }

  /** Evaluates everything now, but for the schedules of these names. */
  async run(skipped: ReadonlySet<string>): Promise<void> {
    const workloads = this.#options.workloads();
    const gone = new Set<string>();
    for (const one of workloads) {
      const schedule = this.#options.orphanedBy(one);
      if (schedule === null || gone.has(schedule)) continue;
      gone.add(schedule);
      this.#options.onOrphan(schedule, one.workload);
    }
    for (const one of this.#options.evaluators()) {
      if (!skipped.has(one.schedule.name) && isAtRest(one)) await this.#evaluateAll(one, workloads);
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

/** A workflow that is scaling observes again by itself, and a dry run has already reported what it would do. */
function isAtRest({ schedule: { status }, context }: Evaluator): boolean {
  return !context.spec.dryRun && status.scalingProgress?.inProgress !== true;
}
