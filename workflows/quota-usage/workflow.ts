import { continueAsNew, setHandler } from '@temporalio/workflow';
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
  /** Of the run before, through continue-as-new. */
  readonly carried?: Carried<EpisodeMemory>;
  /** After so many history events it continues as new, instead of `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

export interface QuotaUsageResult {
  readonly reason: string;
  readonly detail: string;
}

/**
 * History events of a run, requests included: a quota that stays wrong or paused is kept for ever, in runs of this length.
 * Well below the server's limit of 10,000 signals a run.
 */
const HISTORY_EVENTS = 2_000;

/**
 * One episode of one ResourceQuota's status: from a change to a true status. A run makes at most one write; a request that
 * comes after it is the next run's.
 */
export async function quotaUsage(input: QuotaUsageInput): Promise<QuotaUsageResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const carried = upgradeCarried(input.carried);
  const run: UsageRun = new ControllerRun<UsageRun['status'], EpisodeMemory>({
    identity: { controller: 'quota-usage', target: targetName(target), cluster: target.cluster },
    carried,
    memory: upgradeEpisode(carried?.memory),
    startedAs: FIRST_PHASE,
    first: { phase: 'Counting', reason: 'FirstObservation', detail: 'counting what the namespace uses' },
    historyEvents: continueAfterEvents,
    facts: () => [],
  });
  const episode = new UsageEpisode(target, run);
  handleMessages(target, run, episode);

  for (;;) {
    if (run.isHistoryLong) return await next();
    run.beginPass();
    if (episode.isPaused) {
      await episode.whilePaused();
      continue;
    }
    const seen = await run.interruptible(async () => await episode.observe());
    if (seen === null || episode.isPaused) continue;
    const verdict = decide(seen, run.memory);
    run.publish(verdict);
    switch (verdict.kind) {
      case 'end':
        if (await episode.reportTrue(seen, verdict)) return await finish(verdict);
        break;
      case 'write':
        if (!(await episode.write(seen, verdict))) break;
        // What could not be counted keeps its number for now, and the next run looks after it.
        return seen.count.unmeasured.length === 0 ? await finish(verdict) : await next();
      case 'report':
        await episode.reportWrong(verdict);
        break;
      case 'await':
        await episode.awaitChange(seen, verdict);
        break;
    }
  }

  /** The end, or the next run where a request came since this one observed. */
  async function finish({ reason, detail }: UsageVerdict): Promise<QuotaUsageResult> {
    await run.handlersFinished();
    // Synchronous with the end: a request from now on makes the server start a new episode.
    if (run.requests.isPending || (episode.isPaused && reason !== 'QuotaGone')) return await next();
    return { reason, detail };
  }

  async function next(): Promise<never> {
    await run.handlersFinished();
    // A request that no pass has served keeps its priority; a run is otherwise as ordinary as any.
    const priority = run.requests.isPending ? run.memory.priority : priorities.routine;
    run.remember({ ...run.memory, priority, pause: episode.pauses.carried });
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
      paused: episode.paused,
      observed: run.memory.observed,
      lastCommand: run.lastCommand,
    }),
  );
  const commands = { signals: commandSignals, updates: commandUpdates, descriptions: commandDescriptions };
  run.handleCommands(commands, (name, raw) => {
    if (name === 'reconcileNow') return { kind: 'accepted', message: 'counting again', memory: run.memory };
    const answer = episode.pauses.evaluate(name, raw);
    if (answer.kind === 'rejected') return answer;
    return { ...answer, memory: run.memory, apply: () => [answer.apply?.(), run.interrupt()] };
  });
}
