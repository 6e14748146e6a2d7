import { pauseReason, pauseSentence } from '../../domain/kernel/pause.ts';
import { decide, type MemcachedMemory } from '../../domain/memcached/decide/decide.ts';
import type { MemcachedObservation } from '../../domain/memcached/decide/observation.ts';
import type { MemcachedVerdict } from '../../domain/memcached/decide/verdict.ts';
import type { MemcachedTarget } from '../../domain/memcached/target.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { ensureMemcached, observeMemcached } from './activities.ts';
import type { MemcachedRequest, MemcachedRunStatus } from './messages.ts';

export type MemcachedRun = ControllerRun<
  Pick<MemcachedRunStatus, 'phase' | 'reason' | 'detail' | 'facts'>,
  MemcachedMemory
>;

/** Backoff in milliseconds after a failed read or write; it doubles each time. A reconcile request ends it. */
const FAILED_REST_MS = 30_000;
const LONGEST_FAILED_REST_MS = 1_800_000;

/** The steps of an episode, which its workflow takes in turn. */
export class MemcachedEpisode {
  readonly #target: MemcachedTarget;
  readonly #run: MemcachedRun;
  #failures = 0;
  /** Whether a request said that the Memcached was deleted, and no pass has found it since. */
  #isGone = false;

  constructor(target: MemcachedTarget, run: MemcachedRun) {
    this.#target = target;
    this.#run = run;
  }

  /** Whether a pause holds everything back. The episode of a deleted Memcached ends even during a pause. */
  get isPaused(): boolean {
    return this.#run.pauses.inForce !== null && !this.#isGone;
  }

  /** Accepts a reconcile request. What only changed has to wait for the end of a pause. */
  request({ isGone = false }: MemcachedRequest): void {
    this.#isGone ||= isGone;
    this.#run.requests.add(isGone ? 'immediate' : 'deferrable');
  }

  /** Nothing is written during a pause, so nothing is compared either; it ends with the pause, or with a request. */
  async whilePaused(): Promise<void> {
    const { inForce } = this.#run.pauses;
    if (inForce === null) return;
    this.#run.publish({ phase: 'Paused', reason: pauseReason(inForce), detail: pauseSentence(inForce), facts: [] });
    await this.#run.awaitResume('immediate');
  }

  /** Null after a failure, when the backoff is over, and after an interruption. */
  async observe(): Promise<MemcachedObservation | null> {
    const seen = await this.#tried('ReadFailed', async () => await observeMemcached({ target: this.#target }));
    if (seen !== null) this.#isGone = seen.memcached === null;
    return seen;
  }

  /** Writes what is pending, and compares again. Null as in `observe`. */
  async ensure(uid: string, detail: string): Promise<MemcachedObservation | null> {
    const input = { target: this.#target, uid };
    const summary = brief(detail);
    return await this.#tried('WriteFailed', async () => await ensureMemcached.executeWithOptions({ summary }, [input]));
  }

  /** The next step, which is shown and remembered. */
  decide(seen: MemcachedObservation, isAfterWrite: boolean): MemcachedVerdict {
    const [memory, verdict] = decide(seen, this.#run.memory, isAfterWrite);
    this.#run.remember(memory);
    this.#run.publish(verdict);
    return verdict;
  }

  async wait({ until, detail }: Extract<MemcachedVerdict, { kind: 'wait' }>): Promise<void> {
    await this.#run.wait({ until, summary: detail });
  }

  async #tried<T>(reason: 'ReadFailed' | 'WriteFailed', attempt: () => Promise<T>): Promise<T | null> {
    try {
      const answer = await this.#run.interruptible(attempt);
      this.#failures = 0;
      return answer;
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      if (this.#run.pauses.foundIn(failed)) return null;
      const { message } = failed;
      this.#run.publish({ phase: 'Blocked', reason, detail: message, facts: [] });
      const rest = Math.min(FAILED_REST_MS * 2 ** this.#failures, LONGEST_FAILED_REST_MS);
      this.#failures += 1;
      await this.#run.wait({ until: Date.now() + rest, summary: message });
      return null;
    }
  }
}
