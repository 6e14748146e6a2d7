import { continueAsNew, setHandler } from '@temporalio/workflow';
import { memcachedAwaits } from '../../domain/memcached/awaited.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { freshMemory, type MemcachedMemory } from '../../domain/memcached/decide/decide.ts';
import type { MemcachedVerdict } from '../../domain/memcached/decide/verdict.ts';
import { type MemcachedTarget, memcachedName } from '../../domain/memcached/target.ts';
import { type Carried, ControllerRun, readCarried } from '../kernel/controller-run.ts';
import { MemcachedEpisode, type MemcachedRun } from './episode.ts';
import { commandDescriptions, commandSignals, commandUpdates, FIRST_PHASE, memcachedChanged } from './messages.ts';
import { type MemcachedRunStatus, status } from './messages.ts';

export interface MemcachedInput {
  readonly target: MemcachedTarget;
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<MemcachedMemory>;
  /** Overrides `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

export interface MemcachedResult {
  readonly reason: string;
  readonly detail: string;
}

/** History events after which a run continues as new: a cache that is never as specified has an episode without an end. */
const HISTORY_EVENTS = 2_000;

/**
 * One episode of one Memcached: from a change until everything is as specified. It compares the Memcached with its objects,
 * writes what differs, and waits for its pods.
 */
export async function memcached(input: MemcachedInput): Promise<MemcachedResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const carried = readCarried(input.carried);
  const run: MemcachedRun = new ControllerRun<MemcachedRun['status'], MemcachedMemory>({
    identity: {
      controller: 'memcached',
      target: memcachedName(target),
      cluster: target.cluster,
      namespace: target.namespace,
    },
    awaits: memcachedAwaits,
    carried,
    memory: carried?.memory ?? freshMemory,
    startedAs: FIRST_PHASE,
    first: {
      phase: FIRST_PHASE,
      reason: 'FirstObservation',
      detail: 'Headroom compares the Memcached with its objects',
      facts: [],
    },
    historyEvents: continueAfterEvents,
  });
  const episode = new MemcachedEpisode(target, run);
  handleMessages(target, run, episode);

  return await run.reconcile(pass, next);

  async function pass(): Promise<MemcachedResult | null> {
    if (episode.isPaused) {
      await episode.whilePaused();
      return null;
    }
    const seen = await episode.observe();
    if (seen === null || episode.isPaused) return null;
    const verdict = episode.decide(seen, false);
    if (verdict.kind !== 'ensure' || seen.memcached === null) return await conclude(verdict);
    const written = await episode.ensure(seen.memcached.uid, verdict.detail);
    return written === null ? null : await conclude(episode.decide(written, true));
  }

  /** Ends the workflow, or waits for what is to come; null: go on with the next pass. */
  async function conclude(verdict: MemcachedVerdict): Promise<MemcachedResult | null> {
    if (verdict.kind === 'wait') await episode.wait(verdict);
    if (verdict.kind !== 'end') return null;
    await run.handlersFinished();
    // No await between this check and the return: from now on the server starts a new workflow for a request.
    if (run.requests.isPending || run.pauses.isUnkept) return null;
    return { reason: verdict.reason, detail: verdict.detail };
  }

  async function next(): Promise<never> {
    return await continueAsNew<typeof memcached>({ ...input, carried: run.carry() });
  }
}

function handleMessages(target: MemcachedTarget, run: MemcachedRun, episode: MemcachedEpisode): void {
  setHandler(memcachedChanged, (request) => episode.request(request), {
    description: "the starter's request to reconcile: the Memcached or an object of it changed, or is gone",
  });
  setHandler(
    status,
    (): MemcachedRunStatus => ({
      target,
      ...run.status,
      since: formatInstant(run.since),
      paused: run.pauses.inForce,
      lastCommand: run.lastCommand,
    }),
  );
  const commands = { signals: commandSignals, updates: commandUpdates, descriptions: commandDescriptions };
  run.handleTargetCommands(commands, (_name, raw) => ({
    kind: 'accepted',
    message: `comparing again now, as asked by ${readCommandInput(raw).by}`,
    memory: run.memory,
  }));
}
