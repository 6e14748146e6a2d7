/** The branch of a decision: created with one commit on top of the base, found again, rebuilt, or deleted. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import { type ChangeFacts, decisionOfCommit } from '../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import type { Commit, FileChange, PullRequest } from '../../forge/forge.ts';
import { treeWith } from '../../forge/tree-sha.ts';
import { failure } from '../../kernel/failure.ts';
import type { LockOwner } from '../lease/file-lock.ts';
import type { DecisionEdit } from '../source/edit.ts';
import { branchOf, type ForgeActivityDependencies, headIsOurs, isOwnBranch, type Write } from './own-work.ts';
import type { SharedEdit } from './shared-edit.ts';

/** One run of an activity on a decision's pull request, in its repository. */
export interface PullRequestTask extends ForgeActivityDependencies {
  readonly target: QuotaTarget;
  readonly decision: Decision;
  readonly write: Write;
}

export interface OwnCommit {
  readonly sha: string;
  readonly at: number;
}

/** The decision's commit on its branch, created or found, or the reason why it cannot be created. */
export async function ensureCommit(
  task: PullRequestTask,
  edit: DecisionEdit,
  branch: string,
): Promise<OwnCommit | 'foreign' | { readonly found: number }> {
  const { decision, forge, config, write } = task;
  const { base } = edit.tree;
  const message = config.texts.commit(changeFacts(task, edit));
  const paths = edit.files.map(({ path }) => path);
  const commit = () =>
    write(paths.length === 1 ? 'commit file' : 'commit files', { branch, path: paths.join(' '), base: base.sha }, () =>
      forge.branches.commitFiles({ branch, parent: base, files: edit.files, message }),
    );

  const created = await write('create branch', { branch, base: base.sha }, () =>
    forge.branches.create(branch, base.sha),
  );
  if (created === 'created') {
    const committed = await commit();
    if (committed.kind === 'committed') return committed;
  } else {
    const found = await forge.pullRequests.ofBranch(branch);
    if (found !== null) return { found };
  }
  // The branch exists: from an earlier attempt whose response was lost, or one that is still running.
  const state = await forge.branches.compare(base.sha, branch);
  if (state === null) throw notThereYet(branch, forge.repository, 'it is gone');
  if (!isOwnBranch(state.ahead, decision)) return 'foreign';
  const [own] = state.ahead;
  if (own === undefined) {
    // Only the branch was created, from this base or an older one.
    if (state.behind > 0) {
      await write('move branch', { branch, sha: base.sha }, () => forge.branches.move(branch, base.sha, false));
    }
    const committed = await commit();
    if (committed.kind === 'committed') return committed;
    throw notThereYet(branch, forge.repository, committed.message);
  }
  if (await holdsJust(task, await forge.branches.commit(own.sha), edit.files))
    return { sha: own.sha, at: own.committedAt };
  // The base has moved since that commit, or the decision has grown: rebuild the branch.
  return rebuild(task, edit, branch, own.sha);
}

/** Replaces our commits, the last of which is `expected`, by new ones on top of the base: one for each decision. */
export async function rebuild(
  task: PullRequestTask,
  edit: SharedEdit,
  branch: string,
  expected: string,
): Promise<OwnCommit | 'foreign'> {
  const { forge, config, write } = task;
  const { sha, treeSha } = edit.tree.base;
  let commit = { sha, treeSha, at: 0 };
  for (const { files, ...facts } of commitsOf(task, edit)) {
    const parent = commit;
    const message = config.texts.commit(facts);
    const path = files.map((file) => file.path).join(' ');
    const what = parent.sha === sha ? 'commit onto base' : 'commit onto commit';
    commit = await write(what, { path, base: parent.sha }, () =>
      forge.branches.commitOnto({ parent: parent.sha, parentTree: parent.treeSha, files, message }),
    );
  }
  // The forge has no conditional branch update: checking right before the write limits the race to one round trip.
  const head = await forge.branches.head(branch);
  if (head === null) throw notThereYet(branch, forge.repository, 'it is gone');
  if (head !== expected) return 'foreign';
  const moved = await write('move branch', { branch, from: expected, sha: commit.sha }, () =>
    forge.branches.move(branch, commit.sha, true),
  );
  if (moved === 'moved') return commit;
  throw failure({
    type: 'ForgeUnavailable',
    message: `${forge.service} did not move ${branch} of ${forge.repository}: ${moved.rejected}`,
  });
}

/** Whether a commit changes its only parent in exactly these files, to exactly these texts. */
export async function holdsJust(
  { forge }: Pick<PullRequestTask, 'forge'>,
  { treeSha, parents }: Commit,
  files: readonly FileChange[],
): Promise<boolean> {
  const [parent] = parents;
  if (parents.length !== 1 || parent === undefined) return false;
  const before = await forge.branches.commit(parent);
  return treeWith(await forge.files.entriesBelow(before.treeSha, ''), files).sha === treeSha;
}

/** Whether the commits of a branch are those that a rebuild would make. */
export async function isUpToDate(task: PullRequestTask, pull: PullRequest, edit: SharedEdit): Promise<boolean> {
  const commits = commitsOf(task, edit);
  if (pull.commits !== commits.length) return false;
  let sha = pull.headSha;
  for (const { files, decisionId } of commits.toReversed()) {
    const commit = await task.forge.branches.commit(sha);
    const [parent] = commit.parents;
    if (commit.parents.length !== 1 || parent === undefined) return false;
    if (commits.length > 1 && decisionOfCommit(commit.message) !== decisionId) return false;
    if (!(await holdsJust(task, commit, files))) return false;
    sha = parent;
  }
  return sha === edit.tree.base.sha;
}

/** The commits of an edit, each with what its message is made of. */
function commitsOf(
  task: PullRequestTask,
  edit: SharedEdit,
): readonly (ChangeFacts & { readonly files: readonly FileChange[] })[] {
  const { repository } = task.forge;
  return [
    { ...changeFacts(task, edit), files: edit.files },
    ...(edit.joined ?? []).map(({ target, decision, quotas, files }) => ({
      target,
      decisionId: decision.id,
      repository,
      quotas,
      files,
    })),
  ];
}

/** Deletes the branch of an attempt whose pull request will not be opened. */
export async function discardBranch(
  { target, decision, forge, config, write }: PullRequestTask,
  base: string,
): Promise<void> {
  const branch = branchOf({ config }, target, decision);
  const comparison = await forge.branches.compare(base, branch);
  if (comparison === null || !isOwnBranch(comparison.ahead, decision)) return;
  await write('delete branch', { branch }, () => forge.branches.delete(branch));
}

/** The changes of the decision, whatever Git contains by now. */
export function decidedFacts(repository: string, target: QuotaTarget, decision: Decision): ChangeFacts {
  const own = { quota: target.quota, changes: decision.changes };
  return { target, decisionId: decision.id, repository, quotas: [own, ...(decision.batchedQuotas ?? [])] };
}

export function changeFacts({ target, decision, forge }: PullRequestTask, { quotas }: DecisionEdit): ChangeFacts {
  return { target, decisionId: decision.id, repository: forge.repository, quotas };
}

/** The changes of a pull request that several decisions share; the quotas of others with their namespaces. */
export function sharedFacts(
  facts: ChangeFacts,
  joined: readonly (LockOwner & { readonly quotas?: ChangeFacts['quotas'] })[] = [],
): ChangeFacts {
  const others = joined.flatMap(({ target, decision, quotas }) => {
    const { namespace, quota } = target;
    const all = quotas ?? [{ quota, changes: decision.changes }];
    return all.map((one) => ({ ...one, namespace }));
  });
  return { ...facts, quotas: [...facts.quotas, ...others] };
}

/** The failure of an attempt that somebody else's write came before. */
export function notThereYet(branch: string, repository: string, why: string): Error {
  return failure({
    type: 'ForgeUnavailable',
    message: `branch ${branch} of ${repository} changed while it was being written (${why}); Headroom checks it again`,
  });
}

/** Deletes the branch of a closed pull request if nothing is lost: it was merged unchanged, or has only our commit. */
export async function deleteBranchOf(
  { forge, decision, write }: PullRequestTask,
  pull: PullRequest,
  branchHead: () => Promise<string | null> = async () => await forge.branches.head(pull.headRef),
): Promise<void> {
  const head = await branchHead();
  if (head === null || head !== pull.headSha) return;
  if (pull.mergedAt === null && !(await headIsOurs(forge, pull, decision))) return;
  await write('delete branch', { branch: pull.headRef, sha: head }, () => forge.branches.delete(pull.headRef));
}
