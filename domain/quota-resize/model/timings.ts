/** The spans that the state machine works with, in milliseconds; from the worker's configuration. */
export interface ResizeTimings {
  /** How long a need must stay the same before it is acted on, so that a rollout in full swing is seen whole. */
  readonly demandSettle: number;
  /** How long `clean` must stand without any check before it counts as a proof. */
  readonly settle: number;
  /** At most one update of an open pull request in this span. */
  readonly updateInterval: number;
  /** An open pull request is closed when its need has been gone for this long. */
  readonly needGone: number;
  /** How long a blocked or locked decision rests before it is tried again. */
  readonly holdRetry: number;
  /** A cluster that has not followed a merge after this span is warned about. */
  readonly syncOverdue: number;
  /** An unchanged recommendation is repeated at most once in this span. */
  readonly recommendationRepeat: number;
}
