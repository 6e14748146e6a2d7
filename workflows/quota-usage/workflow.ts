import { continueAsNew, setHandler } from '@temporalio/workflow';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { priorities } from '../../domain/kernel/priority.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { decide } from '../../domain/quota-usage/decide.ts';
import type { UsageVerdict } from '../../domain/quota-usage/verdict.ts';
import { type Carried, ControllerRun, upgradeCarried } from '../kernel/controller-run.ts';
import { type EpisodeMemory, UsageEpisode, type UsageRun, upgradeEpisode } from './episode.ts';
import { commandDescriptions, commandSignals, commandUpdates, FIRST_PHASE, status, usageChanged } from './messages.ts';
import type { UsageStatus } from './messages.ts';

export interface QuotaUsageInput {
  readonly target: QuotaTarget;
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<EpisodeMemory>;
  /** Overrides `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

export interface QuotaUsageResult {
  readonly reason: string;
  readonly detail: string;
}

/**
 * History events, including requests, after which a run continues as new: the workflow of a quota that stays wrong or
 * paused never ends. Far below the server's limit of 10,000 signals per run.
 */
const HISTORY_EVENTS = 2_000;

/**
 * One episode of one ResourceQuota's status: from a change until the status is correct. A run writes the status at most
 * once; a request that arrives after the write is served by the next run.
 */
export async function quotaUsage(input: QuotaUsageInput): Promise<QuotaUsageResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const carried = upgradeCarried(input.carried);
  const run: UsageRun = new ControllerRun<UsageRun['status'], EpisodeMemory>({
    identity: {
      controller: 'quota-usage',
      target: targetName(target),
      cluster: target.cluster,
      namespace: target.namespace,
    },
    carried,
    memory: upgradeEpisode(carried?.memory),
    startedAs: FIRST_PHASE,
    first: { phase: 'Counting', reason: 'FirstObservation', detail: 'Headroom counts what the namespace uses' },
    historyEvents: continueAfterEvents,
    facts: () => [],
  });
  const episode = new UsageEpisode(target, run);
  handleMessages(target, run, episode);

  return await run.reconcile(pass, next);

  async function pass(): Promise<QuotaUsageResult | null> {
    if (episode.isPaused) {
      await episode.whilePaused();
      return null;
    }
    const seen = await run.interruptible(async () => await episode.observe());
    if (seen === null || episode.isPaused) return null;
    const verdict = decide(seen, run.memory);
    run.publish(verdict);
    switch (verdict.kind) {
      case 'end':
        return (await episode.reportTrue(seen, verdict)) ? await finish(verdict) : null;
      case 'write':
        if (!(await episode.write(seen, verdict))) return null;
        // A resource that could not be counted keeps its old value for now; the next run counts it again.
        return seen.count.unmeasured.length === 0 ? await finish(verdict) : await next();
      case 'report':
        await episode.reportWrong(verdict);
        return null;
      case 'await':
        await episode.awaitChange(seen, verdict);
        return null;
    }
  }

  /** Ends the workflow, or continues as new if a request arrived since the observation. */
  async function finish({ reason, detail }: UsageVerdict): Promise<QuotaUsageResult> {
    await run.handlersFinished();
    // No await between this check and the return: from now on the server starts a new workflow for a request.
    if (run.requests.isPending || (episode.isPaused && reason !== 'QuotaGone')) return await next();
    return { reason, detail };
  }

  async function next(): Promise<never> {
    await run.handlersFinished();
    // An unserved request keeps its priority in the next run; otherwise the next run has ordinary priority.
    const priority = run.requests.isPending ? run.memory.priority : priorities.routine;
    run.remember({ ...run.memory, priority });
    return await continueAsNew<typeof quotaUsage>({ ...input, carried: run.carry() });
  }
}

function handleMessages(target: QuotaTarget, run: UsageRun, episode: UsageEpisode): void {
  setHandler(usageChanged, (request) => episode.request(request), {
    description: "the starter's request to reconcile: the quota, or something that it counts, changed",
  });
  setHandler(
    status,
    (): UsageStatus => ({
      target,
      mode: episode.mode,
      ...run.status,
      since: formatInstant(run.since),
      paused: run.pauses.inForce,
      observed: run.memory.observed,
      lastCommand: run.lastCommand,
    }),
  );
  const commands = { signals: commandSignals, updates: commandUpdates, descriptions: commandDescriptions };
  run.handleTargetCommands(commands, (_name, raw) => ({
    kind: 'accepted',
    message: `checking again now, as asked by ${readCommandInput(raw).by}`,
    memory: run.memory,
  }));
}
