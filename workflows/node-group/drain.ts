import { CancellationScope, continueAsNew, setHandler } from '@temporalio/workflow';
import { drainAwaits } from '../../domain/node-group/awaited.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import {
  afterStop,
  type DrainEnding,
  type DrainShown,
  type DrainStep,
  firstStep,
  shownStep,
} from '../../domain/node-group/drain/steps.ts';
import { type Carried, ControllerRun, readCarried } from '../kernel/controller-run.ts';
import { isCancelled } from '../kernel/failure.ts';
import { drainDescriptions, drainSignals, type NodeDrainStatus, drainStatus, drainUpdates } from './drain-messages.ts';
import { type DrainRun, NodeDrain, type NodeDrainInput as DrainInput, orderOf } from './drain-run.ts';

export interface NodeDrainInput extends DrainInput {
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<DrainStep>;
  /** Overrides `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

/** History events after which a run continues as new: budgets that come and go can make a drain long. */
const HISTORY_EVENTS = 2_000;

/**
 * Drains one node, and deletes its machine: marks and cordon, the replacement where one is to be ready first, evictions, deletion.
 * Whatever ends it before the deletion is asked for, it takes back its marks.
 */
export async function nodeDrain(input: NodeDrainInput): Promise<DrainEnding> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const order = orderOf(input);
  const carried = readCarried(input.carried);
  const memory = carried?.memory ?? firstOf(input);
  const run: DrainRun = new ControllerRun<DrainShown, DrainStep>({
    identity: { controller: 'node-group', target: target.node, cluster: target.cluster },
    awaits: drainAwaits,
    carried,
    memory,
    startedAs: null,
    first: shownStep(memory, order),
    historyEvents: continueAfterEvents,
  });
  const drain = new NodeDrain(input, run);
  handleMessages(run, drain);

  const pass = async (): Promise<DrainEnding | null> => await drain.step();
  const next = async (): Promise<never> => await continueAsNew<typeof nodeDrain>({ ...input, carried: run.carry() });
  try {
    return await run.reconcile(pass, next);
  } catch (error) {
    if (!isCancelled(error)) throw error;
    run.remember(afterStop(run.memory, 'the workflow was cancelled') ?? run.memory);
    return await CancellationScope.nonCancellable(async () => await run.reconcile(pass, next));
  }
}

function firstOf(input: NodeDrainInput): DrainStep {
  const first = firstStep(orderOf(input));
  return input.undoesOnly === true ? (afterStop(first, input.removal.detail) ?? first) : first;
}

function handleMessages(run: DrainRun, { order }: NodeDrain): void {
  setHandler(
    drainStatus,
    (): NodeDrainStatus => ({
      target: order.target,
      ...run.status,
      since: formatInstant(run.since),
      paused: run.pauses.inForce,
      lastCommand: run.lastCommand,
    }),
  );
  const commands = { signals: drainSignals, updates: drainUpdates, descriptions: drainDescriptions };
  run.handleTargetCommands(commands, (_name, raw) => {
    const { by } = readCommandInput(raw);
    const memory = afterStop(run.memory, `stopped by ${by}`);
    return memory === null
      ? { kind: 'rejected', message: `too late: ${shownStep(run.memory, order).detail}` }
      : { kind: 'accepted', message: `stopped by ${by}`, memory, apply: () => run.interrupt() };
  });
}
