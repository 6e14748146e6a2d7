/** How Headroom finds its earlier work for a decision and distinguishes it from people's work. */
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { digestOf } from '../../../domain/kernel/digest.ts';
import type { MergeMethod } from '../../../domain/kernel/forge.ts';
import type { WritePriority } from '../../../domain/github-budget/write-priority.ts';
import { isZero, parseQuantity } from '../../../domain/kernel/quantity.ts';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import type { TemporalUi } from '../../../domain/kernel/temporal-ui.ts';
import { type Decision, isHeldIn, type PullRequestRef } from '../../../domain/quota-resize/model/decision.ts';
import type { GuardrailInForce } from '../../../domain/quota-resize/policy/guardrail.ts';
import {
  commentMarker,
  decisionOfComment,
  decisionOfCommit,
  markedComment,
  type PullRequestTexts,
} from '../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import { currentWorkflow } from '../../kernel/audit.ts';
import { failure } from '../../kernel/failure.ts';
import { isOwnAccount } from './own-account.ts';
import { type GuardedAction, policyChanged } from './policy-guard.ts';
import type { Commit, Forge, ListedCommit, PullRequest } from '../../forge/forge.ts';
import type { FileLocks } from '../lease/file-lock.ts';
import type { MergeGate } from './merge-gate.ts';
import type { PullRequestPollTimings } from '../../../domain/quota-resize/pull-request/poll.ts';
import type { WritePermits } from '../../forge/write-permits.ts';
import type { Repositories } from '../../forge/repositories.ts';
import type { DeliveredRepositories } from '../source/deliveries.ts';

/** Throws the failure `GloballyPaused` or `Paused` while nothing may be written for a quota. */
type Guard = (target: QuotaTarget) => Promise<void>;

/** Throws the failure `PolicyChanged` when the policy does not allow a pull request any more. */
type PolicyGuard = (target: QuotaTarget) => Promise<void>;

/** Dependencies of the activities on pull requests. */
export interface PullRequestDependencies {
  readonly repositories: DeliveredRepositories;
  readonly guard: Guard;
  readonly policyGuard: PolicyGuard;
  /** The guardrail of a quota, as the cluster and the configuration have it. */
  readonly guardrailOf: (target: QuotaTarget) => Promise<GuardrailInForce>;
  readonly mergeGate: MergeGate;
  readonly fileLocks: FileLocks;
  /** The decisions in the Leases of quotas. */
  readonly decisions: { read(target: QuotaTarget): Promise<{ readonly decision: Decision | null }> };
  /** Null when writes to the forge are not limited by a budget. */
  readonly permits: WritePermits | null;
  readonly log: Logger;
  readonly config: ForgeActivityConfig;
}

/** The dependencies for pull requests of one repository. */
export interface ForgeActivityDependencies extends Omit<PullRequestDependencies, 'repositories'> {
  readonly forge: Forge;
}

export interface ForgeActivityConfig {
  readonly timings: PullRequestPollTimings;
  readonly texts: PullRequestTexts;
  /** The one that was chosen; absent: the first that the repository allows. */
  readonly mergeMethod?: MergeMethod | undefined;
  /** The URL of the Temporal UI and the namespace of the workflows; null when unknown. */
  readonly temporalUi: TemporalUi | null;
}

/**
 * Makes one write to the forge: checked by the guard, within the budget, and logged in one line.
 *
 * @param permits how many things the one request makes; absent: one.
 */
export type Write = <T>(
  what: string,
  fields: Record<string, unknown>,
  write: () => Promise<T>,
  permits?: number,
) => Promise<T>;

/**
 * The writes of one run of an activity. A permit is acquired before each, and pauses are checked before and after that,
 * because waiting for a permit may take long: the quota's own pause, and for proposals and merges also those of all
 * quotas that are raised with it; a write that takes a merge back is made during a pause, too. Before the first write of such an action its policy is checked too.
 *
 * @throws {ApplicationFailure} of the guard, the permits and the write itself.
 */
export function writesOf(
  { guard, policyGuard, permits, log, forge }: ForgeActivityDependencies,
  target: QuotaTarget,
  decision: Decision,
  action?: GuardedAction | 'withdraw',
): Write {
  let isAllowed: Promise<void> | undefined;
  const assertUnpaused = async (): Promise<void> => {
    // What takes a merge back is no merge.
    if (action === 'withdraw') return;
    await guard(target);
    if (action === undefined) return;
    for (const { quota } of decision.batchedQuotas ?? []) await assertMayBeRaised(guard, { ...target, quota }, action);
    for (const { namespace, quota } of (decision.joined ?? []).filter(isHeldIn)) {
      await assertMayBeRaised(guard, { ...target, namespace, quota }, action);
    }
  };
  return async (what, fields, write, count = 1) => {
    // Checked before the permit, so that a paused quota takes no place in the queue.
    await assertUnpaused();
    // Nor does it wait for an hour because others have spent the budget, as the queue would merge meanwhile.
    if (action !== 'withdraw') {
      await permits?.acquire({
        id: permitId(decision, what, fields),
        priority: priorityOf(decision),
        target: targetName(target),
        cluster: target.cluster,
        write: what,
        ...(count === 1 ? {} : { permits: count }),
      });
    }
    // A merge has a gate of its own.
    if (action === 'propose') await (isAllowed ??= policyGuard(target));
    await assertUnpaused();
    const started = Date.now();
    const line = {
      audit: 'write',
      service: forge.service,
      ...currentWorkflow(),
      target: targetName(target),
      cluster: target.cluster,
      decision: decision.id,
      repository: forge.repository,
    };
    try {
      const result = await write();
      const outcome = outcomeOf(result);
      log.info(
        { ...line, write: what, ...fields, outcome, ms: Date.now() - started },
        `${forge.service}: ${what}: ${outcome}`,
      );
      return result;
    } catch (error) {
      // It is unknown whether the write took effect: the next attempt looks for it.
      log.warn(
        {
          ...line,
          write: what,
          ...fields,
          outcome: 'no good answer',
          ms: Date.now() - started,
          error: error instanceof Error ? error.message : String(error),
        },
        `${forge.service}: ${what} got no good answer`,
      );
      throw error;
    }
  };
}

/** The episode does not wait for another quota that is paused but decides again without it. */
async function assertMayBeRaised(guard: Guard, other: QuotaTarget, action: GuardedAction): Promise<void> {
  try {
    await guard(other);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || (error.type !== 'Paused' && error.type !== 'GloballyPaused'))
      throw error;
    throw policyChanged(other, action, error.message);
  }
}

/** The same for every attempt of the same write, so that a retry keeps its place in the queue. */
function permitId(decision: Decision, what: string, fields: Record<string, unknown>): string {
  const subject = digestOf(JSON.stringify(fields), 12);
  return `${decision.id}/${what}/${subject}`;
}

function priorityOf(decision: Decision): WritePriority {
  if (decision.approvedBy !== undefined) return 'approved';
  const changes = [decision, ...(decision.batchedQuotas ?? [])].flatMap((quota) => quota.changes);
  return changes.some(({ demand }) => !isZero(parseQuantity(demand))) ? 'demand' : 'threshold';
}

/**
 * Writes a comment once: an earlier comment of this decision on the same subject, whose response was lost, is found by
 * its hidden marker.
 *
 * @param about distinguishes the decision's comments.
 */
export async function ensureComment(
  forge: Forge,
  write: Write,
  decision: Decision,
  { number, about, text }: { readonly number: number; readonly about: string; readonly text: string },
): Promise<void> {
  const key = commentKey(about);
  const marker = commentMarker(decision.id, key);
  if ((await forge.pullRequests.ownCommentsWith(number, marker)).length > 0) return;
  await write('comment', { number, key }, () =>
    forge.pullRequests.comment(number, markedComment(decision.id, key, text)),
  );
}

/** Whether another decision has commented on the subject. */
export async function hasCommentOfOther(
  forge: Forge,
  decision: Decision,
  { number, about }: { readonly number: number; readonly about: string },
): Promise<boolean> {
  const key = commentKey(about);
  const comments = await forge.pullRequests.ownCommentsWith(number, `:${key} -->`);
  const decisions = comments.map((text) => decisionOfComment(text, key));
  return decisions.some((id) => id !== null && id !== decision.id);
}

function commentKey(about: string): string {
  return digestOf(about, 12);
}

/** The outcome of a write for the log: "exists" and "refused" mean that nothing changed. */
function outcomeOf(result: unknown): string {
  if (typeof result === 'string') return result;
  if (typeof result === 'object' && result !== null && 'kind' in result) return String(result.kind);
  return result === false ? 'nothing to do' : 'done';
}

/** The repository of a decision: of its pull request, otherwise where its quota was found, otherwise the first one. */
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

/** The failure of a worker without a repository that gets a decision from one that had it. */
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
 * @throws {ApplicationFailure} InvalidInput when the decision has none, or has it in another repository, where the same
 *   number is an unrelated pull request.
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

/** The branch of a decision, existing or to be created. */
export function branchOf(
  { config }: { readonly config: ForgeActivityConfig },
  target: QuotaTarget,
  decision: Decision,
): string {
  return decision.pullRequest?.branch ?? config.texts.branch(target, decision.id);
}

/**
 * The number of the decision's pull request, open or not, by its record or by its branch; null when there is none.
 *
 * @throws {ApplicationFailure} InvalidInput when the record is of another repository.
 */
export async function findPullRequest(
  { forge, config }: Pick<ForgeActivityDependencies, 'forge' | 'config'>,
  target: QuotaTarget,
  decision: Decision,
): Promise<number | null> {
  if (decision.pullRequest !== null) return pullRequestRef(forge, decision).number;
  return await forge.pullRequests.ofBranch(config.texts.branch(target, decision.id));
}

/** How many decisions may be in one pull request, each with a commit: the owner, and those that joined it. */
const MOST_COMMITS = 21;

/**
 * Whether the pull request contains only Headroom's commits: its head is the recorded commit, or all of its commits have
 * the trailer of a decision, one of them this decision's, and were committed by an account of Headroom's.
 */
export async function headIsOurs(forge: Forge, pull: PullRequest, decision: Decision): Promise<boolean> {
  if (pull.headSha === decision.pullRequest?.headSha) return true;
  if (pull.commits === 1) return await isCommitOf(forge, await forge.branches.commit(pull.headSha), pull, decision);
  if (pull.commits > MOST_COMMITS) return false;
  const commits = await forge.pullRequests.commitsOf(pull.number);
  return (
    (await isAllOurs(forge, commits, pull)) && commits.some(({ message }) => decisionOfCommit(message) === decision.id)
  );
}

/** Whether these are all commits of a pull request, and nobody but Headroom made them. */
export async function isAllOurs(forge: Forge, commits: readonly ListedCommit[], pull: PullRequest): Promise<boolean> {
  if (commits.length !== pull.commits || commits.length === 0) return false;
  return (await firstForeign(forge, commits, pull)) === -1;
}

/** The index of the first commit that somebody else made; -1 where there is none. */
async function firstForeign(forge: Forge, commits: readonly ListedCommit[], pull: PullRequest): Promise<number> {
  for (const [index, { message, committer }] of commits.entries()) {
    if (decisionOfCommit(message) === null || !(await isOwnCommitter(forge, committer, pull))) return index;
  }
  return -1;
}

/** Whether a commit has the decision's trailer and was committed by an account of Headroom's. */
export async function isCommitOf(
  forge: Forge,
  { message, committer }: Pick<Commit, 'message' | 'committer'>,
  pull: PullRequest,
  decision: Pick<Decision, 'id'>,
): Promise<boolean> {
  return decisionOfCommit(message) === decision.id && (await isOwnCommitter(forge, committer, pull));
}

/** `web-flow` is GitHub on behalf of an App. */
async function isOwnCommitter(forge: Forge, committer: string | null, pull: PullRequest): Promise<boolean> {
  return committer === 'web-flow' || (await isOwnAccount(forge, pull, committer));
}

/**
 * The record of a pull request that was found; its head is a commit of Headroom even if people pushed others.
 *
 * @param ownPath picks the file of the decision's own quota when several are changed.
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
      : await ownHead(forge, await forge.pullRequests.commitsOf(pull.number), pull, decision);
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
    ...(recorded?.joinedTo === undefined ? {} : { joinedTo: recorded.joinedTo }),
  };
}

/** The last of Headroom's commits below those of other people; where the decision has none there, its last commit. */
async function ownHead(
  forge: Forge,
  commits: readonly ListedCommit[],
  pull: PullRequest,
  decision: Decision,
): Promise<ListedCommit | undefined> {
  const isOwn = ({ message }: ListedCommit): boolean => decisionOfCommit(message) === decision.id;
  const foreign = await firstForeign(forge, commits, pull);
  const ours = foreign === -1 ? commits : commits.slice(0, foreign);
  return ours.some(isOwn) ? ours.at(-1) : commits.findLast(isOwn);
}

/**
 * Whether a branch without a pull request contains only Headroom's work: a commit of the base, or our commit on top of
 * it.
 */
export function isOwnBranch(ahead: readonly { readonly message: string }[], decision: Decision): boolean {
  return ahead.length === 0 || (ahead.length === 1 && decisionOfCommit(ahead[0]?.message ?? '') === decision.id);
}
