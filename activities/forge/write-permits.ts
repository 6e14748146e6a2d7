import type { WritePriority } from '../../domain/github-budget/write-priority.ts';

/** A write to the forge that needs a permit. */
export interface PermitAsk {
  /** The same for every attempt of the same write, so that a retry keeps its place in the queue. */
  readonly id: string;
  readonly priority: WritePriority;
  /** The quota of the write: `team-a/compute`. */
  readonly target: string;
  readonly cluster: string;
  /** The kind of write: "open pull request". */
  readonly write: string;
  /** How many permits it takes: a request that makes several things takes one for each. Absent: one. */
  readonly permits?: number;
}

/** The write budget that all workers and clusters with the same credential share. */
export interface WritePermits {
  /**
   * Returns when the write may be made.
   *
   * @throws {ApplicationFailure} WriteBudgetSpent with the place in the queue, to be retried after the delay it names.
   */
  acquire(ask: PermitAsk): Promise<void>;
  /** Reports that the forge rate-limited a request: nobody may write for so many milliseconds. */
  limited(waitMs: number, words: string): Promise<void>;
}
