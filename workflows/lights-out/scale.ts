/** Scales the workloads of a plan by priority and in batches, until all are done or the plan is out of date. */
import type { Batch, BatchOutcome } from '../../activities/lights-out/interface.ts';
import type { LightsOutObservation } from '../../domain/lights-out/decide/observation.ts';
import { counted } from '../../domain/lights-out/decide/sentences.ts';
import { scheduleVersion } from '../../domain/lights-out/decide/schedule-version.ts';
import { batchesOf, stepsOf } from '../../domain/lights-out/decide/order.ts';
import { packItems } from '../../domain/lights-out/decide/packed.ts';
import type { PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import { afterBatch } from '../../domain/lights-out/decide/run.ts';
import {
  afterTimeout,
  batchWait,
  CHUNK,
  endOfPlan,
  paceOf,
  readinessWait,
} from '../../domain/lights-out/decide/scaling.ts';
import type { LightsOutVerdict } from '../../domain/lights-out/decide/verdict.ts';
import type { ScheduleState } from '../../domain/lights-out/schedule/names.ts';
import { workloadName } from '../../domain/lights-out/workload/workload.ts';
import { lightsOutMetrics } from '../../domain/lights-out/metrics.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { count } from '../kernel/metrics.ts';
import { awaiting, ensureScaled } from './activities.ts';
import type { SchedulePass } from './schedule-pass.ts';

export async function scale(
  pass: SchedulePass,
  seen: LightsOutObservation,
  { items, ready }: Extract<LightsOutVerdict, { kind: 'scale' }>,
): Promise<void> {
  for (const step of stepsOf(items)) {
    const { direction = 'Up', priority = 0 }: Partial<PlanItem> = step[0] ?? {};
    if (!(await isReady(pass, seen, direction, priority))) return;
    const pace = paceOf(seen.schedule?.spec ?? null, step);
    for (const batch of batchesOf(step, pace.batchSize)) {
      if (!(await isTurn(pass, seen, direction, pace.delayMs))) return;
      if (!(await writeBatch(pass, seen, batch, { direction, delayMs: pace.delayMs }))) return;
      await pass.writeProgress(seen, ready);
      if (pass.run.requests.isPending || pass.run.isHistoryLong) return;
    }
  }
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
    const outcome = await write(pass, seen, items, {
      target,
      scheduleUid,
      schedule: scheduleVersion(seen.schedule),
      items: packItems(items),
      observeInput: pass.observeInput(items),
      ...(seen.plan?.outdated === undefined ? {} : { outdated: seen.plan.outdated }),
    });
    if (outcome === null) return false;
    pass.wrote(outcome.versions);
    const { outcomes, idle } = outcome;
    run.remember(afterBatch(run.memory, items, outcomes, { now: pass.now(), timings: seen.timings, idle }));
    run.refresh();
    // Nobody may have sent a request: the starters may be away.
    if (run.requests.isImmediate || outcome.isScheduleChanged === true) return false;
  }
  const nextBatchAt = delayMs === 0 ? null : pass.now() + delayMs;
  run.remember({ ...run.memory, nextBatchAt, batchDirection: direction });
  count(lightsOutMetrics.batches, {
    schedule: target.schedule,
    direction: direction === 'Up' ? 'upscale' : 'downscale',
  });
  return true;
}

/** Null when the whole activity failed; the backoff is over by then. */
async function write(
  pass: SchedulePass,
  seen: LightsOutObservation,
  items: readonly PlanItem[],
  batch: Batch,
): Promise<BatchOutcome | null> {
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
    await pass.restAfter(error, seen, 'batch');
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
  const [now, end] = [pass.now(), endOfPlan(seen, run.memory)];
  const wait = batchWait(run.memory, { direction, delayMs, now, end });
  if (wait !== null && (await run.wait({ until: Date.now() + (wait.until - now), summary: wait.summary }))) {
    return false;
  }
  return !run.requests.isImmediate && pass.now() < endOfPlan(seen, run.memory);
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
  priority: number,
): Promise<boolean> {
  const { target, run } = pass;
  const [now, end] = [pass.now(), endOfPlan(seen, run.memory)];
  const wait = readinessWait(run.memory, seen.schedule?.spec ?? null, { direction, priority, now, end });
  if (wait === null) return true;
  if (run.requests.isPending) return false;
  const { stage, workloads, what, until, timeoutMs } = wait;
  run.remember({ ...run.memory, stage });
  run.publish({ ...run.status, detail: `Headroom waits for ${what}` });
  const awaitScaled = awaiting(until - now);
  try {
    const scaled = await run.waitFor(async () => {
      await awaitScaled.executeWithOptions({ summary: brief(`wait for ${what}`) }, [{ target, direction, workloads }]);
      return true;
    });
    if (scaled === null) return false;
    run.remember({ ...run.memory, stage: null });
    return true;
  } catch (error) {
    if (failedActivity(error) === null) throw error;
    if (pass.now() < stage.waitingSince + timeoutMs) return false;
    run.remember(afterTimeout(run.memory, wait));
    await pass.writeEvents(seen, run.memory.pendingEvents);
    return true;
  }
}
