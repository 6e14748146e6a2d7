import { continueAsNew, patched, setHandler, workflowInfo } from '@temporalio/workflow';
import { resizeAwaits } from '../../domain/quota-resize/awaited.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { command, type EpisodeCommand } from '../../domain/quota-resize/decide/commands.ts';
import { decide } from '../../domain/quota-resize/decide/decide.ts';
import { approvalOf, decisionOf, upgradeMemory } from '../../domain/quota-resize/model/memory.ts';
import type { CommandAnswer } from '../kernel/commands.ts';
import { type Carried, ControllerRun, readCarried } from '../kernel/controller-run.ts';
import { phaseKey } from '../kernel/visibility.ts';
import { type EpisodeMemory, ResizeEpisode, type ResizeRun, type ResizeRunStatus } from './episode.ts';
import {
  commandDescriptions,
  commandSignals,
  commandUpdates,
  FIRST_PHASE,
  pullRequestChanged,
  quotaChanged,
  quotaPressureSeen,
  type ResizeStatus,
  status,
} from './messages.ts';
import { stepsObserve } from './quota-reader.ts';
import { decisionFacts, nextShown, NOTHING_SHOWN } from './shown.ts';

export interface QuotaResizeInput {
  readonly target: QuotaTarget;
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<EpisodeMemory>;
  /** Overrides `HISTORY_EVENTS`; for tests. A run makes at least one pass. */
  readonly continueAfterEvents?: number;
}

export interface QuotaResizeResult {
  readonly reason: string;
  readonly detail: string;
}

/**
 * History events after which a run continues as new: far below the server's warning at 10,240, and enough to keep an
 * ordinary episode (some 80 events) in one history.
 */
const HISTORY_EVENTS = 4_000;

/**
 * One episode of one ResourceQuota, from pressure to the end of the cooldown. The workflow id serves as the lock, the
 * history as the audit record. `decide` makes the decisions; this loop observes, acts, publishes and waits.
 */
export async function quotaResize(input: QuotaResizeInput): Promise<QuotaResizeResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const carried = readCarried(input.carried);
  const { resize, shown = NOTHING_SHOWN } = carried?.memory ?? {};
  const run: ResizeRun = new ControllerRun<ResizeRunStatus, EpisodeMemory>({
    identity: {
      controller: 'quota-resize',
      target: targetName(target),
      cluster: target.cluster,
      namespace: target.namespace,
    },
    awaits: resizeAwaits,
    carried,
    memory: { resize: upgradeMemory(resize), shown },
    startedAs: isStartedWithPhase() ? FIRST_PHASE : null,
    first: { phase: FIRST_PHASE, reason: 'FirstObservation', detail: 'reading the quota', usage: [] },
    historyEvents: continueAfterEvents,
    facts: ({ until, usage }, memory) => [
      ...decisionFacts(memory.shown, memory.resize),
      ...usage,
      ...(until === undefined ? [] : [`checks again at ${formatInstant(until)} at the latest`]),
    ],
  });
  const episode = new ResizeEpisode(target, run);
  handleMessages(target, run, episode);

  return await run.reconcile(
    async () => await pass(run, episode),
    async () => await continueAsNew<typeof quotaResize>({ ...input, carried: run.carry() }),
  );
}

/** Whether whoever started the episode has written its first phase. A worker of an earlier version writes it once more. */
function isStartedWithPhase(): boolean {
  return workflowInfo().typedSearchAttributes.get(phaseKey) === FIRST_PHASE && stepsObserve();
}

/** One pass; the result of the episode when it is over. */
async function pass(run: ResizeRun, episode: ResizeEpisode): Promise<QuotaResizeResult | null> {
  const seen = await episode.observe();
  if (seen === null) return null;
  const [memory, verdict] = decide(seen, run.memory.resize, Date.now(), patched);
  // An act needs a fresh read of the pull request, so an older one is discarded and the pass repeated.
  if (verdict.kind !== 'hold' && verdict.kind !== 'end' && episode.pullRequest.wasReadBefore) {
    episode.pullRequest.forget();
    return null;
  }
  episode.remember(memory);
  episode.publish(verdict, seen);
  switch (verdict.kind) {
    case 'end':
      // No await between this check and the return: a request that arrived during the observation is served first.
      if (run.requests.isPending || !run.areHandlersFinished) return null;
      episode.close();
      return { reason: verdict.reason, detail: verdict.detail };
    case 'hold':
      await episode.rest(verdict.wait, seen);
      return null;
    default:
      await episode.act(verdict, seen);
      return null;
  }
}

function handleMessages(target: QuotaTarget, run: ResizeRun, episode: ResizeEpisode): void {
  setHandler(quotaPressureSeen, () => run.requests.add('deferrable'), {
    description: "the starter's request to reconcile: the quota is under pressure",
  });
  setHandler(quotaChanged, () => run.requests.add('immediate'), {
    description: "the starter's request to reconcile: the quota, its namespace or its policy changed",
  });
  setHandler(
    pullRequestChanged,
    () => {
      episode.pullRequest.forget();
      run.requests.add('immediate');
    },
    { description: "the starter's request to reconcile: the forge told of a change of the pull request" },
  );
  setHandler(status, (): ResizeStatus => {
    const { phase, reason, detail, until } = run.status;
    const { resize } = run.memory;
    return {
      target,
      phase,
      reason,
      detail,
      since: formatInstant(run.since),
      ...(until === undefined ? {} : { until: formatInstant(until) }),
      policy: episode.policy,
      decision: decisionOf(resize),
      approval: approvalOf(resize),
      paused: run.pauses.inForce,
      rejections: resize.rejections,
      lastCommand: run.lastCommand,
    };
  });
  const commands = { signals: commandSignals, updates: commandUpdates, descriptions: commandDescriptions };
  run.handleTargetCommands(commands, (name, raw, step) => evaluate(run, episode, { name, raw, step }));
}

function evaluate(
  run: ResizeRun,
  episode: ResizeEpisode,
  { name, raw, step }: { readonly name: EpisodeCommand; readonly raw: unknown; readonly step: 'validate' | 'apply' },
): CommandAnswer<EpisodeMemory> {
  const { memory } = run;
  const apply = (): void => {
    // People look at GitHub before they send a command, so the pull request is read again to decide on what they saw.
    episode.pullRequest.forget();
    // A write that still waits for a permit must not be made after a rejection.
    if (name === 'reject') run.interrupt();
  };
  const verifiedFor = name === 'skipCooldown' ? (episode.policy?.approvalVerifiedFor ?? null) : null;
  // Earlier histories have skipped it.
  const isTaken = verifiedFor !== null && step === 'apply' && !patched('skips-are-verified');
  const outcome = command(memory.resize, name, readCommandInput(raw), Date.now(), isTaken ? null : verifiedFor);
  if (outcome.kind === 'rejected') return { kind: 'rejected', message: outcome.message };
  const { message, memory: resize } = outcome;
  return { kind: 'accepted', message, memory: { resize, shown: nextShown(memory.shown, resize) }, apply };
}
