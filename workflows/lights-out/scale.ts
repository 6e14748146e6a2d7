/** Scales the workloads of a plan by priority and in batches, until all are done or the plan is out of date. */
import { metricMeter } from '@temporalio/workflow';
import type { Batch, BatchOutcome } from '../../activities/lights-out/interface.ts';
import { parseDuration } from '../../domain/kernel/duration.ts';
import { sentence } from '../../domain/kernel/sentence.ts';
import { formatSpan } from '../../domain/kernel/time.ts';
import { withPendingEvents } from '../../domain/lights-out/decide/memory.ts';
import type { LightsOutObservation } from '../../domain/lights-out/decide/observation.ts';
import { counted } from '../../domain/lights-out/decide/sentences.ts';
import { batchesOf, stepsOf } from '../../domain/lights-out/decide/order.ts';
import type { PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import { afterBatch } from '../../domain/lights-out/decide/run.ts';
import type { LightsOutVerdict } from '../../domain/lights-out/decide/verdict.ts';
import type { ScheduleState } from '../../domain/lights-out/schedule/names.ts';
import type { RateLimit, ScheduleSpec } from '../../domain/lights-out/schedule/schedule.ts';
import { workloadName } from '../../domain/lights-out/workload/workload.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { awaiting, ensureScaled } from './activities.ts';
import type { SchedulePass } from './schedule-pass.ts';

/** Workloads per activity where the schedule names no batch size. */
const CHUNK = 100;

export async function scale(
  pass: SchedulePass,
  seen: LightsOutObservation,
  { items, ready }: Extract<LightsOutVerdict, { kind: 'scale' }>,
): Promise<void> {
  for (const step of stepsOf(items)) {
    const { direction = 'Up', priority = 0 }: Partial<PlanItem> = step[0] ?? {};
    if (!(await isReady(pass, seen, direction, priority))) return;
    const pace = paceOf(seen.schedule?.spec ?? null, direction);
    for (const batch of batchesOf(step, pace.batchSize)) {
      if (!(await isTurn(pass, seen, direction, pace.delayMs))) return;
      if (!(await writeBatch(pass, seen, batch, { direction, delayMs: pace.delayMs }))) return;
      await pass.writeProgress(seen, ready);
      if (pass.run.requests.isPending || pass.run.isHistoryLong) return;
    }
  }
}

/** Whether all items are written in one batch, which takes only a moment. */
export function isOneBatch({ schedule }: LightsOutObservation, items: readonly PlanItem[]): boolean {
  const [first] = items;
  return (
    first !== undefined &&
    stepsOf(items).length === 1 &&
    items.length <= Math.min(CHUNK, paceOf(schedule?.spec ?? null, first.direction).batchSize)
  );
}

/** Writes one batch; false when the plan has to be made again before the next one. */
async function writeBatch(
  pass: SchedulePass,
  seen: LightsOutObservation,
  batch: readonly PlanItem[],
  { direction, delayMs }: { readonly direction: ScheduleState; readonly delayMs: number },
): Promise<boolean> {
  const { target, run } = pass;
  const scheduleUid = seen.schedule?.uid ?? '';
  // Split into several activities, so that a pause can take effect in the middle of a large batch.
  for (const items of batchesOf(batch, CHUNK)) {
    const outcome = await write(pass, { target, scheduleUid, items, observeInput: pass.observeInput() });
    if (outcome === null) return false;
    run.remember(afterBatch(run.memory, items, outcome.outcomes, { now: pass.now(), timings: seen.timings }));
    run.refresh();
    if (run.requests.isImmediate) return false;
  }
  const nextBatchAt = delayMs === 0 ? null : pass.now() + delayMs;
  run.remember({ ...run.memory, nextBatchAt, batchDirection: direction });
  metricMeter
    .createCounter('lightsout_scaling_batches', '1', 'Batches of workloads that were written.')
    .add(1, { schedule: target.schedule, direction: direction === 'Up' ? 'upscale' : 'downscale' });
  return true;
}

/** Null when the whole activity failed; the backoff is over by then. */
async function write(pass: SchedulePass, batch: Batch): Promise<BatchOutcome | null> {
  const { items } = batch;
  const [first] = items;
  const verb = first?.direction === 'Down' ? 'put to sleep' : 'wake';
  const names = `${first === undefined ? '' : workloadName(first.workload)}${items.length > 1 ? ', …' : ''}`;
  try {
    // An interrupted batch answers by what it had done by then.
    return await pass.run.interruptible(
      async () =>
        await ensureScaled.executeWithOptions(
          { summary: brief(`${verb} ${counted(items.length, 'workload')}: ${names}`) },
          [batch],
        ),
    );
  } catch (error) {
    await pass.restAfter(error);
    return null;
  }
}

/** Waits until the next batch may start; false when everything has to be observed again before. */
async function isTurn(
  pass: SchedulePass,
  seen: LightsOutObservation,
  direction: ScheduleState,
  delayMs: number,
): Promise<boolean> {
  const { run } = pass;
  const { batchDirection, nextBatchAt, run: scaling } = run.memory;
  const now = pass.now();
  // The delay applies between batches of the same direction. If the schedule's delay was shortened meanwhile, the
  // shorter delay holds.
  const turn = batchDirection === direction ? Math.min(nextBatchAt ?? 0, now + delayMs) : 0;
  if (turn > now) {
    const done = (scaling?.up ?? 0) + (scaling?.down ?? 0);
    const summary = `wait for the next batch: ${done} of ${counted(scaling?.total ?? 0, 'workload')} done`;
    const until = Date.now() + Math.max(1, Math.min(turn, pass.endOf(seen)) - now);
    if (await run.wait({ until, summary })) return false;
  }
  return !run.requests.isImmediate && pass.now() < pass.endOf(seen);
}

/**
 * Waits until the workloads of the previous priority are ready before the next priority is scaled, at most for the
 * schedule's readiness timeout. False when everything has to be observed again first; the same wait then continues in
 * the next pass.
 */
async function isReady(
  pass: SchedulePass,
  seen: LightsOutObservation,
  direction: ScheduleState,
  next: number,
): Promise<boolean> {
  const { target, run } = pass;
  const { stage, failing } = run.memory;
  const timeout = parseDuration(seen.schedule?.spec?.readinessTimeout ?? '10m');
  if (stage === null || stage.direction !== direction || stage.priority === next) return true;
  const items = stage.items.filter(({ workload }) => failing[workloadName(workload)] === undefined);
  if (timeout === 0 || items.length === 0) return true;
  if (run.requests.isPending) return false;
  const waitingSince = stage.waitingSince ?? pass.now();
  run.remember({ ...run.memory, stage: { ...stage, waitingSince } });
  const until = Math.min(waitingSince + timeout, pass.endOf(seen));
  const who = `the ${items.length === 1 ? 'workload' : `${items.length} workloads`} of priority ${stage.priority}`;
  const wanted = direction === 'Up' ? 'ready' : 'down';
  const what = `${who} to be ${wanted}`;
  run.publish({ ...run.status, detail: `Headroom waits for ${what}` });
  const awaitScaled = awaiting(Math.max(1, until - pass.now()));
  try {
    const scaled = await run.waitFor(async () => {
      await awaitScaled.executeWithOptions({ summary: brief(`wait for ${what}`) }, [{ target, direction, items }]);
      return true;
    });
    if (scaled === null) return false;
    run.remember({ ...run.memory, stage: null });
    return true;
  } catch (error) {
    if (failedActivity(error) === null) throw error;
    if (pass.now() < waitingSince + timeout) return false;
    const verb = items.length === 1 ? 'was' : 'were';
    const late = sentence(`${who} ${verb} not ${wanted} within ${formatSpan(timeout)}`);
    const message = `${late} Headroom went on with the next priority.`;
    const { memory } = run;
    const key = `ReadinessTimeout ${memory.run?.startedAt} ${stage.priority}`;
    const unready = { ...memory, stage: null, unready: [...memory.unready, message] };
    run.remember(withPendingEvents(unready, [{ type: 'Warning', reason: 'ReadinessTimeout', message, key }]));
    await pass.writeEvents(seen, run.memory.pendingEvents);
    return true;
  }
}

function paceOf(
  spec: ScheduleSpec | null,
  direction: ScheduleState,
): { readonly batchSize: number; readonly delayMs: number } {
  const limit: RateLimit | undefined = direction === 'Up' ? spec?.upscaleRateLimit : spec?.downscaleRateLimit;
  if (limit?.batchSize === undefined) return { batchSize: CHUNK, delayMs: 0 };
  return { batchSize: limit.batchSize, delayMs: parseDuration(limit.delayBetweenBatches ?? '0') };
}
