/**
 * The ends of a pull request: merged, closed, and its branch cleared away.
 */
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import { currentAttempt } from '../kernel/attempt.ts';
import { failure } from '../kernel/failure.ts';
import type { PullRequest } from '../forge/forge.ts';
import type { MergeOutcome, QuotaResizeActivities } from './interface.ts';
import {
  branchOf,
  ensureComment,
  findPullRequest,
  type ForgeActivityDependencies,
  headIsOurs,
  isOwnBranch,
  pullRequestRef,
  type Write,
  writesOf,
} from './own-work.ts';
import { decidedFacts } from './pull-request.ts';
import { mergeOf } from './pull-request-state.ts';

export function createPullRequestEndActivities(
  dependencies: ForgeActivityDependencies,
): Pick<QuotaResizeActivities, 'ensureMerged' | 'ensureComment' | 'ensurePullRequestClosed' | 'ensureBranchDeleted'> {
  const { forge, config } = dependencies;

  async function mergedOutcome(
    target: QuotaTarget,
    decision: Decision,
    pull: PullRequest,
    write: Write,
  ): Promise<MergeOutcome | null> {
    const merge = await mergeOf(forge, target, decision, pull);
    if (merge === null) return null;
    await deleteBranchOf(decision, pull, write);
    return { kind: 'merged', ...merge };
  }

  /** Deletes the branch of a closed pull request if nothing on it is lost: it was merged as it is, or holds only our commit. */
  async function deleteBranchOf(decision: Decision, pull: PullRequest, write: Write): Promise<void> {
    const head = await forge.branches.head(pull.headRef);
    if (head === null || head !== pull.headSha) return;
    if (pull.mergedAt === null && !(await headIsOurs(forge, pull, decision))) return;
    await write('delete branch', { branch: pull.headRef, sha: head }, () => forge.branches.delete(pull.headRef));
  }

  /** Deletes what an attempt left that never came to a pull request. */
  async function deleteOrphan(target: QuotaTarget, decision: Decision, write: Write): Promise<void> {
    const base = await forge.files.base(0, decision.source?.base);
    if (base.kind === 'missing') return;
    const branch = branchOf(dependencies, target, decision);
    const comparison = await forge.branches.compare(base.sha, branch);
    if (comparison === null || !isOwnBranch(comparison.ahead, decision)) return;
    await write('delete branch', { branch }, () => forge.branches.delete(branch));
  }

  function mergeQueueMessage(number: number, base: string): string {
    return `${forge.repository} merges into ${base} through a merge queue, which Headroom does not enter; add pull request #${number} to the queue`;
  }

  return {
    async ensureMerged({ target, decision }): Promise<MergeOutcome> {
      const { number, headSha, base } = pullRequestRef(forge, decision);
      const write = writesOf(dependencies, target, decision, 'merge');
      // A token with the right to bypass rules would merge past the queue: it is not even tried.
      if ((await forge.branches.rules(base)).mergeQueue) {
        return { kind: 'blocked', reason: 'MergeQueue', message: mergeQueueMessage(number, base) };
      }
      if (currentAttempt() > 1) {
        const merged = await mergedOutcome(target, decision, await forge.pullRequests.get(number), write);
        if (merged !== null) return merged;
      }
      const facts = decidedFacts(forge.repository, target, decision);
      const { title, message } = config.texts.merge(facts, number);
      const answer = await write('merge', { number, headSha }, () =>
        forge.pullRequests.merge({ number, headSha, title, message }),
      );

      const pull = await forge.pullRequests.get(number);
      const merged = await mergedOutcome(target, decision, pull, write);
      if (merged !== null) return merged;
      switch (answer.kind) {
        case 'merged':
          throw failure({
            type: 'ForgeUnavailable',
            message: `pull request #${number} of ${forge.repository} was merged as ${answer.sha} and is not shown as merged yet`,
          });
        case 'moved':
          return { kind: 'moved' };
        case 'rejected': {
          if (answer.needsMergeQueue) {
            return {
              kind: 'blocked',
              reason: 'MergeQueue',
              message: `${mergeQueueMessage(number, pull.baseRef)} (${answer.message})`,
            };
          }
          const asLookedAt =
            pull.state === 'open' &&
            pull.headSha === headSha &&
            (pull.mergeability === 'clean' || pull.mergeability === 'unstable');
          if (!asLookedAt) return { kind: 'moved' };
          return {
            kind: 'blocked',
            reason: 'NotMergeable',
            message: `pull request #${number} of ${forge.repository} cannot be merged although it is ${pull.mergeability}: ${answer.message}; merge it by hand, or allow squash merges for the repository`,
          };
        }
        default:
          return answer satisfies never;
      }
    },

    async ensureComment({ target, decision, about, text }): Promise<void> {
      const { number } = pullRequestRef(forge, decision);
      await ensureComment(forge, writesOf(dependencies, target, decision), decision, { number, about, text });
    },

    async ensurePullRequestClosed({ target, decision, comment }): Promise<void> {
      const write = writesOf(dependencies, target, decision);
      const number = await findPullRequest(dependencies, target, decision);
      if (number === null) return deleteOrphan(target, decision, write);
      const pull = await forge.pullRequests.get(number);
      if (pull.state === 'open') {
        await ensureComment(forge, write, decision, { number, about: comment, text: comment });
        await write('close pull request', { number }, () => forge.pullRequests.edit(number, { state: 'closed' }));
      }
      return deleteBranchOf(decision, pull, write);
    },

    async ensureBranchDeleted({ target, decision }): Promise<void> {
      const write = writesOf(dependencies, target, decision);
      const number = await findPullRequest(dependencies, target, decision);
      if (number === null) return deleteOrphan(target, decision, write);
      const pull = await forge.pullRequests.get(number);
      // Deleting the branch of an open pull request would close it.
      if (pull.state === 'closed') await deleteBranchOf(decision, pull, write);
      return undefined;
    },
  };
}
