import { continueAsNew, setHandler } from '@temporalio/workflow';
import { nodeGroupAwaits } from '../../domain/node-group/awaited.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { applyCommand } from '../../domain/node-group/decide/commands.ts';
import { afterDrain } from '../../domain/node-group/decide/drain-outcome.ts';
import { freshMemory, type NodeGroupMemory } from '../../domain/node-group/decide/memory.ts';
import type { NodeGroupTarget } from '../../domain/node-group/target.ts';
import { type Carried, ControllerRun, readCarried } from '../kernel/controller-run.ts';
import { drainEnded } from './drain-messages.ts';
import { NodeGroupPasses, type NodeGroupRun } from './group-passes.ts';
import {
  commandDescriptions,
  commandSignals,
  commandUpdates,
  FIRST_PHASE,
  nodeGroupChanged,
  type NodeGroupRunStatus,
  status,
} from './messages.ts';

export interface NodeGroupInput {
  readonly target: NodeGroupTarget;
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<NodeGroupMemory>;
  /** Overrides `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

export interface NodeGroupResult {
  readonly reason: string;
  readonly detail: string;
}

/** History events after which a run continues as new. */
const HISTORY_EVENTS = 2_000;

/**
 * One NodeGroup, for as long as there is one: it observes the group's part of the plan for the cluster, creates machines and drives
 * them until they are nodes, and has nodes drained that can go. Nothing is polled: the starter says when the plan has changed.
 */
export async function nodeGroup(input: NodeGroupInput): Promise<NodeGroupResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const carried = readCarried(input.carried);
  const run: NodeGroupRun = new ControllerRun<NodeGroupRun['status'], NodeGroupMemory>({
    identity: { controller: 'node-group', target: target.group, cluster: target.cluster },
    awaits: nodeGroupAwaits,
    carried,
    memory: carried?.memory ?? freshMemory,
    startedAs: FIRST_PHASE,
    first: {
      phase: FIRST_PHASE,
      reason: 'FirstObservation',
      detail: 'Headroom looks at the group and at the plan for the cluster',
      facts: [],
    },
    historyEvents: continueAfterEvents,
  });
  const passes = new NodeGroupPasses(target, run);
  handleMessages(target, run);

  return await run.reconcile(pass, next);

  async function pass(): Promise<NodeGroupResult | null> {
    if (run.pauses.inForce !== null) {
      await passes.whilePaused();
      return null;
    }
    const seen = await passes.observe();
    if (seen === null || run.pauses.inForce !== null) return null;
    const verdict = passes.decide(seen);
    await passes.act(seen, verdict);
    if (verdict.kind !== 'end') return null;
    await run.handlersFinished();
    // No await between this check and the return: from now on the server starts a new workflow for a request.
    if (run.requests.isPending || run.pauses.isUnkept) return null;
    return { reason: verdict.reason, detail: verdict.detail };
  }

  async function next(): Promise<never> {
    return await continueAsNew<typeof nodeGroup>({ ...input, carried: run.carry() });
  }
}

function handleMessages(target: NodeGroupTarget, run: NodeGroupRun): void {
  setHandler(nodeGroupChanged, () => run.requests.add('deferrable'), {
    description: "the starter's request to reconcile: the NodeGroup or its part of the plan changed",
  });
  setHandler(
    drainEnded,
    (outcome) => {
      run.remember(afterDrain(run.memory, outcome, Date.now()));
      run.requests.add('deferrable');
    },
    { description: 'a drain of the group has ended' },
  );
  setHandler(
    status,
    (): NodeGroupRunStatus => ({
      target,
      ...run.status,
      since: formatInstant(run.since),
      paused: run.pauses.inForce,
      draining: run.memory.drains.map(({ node }) => node),
      lastCommand: run.lastCommand,
    }),
  );
  const commands = { signals: commandSignals, updates: commandUpdates, descriptions: commandDescriptions };
  run.handleTargetCommands(commands, (name, raw) => {
    const { memory, message } = applyCommand(name, raw, { memory: run.memory, now: Date.now() });
    return memory === null ? { kind: 'rejected', message } : { kind: 'accepted', message, memory };
  });
}
