/** How the items of a plan are written in time: in batches with pauses, and one priority after the other. Pure. */
import { parseDuration } from '../../kernel/duration.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { ScheduleState } from '../schedule/names.ts';
import type { RateLimit, ScheduleSpec } from '../schedule/schedule.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { hasReplicas } from '../workload/kinds.ts';
import { workloadName } from '../workload/workload.ts';
import { type LightsOutMemory, type Stage, withPendingEvents } from './memory.ts';
import type { LightsOutObservation } from './observation.ts';
import { stepsOf } from './order.ts';
import { unpackItem } from './packed.ts';
import { lateSentence, nextBatchSentence, readinessPhrase } from './sentences.ts';

/** A CronJob that missed runs starts one as soon as it is woken, and a ScaledJob several: so many CronJobs and ScaledJobs at a time. */
const JOBS_AT_DAWN: Pace = { batchSize: 50, delayMs: 5_000 };
/** Workloads of one activity: a pause can take effect in the middle of a large batch. */
export const CHUNK = 100;

export interface Pace {
  readonly batchSize: number;
  /** Between two batches of the same direction. */
  readonly delayMs: number;
}

/** @param items of one direction and one priority. */
export function paceOf(spec: ScheduleSpec | null, [first]: readonly PlanItem[]): Pace {
  const limit: RateLimit | undefined = first?.direction === 'Up' ? spec?.upscaleRateLimit : spec?.downscaleRateLimit;
  if (limit?.batchSize === undefined) {
    return first?.direction === 'Up' && !hasReplicas(first.workload.kind) && first.reason === 'Up'
      ? JOBS_AT_DAWN
      : { batchSize: CHUNK, delayMs: 0 };
  }
  return { batchSize: limit.batchSize, delayMs: parseDuration(limit.delayBetweenBatches ?? '0') };
}

/** Whether all items are written in one batch, which takes only a moment. */
export function isOneBatch({ schedule }: LightsOutObservation, items: readonly PlanItem[]): boolean {
  const [first] = items;
  return (
    first !== undefined &&
    stepsOf(items).length === 1 &&
    items.length <= Math.min(CHUNK, paceOf(schedule?.spec ?? null, items).batchSize)
  );
}

/** Until when a plan is valid at most: the next transition, or the end of an override. */
export function endOfPlan({ at, period, plan }: LightsOutObservation, { overrides }: LightsOutMemory): EpochMs {
  const ends = [period?.next?.at, plan?.until, ...overrides.map(({ until }) => until)];
  return Math.min(Infinity, ...ends.filter((end) => typeof end === 'number' && end > at).map(Number));
}

/** Until when the next batch has to wait, and why; null when it may begin. */
export function batchWait(
  { batchDirection, nextBatchAt, run }: LightsOutMemory,
  {
    direction,
    delayMs,
    now,
    end,
  }: { readonly direction: ScheduleState; readonly delayMs: number; readonly now: EpochMs; readonly end: EpochMs },
): { readonly until: EpochMs; readonly summary: string } | null {
  // The delay applies between batches of the same direction. If the schedule's delay was shortened meanwhile, the
  // shorter delay holds.
  const turn = batchDirection === direction ? Math.min(nextBatchAt ?? 0, now + delayMs) : 0;
  if (turn <= now) return null;
  const summary = nextBatchSentence((run?.up ?? 0) + (run?.down ?? 0), run?.total ?? 0);
  return { until: Math.max(now + 1, Math.min(turn, end)), summary };
}

/** The workloads of one priority, before the next priority begins. */
export interface ReadinessWait {
  readonly stage: Stage & { readonly waitingSince: EpochMs };
  /** As `packItem` has them. */
  readonly workloads: readonly string[];
  readonly timeoutMs: number;
  /** As far as the plan is valid. */
  readonly until: EpochMs;
  /** `the 2 workloads of priority 10 to be ready`. */
  readonly what: string;
}

/** What has to be ready before this direction and priority begins; null when nothing has to. */
export function readinessWait(
  { stage, failing }: LightsOutMemory,
  spec: ScheduleSpec | null,
  {
    direction,
    priority,
    now,
    end,
  }: { readonly direction: ScheduleState; readonly priority: number; readonly now: EpochMs; readonly end: EpochMs },
): ReadinessWait | null {
  const timeoutMs = parseDuration(spec?.readinessTimeout ?? '10m');
  if (stage === null || stage.direction !== direction || stage.priority === priority || timeoutMs === 0) return null;
  const workloads = stage.workloads.filter((text) => failing[workloadName(unpackItem(text).workload)] === undefined);
  if (workloads.length === 0) return null;
  const waitingSince = stage.waitingSince ?? now;
  return {
    stage: { ...stage, waitingSince },
    workloads,
    timeoutMs,
    until: Math.max(now + 1, Math.min(waitingSince + timeoutMs, end)),
    what: readinessPhrase(stage, workloads.length),
  };
}

/** The memory when a priority was not ready in time, and the next one begins. */
export function afterTimeout(memory: LightsOutMemory, { stage, workloads, timeoutMs }: ReadinessWait): LightsOutMemory {
  const message = lateSentence(stage, workloads.length, timeoutMs);
  const key = `ReadinessTimeout ${memory.run?.startedAt} ${stage.priority}`;
  const unready = { ...memory, stage: null, unready: [...memory.unready, message] };
  return withPendingEvents(unready, [{ type: 'Warning', reason: 'ReadinessTimeout', message, key }]);
}
