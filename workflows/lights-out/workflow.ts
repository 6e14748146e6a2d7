import { continueAsNew, metricMeter, setHandler } from '@temporalio/workflow';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import { applyCommand } from '../../domain/lights-out/decide/commands.ts';
import { decide } from '../../domain/lights-out/decide/decide.ts';
import {
  freshMemory,
  type LightsOutMemory,
  withPendingEvents,
  upgradeMemory,
} from '../../domain/lights-out/decide/memory.ts';
import type { LightsOutObservation } from '../../domain/lights-out/decide/observation.ts';
import { type FinishedRun, completeRun, withRun } from '../../domain/lights-out/decide/run.ts';
import type { LightsOutVerdict } from '../../domain/lights-out/decide/verdict.ts';
import { type Carried, ControllerRun, upgradeCarried } from '../kernel/controller-run.ts';
import { commandDescriptions, commandSignals, commandUpdates } from './messages.ts';
import { scheduleChanged, status, workloadsChanged } from './messages.ts';
import { FIRST_STATUS, type LightsOutRun, shownFacts, statusAnswer } from './report.ts';
import { isOneBatch, scale } from './scale.ts';
import { SchedulePass } from './schedule-pass.ts';

export interface LightsOutInput {
  readonly target: ScheduleTarget;
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<LightsOutMemory>;
  /** Overrides `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

export interface LightsOutResult {
  readonly reason: string;
  readonly detail: string;
}

/** History events after which a run continues as new: a schedule lives for years. */
const HISTORY_EVENTS = 2_000;

/**
 * The workflow of one LightsOutSchedule for as long as the object exists. It sleeps until the next transition or a
 * reconcile request, observes everything again, and scales the workloads that are not as the schedule wants them.
 */
export async function lightsOut(input: LightsOutInput): Promise<LightsOutResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const carried = upgradeCarried(input.carried);
  const run: LightsOutRun = new ControllerRun<LightsOutRun['status'], LightsOutMemory>({
    identity: { controller: 'lights-out', target: target.schedule, cluster: target.cluster },
    carried,
    memory: upgradeMemory(carried?.memory),
    startedAs: null,
    first: FIRST_STATUS,
    historyEvents: continueAfterEvents,
    facts: shownFacts,
  });
  const pass = new SchedulePass(target, run);
  handleMessages(target, run, pass);

  return await run.reconcile(
    async () => await reconcile(run, pass),
    async () => await continueAsNew<typeof lightsOut>({ ...input, carried: run.carry() }),
  );
}

/** One pass; the result of the workflow when the schedule is gone and nothing of it is left. */
async function reconcile(run: LightsOutRun, pass: SchedulePass): Promise<LightsOutResult | null> {
  const seen = await pass.observe();
  const verdict = seen === null ? null : next(run, pass.target, seen);
  if (seen === null || verdict === null) return null;
  run.publish(verdict);
  // A single batch takes only a moment, so only its result is reported: each status write is a billed Temporal
  // action.
  if (verdict.kind === 'scale' && isOneBatch(seen, verdict.items)) pass.reportLater();
  else await pass.writeStatus(seen, verdict.ready);
  await pass.writeEvents(seen, [...run.memory.pendingEvents, ...verdict.events]);
  switch (verdict.kind) {
    case 'end':
      await run.handlersFinished();
      // No await since the last check: a schedule that was deleted and created again sends a request, which must not
      // be lost.
      return run.requests.isPending ? null : { reason: verdict.reason, detail: verdict.detail };
    case 'finalizer':
      await pass.ensureFinalizer(seen, verdict.isPresent);
      return null;
    case 'scale':
      await scale(pass, seen, verdict);
      return null;
    case 'wait':
      if (verdict.phase === 'Paused') await run.awaitResume('deferrable');
      else await pass.rest(verdict.until, verdict.detail);
      return null;
  }
}

/** Decides on an observation with the memory of this moment; null when everything has to be observed again first. */
function next(run: LightsOutRun, { schedule }: ScheduleTarget, seen: LightsOutObservation): LightsOutVerdict | null {
  const uid = seen.schedule?.uid ?? null;
  if (uid !== null && run.memory.uid !== null && uid !== run.memory.uid) {
    // The uid differs, so approvals, overrides and saved state in the memory belong to a deleted schedule of the same
    // name. Observe again without them.
    run.remember(freshMemory);
    return null;
  }
  const [memory, verdict] = decide(seen, run.memory);
  const isPlannedWithout = memory.overrides.length > run.memory.overrides.length;
  run.remember(memory);
  // The status contains overrides of a run before this one, which the plan does not take into account yet.
  if (isPlannedWithout) return null;
  const isDone = verdict.kind !== 'scale' && !(verdict.kind === 'finalizer' && verdict.isPresent);
  const isHeld = verdict.reason === 'Paused' || verdict.reason === 'GloballyPaused';
  if (isDone && !isHeld) {
    const completed = completeRun(memory, seen, isAsWanted(verdict));
    run.remember(withPendingEvents(completed.memory, completed.events));
    if (completed.finished !== null) recordDuration(schedule, completed.finished);
  } else if (verdict.kind === 'scale') {
    const held = (seen.plan?.items.length ?? 0) - verdict.items.length;
    run.remember(withRun(memory, (seen.plan?.total ?? 0) - held, seen.at));
  }
  return verdict;
}

/** Whether everything the schedule wants is done, apart from workloads that cannot be scaled. */
function isAsWanted({ reason }: LightsOutVerdict): boolean {
  return reason === 'AsScheduled' || reason === 'ScalingFailed';
}

function recordDuration(schedule: string, { direction, seconds }: FinishedRun): void {
  metricMeter
    .createHistogram(
      'lightsout_scaling_duration',
      'float',
      // The Prometheus exporter appends the unit to the metric's name.
      'seconds',
      'From the first write of a transition to the last.',
    )
    .record(seconds, { schedule, direction });
}

function handleMessages(target: ScheduleTarget, run: LightsOutRun, pass: SchedulePass): void {
  setHandler(scheduleChanged, () => run.requests.add('immediate'), {
    description: 'the schedule changed, or is gone',
  });
  setHandler(workloadsChanged, () => run.requests.add('deferrable'), {
    description: 'a workload or namespace is not as the schedule wants it',
  });
  setHandler(status, () => statusAnswer(target, run, pass.seen));
  const commands = { signals: commandSignals, updates: commandUpdates, descriptions: commandDescriptions };
  run.handleTargetCommands(commands, (name, raw) => {
    const { memory, message } = applyCommand(name, raw, { memory: run.memory, seen: pass.seen, now: Date.now() });
    return memory === null ? { kind: 'rejected', message } : { kind: 'accepted', message, memory };
  });
}
