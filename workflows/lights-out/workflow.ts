import { continueAsNew, setHandler } from '@temporalio/workflow';
import { lightsOutAwaits } from '../../domain/lights-out/awaited.ts';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import { carriable } from '../../domain/lights-out/decide/carried.ts';
import { applyCommand } from '../../domain/lights-out/decide/commands.ts';
import { type LightsOutMemory, upgradeMemory } from '../../domain/lights-out/decide/memory.ts';
import { nextStep } from '../../domain/lights-out/decide/next-step.ts';
import type { FinishedRun } from '../../domain/lights-out/decide/run.ts';
import { lightsOutMetrics } from '../../domain/lights-out/metrics.ts';
import { type Carried, ControllerRun, readCarried } from '../kernel/controller-run.ts';
import { recordSeconds } from '../kernel/metrics.ts';
import { commandDescriptions, commandSignals, commandUpdates } from './messages.ts';
import { scheduleChanged, status, workloadsChanged } from './messages.ts';
import { FIRST_STATUS, type LightsOutRun, shownFacts, statusAnswer } from './report.ts';
import { scale } from './scale.ts';
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
  const carried = readCarried(input.carried);
  const run: LightsOutRun = new ControllerRun<LightsOutRun['status'], LightsOutMemory>({
    identity: { controller: 'lights-out', target: target.schedule, cluster: target.cluster },
    awaits: lightsOutAwaits,
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
    async () => {
      const carry = run.carry();
      return await continueAsNew<typeof lightsOut>({
        ...input,
        carried: { ...carry, memory: carriable(carry.memory) },
      });
    },
  );
}

/** One pass; the result of the workflow when the schedule is gone and nothing of it is left. */
async function reconcile(run: LightsOutRun, pass: SchedulePass): Promise<LightsOutResult | null> {
  const seen = await pass.observe();
  if (seen === null) return null;
  const step = nextStep(run.memory, seen);
  run.remember(step.memory);
  if (step.kind === 'observe') return null;
  const { verdict, finished } = step;
  if (finished !== null) recordDuration(pass.target.schedule, finished);
  run.publish(verdict);
  if (step.isStatusWritten) await pass.writeStatus(seen, verdict.ready);
  else pass.reportLater();
  await pass.writeEvents(seen, step.before);
  switch (verdict.kind) {
    case 'end':
      await run.handlersFinished();
      // No await since the last check: a schedule that was deleted and created again sends a request, which must not
      // be lost.
      return run.requests.isPending ? null : { reason: verdict.reason, detail: verdict.detail };
    case 'finalizer':
      if (await pass.ensureFinalizer(seen, verdict.isPresent)) await pass.writeEvents(seen, step.after);
      return null;
    case 'approve':
      await pass.ensureApproved(seen, verdict.approval);
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

function recordDuration(schedule: string, { direction, seconds }: FinishedRun): void {
  recordSeconds(lightsOutMetrics.duration, { schedule, direction }, seconds);
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
