/**
 * How often an open pull request is polled, and how much is read each time, depending on how long it has not changed.
 */
import { pollDelay } from '../../kernel/poll-pace.ts';

/** In milliseconds, from the worker's configuration. */
export interface PullRequestPollTimings {
  /** Interval of polls of a pull request that has just changed. */
  readonly checksPollMin: number;
  /** Interval of polls once nothing has changed for `checksPollRamp`. */
  readonly checksPollMax: number;
  readonly checksPollRamp: number;
  /** Interval of polls where webhooks report changes, after the first minute; absent without webhooks. */
  readonly webhookPoll?: number | undefined;
}

export interface PullRequestPoll {
  /** Milliseconds until the next pass. */
  readonly delay: number;
  /**
   * Whether a poll reads the checks too, at least two more requests. A slow poll makes one request: what matters about
   * checks for the merge is visible in `mergeable_state`.
   */
  readonly readsChecks: boolean;
  /**
   * Whether a poll reads everything at once, because something is likely to have changed. Later ones are conditional
   * requests, which cost no rate limit while nothing changes.
   */
  readonly readsState: boolean;
}

/**
 * The forge reports a change within seconds. A change that was not reported after this time is left to the slow poll.
 */
const WEBHOOK_PATIENCE_MS = 60_000;
/** Milliseconds after a change in which the next one is likely: CI begins, mergeability is computed. */
const LIVELY_MS = 60_000;
/** The forge computes mergeability within seconds; if it takes longer than this, polling faster does not help. */
const COMPUTING_MS = 300_000;

/**
 * @param quietFor milliseconds since the last change of the pull request.
 * @param computing whether the forge is still computing the mergeability.
 */
export function pullRequestPoll(
  timings: PullRequestPollTimings,
  quietFor: number,
  computing: boolean,
): PullRequestPoll {
  const { checksPollMin: first, checksPollMax: last, checksPollRamp: ramp, webhookPoll } = timings;
  const slowFrom = webhookPoll === undefined ? ramp : Math.min(ramp, WEBHOOK_PATIENCE_MS);
  const readsChecks = quietFor < slowFrom;
  const reads = { readsChecks, readsState: readsChecks && quietFor < LIVELY_MS };
  if (computing && quietFor < COMPUTING_MS) return { delay: first, ...reads };
  if (webhookPoll === undefined) return { delay: pollDelay({ first, last, ramp }, quietFor), ...reads };
  return { delay: readsChecks ? first : Math.max(first, webhookPoll), ...reads };
}
