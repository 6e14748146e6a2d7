import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  log,
  metricMeter,
  setHandler,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Batch, BatchOutcome, ScheduleLook } from '../../activities/lights-out/interface.ts';
import { parseDuration } from '../../domain/kernel/duration.ts';
import type { ScheduleTarget } from '../../domain/kernel/target.ts';
import { type EpochMs, formatInstant, formatSpan } from '../../domain/kernel/time.ts';
import { applyCommand } from '../../domain/lights-out/decide/commands.ts';
import { decide, unreadable } from '../../domain/lights-out/decide/decide.ts';
import {
  type LightsOutMemory,
  memoryOfAnother,
  owing,
  replicaHours,
  upgradeMemory,
} from '../../domain/lights-out/decide/memory.ts';
import type { ScheduleState } from '../../domain/lights-out/schedule/names.ts';
import type { LightsOutObservation, ReadyCondition } from '../../domain/lights-out/decide/observation.ts';
import { batchesOf, stepsOf } from '../../domain/lights-out/decide/order.ts';
import type { PlanItem } from '../../domain/lights-out/decide/plan.ts';
import { afterBatch, settle, withRun } from '../../domain/lights-out/decide/run.ts';
import type { RateLimit, ScheduleSpec } from '../../domain/lights-out/schedule/schedule.ts';
import { statusOf } from '../../domain/lights-out/decide/status.ts';
import type { LightsOutVerdict, Told } from '../../domain/lights-out/decide/verdict.ts';
import { workloadName } from '../../domain/lights-out/workload/workload.ts';
import { brief, createPublisher, type Standing } from '../kernel/visibility.ts';
import {
  awaiting,
  ensureFinalizer,
  ensureScaled,
  ensureScheduleEvent,
  ensureScheduleStatus,
  observeSchedule,
} from './activities.ts';
import {
  commandDescriptions,
  commandSignals,
  commandUpdates,
  type LightsOutCommand,
  lightsOutCommands,
  type LightsOutStatus,
  scheduleChanged,
  status,
  workloadsChanged,
} from './messages.ts';

export interface LightsOutInput {
  readonly target: ScheduleTarget;
  /** Of the run before, through continue-as-new. */
  readonly carried?: Carried;
  /** After so many history events it continues as new, instead of `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

interface Carried {
  readonly version: 1;
  readonly memory: LightsOutMemory;
  readonly standing: Standing;
  readonly lastCommand: string | null;
}

export interface LightsOutResult {
  readonly reason: string;
  readonly detail: string;
}

/** History events of a run: a schedule lives for years, in runs of this length. */
const HISTORY_EVENTS = 2_000;
/** Workloads of one activity where the schedule names no batch size. */
const CHUNK = 100;
/** How often the status says how far it has come, in milliseconds: each time is a write. */
const PROGRESS_MS = 10_000;
/** How long a write rests that a person must help, in milliseconds. */
const REFUSED_REST_MS = 60_000;
/** Between two looks that are there only because a status or an Event could not be written, at most. */
const LONGEST_OWED_REST_MS = 3_600_000;
const MAX_TOLD = 300;

/**
 * One LightsOutSchedule, for as long as it exists: it sleeps until the next transition, or until somebody says that
 * something changed, looks at everything afresh, and puts to sleep or wakes what is not as the schedule wants it.
 */
export async function lightsOut(input: LightsOutInput): Promise<LightsOutResult> {
  const { target, carried, continueAfterEvents = HISTORY_EVENTS } = input;
  const identity = { controller: 'lights-out', target: target.schedule, cluster: target.cluster };
  const publish = createPublisher(identity, carried?.standing, carried?.standing.phase ?? null);
  const batches = metricMeter.createCounter(
    'lightsout_scaling_batches',
    '1',
    'Batches of workloads that were written.',
  );
  const durations = metricMeter.createHistogram(
    'lightsout_scaling_duration',
    'float',
    // The unit becomes the end of the name.
    'seconds',
    'From the first write of a transition to the last.',
  );
  let memory = upgradeMemory(carried?.memory);
  let seen: LightsOutObservation | null = null;
  let lastCommand = carried?.lastCommand ?? null;
  let woken = false;
  /** The schedule changed, or an operator said something: what is under way is left for a fresh look. */
  let interrupted = false;
  let waiting: CancellationScope | null = null;
  /** A status or an Event could not be written: the next look is soon, and not only at the next transition. */
  let isOwed = false;
  /** How many rests in a row something was owed. What nobody allows to be written is not worth a look a minute. */
  let timesOwed = 0;
  let writtenStatus = '';
  let progressAt: EpochMs = 0;
  let lookedAt = { here: Date.now(), there: Date.now() };
  let said: Pick<LightsOutStatus, 'phase' | 'reason' | 'detail' | 'facts'> = {
    phase: 'Starting',
    reason: 'FirstLook',
    detail: 'looking at the schedule',
    facts: [],
  };
  let standing = show();

  const interrupt = (): void => {
    woken = true;
    interrupted = true;
    waiting?.cancel();
  };
  setHandler(scheduleChanged, interrupt, { description: 'the schedule changed, or is gone' });
  setHandler(
    workloadsChanged,
    () => {
      woken = true;
      waiting?.cancel();
    },
    { description: 'a workload or namespace is not as the schedule wants it' },
  );
  setHandler(status, (): LightsOutStatus => {
    const moment = (at: EpochMs | null | undefined): string | null => (at == null ? null : formatInstant(at));
    const { run, paused, failing } = memory;
    return {
      target,
      ...said,
      since: formatInstant(standing.since),
      state: seen?.period?.state ?? null,
      nextUpscale: moment(seen?.period?.nextUpscale),
      nextDownscale: moment(seen?.period?.nextDownscale),
      overrides: [...memory.overrides, ...(seen?.schedule?.overrides ?? [])]
        .filter(({ until }) => until > Date.now())
        .map(({ kind, namespace, until, by, reason }) => ({
          kind,
          namespace,
          until: formatInstant(until),
          by,
          reason,
        })),
      progress:
        run === null
          ? null
          : { total: run.total, completed: run.up + run.down + run.skipped, failed: Object.keys(failing).length },
      failing: Object.entries(failing).map(([workload, message]) => ({ workload, message })),
      savedReplicaHours: replicaHours(memory.savings),
      paused: paused === null ? null : { ...paused, at: formatInstant(paused.at) },
      lastCommand,
    };
  });
  for (const name of lightsOutCommands) {
    const apply = (raw?: unknown): string => {
      const answer = command(name, raw);
      lastCommand = `${formatInstant(Date.now())} ${name}: ${answer.message}`;
      if (answer.memory !== null) {
        memory = answer.memory;
        log.info('operator command', { command: name, did: answer.message, schedule: target.schedule });
        interrupt();
      }
      standing = show();
      return answer.message;
    };
    const description = commandDescriptions[name];
    setHandler(commandSignals[name], (raw) => void apply(raw), { description });
    setHandler(commandUpdates[name], (raw?: unknown) => apply(raw), {
      description,
      validator: (raw?: unknown) => {
        const answer = command(name, raw);
        if (answer.memory === null) throw ApplicationFailure.nonRetryable(answer.message, 'CommandRefused');
      },
    });
  }

  for (;;) {
    if (isHistoryLong()) return await again();
    // Cleared before observing, so that no hint falls between the look and the wait.
    woken = false;
    interrupted = false;
    const looked = await observe();
    if (looked === null) continue;
    seen = looked;
    const uid = looked.schedule?.uid ?? null;
    if (uid !== null && memory.uid !== null && uid !== memory.uid) {
      // What was approved, asked for and put to sleep was another one's: looked at again without it.
      memory = memoryOfAnother(memory);
      continue;
    }
    let verdict: LightsOutVerdict;
    const known = memory.overrides.length;
    [memory, verdict] = decide(looked, memory);
    // A run before this one was told of more, by the status: its plan was made without, and is made again.
    if (memory.overrides.length > known) continue;
    const isDone = verdict.kind !== 'scale' && !(verdict.kind === 'finalizer' && verdict.isPresent);
    const isHeld = verdict.reason === 'Paused' || verdict.reason === 'GloballyPaused';
    if (isDone && !isHeld) {
      const settled = settle(memory, looked, isAsWanted(verdict));
      memory = owing(settled.memory, settled.tells);
      if (settled.finished !== null) {
        const { direction, seconds } = settled.finished;
        durations.record(seconds, { schedule: target.schedule, direction });
      }
    } else if (verdict.kind === 'scale') {
      const held = (looked.plan?.items.length ?? 0) - verdict.items.length;
      memory = withRun(memory, (looked.plan?.total ?? 0) - held, looked.at);
    }
    stand(verdict);
    // What is done in a moment is said when it is done: each time is a write, and an action that somebody pays for.
    if (verdict.kind === 'scale' && isOneBatch(looked, verdict.items)) progressAt = now();
    else await writeStatus(looked, verdict.ready);
    await tell(looked, [...memory.untold, ...verdict.tells]);
    switch (verdict.kind) {
      case 'end':
        await condition(allHandlersFinished);
        // Synchronous with the end: one that was made anew in this moment has a hint of its own.
        if (woken) break;
        return { reason: verdict.reason, detail: verdict.detail };
      case 'finalizer':
        await putFinalizer(looked, verdict.isPresent);
        break;
      case 'scale':
        await scale(looked, verdict.items, verdict.ready);
        break;
      case 'wait':
        await rest(verdict.until, verdict.detail);
        break;
    }
  }

  async function again(): Promise<never> {
    await condition(allHandlersFinished);
    return await continueAsNew<typeof lightsOut>({
      ...input,
      carried: { version: 1, memory, standing, lastCommand },
    });
  }

  function isHistoryLong(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > continueAfterEvents;
  }

  /** Null where it could not be read, after a rest. */
  async function observe(): Promise<LightsOutObservation | null> {
    try {
      const looked = await observeSchedule.executeWithOptions({ summary: 'everything in scope' }, [lookNow()]);
      lookedAt = { here: Date.now(), there: looked.at };
      return looked;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) throw error;
      stand({ phase: said.phase, reason: 'ReadFailed', detail: refusal.message, facts: said.facts });
      if (seen !== null) {
        await writeStatus(seen, unreadable(refusal.message));
      }
      await rest(now() + REFUSED_REST_MS, refusal.message);
      return null;
    }
  }

  /** The time of the clock by which the last look was made: those of workers and of Temporal may differ by seconds. */
  function now(): EpochMs {
    return lookedAt.there + (Date.now() - lookedAt.here);
  }

  async function rest(until: EpochMs | null, summary: string): Promise<void> {
    const isOver = (): boolean => woken || isHistoryLong();
    if (!isOwed) timesOwed = 0;
    const soon = isOwed ? now() + Math.min(REFUSED_REST_MS * 2 ** timesOwed, LONGEST_OWED_REST_MS) : null;
    isOwed = false;
    const moment = soon === null || until === null ? (soon ?? until) : Math.min(soon, until);
    if (moment === null) return await condition(isOver);
    const isWoken = await condition(isOver, Math.max(1, moment - now()), { summary: brief(summary) });
    // A hint that ends the rest at once says nothing about the next try.
    if (soon !== null && !isWoken) timesOwed += 1;
  }

  /** Does what is to be done, in batches, until it is done or something more recent is known. */
  async function scale(
    look: LightsOutObservation,
    items: readonly PlanItem[],
    ready: ReadyCondition | null,
  ): Promise<void> {
    const scheduleUid = look.schedule?.uid ?? '';
    const spec = look.schedule?.spec ?? null;
    for (const step of stepsOf(items)) {
      const { direction = 'Up', priority = 0 }: Partial<PlanItem> = step[0] ?? {};
      if (!(await isReady(look, direction, priority))) return;
      const { batchSize, delayMs } = paceOf(spec, direction);
      for (const batch of batchesOf(step, batchSize)) {
        if (!(await isTurn(look, direction, delayMs))) return;
        // In parts, so that a pause in the middle of many ends them.
        for (const part of batchesOf(batch, CHUNK)) {
          const outcome = await write({ target, scheduleUid, items: part, look: lookNow() });
          if (outcome === null) return;
          memory = afterBatch(memory, part, outcome.outcomes, { now: now(), timings: look.timings });
          standing = show();
          if (interrupted) return;
        }
        memory = { ...memory, nextBatchAt: delayMs === 0 ? null : now() + delayMs, batchDirection: direction };
        batches.add(1, { schedule: target.schedule, direction: directionName(direction) });
        if (now() - progressAt >= PROGRESS_MS) await writeStatus(look, ready);
        if (woken || isHistoryLong()) return;
      }
    }
  }

  /** When something else may hold than what was planned by: the next transition, or the end of what somebody asked for. */
  function endOf({ period, plan }: LightsOutObservation): EpochMs {
    const ends = [period?.next?.at, plan?.until, ...memory.overrides.map(({ until }) => until)];
    return Math.min(Infinity, ...ends.filter((at) => typeof at === 'number' && at > lookedAt.there).map(Number));
  }

  /** Waits for the turn of the next batch; false where there is something else to look at by then. */
  async function isTurn(look: LightsOutObservation, direction: ScheduleState, delayMs: number): Promise<boolean> {
    // Who wakes what is going to sleep does not wait for the next batch of that, and whoever shortens the delay not for
    // the rest of the old one.
    const turn = memory.batchDirection === direction ? Math.min(memory.nextBatchAt ?? 0, now() + delayMs) : 0;
    if (turn > now()) {
      const { run } = memory;
      const summary = `next batch, ${(run?.up ?? 0) + (run?.down ?? 0)} of ${run?.total ?? 0} done`;
      const wait = Math.max(1, Math.min(turn, endOf(look)) - now());
      if (await condition(() => woken || isHistoryLong(), wait, { summary })) return false;
    }
    return !interrupted && now() < endOf(look);
  }

  function lookNow(): ScheduleLook {
    const { overrides, inEffect, approved, settled, contested, failing } = memory;
    const held = Object.entries(contested).filter(([, { until }]) => until > now());
    return {
      target,
      overrides,
      inEffect,
      isApproved: approved !== null,
      settledAt: settled?.at ?? null,
      contested: Object.fromEntries(held.map(([name, { until }]) => [name, until])),
      failing: Object.keys(failing),
    };
  }

  /** Null where it was refused as a whole, after a rest. */
  async function write(batch: Batch): Promise<BatchOutcome | null> {
    const [first] = batch.items;
    const summary = `${batch.items.length} ${first?.direction === 'Down' ? 'to sleep' : 'to wake'}: ${first === undefined ? '' : workloadName(first.workload)}${batch.items.length > 1 ? ', …' : ''}`;
    try {
      return await ensureScaled.executeWithOptions({ summary: brief(summary) }, [batch]);
    } catch (error) {
      await restAfter(error);
      return null;
    }
  }

  /**
   * The workloads of a priority are waited for before those of the next are touched, for as long as people gave them. False
   * where there is something else to look at first; the wait goes on after that.
   */
  async function isReady(look: LightsOutObservation, direction: ScheduleState, next: number): Promise<boolean> {
    const { stage } = memory;
    const timeout = parseDuration(look.schedule?.spec?.readinessTimeout ?? '10m');
    if (stage === null || stage.direction !== direction || stage.priority === next) return true;
    const { priority } = stage;
    const items = stage.items.filter(({ workload }) => memory.failing[workloadName(workload)] === undefined);
    if (timeout === 0 || items.length === 0) return true;
    if (woken) return false;
    const waitingSince = stage.waitingSince ?? now();
    memory = { ...memory, stage: { ...stage, waitingSince } };
    const until = Math.min(waitingSince + timeout, endOf(look));
    const who = `the ${items.length === 1 ? 'workload' : `${items.length} workloads`} of priority ${priority}`;
    const wanted = direction === 'Up' ? 'ready' : 'down';
    const what = `${who} to be ${wanted}`;
    stand({ ...said, detail: `waiting for ${what}` });
    const scope = new CancellationScope({ cancellable: true });
    waiting = scope;
    try {
      await scope.run(() =>
        awaiting(Math.max(1, until - now())).executeWithOptions({ summary: brief(what) }, [
          { target, direction, items },
        ]),
      );
      memory = { ...memory, stage: null };
      return true;
    } catch (error) {
      if (isCancellation(error)) return false;
      if (refusalOf(error) === null) throw error;
      if (now() < waitingSince + timeout) return false;
      const verb = items.length === 1 ? 'was' : 'were';
      const sentence = `${who} ${verb} not ${wanted} within ${formatSpan(timeout)}: the next priority was begun`;
      memory = { ...memory, stage: null, unready: [...memory.unready, sentence] };
      const key = `ReadinessTimeout ${memory.run?.startedAt} ${priority}`;
      memory = owing(memory, [{ type: 'Warning', reason: 'ReadinessTimeout', message: sentence, key }]);
      await tell(look, memory.untold);
      return true;
    } finally {
      waiting = null;
    }
  }

  async function putFinalizer({ schedule }: LightsOutObservation, isPresent: boolean): Promise<void> {
    if (schedule === null) return;
    try {
      const summary = isPresent ? 'put on the finalizer' : 'take off the finalizer';
      await ensureFinalizer.executeWithOptions({ summary }, [{ target, scheduleUid: schedule.uid, isPresent }]);
    } catch (error) {
      await restAfter(error);
    }
  }

  async function restAfter(error: unknown): Promise<void> {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    const reason = refusal.type === 'GloballyPaused' ? 'GloballyPaused' : 'ScalingFailed';
    stand({ phase: said.phase, reason, detail: refusal.message, facts: said.facts });
    await rest(now() + REFUSED_REST_MS, refusal.message);
  }

  /** Writes the status where it says something new. One that cannot be written is written with the next look. */
  async function writeStatus({ schedule }: LightsOutObservation, ready: ReadyCondition | null): Promise<void> {
    if (schedule === null || ready === null || seen === null) return;
    const next = statusOf(seen, memory);
    // It grows all the time, and is written along with what else is new.
    const text = JSON.stringify([{ ...next, savedReplicaHours: '' }, ready, schedule.generation]);
    if (text === writtenStatus) return;
    progressAt = now();
    try {
      await ensureScheduleStatus.executeWithOptions({ summary: brief(ready.message) }, [
        { target, scheduleUid: schedule.uid, observedGeneration: schedule.generation, ready, status: next },
      ]);
      writtenStatus = text;
    } catch (error) {
      isOwed = true;
      log.warn('the status of the schedule is not written', {
        schedule: target.schedule,
        reason: refusalOf(error)?.message,
      });
    }
  }

  async function tell({ schedule }: LightsOutObservation, tells: readonly Told[]): Promise<void> {
    if (schedule === null) return;
    for (const { type, reason, message, key } of tells) {
      try {
        await ensureScheduleEvent.executeWithOptions({ summary: brief(message) }, [
          { target, scheduleUid: schedule.uid, type, reason, message, key },
        ]);
        const untold = memory.untold.filter((one) => one.key !== key);
        memory = { ...memory, told: [...memory.told, key].slice(-MAX_TOLD), untold };
      } catch (error) {
        // Told with the next look: what was done, and what is still so.
        isOwed = true;
        log.warn('an Event is not written', { schedule: target.schedule, reason: refusalOf(error)?.message });
        return;
      }
    }
  }

  function command(name: LightsOutCommand, raw: unknown): ReturnType<typeof applyCommand> {
    return applyCommand(name, raw, { memory, seen, now: Date.now() });
  }

  function stand(next: Pick<LightsOutStatus, 'phase' | 'reason' | 'detail' | 'facts'>): void {
    const { phase, reason, detail, facts } = next;
    said = { phase, reason, detail, facts };
    standing = show();
  }

  function show(): Standing {
    const { run, paused } = memory;
    const facts = [
      ...(run === null ? [] : [progressSentence(run, Object.keys(memory.failing).length)]),
      ...(paused === null || said.phase === 'Paused'
        ? []
        : [`paused by ${paused.by} since ${formatInstant(paused.at)}`]),
      ...said.facts,
      `saved so far: ${replicaHours(memory.savings)} replica-hours`,
      ...(lastCommand === null ? [] : [`last command: ${lastCommand}`]),
    ];
    return publish({ ...said, facts }, Date.now());
  }
}

function progressSentence({ up, down, skipped, total }: NonNullable<LightsOutMemory['run']>, failed: number): string {
  const parts = [
    ...(down > 0 ? [`${down} put to sleep`] : []),
    ...(up > 0 ? [`${up} woken`] : []),
    ...(skipped > 0 ? [`${skipped} left`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  return `progress: ${up + down + skipped} of ${total}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}

/** Whether nothing is left of what the schedule wants, as far as it can be done. */
function isAsWanted({ reason }: LightsOutVerdict): boolean {
  return reason === 'AsScheduled' || reason === 'ScalingFailed';
}

function isOneBatch({ schedule }: LightsOutObservation, items: readonly PlanItem[]): boolean {
  const [first] = items;
  const steps = stepsOf(items);
  return (
    first !== undefined &&
    steps.length === 1 &&
    items.length <= Math.min(CHUNK, paceOf(schedule?.spec ?? null, first.direction).batchSize)
  );
}

function directionName(direction: ScheduleState): 'upscale' | 'downscale' {
  return direction === 'Up' ? 'upscale' : 'downscale';
}

function paceOf(
  spec: ScheduleSpec | null,
  direction: ScheduleState,
): { readonly batchSize: number; readonly delayMs: number } {
  const limit: RateLimit | undefined = direction === 'Up' ? spec?.upscaleRateLimit : spec?.downscaleRateLimit;
  if (limit?.batchSize === undefined) return { batchSize: CHUNK, delayMs: 0 };
  return { batchSize: limit.batchSize, delayMs: parseDuration(limit.delayBetweenBatches ?? '0') };
}

/** The failure that only a person can mend, or that has lasted for long, in words; null for the end of the workflow itself. */
function refusalOf(error: unknown): { readonly type: string; readonly message: string } | null {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return null;
  const { cause } = error;
  if (cause instanceof TimeoutFailure) {
    const last = cause.cause instanceof Error ? cause.cause.message : cause.message;
    return { type: 'TimedOut', message: `it does not get through: ${last}` };
  }
  if (cause instanceof ApplicationFailure) return { type: cause.type ?? '', message: cause.message };
  return { type: cause?.name ?? '', message: cause?.message ?? error.message };
}
