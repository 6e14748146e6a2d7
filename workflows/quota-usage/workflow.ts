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
  workflowInfo,
} from '@temporalio/workflow';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { readCommandInput } from '../../domain/quota-resize/commands.ts';
import {
  decide,
  fingerprint,
  freshMemory,
  type UsageMemory,
  type UsagePolicy,
} from '../../domain/quota-usage/decide.ts';
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
  readonly policy: UsagePolicy;
  /** Of the run before, through continue-as-new. */
  readonly carried?: Carried;
}

interface Carried {
  readonly version: 1;
  readonly memory: UsageMemory;
  readonly reached: Reached;
  readonly isUrgent: boolean;
  readonly standing: Standing;
  readonly lastCommand: string | null;
}

export interface QuotaUsageResult {
  readonly reason: string;
  readonly detail: string;
}

/** Before the ordinary ones, as the queue of missing usage is in Kubernetes' own controller. */
const URGENT_PRIORITY = 2;
const ORDINARY_PRIORITY = 3;

/** How often an unmeasured or wrong quota is looked at in the caches while nobody hints, in milliseconds. */
const LOOK_EVERY_MS = 30_000;

/** How long a write rests that a person must help, such as a pause of the whole cluster. */
const REFUSED_REST_MS = 30_000;

/** Looks of one run; a quota that stays wrong is looked at for ever, in runs of this length. */
const MAX_LOOKS = 200;

/**
 * One episode of one ResourceQuota's status: from a change to a true status. A run makes at most one write; a hint that
 * comes after it is the next run's.
 */
export async function quotaUsage(input: QuotaUsageInput): Promise<QuotaUsageResult> {
  const { target, policy, carried } = input;
  const identity = { controller: 'quota-usage', target: targetName(target), cluster: target.cluster };
  const publish = createPublisher(identity, carried?.standing, carried?.standing.phase ?? FIRST_PHASE);
  let memory = carried?.memory ?? freshMemory;
  let reached: Reached = carried?.reached ?? {};
  let isUrgent = carried?.isUrgent ?? false;
  let lastCommand = carried?.lastCommand ?? null;
  let woken = false;
  let waiting: CancellationScope | null = null;
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
      isUrgent ||= hint.isUrgent ?? false;
      wake();
    },
    { description: "the starter's hint that the quota, or something that it counts, changed" },
  );
  setHandler(
    status,
    (): UsageStatus => ({
      target,
      mode: policy.mode,
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

  for (let looks = 0; ; looks += 1) {
    if (looks >= MAX_LOOKS || workflowInfo().continueAsNewSuggested) return await again();
    if (memory.paused !== null) {
      const { by, reason } = memory.paused;
      stand({ phase: 'Paused', reason: 'Paused', detail: `paused by ${by}${reason === '' ? '' : `: ${reason}`}` });
      await condition(() => memory.paused === null);
    }
    // Cleared before observing, so that no hint falls between the look and the end.
    woken = false;
    const seen = await observe();
    if (memory.paused !== null) continue;
    const verdict = decide(seen, policy, memory);
    stand(verdict);
    switch (verdict.kind) {
      case 'end':
        if (verdict.tells !== undefined && seen.quota !== null) {
          await tell(seen.quota.uid, 'UsageTrue', verdict.tells, `${memory.reported?.key} over`);
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
        if (seen.quota !== null) {
          await tell(seen.quota.uid, 'UsageWrong', verdict.message, verdict.reported.key);
        }
        memory = { ...memory, reported: verdict.reported };
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
    if (woken || memory.paused !== null) return await again();
    return { reason: verdict.reason, detail: verdict.detail };
  }

  async function again(): Promise<never> {
    await condition(allHandlersFinished);
    return await continueAsNew<typeof quotaUsage>({
      ...input,
      carried: { version: 1, memory, reached, isUrgent, standing, lastCommand },
    });
  }

  async function observe(): Promise<UsageObservation> {
    const not = conflicted === null ? {} : { not: conflicted };
    conflicted = null;
    return await counts().observeUsage({ target, reached, ...not });
  }

  function counts() {
    return counting(target.cluster, isUrgent ? URGENT_PRIORITY : ORDINARY_PRIORITY);
  }

  async function write(
    seen: UsageObservation,
    { status: { hard, used, without }, detail }: Extract<UsageVerdict, { kind: 'write' }>,
  ): Promise<'written' | 'not'> {
    if (seen.quota === null) return 'not';
    const { uid: quotaUid, resourceVersion } = seen.quota;
    try {
      const outcome = await ensuring.ensureUsageStatus.executeWithOptions({ summary: brief(detail) }, [
        { target, quotaUid, resourceVersion, hard, used, without },
      ]);
      if (outcome.kind === 'written') {
        // The next count is to see this write.
        reached = furthest(reached, { resourcequotas: outcome.resourceVersion });
        return 'written';
      }
      conflicted = resourceVersion;
      return 'not';
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) throw error;
      const isPause = refusal.type === 'GloballyPaused';
      stand({ phase: 'Blocked', reason: isPause ? 'GloballyPaused' : 'WriteRefused', detail: refusal.message });
      await condition(() => woken, REFUSED_REST_MS, { summary: brief(refusal.message) });
      return 'not';
    }
  }

  async function tell(
    quotaUid: string,
    reason: 'UsageWrong' | 'UsageTrue',
    message: string,
    key: string,
  ): Promise<void> {
    const type = reason === 'UsageWrong' ? 'Warning' : 'Normal';
    try {
      await ensuring.ensureUsageEvent.executeWithOptions({ summary: brief(message) }, [
        { target, quotaUid, type, reason, message, key },
      ]);
    } catch (error) {
      if (refusalOf(error) === null) throw error;
      log.warn('the Event was refused', { reason, error });
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

/** The failure that only a person can mend, where it is one. */
function refusalOf(error: unknown): { readonly type: string; readonly message: string } | null {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) return null;
  const { type, message, nonRetryable } = error.cause;
  return nonRetryable ? { type: type ?? '', message } : null;
}
