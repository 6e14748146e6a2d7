import { pauseReason, pauseSentence } from '../../domain/kernel/pause.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { fingerprint, type UsageMemory } from '../../domain/quota-usage/decide.ts';
import type { UsageObservation } from '../../domain/quota-usage/observation.ts';
import type { UsageVerdict } from '../../domain/quota-usage/verdict.ts';
import { Attempts } from '../kernel/attempts.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { brief } from '../kernel/visibility.ts';
import { counting, ensureUsageEvent } from './activities.ts';
import type { UsageRequest, UsageStatus } from './messages.ts';

export type UsageRun = ControllerRun<Pick<UsageStatus, 'phase' | 'reason' | 'detail'>, UsageMemory>;

/** How often the caches are checked for a quota whose usage is wrong or cannot be measured, in milliseconds. */
const CHECK_EVERY_MS = 30_000;

/**
 * Milliseconds to wait after a failed write that needs a person, such as a missing right. Every quota of the cluster may be
 * affected at once. An operator's command or the deletion of the quota ends it early; requests of the starter do not, because they
 * do not change the cause of the failure.
 */
const FAILED_RESTS = { firstRestMs: 30_000, longestRestMs: 600_000, deferUntil: Number.POSITIVE_INFINITY };

/** What one run of a usage episode knows, and the steps that its workflow takes. */
export class UsageEpisode {
  readonly #target: QuotaTarget;
  readonly #run: UsageRun;
  readonly #attempts: Attempts<UsageRun['status'], 'WriteFailed'>;
  readonly #counting: ReturnType<typeof counting>;
  #mode: UsageStatus['mode'] = null;
  /** Whether a request said that the quota was deleted and no pass has served the request yet. */
  #isGone = false;

  constructor(target: QuotaTarget, run: UsageRun) {
    this.#target = target;
    this.#run = run;
    this.#attempts = new Attempts(run, {
      ...FAILED_RESTS,
      shown: (reason, detail) => ({ phase: 'Blocked', reason, detail }),
    });
    this.#counting = counting(target.cluster);
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
  request({ refused, isPaused = false, isGone = false }: UsageRequest): void {
    if (isPaused) this.#run.pauses.changed();
    if (refused !== undefined) this.#run.remember({ ...this.#run.memory, refused });
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
    this.#isGone = false;
    const seen = await this.#counting.observeUsage.executeWithOptions({ summary: brief(targetName(this.#target)) }, [
      { target: this.#target },
    ]);
    this.#mode = seen.policy.mode;
    this.#isGone ||= seen.quota === null;
    // What was refused is over once the status is true.
    if (seen.staleValues.length === 0) this.#run.remember({ ...this.#run.memory, refused: null });
    return seen;
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
        await this.#counting.observeUsageChange.executeWithOptions({ summary: brief(detail) }, [
          { target: this.#target, since, everyMs: CHECK_EVERY_MS },
        ]),
    );
  }

  async #emit(quotaUid: string, reason: 'UsageWrong' | 'UsageTrue', message: string, key: string): Promise<boolean> {
    const type = reason === 'UsageWrong' ? 'Warning' : 'Normal';
    const emitted = await this.#attempts.make('WriteFailed', async () => {
      await ensureUsageEvent.executeWithOptions({ summary: brief(message) }, [
        { target: this.#target, quotaUid, type, reason, message, key },
      ]);
      return true;
    });
    return emitted !== null;
  }
}
