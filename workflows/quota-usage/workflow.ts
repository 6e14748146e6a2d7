import { continueAsNew, setHandler } from '@temporalio/workflow';
import { usageAwaits } from '../../domain/quota-usage/awaited.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { decide, upgradeMemory, type UsageMemory } from '../../domain/quota-usage/decide.ts';
import type { UsageVerdict } from '../../domain/quota-usage/verdict.ts';
import { type Carried, ControllerRun, readCarried } from '../kernel/controller-run.ts';
import { UsageEpisode, type UsageRun } from './episode.ts';
import { commandDescriptions, commandSignals, commandUpdates, FIRST_PHASE, status, usageChanged } from './messages.ts';
import type { UsageStatus } from './messages.ts';

export interface QuotaUsageInput {
  readonly target: QuotaTarget;
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<UsageMemory>;
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
 * One episode of one ResourceQuota's status, which tells what a person has to know until the status is true: that it is
 * wrong, or cannot be written or counted. It writes Events; in mode `own` the status is written by a starter.
 */
export async function quotaUsage(input: QuotaUsageInput): Promise<QuotaUsageResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const carried = readCarried(input.carried);
  const run: UsageRun = new ControllerRun<UsageRun['status'], UsageMemory>({
    identity: {
      controller: 'quota-usage',
      target: targetName(target),
      cluster: target.cluster,
      namespace: target.namespace,
    },
    awaits: usageAwaits,
    carried,
    memory: upgradeMemory(carried?.memory),
    startedAs: FIRST_PHASE,
    first: { phase: 'Counting', reason: 'FirstObservation', detail: 'Headroom counts what the namespace uses' },
    historyEvents: continueAfterEvents,
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
    return await continueAsNew<typeof quotaUsage>({ ...input, carried: run.carry() });
  }
}

function handleMessages(target: QuotaTarget, run: UsageRun, episode: UsageEpisode): void {
  setHandler(usageChanged, (request) => episode.request(request), {
    description: "the starter's request to reconcile: there is something to tell of the quota, or it is over",
  });
  setHandler(
    status,
    (): UsageStatus => ({
      target,
      mode: episode.mode,
      ...run.status,
      since: formatInstant(run.since),
      paused: run.pauses.inForce,
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
