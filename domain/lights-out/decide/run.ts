/** Updates the memory while workloads are written and when a scaling run ends. */
import type { EpochMs } from '../../kernel/time.ts';
import { type LightsOutMemory, savingsAt, type ScalingRun, type Stage } from './memory.ts';
import type { LightsOutObservation, LightsOutTimings } from './observation.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { PLAN_LIMIT } from './plan.ts';
import { counted } from './sentences.ts';
import type { LightsOutEvent } from './verdict.ts';
import { workloadName } from '../workload/workload.ts';

/** The result of writing one item of a batch. */
export interface Outcome {
  readonly workload: string;
  readonly kind: 'done' | 'skipped' | 'failed';
  readonly detail?: string;
}

/** How many failed workloads are remembered by name. With more, everything waits for the next try. */
const REMEMBERED = 100;
/** How many contested workloads are remembered; beyond that a workload is put to sleep whenever it is noticed. */
const CONTESTED = 1_000;
const MESSAGE_LENGTH = 300;

/** The memory with the current scaling run, or a new one, and how much is left to do. */
export function withRun(memory: LightsOutMemory, left: number, now: EpochMs): LightsOutMemory {
  const run = memory.run ?? freshRun(now, 0);
  const unready = memory.run === null ? [] : memory.unready;
  return { ...memory, unready, run: { ...run, total: run.up + run.down + run.skipped + left } };
}

function freshRun(startedAt: EpochMs, total: number): ScalingRun {
  return { startedAt, up: 0, down: 0, isUpscale: false, isDownscale: false, skipped: 0, total, namespaces: [] };
}

/** The memory after a batch. */
export function afterBatch(
  memory: LightsOutMemory,
  items: readonly PlanItem[],
  outcomes: readonly Outcome[],
  { now, timings }: { readonly now: EpochMs; readonly timings: LightsOutTimings },
): LightsOutMemory {
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.workload, outcome]));
  const run: ScalingRun = memory.run ?? freshRun(now, items.length);
  const failing = { ...memory.failing };
  const contested = { ...memory.contested };
  const namespaces = new Set(run.namespaces);
  let { up, down, skipped, isUpscale, isDownscale } = run;
  let isMany = false;
  let saved = memory.savings.replicas;
  for (const item of items) {
    const name = workloadName(item.workload);
    const outcome = outcomeOf.get(name);
    if (outcome === undefined) continue;
    if (outcome.kind === 'failed') {
      if (Object.keys(failing).length < REMEMBERED || failing[name] !== undefined) {
        failing[name] = (outcome.detail ?? 'no reason was given').slice(0, MESSAGE_LENGTH);
      } else {
        isMany = true;
      }
      continue;
    }
    delete failing[name];
    if (outcome.kind === 'skipped') {
      skipped += 1;
      continue;
    }
    if (item.direction === 'Up') up += 1;
    else down += 1;
    if (!isOfScalersAlone(item)) {
      isUpscale ||= item.reason === 'Up';
      isDownscale ||= item.reason === 'Down';
    }
    saved += (item.from ?? 0) - (item.to ?? 0);
    namespaces.add(item.workload.namespace);
    if (item.reason === 'DownAgain' && (contested[name] !== undefined || Object.keys(contested).length < CONTESTED)) {
      const times = (contested[name]?.times ?? 0) + 1;
      const rest = Math.min(timings.contestedMin * 2 ** (times - 1), timings.contestedMax);
      contested[name] = { times, until: now + rest };
    }
  }
  const hasFailed = outcomes.some(({ kind }) => kind === 'failed');
  return {
    ...memory,
    run: { ...run, up, down, isUpscale, isDownscale, skipped, namespaces: [...namespaces] },
    failing,
    contested,
    stage: stageWith(memory.stage, items),
    savings: savingsAt(memory.savings, now, saved),
    retry: hasFailed ? nextRetry(memory, now, timings, isMany) : memory.retry,
  };
}

/**
 * Whether only the autoscalers of a sleeping workload are written: somebody changed one in the night, and it is held
 * again.
 */
function isOfScalersAlone({ workload, writes }: PlanItem): boolean {
  return writes.length > 0 && writes.every(({ kind }) => kind !== workload.kind);
}

/** A batch has one direction and one priority. */
function stageWith(stage: Stage | null, batch: readonly PlanItem[]): Stage | null {
  const [first] = batch;
  if (first === undefined) return stage;
  const { direction, priority } = first;
  const before = stage?.direction === direction && stage.priority === priority ? stage.items : [];
  const items = [...before, ...batch.map(({ workload, to }) => ({ workload, to }))].slice(-PLAN_LIMIT);
  return { direction, priority, items, waitingSince: null };
}

/** Several batches of one try fail at about the same time, which counts as one failure. */
function nextRetry(
  { retry }: LightsOutMemory,
  now: EpochMs,
  { retryMin, retryMax }: LightsOutTimings,
  isMany: boolean,
): NonNullable<LightsOutMemory['retry']> {
  if (retry !== null && retry.at > now) return { ...retry, isMany: retry.isMany || isMany };
  const times = (retry?.times ?? 0) + 1;
  return { times, at: now + Math.min(retryMin * 2 ** (times - 1), retryMax), isMany };
}

/** The result of a scaling run, once nothing is left that can be done now. */
export interface FinishedRun {
  readonly direction: 'upscale' | 'downscale';
  readonly seconds: number;
}

/**
 * The memory at the end of a scaling run, with the Events that report it.
 *
 * @param isAsDecided nothing of the decision is left that could be written. Workloads that a pause of their namespace
 *   withholds still differ from what the schedule wants.
 */
export function completeRun(
  memory: LightsOutMemory,
  { at, period, plan }: LightsOutObservation,
  isAsDecided: boolean,
): {
  readonly memory: LightsOutMemory;
  readonly events: readonly LightsOutEvent[];
  readonly finished: FinishedRun | null;
} {
  const { run, failing, completed } = memory;
  const isAsWanted = isAsDecided && (plan?.withheld ?? 0) === 0;
  const failed = Object.keys(failing).length;
  const isOther =
    isAsWanted &&
    failed === 0 &&
    period !== null &&
    // Unknown when the previous run was terminated.
    completed !== null &&
    completed.since !== null &&
    (completed.state !== period.state || completed.since !== period.since);
  const isUp = run?.isUpscale === true || (isOther && period.state === 'Up');
  const isDown = run?.isDownscale === true || (isOther && period.state === 'Down');
  const events: LightsOutEvent[] = [];
  if (run !== null) {
    const but = failed === 0 ? '' : ` ${counted(failed, 'workload')} failed. Headroom tries again.`;
    const where = `in ${counted(run.namespaces.length, 'namespace')}`;
    const note = (reason: string, what: string): void => {
      const message = `Headroom ${what}.${but}`;
      events.push({ type: 'Normal', reason, message, key: `${reason} ${run.startedAt}` });
    };
    if (run.down > 0) note('ScaledDown', `put ${counted(run.down, 'workload')} ${where} to sleep`);
    if (run.up > 0) note('ScaledUp', `woke ${counted(run.up, 'workload')} ${where}`);
  }
  return {
    memory: {
      ...memory,
      run: null,
      nextBatchAt: null,
      batchDirection: null,
      stage: null,
      completed: !isAsWanted || period === null ? memory.completed : { state: period.state, since: period.since, at },
      lastUpscale: isUp ? at : memory.lastUpscale,
      lastDownscale: isDown ? at : memory.lastDownscale,
    },
    events,
    finished:
      run === null || run.up + run.down === 0
        ? null
        : { direction: run.down >= run.up ? 'downscale' : 'upscale', seconds: (at - run.startedAt) / 1000 },
  };
}
