/** Whether the commits of a pull request are what was decided, and nothing else: asked right before they are merged. */
import { targetName } from '../../../domain/kernel/target.ts';
import { BUILT_IN_GUARDRAIL } from '../../../domain/quota-resize/policy/guardrail.ts';
import type { Commit, PullRequest } from '../../forge/forge.ts';
import type { LockOwner } from '../lease/file-lock.ts';
import type { DeliveredRepositories } from '../source/deliveries.ts';
import { type DecisionEdit, editDecision } from '../source/edit.ts';
import { GitTrees } from '../source/git-tree.ts';
import { holdsJust, type PullRequestTask } from './decision-branch.ts';
import { joinedCommit, placedBy } from './joined.ts';
import { isCommitOf } from './own-work.ts';
import type { JoinedCommit } from './shared-edit.ts';

type Task = Pick<PullRequestTask, 'forge' | 'target' | 'decision'> & {
  /** The decisions that joined, in the order of their commits. */
  readonly joined: readonly LockOwner[];
  readonly repositories: DeliveredRepositories;
};

const NOT_DECIDED = 'it changes something else than was decided';

/**
 * Makes the changes of the decision, and of those that joined it, as the gate has checked them, anew on the parent of the first commit and compares the
 * files. Neither a branch's name nor a commit's author and words say what is in it, and whoever writes to the Lease could
 * say less than the commit does.
 *
 * @returns why they are not, a clause for people; null when they are.
 */
export async function otherThanDecided(task: Task, pull: PullRequest): Promise<string | null> {
  const { forge, target, decision } = task;
  const { source } = decision;
  const chain = await commitChain(task, pull);
  if (typeof chain === 'string') return chain;
  const [own, ...others] = chain.commits;
  if (own === undefined || source?.placement === undefined) return 'the decision does not say where its values are';
  const { treeSha } = await forge.branches.commit(chain.parent);
  const trees = new GitTrees();
  const edit = await editDecision(
    task.repositories,
    // The gate holds the decision's place to its guardrail.
    { target, decision, policy: { guardrail: BUILT_IN_GUARDRAIL }, candidatesByQuota: placedBy(target, decision) },
    { at: { kind: 'branch', name: source.base, sha: chain.parent, treeSha }, trees },
  );
  if (edit.kind === 'blocked') return edit.message;
  if (!(await holdsJust(task, own, edit.files))) return NOT_DECIDED;
  return await otherThanJoined(task, { edit, trees }, others);
}

async function otherThanJoined(
  task: Task,
  { edit, trees }: { readonly edit: DecisionEdit; readonly trees: GitTrees },
  commits: readonly Commit[],
): Promise<string | null> {
  const before: JoinedCommit[] = [];
  for (const [index, joined] of task.joined.entries()) {
    const commit = commits[index];
    if (commit === undefined) return 'a commit of a decision that joined it is gone';
    const decided = await joinedCommit(task.repositories, joined, { edit, before, trees });
    if (decided === null || !(await holdsJust(task, commit, decided.files))) {
      return `for ${targetName(joined.target)}, ${NOT_DECIDED}`;
    }
    before.push(decided);
  }
  return null;
}

/** The commits of the pull request, the decision's own first, and the commit below them; a clause where they are others. */
async function commitChain(
  { forge, decision, joined }: Task,
  pull: PullRequest,
): Promise<{ readonly commits: readonly Commit[]; readonly parent: string } | string> {
  const ids = [decision.id, ...joined.map((one) => one.decision.id)];
  const commits: Commit[] = [];
  let sha = pull.headSha;
  for (const id of ids.toReversed()) {
    const commit = await forge.branches.commit(sha);
    if (!(await isCommitOf(forge, commit, pull, { id }))) {
      return 'it is not a commit of this decision by an account of Headroom';
    }
    const [parent] = commit.parents;
    if (commit.parents.length !== 1 || parent === undefined) return 'it is a merge';
    commits.unshift(commit);
    sha = parent;
  }
  return { commits, parent: sha };
}
