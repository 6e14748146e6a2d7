import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  log,
  setHandler,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { decide, fingerprint, upgradeMemory, type UsageMemory } from '../../domain/quota-usage/decide.ts';
import type { Reached, UsageObservation } from '../../domain/quota-usage/observation.ts';
import { furthest } from '../../domain/quota-usage/reached.ts';
import type { UsageVerdict } from '../../domain/quota-usage/verdict.ts';
import { brief, createPublisher, type Standing } from '../kernel/visibility.ts';
import { counting, ensuring } from './activities.ts';
import {
  commandDescriptions,
  commandSignals,
  commandUpdates,
  FIRST_PHASE,
  status,
  type UsageCommand,
  usageChanged,
  usageCommands,
  type UsageStatus,
} from './messages.ts';

export interface QuotaUsageInput {
  readonly target: QuotaTarget;
  /** Of the run before, through continue-as-new. */
  readonly carried?: Carried;
  /** After so many history events it continues as new, instead of `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

interface Carried {
  readonly version: 1;
  readonly memory: UsageMemory;
  readonly reached: Reached;
  readonly priority: number;
  readonly standing: Standing;
  readonly lastCommand: string | null;
}

export interface QuotaUsageResult {
  readonly reason: string;
  readonly detail: string;
}

/** Of Temporal's priority keys; a hint may say a smaller one for a quota that admission cannot judge yet. */
const ORDINARY_PRIORITY = 3;

/** How often an unmeasured or wrong quota is looked at in the caches while nobody hints, in milliseconds. */
const LOOK_EVERY_MS = 30_000;

/**
 * How long a write rests that a person must help, such as a pause of the whole cluster, in milliseconds: twice as long each
 * time, because every quota of the cluster may be resting. An operator ends it before, and the end of the quota.
 */
const REFUSED_REST_MS = 30_000;
const LONGEST_REFUSED_REST_MS = 600_000;

/**
 * History events of a run, hints included: a quota that stays wrong or paused is kept for ever, in runs of this length. Well
 * below the server's limit of 10,000 signals a run.
 */
const HISTORY_EVENTS = 2_000;

/** After how long the first of several conflicts in a row is tried again, in milliseconds, and the last. */
const CONFLICT_REST_MS = 100;
const LONGEST_CONFLICT_REST_MS = 5_000;

/**
 * One episode of one ResourceQuota's status: from a change to a true status. A run makes at most one write; a hint that
 * comes after it is the next run's.
 */
export async function quotaUsage(input: QuotaUsageInput): Promise<QuotaUsageResult> {
  const { target, carried, continueAfterEvents = HISTORY_EVENTS } = input;
  const identity = { controller: 'quota-usage', target: targetName(target), cluster: target.cluster };
  const publish = createPublisher(identity, carried?.standing, carried?.standing.phase ?? FIRST_PHASE);
  let memory = upgradeMemory(carried?.memory);
  let reached: Reached = carried?.reached ?? {};
  /** The most urgent that was hinted; null before the first hint. */
  let priority = carried?.priority ?? null;
  let mode: UsageStatus['mode'] = null;
  let lastCommand = carried?.lastCommand ?? null;
  let woken = false;
  /** An operator said something, or the quota went, which ends a rest that other hints do not. */
  let roused = false;
  let isGone = false;
  let waiting: CancellationScope | null = null;
  let refusals = 0;
  let conflicts = 0;
  /** The version of the quota that a write failed against. */
  let conflicted: string | null = null;
  let said: Pick<UsageStatus, 'phase' | 'reason' | 'detail'> = {
    phase: 'Counting',
    reason: 'FirstLook',
    detail: 'counting what the namespace uses',
  };
  let standing = show();

  const wake = (): void => {
    woken = true;
    waiting?.cancel();
  };
  setHandler(
    usageChanged,
    (hint) => {
      reached = furthest(reached, hint.reached);
      priority = Math.min(priority ?? Number.POSITIVE_INFINITY, hint.priority ?? ORDINARY_PRIORITY);
      if (hint.isGone === true) {
        isGone = true;
        roused = true;
      }
      wake();
    },
    { description: "the starter's hint that the quota, or something that it counts, changed" },
  );
  setHandler(
    status,
    (): UsageStatus => ({
      target,
      mode,
      ...said,
      since: formatInstant(standing.since),
      paused: memory.paused,
      reached,
      lastCommand,
    }),
  );
  for (const name of usageCommands) {
    const apply = (raw?: unknown): string => {
      const answer = command(name, raw);
      lastCommand = `${formatInstant(Date.now())} ${name}: ${answer.message}`;
      if (answer.memory !== null) {
        memory = answer.memory;
        roused = true;
        log.info('operator command', { command: name, did: answer.message, target: targetName(target) });
        wake();
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
    if (memory.paused !== null) {
      const { by, reason } = memory.paused;
      stand({ phase: 'Paused', reason: 'Paused', detail: `paused by ${by}${reason === '' ? '' : `: ${reason}`}` });
      await condition(() => memory.paused === null || isGone || isHistoryLong());
      if (memory.paused !== null && !isGone) continue;
    }
    // Cleared before observing, so that no hint falls between the look and the end.
    woken = false;
    roused = false;
    isGone = false;
    const seen = await observe();
    mode = seen.policy.mode;
    if (memory.paused !== null && seen.quota !== null) continue;
    const verdict = decide(seen, memory);
    stand(verdict);
    switch (verdict.kind) {
      case 'end':
        if (verdict.tells !== undefined && seen.quota !== null) {
          const key = `${memory.reported?.key} over`;
          if (!(await tell(seen.quota.uid, 'UsageTrue', verdict.tells, key))) break;
          memory = { ...memory, reported: null };
        }
        return await finish(verdict);
      case 'write': {
        const outcome = await write(seen, verdict);
        if (outcome !== 'written') break;
        // What could not be counted keeps its number for now, and the next run looks after it.
        return seen.count.unmeasured.length === 0 ? await finish(verdict) : await again();
      }
      case 'report':
        // What was not told is told when it may be.
        if (await tell(verdict.reported.quotaUid, 'UsageWrong', verdict.message, verdict.reported.key)) {
          memory = { ...memory, reported: verdict.reported };
        }
        break;
      case 'await':
        if (verdict.until === undefined) await untilChanged(fingerprint(seen));
        else await condition(() => woken, Math.max(1, verdict.until - Date.now()), { summary: brief(verdict.detail) });
        break;
    }
  }

  /** The end, or the next run where a hint came since this one looked. */
  async function finish(verdict: UsageVerdict): Promise<QuotaUsageResult> {
    await condition(allHandlersFinished);
    // Synchronous with the end: a hint from now on makes the server ask once more.
    if (woken || (memory.paused !== null && verdict.reason !== 'QuotaGone')) return await again();
    return { reason: verdict.reason, detail: verdict.detail };
  }

  async function again(): Promise<never> {
    await condition(allHandlersFinished);
    return await continueAsNew<typeof quotaUsage>({
      ...input,
      carried: { version: 1, memory, reached, ...hinted(), standing, lastCommand },
    });
  }

  /** What a hint said that no look has answered; a new run is otherwise as ordinary as any. */
  function hinted(): Pick<Carried, 'priority'> {
    return { priority: woken ? (priority ?? ORDINARY_PRIORITY) : ORDINARY_PRIORITY };
  }

  /** Hints count as well, so a run that only rests must be renewed too. */
  function isHistoryLong(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > continueAfterEvents;
  }

  async function observe(): Promise<UsageObservation> {
    const not = conflicted === null ? {} : { not: conflicted };
    conflicted = null;
    return await counts().observeUsage({ target, reached, ...not });
  }

  function counts() {
    return counting(target.cluster, priority ?? ORDINARY_PRIORITY);
  }

  async function write(
    seen: UsageObservation,
    { status: { hard, used, without }, detail }: Extract<UsageVerdict, { kind: 'write' }>,
  ): Promise<'written' | 'not'> {
    if (seen.quota === null) return 'not';
    const { uid: quotaUid, resourceVersion } = seen.quota;
    const usedBefore = seen.quota.status.used ?? {};
    try {
      const outcome = await ensuring(priority ?? ORDINARY_PRIORITY).ensureUsageStatus.executeWithOptions(
        { summary: brief(detail) },
        [{ target, quotaUid, resourceVersion, hard, used, usedBefore, without }],
      );
      if (outcome.kind === 'written') {
        // The next count is to see this write.
        reached = furthest(reached, { resourcequotas: outcome.resourceVersion });
        return 'written';
      }
      conflicted = resourceVersion;
      // The first one is counted again at once; somebody who writes all the time is let go first.
      if (conflicts > 0) await sleep(Math.min(CONFLICT_REST_MS * 2 ** conflicts, LONGEST_CONFLICT_REST_MS));
      conflicts += 1;
      return 'not';
    } catch (error) {
      await restAfter(error);
      return 'not';
    }
  }

  /** Rests after a write that was refused, or did not get through for long. Hints do not end it, because they change nothing. */
  async function restAfter(error: unknown): Promise<void> {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    const isPause = refusal.type === 'GloballyPaused';
    stand({ phase: 'Blocked', reason: isPause ? 'GloballyPaused' : 'WriteRefused', detail: refusal.message });
    const rest = Math.min(REFUSED_REST_MS * 2 ** refusals, LONGEST_REFUSED_REST_MS);
    refusals += 1;
    await condition(() => roused || isHistoryLong(), rest, { summary: brief(refusal.message) });
  }

  /** Whether the Event is there; if not, it has rested. */
  async function tell(
    quotaUid: string,
    reason: 'UsageWrong' | 'UsageTrue',
    message: string,
    key: string,
  ): Promise<boolean> {
    const type = reason === 'UsageWrong' ? 'Warning' : 'Normal';
    try {
      await ensuring(priority ?? ORDINARY_PRIORITY).ensureUsageEvent.executeWithOptions({ summary: brief(message) }, [
        { target, quotaUid, type, reason, message, key },
      ]);
      return true;
    } catch (error) {
      await restAfter(error);
      return false;
    }
  }

  /** Until the caches say something else than what was seen, or a hint. It adds nothing to the history while it waits. */
  async function untilChanged(since: string): Promise<void> {
    if (woken) return;
    const scope = new CancellationScope({ cancellable: true });
    waiting = scope;
    try {
      await scope.run(() =>
        counts().observeUsageChange.executeWithOptions({ summary: brief(standing.detail) }, [
          { target, reached, since, everyMs: LOOK_EVERY_MS },
        ]),
      );
    } catch (error) {
      if (!isCancellation(error)) throw error;
    } finally {
      waiting = null;
    }
  }

  function command(
    name: UsageCommand,
    raw: unknown,
  ): { readonly memory: UsageMemory | null; readonly message: string } {
    const { by, reason } = readCommandInput(raw);
    switch (name) {
      case 'pause':
        return memory.paused === null
          ? {
              memory: { ...memory, paused: { by, reason, at: Date.now() } },
              message: `paused by ${by}: nothing is written until resume`,
            }
          : { memory: null, message: `already paused by ${memory.paused.by} since ${formatInstant(memory.paused.at)}` };
      case 'resume':
        return memory.paused === null
          ? { memory: null, message: 'not paused, so there is nothing to resume' }
          : { memory: { ...memory, paused: null }, message: `resumed by ${by}` };
      case 'reconcileNow':
        return { memory, message: 'counting again' };
    }
  }

  function stand(next: Pick<UsageStatus, 'phase' | 'reason' | 'detail'>): void {
    said = next;
    standing = show();
  }

  function show(): Standing {
    const facts = [
      ...(memory.paused === null ? [] : [`paused by ${memory.paused.by} since ${formatInstant(memory.paused.at)}`]),
      ...(lastCommand === null ? [] : [`last command: ${lastCommand}`]),
    ];
    return publish({ ...said, facts }, Date.now());
  }
}

/** The failure that only a person can mend, or that has lasted for long, in words. */
function refusalOf(error: unknown): { readonly type: string; readonly message: string } | null {
  if (!(error instanceof ActivityFailure)) return null;
  const { cause } = error;
  if (cause instanceof TimeoutFailure)
    return { type: 'TimedOut', message: `the write does not get through: ${cause.message}` };
  return cause instanceof ApplicationFailure ? { type: cause.type ?? '', message: cause.message } : null;
}
