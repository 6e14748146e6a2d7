/**
 * How Headroom finds what it did for a decision before, and tells it from what people did.
 */
import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import type { WritePriority } from '../../domain/github-budget/write-priority.ts';
import { isZero, parseQuantity } from '../../domain/kernel/quantity.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { Decision, PullRequestRef } from '../../domain/quota-resize/model/decision.ts';
import {
  commentMarker,
  decisionOfCommit,
  markedComment,
  type PullRequestTexts,
} from '../../domain/quota-resize/pull-request/text.ts';
import { failure } from '../kernel/failure.ts';
import { type GuardedAction, policyChanged } from './policy-guard.ts';
import type { Forge, PullRequest } from '../forge/forge.ts';
import type { PullRequestPollTimings } from '../../domain/quota-resize/pull-request/poll.ts';
import type { WritePermits } from '../forge/write-permits.ts';
import type { Repositories } from '../forge/repositories.ts';

/** Throws the failure `GloballyPaused` or `Paused` while nothing may be written for a quota. */
type Guard = (target: QuotaTarget) => Promise<void>;

/** Throws the failure `PolicyChanged` where the policy does not allow the deed any more. */
type PolicyGuard = (target: QuotaTarget, action: GuardedAction) => Promise<void>;

/** What the activities on pull requests work with. */
export interface PullRequestDependencies {
  readonly repositories: Repositories;
  readonly guard: Guard;
  readonly policyGuard: PolicyGuard;
  /** Null where nobody rations the writes to GitHub. */
  readonly permits: WritePermits | null;
  readonly log: Logger;
  readonly config: GitHubActivityConfig;
}

/** The same for the pull requests of one repository. */
export interface ForgeActivityDependencies extends Omit<PullRequestDependencies, 'repositories'> {
  readonly forge: Forge;
}

export interface GitHubActivityConfig {
  readonly timings: PullRequestPollTimings;
  readonly texts: PullRequestTexts;
  /** Where Temporal's UI is, and the namespace of the workflows; null where it is not known. */
  readonly temporalUi: { readonly url: string; readonly namespace: string } | null;
}

/** Does one write to GitHub: allowed by the guard and within the budget, and told in one line of the log. */
export type Write = <T>(what: string, fields: Record<string, unknown>, write: () => Promise<T>) => Promise<T>;

/**
 * The writes of one run of an activity. The budget is asked before each, and the pauses before and after that, as it may
 * take long: those of the quota, and where its limits are proposed or merged those of every quota that is raised along.
 * Before the first write of such an action its policy is asked as well.
 *
 * @throws {ApplicationFailure} what the guard, the permits and the write itself throw.
 */
export function writesOf(
  { guard, policyGuard, permits, log, forge }: ForgeActivityDependencies,
  target: QuotaTarget,
  decision: Decision,
  action?: GuardedAction,
): Write {
  let isAllowed: Promise<void> | undefined;
  const assertUnpaused = async (): Promise<void> => {
    await guard(target);
    if (action === undefined) return;
    for (const { quota } of decision.batchedQuotas ?? []) await assertMayBeRaised(guard, { ...target, quota }, action);
  };
  return async (what, fields, write) => {
    // Whoever is paused takes nobody's place in the queue.
    await assertUnpaused();
    await permits?.acquire({
      id: permitId(decision, what, fields),
      priority: priorityOf(decision),
      target: targetName(target),
      cluster: target.cluster,
      write: what,
    });
    if (action !== undefined) await (isAllowed ??= policyGuard(target, action));
    await assertUnpaused();
    const started = Date.now();
    const line = {
      target: targetName(target),
      cluster: target.cluster,
      decision: decision.id,
      repository: forge.repository,
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

/** A paused quota that is raised along is none that this episode waits for: it is decided anew without it. */
async function assertMayBeRaised(guard: Guard, other: QuotaTarget, action: GuardedAction): Promise<void> {
  try {
    await guard(other);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || (error.type !== 'Paused' && error.type !== 'GloballyPaused'))
      throw error;
    throw policyChanged(other, action, error.message);
  }
}

/** The same for every attempt at the same write: the budget keeps its place in the queue by it. */
function permitId(decision: Decision, what: string, fields: Record<string, unknown>): string {
  const subject = createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 12);
  return `${decision.id}/${what}/${subject}`;
}

function priorityOf(decision: Decision): WritePriority {
  if (decision.approvedBy !== undefined) return 'approved';
  const changes = [decision, ...(decision.batchedQuotas ?? [])].flatMap((quota) => quota.changes);
  return changes.some(({ demand }) => !isZero(parseQuantity(demand))) ? 'demand' : 'threshold';
}

/**
 * A comment that is made once: one that this decision made about the same thing before, in a call whose answer was lost,
 * is found by its hidden marker.
 *
 * @param about what tells this comment from the decision's others.
 */
export async function ensureComment(
  forge: Forge,
  write: Write,
  decision: Decision,
  { number, about, text }: { readonly number: number; readonly about: string; readonly text: string },
): Promise<void> {
  const key = createHash('sha256').update(about).digest('hex').slice(0, 12);
  const marker = commentMarker(decision.id, key);
  if ((await forge.pullRequests.commentsOf(number)).some((comment) => comment.includes(marker))) return;
  await write('comment', { number, key }, () =>
    forge.pullRequests.comment(number, markedComment(decision.id, key, text)),
  );
}

/** The word for what a write came to: "exists" and "refused" changed nothing. */
function outcomeOf(result: unknown): string {
  if (typeof result === 'string') return result;
  if (typeof result === 'object' && result !== null && 'kind' in result) return String(result.kind);
  return result === false ? 'nothing to do' : 'done';
}

/** The repository of a decision: of its pull request, else where its quota was found, else the first one. */
export function repositoryOf(repositories: Repositories, decision: Decision): Forge {
  const recorded = decision.pullRequest;
  if (recorded !== null) {
    if (repositories.nameOf(recorded.repository) === null) throw elsewhere(decision, recorded, repositories.names);
    return repositories.of(recorded.repository);
  }
  const name = decision.source?.repository ?? repositories.names[0];
  if (name === undefined) throw noRepository();
  return repositories.of(name);
}

/** The failure of a decision of a worker that had a repository, on one that has none. */
export function noRepository(): Error {
  return failure({
    type: 'InvalidInput',
    message: 'no GitOps repository is configured in this worker; set GITHUB_OWNER, GITHUB_REPO and GITHUB_TOKEN',
    nonRetryable: true,
  });
}

function elsewhere(decision: Decision, recorded: PullRequestRef, names: readonly string[]): Error {
  return failure({
    type: 'InvalidInput',
    message: `pull request #${recorded.number} of decision ${decision.id} is in ${recorded.repository}, and this worker is configured for ${names.join(', ') || 'no repository'}; close or merge it there with a worker of that configuration, or by hand and then unlock the Lease`,
    nonRetryable: true,
  });
}

/**
 * The decision's pull request.
 *
 * @throws {ApplicationFailure} InvalidInput when the decision has none, or has it in another repository: the same number
 *   is somebody else's pull request there.
 */
export function pullRequestRef(forge: Forge, decision: Decision): PullRequestRef {
  const recorded = decision.pullRequest;
  if (recorded !== null) {
    if (recorded.repository.toLowerCase() === forge.repository.toLowerCase()) return recorded;
    throw elsewhere(decision, recorded, [forge.repository]);
  }
  throw failure({
    type: 'InvalidInput',
    message: `decision ${decision.id} has no pull request yet; open it before it is looked at`,
    nonRetryable: true,
  });
}

/** The branch of a decision, as it was made or as it would be. */
export function branchOf(
  { config }: { readonly config: GitHubActivityConfig },
  target: QuotaTarget,
  decision: Decision,
): string {
  return decision.pullRequest?.branch ?? config.texts.branch(target, decision.id);
}

/**
 * The number of the decision's pull request, open or not, by its record or by its branch; null when there is none.
 *
 * @throws {ApplicationFailure} InvalidInput when its record is of another repository.
 */
export async function findPullRequest(
  { forge, config }: Pick<ForgeActivityDependencies, 'forge' | 'config'>,
  target: QuotaTarget,
  decision: Decision,
): Promise<number | null> {
  if (decision.pullRequest !== null) return pullRequestRef(forge, decision).number;
  return await forge.pullRequests.ofBranch(config.texts.branch(target, decision.id));
}

/**
 * Whether the pull request holds Headroom's commit and nothing else: its head is the recorded commit, or it is one
 * commit with the decision's trailer, made by the pull request's own author (`web-flow` is GitHub for an app).
 */
export async function headIsOurs(forge: Forge, pull: PullRequest, decision: Decision): Promise<boolean> {
  if (pull.headSha === decision.pullRequest?.headSha) return true;
  if (pull.commits !== 1) return false;
  const { message, committer } = await forge.branches.commit(pull.headSha);
  return (
    decisionOfCommit(message) === decision.id &&
    committer !== null &&
    (committer === pull.user || committer === 'web-flow')
  );
}

/**
 * The record of a pull request that was found, with our own commit in it even where people pushed others.
 *
 * @param ownPath picks the file of the decision's own quota where several are changed.
 */
export async function recordOf(
  forge: Forge,
  pull: PullRequest,
  decision: Decision,
  ownPath: (paths: readonly string[]) => Promise<string>,
): Promise<PullRequestRef> {
  const recorded = decision.pullRequest;
  const own =
    recorded !== null && recorded.headSha === pull.headSha
      ? { sha: recorded.headSha, committedAt: recorded.pushedAt }
      : (await forge.pullRequests.commitsOf(pull.number)).findLast(
          ({ message }) => decisionOfCommit(message) === decision.id,
        );
  const paths = recorded === null ? await forge.pullRequests.filesOf(pull.number) : [recorded.path];
  const path = paths.length > 1 ? await ownPath(paths) : (paths[0] ?? '');
  return {
    number: pull.number,
    url: pull.url,
    repository: forge.repository,
    branch: pull.headRef,
    base: pull.baseRef,
    path,
    headSha: own?.sha ?? recorded?.headSha ?? pull.headSha,
    openedAt: pull.createdAt,
    pushedAt: own?.committedAt ?? recorded?.pushedAt ?? pull.createdAt,
  };
}

/** Whether a branch without a pull request holds only what Headroom put there: a commit of the base, or one of ours on it. */
export function isOwnBranch(ahead: readonly { readonly message: string }[], decision: Decision): boolean {
  return ahead.length === 0 || (ahead.length === 1 && decisionOfCommit(ahead[0]?.message ?? '') === decision.id);
}
