/**
 * Opens the pull request of a decision and keeps it up to date. Even if responses are lost, there is one branch, one
 * commit and one pull request.
 */
import { decidedLimits, type PullRequestRef } from '../../../domain/quota-resize/model/decision.ts';
import { currentAttempt } from '../../kernel/attempt.ts';
import { failure } from '../../kernel/failure.ts';
import type { Forge, PullRequest } from '../../forge/forge.ts';
import type { Repositories } from '../../forge/repositories.ts';
import {
  changeFacts,
  decidedFacts,
  discardBranch,
  ensureCommit,
  isUpToDate,
  type PullRequestTask,
  rebuild,
} from './decision-branch.ts';
import { type DecisionEdit, editDecision } from '../source/edit.ts';
import type { PullRequestOutcome, QuotaResizeActivities } from '../interface.ts';
import {
  ensureComment,
  findPullRequest,
  headIsOurs,
  type PullRequestDependencies,
  recordOf,
  repositoryOf,
  writesOf,
} from './own-work.ts';
import { recordedQuotaFile } from '../source/quota-file.ts';
import { requestReviews } from './reviewers.ts';

/**
 * An older decision may have been processed by an earlier run, so its pull request is looked for before anything is
 * written. A younger one is recognized by its branch alone, which saves a request.
 */
const SURELY_NEW_MS = 30_000;
/** How old the cached base may be for a new branch: `observeSource` read it a moment ago. */
const BASE_MAX_AGE_MS = 10_000;

type EnsureInput = Parameters<QuotaResizeActivities['ensurePullRequest']>[0];

interface Task extends PullRequestTask, Pick<EnsureInput, 'policy' | 'candidatesByQuota'> {
  readonly repositories: Repositories;
}

export function createPullRequestActivities(
  dependencies: PullRequestDependencies,
): Pick<QuotaResizeActivities, 'ensurePullRequest' | 'ensurePullRequestRebuilt'> {
  return {
    ensurePullRequest: async (input) => await ensurePullRequest(taskOf(dependencies, input)),
    ensurePullRequestRebuilt: async ({ why, ...input }) =>
      await ensurePullRequestRebuilt(taskOf(dependencies, input), why),
  };
}

function taskOf(all: PullRequestDependencies, input: EnsureInput): Task {
  return inRepository({ ...all, ...input }, repositoryOf(all.repositories, input.decision));
}

/** The task in the quota's repository, which decisions of earlier versions do not name. */
function inRepository(task: Omit<Task, 'forge' | 'write'>, forge: Forge): Task {
  const dependencies = { ...task, forge };
  return { ...dependencies, write: writesOf(dependencies, task.target, task.decision, 'propose') };
}

async function ensurePullRequest(task: Task): Promise<PullRequestOutcome> {
  const { target, decision, forge } = task;
  const mayExist =
    currentAttempt() > 1 || decision.pullRequest !== null || Date.now() - decision.decidedAt > SURELY_NEW_MS;
  if (mayExist) {
    const number = await findPullRequest(task, target, decision);
    if (number !== null) return foundOutcome(task, number);
  }

  const edit = await editDecision(task.repositories, task, { maxBaseAgeMs: BASE_MAX_AGE_MS, isFirstUse: true });
  if (edit.kind === 'blocked') {
    // An earlier attempt may have created the branch when the file could still be edited.
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
  return open(inRepository(task, edit.tree.forge), edit);
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
      message: `${forge.service} did not open a pull request for ${branch} in ${forge.repository}: ${why}`,
      nonRetryable: opened.kind !== 'exists',
    });
  }
  const { pull } = opened;
  await addMetadata(task, pull, 'new');
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

async function ensurePullRequestRebuilt(task: Task, why: string): Promise<PullRequestOutcome> {
  const { target, decision, forge } = task;
  const number = await findPullRequest(task, target, decision);
  if (number === null) return ensurePullRequest(task);
  const pull = await forge.pullRequests.get(number);
  const recorded = await recordOf(forge, pull, decision, (paths) => ownPath(task, paths));
  if (pull.state !== 'open') return { kind: 'completed', pullRequest: recorded };
  if (!(await headIsOurs(forge, pull, decision))) return { kind: 'open', pullRequest: recorded };

  const edit = await editDecision(task.repositories, task);
  if (edit.kind === 'blocked') return edit;
  const { base } = edit.tree;
  if (!isIn(edit, forge.repository, pull.baseRef)) {
    return movedElsewhere(edit, `${forge.repository} at ${pull.baseRef}, to which pull request #${number} belongs`);
  }
  if (edit.files.length === 0) return { kind: 'alreadyInGit', sha: base.sha, limits: edit.limits };
  const commit = (await isUpToDate(task, pull, edit))
    ? { sha: pull.headSha, at: (await forge.branches.commit(pull.headSha)).committedAt }
    : await rebuild(task, edit, pull.headRef, pull.headSha);
  if (commit === 'foreign') return { kind: 'open', pullRequest: recorded };

  const { title, body } = textOf(task, edit);
  // The forge stores the description with the line ends of its last editor.
  if (pull.title !== title || pull.body.replaceAll('\r\n', '\n') !== body) {
    await task.write('edit pull request', { number, head: commit.sha }, () =>
      forge.pullRequests.edit(number, { title, body }),
    );
  }
  const text = `Rebuilt on ${base.name} at ${base.sha.slice(0, 7)}: ${why}`;
  await ensureComment(forge, task.write, decision, { number, about: `${commit.sha} ${why}`, text });
  return {
    kind: 'open',
    pullRequest: { ...recorded, path: edit.path, headSha: commit.sha, pushedAt: commit.at },
    ...leftOutOf(edit),
  };
}

/** The outcome for a pull request that already exists. */
async function foundOutcome(task: Task, number: number): Promise<PullRequestOutcome> {
  const { forge, decision } = task;
  const pull = await forge.pullRequests.get(number);
  const pullRequest = await recordOf(forge, pull, decision, (paths) => ownPath(task, paths));
  if (pull.state !== 'open') return { kind: 'completed', pullRequest };
  // The attempt that opened it may have been interrupted before it added labels and reviewers.
  if (decision.pullRequest === null) await addMetadata(task, pull, 'found');
  return { kind: 'open', pullRequest };
}

/** The file of the decision's own quota among a pull request's files. */
async function ownPath(
  { repositories, target, decision, candidatesByQuota }: Task,
  paths: readonly string[],
): Promise<string> {
  const { candidates = [], current } = candidatesByQuota.find(({ quota }) => quota === target.quota) ?? {};
  const { source } = decision;
  const recorded = source?.placement === undefined ? null : { ...source, placement: source.placement };
  const found = await recordedQuotaFile(repositories, target, decidedLimits(decision), {
    recorded,
    candidates,
    current,
  });
  return found.kind === 'found' && paths.includes(found.changedPath) ? found.changedPath : (paths[0] ?? '');
}

/** Adds the labels and reviewers that the pull request does not have yet. */
async function addMetadata(task: Task, pull: PullRequest, age: 'new' | 'found'): Promise<void> {
  const { forge, config, target, decision, policy, write } = task;
  const { number } = pull;
  const wanted = config.texts.labels(decidedFacts(forge.repository, target, decision));
  const labels = wanted.filter((label) => !pull.labels.includes(label));
  if (labels.length > 0) await write('label', { number, labels }, () => forge.pullRequests.addLabels(number, labels));
  await requestReviews(task, pull, policy.reviewers ?? [], age);
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
