/** How a pull request ends: merged or closed, and its branch deleted. */
import { currentAttempt } from '../../kernel/attempt.ts';
import { failure } from '../../kernel/failure.ts';
import type { MergeOutcome as MergeAnswer, PullRequest } from '../../forge/forge.ts';
import { decidedFacts, discardBranch, type PullRequestTask } from './decision-branch.ts';
import type { MergeOutcome, QuotaResizeActivities } from '../interface.ts';
import {
  ensureComment,
  findPullRequest,
  type ForgeActivityDependencies,
  headIsOurs,
  pullRequestRef,
  writesOf,
} from './own-work.ts';
import { mergeOf } from './pull-request-state.ts';

export function createPullRequestEndActivities(
  dependencies: ForgeActivityDependencies,
): Pick<QuotaResizeActivities, 'ensureMerged' | 'ensureComment' | 'ensurePullRequestClosed' | 'ensureBranchDeleted'> {
  const taskOf = (input: Pick<PullRequestTask, 'target' | 'decision'>, action?: 'merge'): PullRequestTask => ({
    ...dependencies,
    ...input,
    write: writesOf(dependencies, input.target, input.decision, action),
  });
  return {
    ensureMerged: async (input) => await ensureMerged(taskOf(input, 'merge')),

    async ensureComment({ about, text, ...input }): Promise<void> {
      const { forge, decision, write } = taskOf(input);
      const { number } = pullRequestRef(forge, decision);
      await ensureComment(forge, write, decision, { number, about, text });
    },

    async ensurePullRequestClosed({ comment, ...input }): Promise<void> {
      const task = taskOf(input);
      const { forge, decision, write } = task;
      const pull = await pullRequestOf(task);
      if (pull === null) return deleteBranchWithoutPullRequest(task);
      if (pull.state === 'open') {
        const { number } = pull;
        await ensureComment(forge, write, decision, { number, about: comment, text: comment });
        await write('close pull request', { number }, () => forge.pullRequests.edit(number, { state: 'closed' }));
      }
      return deleteBranchOf(task, pull);
    },

    async ensureBranchDeleted(input): Promise<void> {
      const task = taskOf(input);
      const pull = await pullRequestOf(task);
      if (pull === null) return deleteBranchWithoutPullRequest(task);
      // Deleting the branch of an open pull request would close it.
      if (pull.state === 'closed') await deleteBranchOf(task, pull);
      return undefined;
    },
  };
}

async function ensureMerged(task: PullRequestTask): Promise<MergeOutcome> {
  const { target, decision, forge, config, write } = task;
  const { number, headSha, base } = pullRequestRef(forge, decision);
  // A token with the right to bypass rules would merge past the queue, so the merge is not even tried.
  if ((await forge.branches.rules(base)).mergeQueue) {
    return { kind: 'blocked', reason: 'MergeQueue', message: mergeQueueMessage(task, number, base) };
  }
  if (currentAttempt() > 1) {
    const merged = await mergedOutcome(task, await forge.pullRequests.get(number));
    if (merged !== null) return merged;
  }
  const facts = decidedFacts(forge.repository, target, decision);
  const { title, message } = config.texts.merge(facts, number);
  const answer = await write('merge', { number, headSha }, () =>
    forge.pullRequests.merge({ number, headSha, title, message }),
  );

  const pull = await forge.pullRequests.get(number);
  const merged = await mergedOutcome(task, pull);
  return merged ?? unmergedOutcome(task, pull, headSha, answer);
}

/** The merge of a pull request by anybody; null while it is not merged. */
async function mergedOutcome(task: PullRequestTask, pull: PullRequest): Promise<MergeOutcome | null> {
  const merge = await mergeOf(task.forge, task.target, task.decision, pull);
  if (merge === null) return null;
  await deleteBranchOf(task, pull);
  return { kind: 'merged', ...merge };
}

/** The outcome of the forge's response to a merge when the pull request is not merged afterwards. */
function unmergedOutcome(task: PullRequestTask, pull: PullRequest, headSha: string, answer: MergeAnswer): MergeOutcome {
  const { repository } = task.forge;
  const { number } = pull;
  switch (answer.kind) {
    case 'merged':
      throw failure({
        type: 'ForgeUnavailable',
        message: `pull request #${number} of ${repository} was merged as ${answer.sha} and is not shown as merged yet`,
      });
    case 'moved':
      return { kind: 'moved' };
    case 'rejected': {
      if (answer.needsMergeQueue) {
        const message = `${mergeQueueMessage(task, number, pull.baseRef)} (${answer.message})`;
        return { kind: 'blocked', reason: 'MergeQueue', message };
      }
      const asObserved =
        pull.state === 'open' &&
        pull.headSha === headSha &&
        (pull.mergeability === 'clean' || pull.mergeability === 'unstable');
      if (!asObserved) return { kind: 'moved' };
      return {
        kind: 'blocked',
        reason: 'NotMergeable',
        message: `pull request #${number} of ${repository} cannot be merged although it is ${pull.mergeability}: ${answer.message}; merge it by hand, or allow squash merges for the repository`,
      };
    }
    default:
      return answer satisfies never;
  }
}

async function pullRequestOf(task: PullRequestTask): Promise<PullRequest | null> {
  const number = await findPullRequest(task, task.target, task.decision);
  return number === null ? null : await task.forge.pullRequests.get(number);
}

/** Deletes the branch of a closed pull request if nothing is lost: it was merged unchanged, or has only our commit. */
async function deleteBranchOf({ forge, decision, write }: PullRequestTask, pull: PullRequest): Promise<void> {
  const head = await forge.branches.head(pull.headRef);
  if (head === null || head !== pull.headSha) return;
  if (pull.mergedAt === null && !(await headIsOurs(forge, pull, decision))) return;
  await write('delete branch', { branch: pull.headRef, sha: head }, () => forge.branches.delete(pull.headRef));
}

/** Deletes the branch of an attempt that never opened a pull request. */
async function deleteBranchWithoutPullRequest(task: PullRequestTask): Promise<void> {
  const base = await task.forge.files.base(0, task.decision.source?.base);
  if (base.kind === 'branch') await discardBranch(task, base.sha);
}

function mergeQueueMessage({ forge }: PullRequestTask, number: number, base: string): string {
  return `${forge.repository} merges into ${base} through a merge queue, which Headroom does not enter; add pull request #${number} to the queue`;
}
