/** How often an open pull request is asked for, and how much is asked, by how long nothing about it has changed. */
import { pollDelay } from '../../kernel/poll-pace.ts';

/** In milliseconds, from the worker's configuration. */
export interface PullRequestPollTimings {
  /** Between two looks at a pull request that has just changed. */
  readonly checksPollMin: number;
  /** Between two looks once nothing has changed for `checksPollRamp`. */
  readonly checksPollMax: number;
  readonly checksPollRamp: number;
  /** Between two looks where webhooks tell of changes, after the first minute; absent where none do. */
  readonly webhookPoll?: number | undefined;
}

export interface PullRequestPoll {
  /** Milliseconds until the next pass. */
  readonly delay: number;
  /**
   * Whether a look reads the checks as well, which are at least two requests more. A slow look is one request: what
   * checks change for the merge shows in `mergeable_state`.
   */
  readonly readsChecks: boolean;
}

/** the forge tells of a change within seconds; what it does not tell in this time is asked for once in a long while. */
const WEBHOOK_PATIENCE_MS = 60_000;
/**
 * the forge computes mergeability within seconds; one that takes longer than this is stuck, and asking does not help.
 */
const COMPUTING_MS = 300_000;

/**
 * @param quietFor milliseconds since something about the pull request last changed.
 * @param computing whether the forge is still computing if it can be merged.
 */
export function pullRequestPoll(
  timings: PullRequestPollTimings,
  quietFor: number,
  computing: boolean,
): PullRequestPoll {
  const { checksPollMin: first, checksPollMax: last, checksPollRamp: ramp, webhookPoll } = timings;
  const slowFrom = webhookPoll === undefined ? ramp : Math.min(ramp, WEBHOOK_PATIENCE_MS);
  const readsChecks = quietFor < slowFrom;
  if (computing && quietFor < COMPUTING_MS) return { delay: first, readsChecks };
  if (webhookPoll === undefined) return { delay: pollDelay({ first, last, ramp }, quietFor), readsChecks };
  return { delay: readsChecks ? first : Math.max(first, webhookPoll), readsChecks };
}
