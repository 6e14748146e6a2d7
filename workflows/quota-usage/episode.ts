import { sleep } from '@temporalio/workflow';
import { priorities } from '../../domain/kernel/priority.ts';
import { pauseReason, pauseSentence } from '../../domain/kernel/pause.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import { fingerprint, upgradeMemory, type UsageMemory } from '../../domain/quota-usage/decide.ts';
import type { ObservedVersions, UsageObservation } from '../../domain/quota-usage/observation.ts';
import { newestVersions } from '../../domain/quota-usage/observed-versions.ts';
import type { UsageVerdict } from '../../domain/quota-usage/verdict.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { counting, ensuring } from './activities.ts';
import type { UsageRequest, UsageStatus } from './messages.ts';

/** State that one run passes to the next through continue-as-new. */
export interface EpisodeMemory extends UsageMemory {
  /** The resourceVersions that the caches must have reached before the next count. */
  readonly observed: ObservedVersions;
  /** The most urgent priority of all requests so far; null before the first request. */
  readonly priority: number | null;
}

/** Reads the state of the previous run; an earlier release called `observed` `reached`. */
export function upgradeEpisode(
  carried: (EpisodeMemory & { readonly reached?: ObservedVersions }) | undefined,
): EpisodeMemory {
  const { reached = {}, ...rest } = carried ?? {};
  return { observed: reached, priority: null, ...rest, ...upgradeMemory(carried) };
}

export type UsageRun = ControllerRun<Pick<UsageStatus, 'phase' | 'reason' | 'detail'>, EpisodeMemory>;

/** How often the caches are checked for a quota whose usage is wrong or cannot be measured, in milliseconds. */
const CHECK_EVERY_MS = 30_000;

/**
 * Backoff in milliseconds after a failed write that needs a person, such as during a pause of the whole cluster. It
 * doubles each time, because every quota of the cluster may be affected at once. An operator's command or the deletion
 * of the quota ends it early.
 */
const FAILED_REST_MS = 30_000;
const LONGEST_FAILED_REST_MS = 600_000;

/** Backoff in milliseconds after write conflicts in a row, the first and the longest. */
const CONFLICT_REST_MS = 100;
const LONGEST_CONFLICT_REST_MS = 5_000;

/** What one run of a usage episode knows, and the steps that its workflow takes. */
export class UsageEpisode {
  readonly #target: QuotaTarget;
  readonly #run: UsageRun;
  #mode: UsageStatus['mode'] = null;
  /** Whether a request said that the quota was deleted and no pass has served the request yet. */
  #isGone = false;
  /** Counters of this run. `staleVersion` is the resourceVersion of the quota at the last conflict. */
  #attempts: { readonly failures: number; readonly conflicts: number; readonly staleVersion: string | null } = {
    failures: 0,
    conflicts: 0,
    staleVersion: null,
  };

  constructor(target: QuotaTarget, run: UsageRun) {
    this.#target = target;
    this.#run = run;
  }

  /** The usage mode of the starter that made the last count; null before the first count. */
  get mode(): UsageStatus['mode'] {
    return this.#mode;
  }

  /** Whether a pause forbids any act. The episode of a deleted quota ends even during a pause. */
  get isPaused(): boolean {
    const { pauses } = this.#run;
    return pauses.isUnkept || (pauses.inForce !== null && !this.#isGone);
  }

  /** Accepts a reconcile request. The deletion of the quota interrupts any wait. */
  request({ observed, priority = priorities.routine, isGone = false }: UsageRequest): void {
    const most = Math.min(this.#run.memory.priority ?? Number.POSITIVE_INFINITY, priority);
    this.#run.remember({
      ...this.#run.memory,
      observed: newestVersions(this.#run.memory.observed, observed),
      priority: most,
    });
    this.#isGone ||= isGone;
    this.#run.requests.add(isGone ? 'immediate' : 'deferrable');
  }

  /** Nothing is counted during a pause, because nothing could be written. */
  async whilePaused(): Promise<void> {
    const { inForce } = this.#run.pauses;
    if (inForce === null) return;
    this.#run.publish({ phase: 'Paused', reason: pauseReason(inForce), detail: pauseSentence(inForce) });
    await this.#run.awaitResume('immediate');
  }

  async observe(): Promise<UsageObservation> {
    const { staleVersion } = this.#attempts;
    this.#isGone = false;
    this.#attempts = { ...this.#attempts, staleVersion: null };
    const not = staleVersion === null ? {} : { not: staleVersion };
    const seen = await this.#counting().observeUsage({
      target: this.#target,
      observed: this.#run.memory.observed,
      ...not,
    });
    this.#mode = seen.policy.mode;
    this.#isGone ||= seen.quota === null;
    return seen;
  }

  /** Whether the status was written; if not, the backoff is over. */
  async write(
    { quota, at: countedAt }: UsageObservation,
    { status: { hard, used, without }, detail }: Extract<UsageVerdict, { kind: 'write' }>,
  ): Promise<boolean> {
    if (quota === null) return false;
    const { uid: quotaUid, resourceVersion } = quota;
    const usedBefore = quota.status.used ?? {};
    const outcome = await this.#ensured(
      async () =>
        await this.#ensuring().ensureUsageStatus.executeWithOptions({ summary: brief(detail) }, [
          { target: this.#target, quotaUid, resourceVersion, hard, used, usedBefore, countedAt, without },
        ]),
    );
    if (outcome === null) return false;
    if (outcome.kind === 'written') {
      // The next count must not use a cache that is older than this write.
      const observed = newestVersions(this.#run.memory.observed, { resourcequotas: outcome.resourceVersion });
      this.#run.remember({ ...this.#run.memory, observed });
      return true;
    }
    const { conflicts } = this.#attempts;
    this.#attempts = { ...this.#attempts, staleVersion: resourceVersion, conflicts: conflicts + 1 };
    // The first conflict is retried at once; from the second on, the episode backs off to let the other writer finish.
    if (conflicts > 0) await sleep(Math.min(CONFLICT_REST_MS * 2 ** conflicts, LONGEST_CONFLICT_REST_MS));
    return false;
  }

  /** Whether the Event for the end of the episode was written or none is needed; if not, the backoff is over. */
  async reportTrue({ quota }: UsageObservation, { event }: Extract<UsageVerdict, { kind: 'end' }>): Promise<boolean> {
    if (event === undefined || quota === null) return true;
    const key = `${this.#run.memory.reported?.key} over`;
    if (!(await this.#emit(quota.uid, 'UsageTrue', event, key))) return false;
    this.#run.remember({ ...this.#run.memory, reported: null });
    return true;
  }

  /** If the Event cannot be written, the next pass tries again. */
  async reportWrong({ reported, message }: Extract<UsageVerdict, { kind: 'report' }>): Promise<void> {
    if (!(await this.#emit(reported.quotaUid, 'UsageWrong', message, reported.key))) return;
    this.#run.remember({ ...this.#run.memory, reported });
  }

  /**
   * Waits until the caches differ from the observation, the given moment, or a request. The waiting activity adds no
   * history events.
   */
  async awaitChange(
    seen: UsageObservation,
    { until, detail }: Extract<UsageVerdict, { kind: 'await' }>,
  ): Promise<void> {
    if (until !== undefined) {
      await this.#run.wait({ until, summary: detail });
      return;
    }
    const since = fingerprint(seen);
    await this.#run.waitFor(
      async () =>
        await this.#counting().observeUsageChange.executeWithOptions({ summary: brief(detail) }, [
          { target: this.#target, observed: this.#run.memory.observed, since, everyMs: CHECK_EVERY_MS },
        ]),
    );
  }

  async #emit(quotaUid: string, reason: 'UsageWrong' | 'UsageTrue', message: string, key: string): Promise<boolean> {
    const type = reason === 'UsageWrong' ? 'Warning' : 'Normal';
    const emitted = await this.#ensured(async () => {
      await this.#ensuring().ensureUsageEvent.executeWithOptions({ summary: brief(message) }, [
        { target: this.#target, quotaUid, type, reason, message, key },
      ]);
      return true;
    });
    return emitted !== null;
  }

  /**
   * Runs a write. Null after a final failure, when the backoff is over. Requests of the starter do not shorten the
   * backoff, because they do not change the cause of the failure.
   */
  async #ensured<T>(write: () => Promise<T>): Promise<T | null> {
    try {
      return await this.#run.interruptible(write);
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      if (this.#run.pauses.foundIn(failed)) return null;
      const { message } = failed;
      this.#run.publish({ phase: 'Blocked', reason: 'WriteFailed', detail: message });
      const { failures } = this.#attempts;
      this.#attempts = { ...this.#attempts, failures: failures + 1 };
      const rest = Math.min(FAILED_REST_MS * 2 ** failures, LONGEST_FAILED_REST_MS);
      const until = Date.now() + rest;
      await this.#run.wait({ until, deferUntil: Number.POSITIVE_INFINITY, summary: message });
      return null;
    }
  }

  #counting(): ReturnType<typeof counting> {
    return counting(this.#target.cluster, this.#run.memory.priority ?? priorities.routine);
  }

  #ensuring(): ReturnType<typeof ensuring> {
    return ensuring(this.#run.memory.priority ?? priorities.routine);
  }
}
