/** The writes of all batches of this process: so many at a time, and fewer while the API server asks for patience. */
import { ApiException } from '@kubernetes/client-node';
import { isInterrupted } from '../kernel/cancellation.ts';
import { apiMessage, retryAfter } from '../kubernetes/failure.ts';

/** Workloads in hand at a time, of all schedules together: a hundred schedules must not write a thousand at once. */
const AT_ONCE = 32;
/** Where the API server does not say for how long. */
const PATIENCE_MS = 1_000;
/** How often one item is begun anew for patience, before the whole batch is left to Temporal's retry. */
const TIMES = 30;

export class WriteBudget {
  readonly #waiting: (() => void)[] = [];
  readonly #isInterrupted: () => boolean;
  #free: number;
  #resumeAt = 0;

  constructor(atOnce = AT_ONCE, interrupted = isInterrupted) {
    this.#free = atOnce;
    this.#isInterrupted = interrupted;
  }

  /**
   * Runs the work of one item when its turn has come. When the API server answers 429, everybody waits for as long as
   * its Retry-After says, and this item alone is begun anew: what the batch has done is not repeated.
   *
   * @returns what the work returns; null when the activity was cancelled before the item's turn.
   */
  async run<T>(work: () => Promise<T>): Promise<T | null> {
    for (let times = 1; ; times += 1) {
      await this.#turn();
      try {
        await this.#patience();
        if (this.#isInterrupted()) return null;
        return await work();
      } catch (error) {
        const asked = patienceOf(error);
        if (asked === null || times === TIMES) throw error;
        this.#resumeAt = Math.max(this.#resumeAt, Date.now() + asked);
      } finally {
        this.#free += 1;
        this.#waiting.shift()?.();
      }
    }
  }

  async #turn(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
  }

  async #patience(): Promise<void> {
    for (;;) {
      const left = this.#resumeAt - Date.now();
      if (left <= 0 || this.#isInterrupted()) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(left, PATIENCE_MS)));
    }
  }
}

/** For how long the API server asks not to be asked, in milliseconds; null for every other error. */
function patienceOf(error: unknown): number | null {
  if (!(error instanceof ApiException) || error.code !== 429) return null;
  // A webhook may deny with any code.
  if (apiMessage(error)?.includes('denied the request') === true) return null;
  return retryAfter(error) ?? PATIENCE_MS;
}
