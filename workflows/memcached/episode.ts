import { pauseReason, pauseSentence } from '../../domain/kernel/pause.ts';
import { decide, type MemcachedMemory } from '../../domain/memcached/decide/decide.ts';
import type { MemcachedObservation } from '../../domain/memcached/decide/observation.ts';
import type { MemcachedVerdict } from '../../domain/memcached/decide/verdict.ts';
import { memcachedName, type MemcachedTarget } from '../../domain/memcached/target.ts';
import { Attempts } from '../kernel/attempts.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { brief } from '../kernel/visibility.ts';
import { ensureMemcached, observeMemcached } from './activities.ts';
import type { MemcachedRequest, MemcachedRunStatus } from './messages.ts';

export type MemcachedRun = ControllerRun<
  Pick<MemcachedRunStatus, 'phase' | 'reason' | 'detail' | 'facts'>,
  MemcachedMemory
>;

/** Milliseconds to wait after a failed read or write. A reconcile request ends it. */
const FAILED_RESTS = { firstRestMs: 30_000, longestRestMs: 1_800_000 };

/** The steps of an episode, which its workflow takes in turn. */
export class MemcachedEpisode {
  readonly #target: MemcachedTarget;
  readonly #run: MemcachedRun;
  readonly #attempts: Attempts<MemcachedRun['status'], 'ReadFailed' | 'WriteFailed'>;
  /** Whether a request said that the Memcached was deleted, and no pass has found it since. */
  #isGone = false;

  constructor(target: MemcachedTarget, run: MemcachedRun) {
    this.#target = target;
    this.#run = run;
    this.#attempts = new Attempts(run, {
      ...FAILED_RESTS,
      shown: (reason, detail) => ({ phase: 'Blocked', reason, detail, facts: [] }),
    });
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
    const summary = brief(memcachedName(this.#target));
    const read = async () => await observeMemcached.executeWithOptions({ summary }, [{ target: this.#target }]);
    const seen = await this.#attempts.make('ReadFailed', read);
    if (seen !== null) this.#isGone = seen.memcached === null;
    return seen;
  }

  /** Writes what is pending, and compares again. Null as in `observe`. */
  async ensure(uid: string, detail: string): Promise<MemcachedObservation | null> {
    const input = { target: this.#target, uid };
    const summary = brief(detail);
    return await this.#attempts.make(
      'WriteFailed',
      async () => await ensureMemcached.executeWithOptions({ summary }, [input]),
    );
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
}
