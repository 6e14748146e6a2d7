/**
 * How Headroom finds what it did for a decision before, and tells it from what people did.
 */
import { createHash } from 'node:crypto';
import { asyncLocalStorage } from '@temporalio/activity';
import type { Logger } from 'pino';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { Decision, PullRequestRef } from '../../domain/quota-resize/decision.ts';
import {
  branchName,
  commentMarker,
  decisionOfCommit,
  markedComment,
} from '../../domain/quota-resize/pull-request-text.ts';
import { failure } from '../kernel/failure.ts';
import type { GitHub, PullRequest } from '../ports/github.ts';

/** Throws the failure `GloballyPaused` while the global pause is set. */
export type Guard = (target: QuotaTarget) => Promise<void>;

/** What every activity on pull requests works with. */
export interface GitHubActivityDependencies {
  readonly github: GitHub;
  readonly guard: Guard;
  readonly log: Logger;
  readonly config: {
    readonly pathTemplate: string;
    /** Milliseconds between two looks at a pull request: `Min` at first, `Max` once it is `Ramp` old. */
    readonly timings: {
      readonly checksPollMin: number;
      readonly checksPollMax: number;
      readonly checksPollRamp: number;
    };
    /** Labels of every pull request, one more request each time. */
    readonly labels?: readonly string[];
  };
}

/** Does one write to GitHub: allowed by the guard, and told in one line of the log. */
export type Write = <T>(what: string, fields: Record<string, unknown>, write: () => Promise<T>) => Promise<T>;

/** The writes of one run of an activity; the guard is asked once, before the first of them. */
export function writesOf(
  { guard, log, github }: GitHubActivityDependencies,
  target: QuotaTarget,
  decision: Decision,
): Write {
  let permitted: Promise<void> | undefined;
  return async (what, fields, write) => {
    await (permitted ??= guard(target));
    const started = Date.now();
    const line = {
      target: targetName(target),
      cluster: target.cluster,
      decision: decision.id,
      repository: github.repository,
    };
    try {
      const result = await write();
      const outcome = outcomeOf(result);
      log.info({ ...line, write: what, ...fields, outcome, ms: Date.now() - started }, `GitHub: ${what}: ${outcome}`);
      return result;
    } catch (error) {
      // Whether it happened is not known here: the next attempt looks.
      log.warn(
        {
          ...line,
          write: what,
          ...fields,
          ms: Date.now() - started,
          error: error instanceof Error ? error.message : String(error),
        },
        `GitHub: ${what} got no good answer`,
      );
      throw error;
    }
  };
}

/**
 * A comment that is made once: one that this decision made about the same thing before, in a call whose answer was lost,
 * is found by its hidden marker.
 *
 * @param about what tells this comment from the decision's others.
 */
export async function ensureComment(
  github: GitHub,
  write: Write,
  decision: Decision,
  { number, about, text }: { readonly number: number; readonly about: string; readonly text: string },
): Promise<void> {
  const key = createHash('sha256').update(about).digest('hex').slice(0, 12);
  const marker = commentMarker(decision.id, key);
  if ((await github.commentsOf(number)).some((comment) => comment.includes(marker))) return;
  await write('comment', { number }, () => github.comment(number, markedComment(decision.id, key, text)));
}

/** The word for what a write came to: "exists" and "refused" changed nothing. */
function outcomeOf(result: unknown): string {
  if (typeof result === 'string') return result;
  if (typeof result === 'object' && result !== null && 'kind' in result) return String(result.kind);
  return result === false ? 'nothing to do' : 'done';
}

/** Which attempt of the activity this is, from 1 on. */
export function currentAttempt(): number {
  return asyncLocalStorage.getStore()?.info.attempt ?? 1;
}

/**
 * The decision's pull request.
 *
 * @throws {ApplicationFailure} InvalidInput when the decision has none, or has it in another repository than the
 *   configured one: the same number is somebody else's pull request there.
 */
export function pullRequestRef(github: GitHub, decision: Decision): PullRequestRef {
  const known = decision.pullRequest;
  if (known !== null) {
    if (known.repository === github.repository) return known;
    throw failure({
      type: 'InvalidInput',
      message: `pull request #${known.number} of decision ${decision.id} is in ${known.repository}, and this worker is configured for ${github.repository}; close or merge it there with a worker of that configuration, or by hand and then unlock the Lease`,
      nonRetryable: true,
    });
  }
  throw failure({
    type: 'InvalidInput',
    message: `decision ${decision.id} has no pull request yet; open it before it is looked at`,
    nonRetryable: true,
  });
}

/** The branch of a decision, as it was made or as it would be. */
export function branchOf(target: QuotaTarget, decision: Decision): string {
  return decision.pullRequest?.branch ?? branchName(target, decision.id);
}

/**
 * The number of the decision's pull request, open or not, by its record or by its branch; null when there is none.
 *
 * @throws {ApplicationFailure} InvalidInput when its record is of another repository.
 */
export async function findPullRequest(github: GitHub, target: QuotaTarget, decision: Decision): Promise<number | null> {
  if (decision.pullRequest !== null) return pullRequestRef(github, decision).number;
  return await github.pullRequestOfBranch(branchName(target, decision.id));
}

/**
 * Whether the pull request holds Headroom's commit and nothing else: its head is the recorded commit, or it is one
 * commit with the decision's trailer, made by the pull request's own author (`web-flow` is GitHub for an app).
 */
export async function headIsOurs(github: GitHub, pull: PullRequest, decision: Decision): Promise<boolean> {
  if (pull.headSha === decision.pullRequest?.headSha) return true;
  if (pull.commits !== 1) return false;
  const { message, committer } = await github.commit(pull.headSha);
  return (
    decisionOfCommit(message) === decision.id &&
    committer !== null &&
    (committer === pull.user || committer === 'web-flow')
  );
}

/** The record of a pull request that was found, with our own commit in it even where people pushed others. */
export async function recordOf(github: GitHub, pull: PullRequest, decision: Decision): Promise<PullRequestRef> {
  const known = decision.pullRequest;
  const own =
    known !== null && known.headSha === pull.headSha
      ? { sha: known.headSha, committedAt: known.pushedAt }
      : (await github.commitsOf(pull.number)).findLast(({ message }) => decisionOfCommit(message) === decision.id);
  const path = known?.path ?? (await github.filesOf(pull.number))[0] ?? '';
  return {
    number: pull.number,
    url: pull.url,
    repository: github.repository,
    branch: pull.headRef,
    base: pull.baseRef,
    path,
    headSha: own?.sha ?? known?.headSha ?? pull.headSha,
    openedAt: pull.createdAt,
    pushedAt: own?.committedAt ?? known?.pushedAt ?? pull.createdAt,
  };
}

/** Whether a branch without a pull request holds only what Headroom put there: a commit of the base, or one of ours on it. */
export function isOwnBranch(ahead: readonly { readonly message: string }[], decision: Decision): boolean {
  return ahead.length === 0 || (ahead.length === 1 && decisionOfCommit(ahead[0]?.message ?? '') === decision.id);
}
