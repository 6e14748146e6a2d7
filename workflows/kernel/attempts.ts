import type { EpochMs } from '../../domain/kernel/time.ts';
import type { ControllerRun, RunStatus } from './controller-run.ts';
import { failedActivity } from './failure.ts';

export interface AttemptsOptions<Status extends RunStatus, Kind extends string> {
  /** Milliseconds to wait after the first failure of a kind; each further one in a row doubles them. */
  readonly firstRestMs: number;
  readonly longestRestMs: number;
  /** What is shown until the next attempt. */
  readonly shown: (kind: Kind, message: string) => Status;
  /** Deferrable requests do not end the wait before this moment; absent: they end it at once. */
  readonly deferUntil?: EpochMs;
}

/**
 * Attempts of reads and writes, each with its retries, of one run. What has failed for good is shown, and tried again by a later pass
 * after a wait. Failures in a row are counted by kind: a read that succeeds between two writes that fail makes the wait no shorter.
 */
export class Attempts<Status extends RunStatus, Kind extends string> {
  readonly #run: Pick<ControllerRun<Status, unknown>, 'interruptible' | 'pauses' | 'publish' | 'wait'>;
  readonly #options: AttemptsOptions<Status, Kind>;
  readonly #failures = new Map<Kind, number>();

  constructor(
    run: Pick<ControllerRun<Status, unknown>, 'interruptible' | 'pauses' | 'publish' | 'wait'>,
    options: AttemptsOptions<Status, Kind>,
  ) {
    this.#run = run;
    this.#options = options;
  }

  /**
   * @param how runs the attempt; absent: so that the run can interrupt it.
   * @returns null after a failure, when the wait is over, after an interruption, and where a pause holds.
   */
  async make<T>(
    kind: Kind,
    act: () => Promise<T>,
    how = async (attempt: () => Promise<T>): Promise<T | null> => await this.#run.interruptible(attempt),
  ): Promise<T | null> {
    try {
      const answer = await how(act);
      // One that was interrupted says nothing.
      if (answer !== null) this.#failures.delete(kind);
      return answer;
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      if (this.#run.pauses.foundIn(failed)) return null;
      await this.#rest(kind, failed.message);
      return null;
    }
  }

  async #rest(kind: Kind, message: string): Promise<void> {
    const { firstRestMs, longestRestMs, shown, deferUntil } = this.#options;
    const before = this.#failures.get(kind) ?? 0;
    this.#failures.set(kind, before + 1);
    this.#run.publish(shown(kind, message));
    const until = Date.now() + Math.min(firstRestMs * 2 ** before, longestRestMs);
    await this.#run.wait({ until, summary: message, ...(deferUntil === undefined ? {} : { deferUntil }) });
  }
}
