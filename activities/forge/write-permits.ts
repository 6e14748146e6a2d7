import type { WritePriority } from '../../domain/github-budget/write-priority.ts';

/** One write to the forge that somebody wants to make. */
export interface PermitAsk {
  /** The same for every attempt at the same write, so that an attempt keeps its place in the queue. */
  readonly id: string;
  readonly priority: WritePriority;
  /** For whom: `team-a/compute`. */
  readonly target: string;
  readonly cluster: string;
  /** What: "open pull request". */
  readonly write: string;
}

/** The budget of writes that every worker and cluster with the same credential shares. */
export interface WritePermits {
  /**
   * Returns when the write may be made now.
   *
   * @throws {ApplicationFailure} WriteBudgetSpent, to be retried after the time it names, with the place in the queue.
   */
  acquire(ask: PermitAsk): Promise<void>;
  /** The forge rejected a request for a limit: nobody writes for so many milliseconds. */
  limited(waitMs: number, words: string): Promise<void>;
}
