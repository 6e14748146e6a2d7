/** Updates the memory while workloads are written and when a scaling run ends. */
import type { EpochMs } from '../../kernel/time.ts';
import type { LightsOutMemory, ScalingRun, Stage } from './memory.ts';
import type { LightsOutObservation, LightsOutTimings } from './observation.ts';
import type { ScheduleState } from '../schedule/names.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { packItem } from './packed.ts';
import { type IdleByNamespace, idleAfter, savingsAt } from './savings.ts';
import { scaledSentence } from './sentences.ts';
import type { LightsOutEvent } from './verdict.ts';
import { workloadName } from '../workload/workload.ts';

/** An item of a batch that is not as planned. */
export interface Outcome {
  readonly workload: string;
  readonly kind: 'skipped' | 'failed' | 'unstarted';
  readonly detail?: string;
}

/** How many failed workloads are remembered by name. With more, everything waits for the next try. */
const REMEMBERED = 100;
/** How many contested workloads are remembered; beyond that a workload is put to sleep whenever it is noticed. */
const CONTESTED = 1_000;
/** How many workloads of a priority are waited for. */
const STAGED = 500;
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

/**
 * The memory after a batch. Items without an outcome are done.
 *
 * @param idle what does not run any more since then, and with fewer than 0 replicas what runs again.
 */
export function afterBatch(
  memory: LightsOutMemory,
  items: readonly PlanItem[],
  outcomes: readonly Outcome[],
  {
    now,
    timings,
    idle = {},
  }: { readonly now: EpochMs; readonly timings: LightsOutTimings; readonly idle?: IdleByNamespace | undefined },
): LightsOutMemory {
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.workload, outcome]));
  const run: ScalingRun = memory.run ?? freshRun(now, items.length);
  const failing = { ...memory.failing };
  const contested = { ...memory.contested };
  const namespaces = new Set(run.namespaces);
  let { up, down, resized = 0, skipped, isUpscale, isDownscale } = run;
  let isMany = false;
  for (const item of items) {
    const name = workloadName(item.workload);
    const outcome = outcomeOf.get(name);
    if (outcome?.kind === 'unstarted') continue;
    if (outcome?.kind === 'failed') {
      if (Object.keys(failing).length < REMEMBERED || failing[name] !== undefined) {
        failing[name] = (outcome.detail ?? 'no reason was given').slice(0, MESSAGE_LENGTH);
      } else {
        isMany = true;
      }
      continue;
    }
    delete failing[name];
    if (outcome?.kind === 'skipped') {
      skipped += 1;
      continue;
    }
    if (item.direction === 'Up') up += 1;
    else down += 1;
    if (item.reason === 'DownTo') resized += 1;
    if (!isOfScalersAlone(item)) {
      isUpscale ||= item.reason === 'Up';
      isDownscale ||= item.reason === 'Down';
    }
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
    run: {
      ...run,
      up,
      down,
      ...(resized === 0 ? {} : { resized }),
      isUpscale,
      isDownscale,
      skipped,
      namespaces: [...namespaces],
    },
    failing,
    contested,
    stage: stageWith(memory.stage, items),
    savings: savingsAt(memory.savings, now, idleAfter(memory.savings.idle, idle)),
    retry: hasFailed
      ? nextRetry(memory, { now, timings, isMany, direction: items[0]?.direction ?? 'Up' })
      : memory.retry,
  };
}

/**
 * Whether only the autoscalers of a sleeping workload are written: somebody changed one in the night, and it is held
 * again.
 */
function isOfScalersAlone({ from, to }: PlanItem): boolean {
  return from !== null && from === to;
}

/** A batch has one direction and one priority. */
function stageWith(stage: Stage | null, batch: readonly PlanItem[]): Stage | null {
  const [first] = batch;
  if (first === undefined) return stage;
  const { direction, priority } = first;
  const before = stage?.direction === direction && stage.priority === priority ? stage.workloads : [];
  const names = batch.map(({ workload, from, to }) => packItem({ workload, from, to }));
  return { direction, priority, workloads: [...before, ...names].slice(-STAGED), waitingSince: null };
}

/** Several batches of one try fail at about the same time, which counts as one failure. */
function nextRetry(
  { retry }: LightsOutMemory,
  {
    now,
    timings: { retryMin, retryMax },
    isMany,
    direction,
  }: {
    readonly now: EpochMs;
    readonly timings: LightsOutTimings;
    readonly isMany: boolean;
    readonly direction: ScheduleState;
  },
): NonNullable<LightsOutMemory['retry']> {
  // The first failure of another direction begins its own row of tries.
  const before = retry !== null && (retry.direction ?? direction) === direction ? retry : null;
  if (before !== null && before.at > now) return { ...before, isMany: before.isMany || isMany };
  const times = (before?.times ?? 0) + 1;
  return { times, at: now + Math.min(retryMin * 2 ** (times - 1), retryMax), isMany, direction };
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
    const note = (reason: 'ScaledDown' | 'ScaledUp' | 'Resized', workloads: number): void => {
      const message = scaledSentence(reason, { workloads, namespaces: run.namespaces.length, failed });
      events.push({ type: 'Normal', reason, message, key: `${reason} ${run.startedAt}` });
    };
    const { resized = 0 } = run;
    if (run.down > resized) note('ScaledDown', run.down - resized);
    if (resized > 0) note('Resized', resized);
    if (run.up > 0) note('ScaledUp', run.up);
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
