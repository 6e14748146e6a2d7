/**
 * Open pull requests of a quota that its Lease does not know: the Lease was lost or collected, or a person reopened one.
 * The quota's next decision takes one over, so that there are never two.
 */
import { targetName } from '../../../domain/kernel/target.ts';
import { decisionOfCommit, targetsOfCommit } from '../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import type { PullRequest } from '../../forge/forge.ts';
import type { PullRequestTask } from './decision-branch.ts';
import { assertTakenOut } from './dequeue.ts';
import { ensureComment, hasCommentOfOther, isAllOurs } from './own-work.ts';

/** How old the list may be, in milliseconds: it is read with the base branch. */
const LIST_MAX_AGE_MS = 10_000;
/** What the comment is about with which one is closed; the same for every decision, so that it is recognized. */
const CLOSED = 'closed because its Lease does not know it';

interface Orphan {
  readonly pull: PullRequest;
  /** Nothing but commits of Headroom: one of each decision that shared it. */
  readonly isOwn: boolean;
}

/**
 * The open pull requests of the quota that are not the decision's, the newest first. Their author is the account of this
 * worker, and the trailers of a commit name this quota on this cluster: a branch may be called anything.
 */
export async function orphansOf({ target, decision, forge, config }: PullRequestTask): Promise<readonly Orphan[]> {
  const beginning = config.texts.branchBeginning(target);
  // The branches of everybody would be too many to list.
  if (beginning === '') return [];
  const decisionBranch = config.texts.branch(target, decision.id);
  const name = `${target.cluster}/${targetName(target)}`;
  const orphans: Orphan[] = [];
  for (const { branch, number } of await forge.pullRequests.ownOpen(beginning, LIST_MAX_AGE_MS)) {
    if (branch === decisionBranch) continue;
    const pull = await forge.pullRequests.get(number);
    if (pull.state !== 'open' || pull.headRef !== branch) continue;
    const commits = await forge.pullRequests.commitsOf(number);
    // The first target is the quota of the decision; further ones are batched with it.
    if (!commits.some(({ message }) => targetsOfCommit(message)[0] === name)) continue;
    orphans.push({ pull, isOwn: await isAllOurs(forge, commits, pull) });
  }
  return orphans;
}

/** Whether a pull request is a decision's: by the number or branch that it records, or by the trailer of its commit. */
export async function isOfDecision(
  { forge, config }: Pick<PullRequestTask, 'forge' | 'config'>,
  { target, decision }: Pick<PullRequestTask, 'target' | 'decision'>,
  { number, headRef, headSha }: PullRequest,
): Promise<boolean> {
  const recorded = decision.pullRequest;
  if (recorded !== null) {
    return recorded.number === number && recorded.repository.toLowerCase() === forge.repository.toLowerCase();
  }
  if (headRef === config.texts.branch(target, decision.id)) return true;
  // One that it has taken over keeps the branch of an earlier decision.
  return decisionOfCommit((await forge.branches.commit(headSha)).message) === decision.id;
}

/** Whether a decision without a record and a branch has put its commit into an open pull request of an earlier one. */
export async function hasTakenOver(
  { forge, config }: Pick<PullRequestTask, 'forge' | 'config'>,
  of: Pick<PullRequestTask, 'target' | 'decision'>,
): Promise<boolean> {
  const beginning = config.texts.branchBeginning(of.target);
  if (beginning === '') return false;
  for (const { number } of await forge.pullRequests.ownOpen(beginning, LIST_MAX_AGE_MS)) {
    const pull = await forge.pullRequests.get(number);
    if (pull.state === 'open' && (await isOfDecision({ forge, config }, of, pull))) return true;
  }
  return false;
}

/** Whether it was closed with a word before, by another decision, and is open because people reopened it. */
export async function wasClosedBefore(
  forge: PullRequestTask['forge'],
  decision: PullRequestTask['decision'],
  number: number,
): Promise<boolean> {
  return await hasCommentOfOther(forge, decision, { number, about: CLOSED });
}

/**
 * Closes orphans with a comment, and deletes their branches.
 *
 * @param orphans with nothing but Headroom's commit.
 * @returns one that was closed like this before and was reopened, at which the rest is left open; null: all are closed.
 */
export async function closeOrphans(
  task: PullRequestTask,
  orphans: readonly Orphan[],
  why: string,
): Promise<PullRequest | null> {
  const { decision, forge, write } = task;
  for (const { pull } of orphans) {
    const { number, headRef, headSha } = pull;
    if (await wasClosedBefore(forge, decision, number)) return pull;
    // The comment may wait for a permit, in which GitHub would merge it.
    if (pull.autoMerge !== undefined) await assertTakenOut(task, pull);
    const text = `Closed by Headroom: ${why}. If somebody reopens it, Headroom leaves it to people.`;
    await ensureComment(forge, write, decision, { number, about: CLOSED, text });
    await write('close pull request', { number }, () => forge.pullRequests.edit(number, { state: 'closed' }));
    if ((await forge.branches.head(headRef)) !== headSha) continue;
    await write('delete branch', { branch: headRef, sha: headSha }, () => forge.branches.delete(headRef));
  }
  return null;
}
