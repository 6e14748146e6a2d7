/** How a pull request ends: merged or closed, and its branch deleted. */
import { namesOf } from '../../../domain/quota-resize/decide/joined.ts';
import { type Decision, isHeldIn } from '../../../domain/quota-resize/model/decision.ts';
import { targetName } from '../../../domain/kernel/target.ts';
import { failure } from '../../kernel/failure.ts';
import type { PullRequest } from '../../forge/forge.ts';
import { deleteBranchOf, discardBranch, type PullRequestTask } from './decision-branch.ts';
import { takenOut } from './dequeue.ts';
import type { DequeueOutcome, MergeOutcome, QuotaResizeActivities } from '../interface.ts';
import { ensureMerged, type MergeInput, type MergeTask } from './merge.ts';
import {
  ensureComment,
  findPullRequest,
  type ForgeActivityDependencies,
  type PullRequestDependencies,
  pullRequestRef,
  writesOf,
} from './own-work.ts';

type EndDependencies = ForgeActivityDependencies & Pick<PullRequestDependencies, 'repositories'>;

export function createPullRequestEndActivities(dependencies: EndDependencies): Pick<
  QuotaResizeActivities,
  'ensureComment' | 'ensurePullRequestClosed' | 'ensureBranchDeleted'
> & {
  /** @param input.decision as the Lease records it. */
  ensureMerged(input: MergeInput): Promise<MergeOutcome>;
  ensureDequeued(input: Pick<PullRequestTask, 'target' | 'decision'>): Promise<DequeueOutcome>;
} {
  const taskOf = (input: Pick<PullRequestTask, 'target' | 'decision'>, action?: 'merge' | 'withdraw'): MergeTask => ({
    ...dependencies,
    ...input,
    write: writesOf(dependencies, input.target, input.decision, action),
  });
  return {
    ensureMerged: async (input) => {
      const withdrawing = taskOf(input, 'withdraw');
      return await ensureMerged(taskOf(input, 'merge'), input, async () => await takenOut(withdrawing));
    },
    ensureDequeued: async (input) => await takenOut(taskOf(input, 'withdraw')),

    async ensureComment({ about, text, ...input }): Promise<void> {
      const { forge, decision, write } = taskOf(input);
      const { number } = pullRequestRef(forge, decision);
      // In a shared pull request nothing else says which of its quotas this is about.
      const name = isShared(decision) ? `${targetName(input.target)}: ` : '';
      await ensureComment(forge, write, decision, { number, about, text: `${name}${text}` });
    },

    async ensurePullRequestClosed({ comment, ...input }): Promise<void> {
      const task = taskOf(input);
      const { forge, decision, write } = task;
      const pull = await pullRequestOf(task);
      if (pull === null) return deleteBranchWithoutPullRequest(task);
      assertOfQuota(task, pull);
      if (pull.state === 'open') {
        const { number } = pull;
        await ensureComment(forge, write, decision, {
          number,
          about: comment,
          text: `${comment}${othersGoOn(decision)}`,
        });
        await write('close pull request', { number }, () => forge.pullRequests.edit(number, { state: 'closed' }));
      }
      return deleteBranchOf(task, pull);
    },

    async ensureBranchDeleted(input): Promise<void> {
      const task = taskOf(input);
      const pull = await pullRequestOf(task);
      if (pull === null) return deleteBranchWithoutPullRequest(task);
      assertOfQuota(task, pull);
      // Deleting the branch of an open pull request would close it.
      if (pull.state === 'closed') await deleteBranchOf(task, pull);
      return undefined;
    },
  };
}

function isShared({ pullRequest, joined = [] }: Decision): boolean {
  return pullRequest?.joinedTo !== undefined || joined.some(isHeldIn);
}

/** What becomes of the other quotas of a shared pull request that is closed for its owner; a sentence, or nothing. */
function othersGoOn({ joined = [] }: Decision): string {
  const others = joined.filter(isHeldIn);
  const go = others.length === 1 ? 'goes' : 'go';
  return others.length === 0
    ? ''
    : ` This is about one of its quotas: ${namesOf(others)} ${go} on with another pull request.`;
}

/**
 * The number comes with the decision, which is told to the activity: only branches that are named for the quota are closed
 * and deleted for it.
 *
 * @throws {ApplicationFailure} InvalidInput
 */
function assertOfQuota({ target, decision, forge, config }: PullRequestTask, { number, headRef }: PullRequest): void {
  const beginning = config.texts.branchBeginning(target);
  if (headRef === config.texts.branch(target, decision.id)) return;
  if (beginning !== '' && headRef.startsWith(beginning)) return;
  throw failure({
    type: 'InvalidInput',
    message: `pull request #${number} of ${forge.repository} is left as it is: its branch ${headRef} is not one for ${targetName(target)}; close it by hand`,
    nonRetryable: true,
  });
}

async function pullRequestOf(task: PullRequestTask): Promise<PullRequest | null> {
  const number = await findPullRequest(task, task.target, task.decision);
  return number === null ? null : await task.forge.pullRequests.get(number);
}

/** Deletes the branch of an attempt that never opened a pull request. */
async function deleteBranchWithoutPullRequest(task: PullRequestTask): Promise<void> {
  const base = await task.forge.files.base(0, task.decision.source?.base);
  if (base.kind === 'branch') await discardBranch(task, base.sha);
}
