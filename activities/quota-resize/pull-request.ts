/**
 * Opening the pull request of a decision and keeping it up to date, so that whatever call gets lost, there is one branch,
 * one commit and one pull request.
 */
import { type Decision, decidedLimits, type PullRequestRef } from '../../domain/quota-resize/model/decision.ts';
import type { ChangeFacts } from '../../domain/quota-resize/pull-request/text.ts';
import { currentAttempt } from '../kernel/attempt.ts';
import { failure } from '../kernel/failure.ts';
import { blobSha } from '../forge/git-blob.ts';
import type { FileChange, PullRequest } from '../forge/forge.ts';
import { type DecisionEdit, editDecision } from './edit.ts';
import type { PullRequestOutcome, QuotaResizeActivities } from './interface.ts';
import {
  ensureComment,
  findPullRequest,
  type ForgeActivityDependencies,
  headIsOurs,
  isOwnBranch,
  type PullRequestDependencies,
  recordOf,
  repositoryOf,
  type Write,
  writesOf,
} from './own-work.ts';
import { keptQuotaFile } from './quota-file.ts';
import { requestReviews } from './reviewers.ts';

/**
 * A decision older than this may have been worked on by an earlier run, so its pull request is looked for before
 * anything is written. A younger one is recognised by its branch alone, which saves a request.
 */
const SURELY_NEW_MS = 30_000;
/** How old the knowledge of the base may be for a new branch: `observeSource` looked a moment ago. */
const BASE_MAX_AGE_MS = 10_000;

type EnsureInput = Parameters<QuotaResizeActivities['ensurePullRequest']>[0];

/** One run of an activity, in the repository that it is about. */
interface Task extends EnsureInput, ForgeActivityDependencies {
  readonly write: Write;
}

interface OwnCommit {
  readonly sha: string;
  readonly at: number;
}

export function createPullRequestActivities(
  all: PullRequestDependencies,
): Pick<QuotaResizeActivities, 'ensurePullRequest' | 'ensurePullRequestRebuilt'> {
  const { repositories } = all;

  function taskOf(input: EnsureInput): Task {
    const dependencies = { ...all, forge: repositoryOf(repositories, input.decision) };
    return { ...input, ...dependencies, write: writesOf(dependencies, input.target, input.decision, 'propose') };
  }

  /** The outcome of a pull request that was there already. */
  async function foundOutcome(task: Task, number: number): Promise<PullRequestOutcome> {
    const { forge, decision } = task;
    const pull = await forge.pullRequests.get(number);
    const pullRequest = await recordOf(forge, pull, decision, (paths) => ownPath(task, paths));
    if (pull.state !== 'open') return { kind: 'settled', pullRequest };
    // Whoever opened it may not have come to the rest.
    if (decision.pullRequest === null) await dress(task, pull, 'found');
    return { kind: 'open', pullRequest };
  }

  /** Of the files of a pull request, the one of the decision's own quota. */
  async function ownPath({ target, decision, places }: Task, paths: readonly string[]): Promise<string> {
    const { hints = [], current } = places.find(({ quota }) => quota === target.quota) ?? {};
    const { source } = decision;
    const kept = source?.placement === undefined ? null : { ...source, placement: source.placement };
    const found = await keptQuotaFile(repositories, target, decidedLimits(decision), kept, { hints, current });
    return found.kind === 'found' && paths.includes(found.changedPath) ? found.changedPath : (paths[0] ?? '');
  }

  async function ensurePullRequest(input: EnsureInput): Promise<PullRequestOutcome> {
    const task = taskOf(input);
    const { target, decision, forge } = task;
    const mayExist =
      currentAttempt() > 1 || decision.pullRequest !== null || Date.now() - decision.decidedAt > SURELY_NEW_MS;
    if (mayExist) {
      const number = await findPullRequest(task, target, decision);
      if (number !== null) return foundOutcome(task, number);
    }

    const edit = await editDecision(repositories, input, BASE_MAX_AGE_MS);
    if (edit.kind === 'blocked') {
      // An earlier attempt, when the file could still be edited, may have left its branch.
      const base = mayExist ? await forge.files.base(BASE_MAX_AGE_MS, decision.source?.base) : null;
      if (base?.kind === 'branch') await discardBranch(task, base.sha);
      return edit;
    }
    const { base } = edit.tree;
    const { source } = decision;
    if (source && !isIn(edit, source.repository, source.base)) {
      return movedElsewhere(edit, `${source.repository} at ${source.base}, where it was when this was decided`);
    }
    if (edit.files.length === 0) {
      if (mayExist) await discardBranch(task, base.sha);
      return { kind: 'alreadyInGit', sha: base.sha, limits: edit.limits };
    }
    return open(inRepository(task, edit), edit);
  }

  /** The task where the quota is: a decision of an earlier version does not know it before. */
  function inRepository(task: Task, { tree: { forge } }: DecisionEdit): Task {
    return { ...task, forge, write: writesOf({ ...all, forge }, task.target, task.decision, 'propose') };
  }

  async function open(task: Task, edit: DecisionEdit): Promise<PullRequestOutcome> {
    const { target, decision, forge, config } = task;
    const { base } = edit.tree;
    const branch = config.texts.branch(target, decision.id);
    const commit = await ensureCommit(task, edit, branch);
    if (commit === 'foreign') {
      return {
        kind: 'blocked',
        reason: 'ForeignCommit',
        message: `branch ${branch} of ${forge.repository} has commits that Headroom did not make and no pull request; open one for it or delete the branch`,
      };
    }
    if ('found' in commit) return foundOutcome(task, commit.found);

    const { title, body } = textOf(task, edit);
    const opened = await task.write('open pull request', { branch, base: base.name }, () =>
      forge.pullRequests.open({ branch, base: base.name, title, body }),
    );
    if (opened.kind !== 'opened') {
      const number = await forge.pullRequests.ofBranch(branch);
      if (number !== null) return foundOutcome(task, number);
      const why = opened.kind === 'exists' ? 'it says that one exists already, and shows none' : opened.message;
      throw failure({
        type: opened.kind === 'exists' ? 'ForgeUnavailable' : 'ForgeRejected',
        message: `GitHub did not open a pull request for ${branch} in ${forge.repository}: ${why}`,
        nonRetryable: opened.kind !== 'exists',
      });
    }
    const { pull } = opened;
    await dress(task, pull, 'new');
    const pullRequest: PullRequestRef = {
      number: pull.number,
      url: pull.url,
      repository: forge.repository,
      branch,
      base: base.name,
      path: edit.path,
      headSha: commit.sha,
      openedAt: pull.createdAt,
      pushedAt: commit.at,
    };
    return { kind: 'open', pullRequest, ...leftOutOf(edit) };
  }

  return {
    ensurePullRequest,

    async ensurePullRequestRebuilt({ why, ...input }): Promise<PullRequestOutcome> {
      const task = taskOf(input);
      const { target, decision, forge } = task;
      const number = await findPullRequest(task, target, decision);
      if (number === null) return ensurePullRequest(input);
      const pull = await forge.pullRequests.get(number);
      const known = await recordOf(forge, pull, decision, (paths) => ownPath(task, paths));
      if (pull.state !== 'open') return { kind: 'settled', pullRequest: known };
      if (!(await headIsOurs(forge, pull, decision))) return { kind: 'open', pullRequest: known };

      const edit = await editDecision(repositories, input);
      if (edit.kind === 'blocked') return edit;
      const { base } = edit.tree;
      if (!isIn(edit, forge.repository, pull.baseRef)) {
        return movedElsewhere(edit, `${forge.repository} at ${pull.baseRef}, to which pull request #${number} belongs`);
      }
      if (edit.files.length === 0) return { kind: 'alreadyInGit', sha: base.sha, limits: edit.limits };
      const commit = (await isUpToDate(task, pull, edit))
        ? { sha: pull.headSha, at: (await forge.branches.commit(pull.headSha)).committedAt }
        : await rebuild(task, edit, pull.headRef, pull.headSha);
      if (commit === 'foreign') return { kind: 'open', pullRequest: known };

      const { title, body } = textOf(task, edit);
      // GitHub keeps the description with the line ends of whoever wrote it last.
      if (pull.title !== title || pull.body.replaceAll('\r\n', '\n') !== body) {
        await task.write('edit pull request', { number, head: commit.sha }, () =>
          forge.pullRequests.edit(number, { title, body }),
        );
      }
      const text = `Rebuilt on ${base.name} at ${base.sha.slice(0, 7)}: ${why}`;
      await ensureComment(forge, task.write, decision, { number, about: `${commit.sha} ${why}`, text });
      return {
        kind: 'open',
        pullRequest: { ...known, path: edit.path, headSha: commit.sha, pushedAt: commit.at },
        ...leftOutOf(edit),
      };
    },
  };
}

/** Deletes the branch of an attempt whose pull request will not be opened after all. */
async function discardBranch({ target, decision, forge, config, write }: Task, base: string): Promise<void> {
  const branch = config.texts.branch(target, decision.id);
  const comparison = await forge.branches.compare(base, branch);
  if (comparison === null || !isOwnBranch(comparison.ahead, decision)) return;
  await write('delete branch', { branch }, () => forge.branches.delete(branch));
}

/** The commit of the decision on its branch, made or found, or what stands in its way. */
async function ensureCommit(
  task: Task,
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
  // Someone was here before: an earlier attempt whose answer was lost, or one that still runs.
  const state = await forge.branches.compare(base.sha, branch);
  if (state === null) throw notThereYet(branch, forge.repository, 'it is gone');
  if (!isOwnBranch(state.ahead, decision)) return 'foreign';
  const [own] = state.ahead;
  if (own === undefined) {
    // Only the branch was made, from this base or an older one.
    if (state.behind > 0) {
      await write('move branch', { branch, sha: base.sha }, () => forge.branches.move(branch, base.sha, false));
    }
    const committed = await commit();
    if (committed.kind === 'committed') return committed;
    throw notThereYet(branch, forge.repository, committed.message);
  }
  if (await holdsJust(task, own.sha, edit.files)) return { sha: own.sha, at: own.committedAt };
  // The base has moved since that commit, or the decision has grown: the same branch, rebuilt.
  return rebuild(task, edit, branch, own.sha);
}

/** One commit on top of the base in place of our commit `expected`. */
async function rebuild(
  task: Task,
  edit: DecisionEdit,
  branch: string,
  expected: string,
): Promise<OwnCommit | 'foreign'> {
  const { forge, config, write } = task;
  const { base } = edit.tree;
  const message = config.texts.commit(changeFacts(task, edit));
  const path = edit.files.map((file) => file.path).join(' ');
  const commit = await write('commit onto base', { path, base: base.sha }, () =>
    forge.branches.commitOnto({ parent: base.sha, parentTree: base.treeSha, files: edit.files, message }),
  );
  // GitHub has no "only if the branch still is": the look right before the write keeps the gap to one round trip.
  const head = await forge.branches.head(branch);
  if (head === null) throw notThereYet(branch, forge.repository, 'it is gone');
  if (head !== expected) return 'foreign';
  const moved = await write('move branch', { branch, from: expected, sha: commit.sha }, () =>
    forge.branches.move(branch, commit.sha, true),
  );
  if (moved === 'moved') return commit;
  throw failure({
    type: 'ForgeUnavailable',
    message: `GitHub did not move ${branch} of ${forge.repository}: ${moved.rejected}`,
  });
}

/** Whether a commit of ours changes exactly these files, to exactly these texts. */
async function holdsJust({ forge }: Task, sha: string, files: readonly FileChange[]): Promise<boolean> {
  const changed = (await forge.branches.commit(sha)).files;
  if (changed.length !== files.length || !files.every(({ path }) => changed.includes(path))) return false;
  for (const { path, text } of files) {
    if ((await forge.files.fileAt(path, sha))?.sha !== blobSha(text)) return false;
  }
  return true;
}

async function isUpToDate(task: Task, pull: PullRequest, edit: DecisionEdit): Promise<boolean> {
  const { parents } = await task.forge.branches.commit(pull.headSha);
  if (parents.length !== 1 || parents[0] !== edit.tree.base.sha) return false;
  return holdsJust(task, pull.headSha, edit.files);
}

/** Labels and reviewers, as far as the pull request has them not yet. */
async function dress(task: Task, pull: PullRequest, age: 'new' | 'found'): Promise<void> {
  const { forge, config, target, decision, policy, write } = task;
  const { number } = pull;
  const wanted = config.texts.labels(decidedFacts(forge.repository, target, decision));
  const labels = wanted.filter((label) => !pull.labels.includes(label));
  if (labels.length > 0) await write('label', { number, labels }, () => forge.pullRequests.addLabels(number, labels));
  await requestReviews(task, pull, policy.reviewers ?? [], age);
}

/** What the decision asks for, whatever Git holds by now. */
export function decidedFacts(repository: string, target: EnsureInput['target'], decision: Decision): ChangeFacts {
  const own = { quota: target.quota, changes: decision.changes };
  return { target, decisionId: decision.id, repository, quotas: [own, ...(decision.companions ?? [])] };
}

function changeFacts({ target, decision, forge }: Task, { quotas }: DecisionEdit): ChangeFacts {
  return { target, decisionId: decision.id, repository: forge.repository, quotas };
}

function textOf(task: Task, edit: DecisionEdit): { readonly title: string; readonly body: string } {
  const { target, decision, policy, forge, config } = task;
  return {
    title: config.texts.title(changeFacts(task, edit)),
    body: config.texts.body({
      target,
      decision,
      policy,
      repository: forge.repository,
      base: edit.tree.base.name,
      paths: edit.files.map(({ path }) => path),
      quotas: edit.quotas,
      leftOut: edit.leftOut,
      temporalUi: config.temporalUi,
    }),
  };
}

function leftOutOf({ leftOut }: DecisionEdit): { readonly leftOut?: readonly string[] } {
  return leftOut.length === 0 ? {} : { leftOut: leftOut.map(({ quota }) => quota) };
}

function isIn({ tree }: DecisionEdit, repository: string, base: string): boolean {
  return tree.forge.repository.toLowerCase() === repository.toLowerCase() && tree.base.name === base;
}

function movedElsewhere({ tree, path }: DecisionEdit, from: string): PullRequestOutcome {
  return {
    kind: 'blocked',
    reason: 'Unplaceable',
    message: `the quota is in ${tree.name} (${path}) now and no longer in ${from}; close the pull request if there is one, and it is decided again`,
  };
}

function notThereYet(branch: string, repository: string, why: string): Error {
  return failure({
    type: 'ForgeUnavailable',
    message: `branch ${branch} of ${repository} changed while it was being written (${why}); it is looked at again`,
  });
}
