/**
 * How long one attempt of a write may take: at most a dozen requests with a timeout of 30 s each, and perhaps the whole
 * tree of a large repository.
 */
export const WRITE_TIMEOUT_MS = 5 * 60_000;

/** The intervals of the state machine, in milliseconds; from the worker's configuration. */
export interface ResizeTimings {
  /**
   * How long a requirement must stay the same before it is acted on, so that a running rolling update is seen as a
   * whole.
   */
  readonly demandSettle: number;
  /** How long `clean` must stand without any check before it counts as a proof. */
  readonly settle: number;
  /** An open pull request is updated at most once in this interval. */
  readonly updateInterval: number;
  /** An open pull request is closed when its demand has been gone for this long. */
  readonly needGone: number;
  /** How long a blocked or locked decision is held before it is tried again. */
  readonly holdRetry: number;
  /** A warning is written when the cluster does not show a merge after this time. */
  readonly syncOverdue: number;
  /** An unchanged recommendation is repeated at most once in this interval. */
  readonly recommendationRepeat: number;
}
