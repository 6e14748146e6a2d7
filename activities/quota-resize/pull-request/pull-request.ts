/**
 * Opens the pull request of a decision and keeps it up to date. Even if responses are lost, there is one branch, one
 * commit and one pull request.
 */
import { targetName } from '../../../domain/kernel/target.ts';
import { isBeforePullRequest } from '../../../domain/quota-resize/decide/approval-requirement.ts';
import { decidedLimits, filesOfDecision, withoutBatchedQuotas } from '../../../domain/quota-resize/model/decision.ts';
import { currentAttempt } from '../../kernel/attempt.ts';
import { endTurn } from '../../kernel/turns.ts';
import { despiteCancellation } from '../../kernel/cancellation.ts';
import type { Forge, PullRequest } from '../../forge/forge.ts';
import type { FileLockOutcome, LockOwner } from '../lease/file-lock.ts';
import { discardBranch, isUpToDate, notThereYet, rebuild } from './decision-branch.ts';
import { assertTakenOut } from './dequeue.ts';
import { addMetadata, describe, type EnsureInput, type ProposalTask as Task } from './description.ts';
import { type DecisionEdit, editDecision } from '../source/edit.ts';
import type { PullRequestOutcome, QuotaResizeActivities } from '../interface.ts';
import { filesOf, leftOutOf, open, Opening, recordOfNew } from './open.ts';
import {
  findPullRequest,
  headIsOurs,
  isCommitOf,
  type PullRequestDependencies,
  recordOf,
  repositoryOf,
  writesOf,
} from './own-work.ts';
import { closeOrphans, hasTakenOver, orphansOf } from './orphans.ts';
import { isOwnAccount } from './own-account.ts';
import { joinedOutcome, withJoined } from './joined.ts';
import { GitTrees } from '../source/git-tree.ts';
import { recordedQuotaFile } from '../source/quota-file.ts';

/**
 * An older decision may have been processed by an earlier run, so its pull request is looked for before anything is
 * written. A younger one is recognized by its branch alone, which saves a request.
 */
const SURELY_NEW_MS = 30_000;
/** How old the cached base may be for a new branch: `observeSource` read it a moment ago. */
const BASE_MAX_AGE_MS = 10_000;

export function createPullRequestActivities(
  dependencies: PullRequestDependencies,
): Pick<QuotaResizeActivities, 'ensurePullRequest' | 'ensurePullRequestRebuilt'> {
  return {
    ensurePullRequest: async (input) => {
      const outcome = await ensurePullRequest(await taskOf(dependencies, input));
      // Checks take minutes: what is to be seen of the pull request first can wait until others have theirs.
      endTurn();
      return outcome;
    },
    ensurePullRequestRebuilt: async ({ why, ...input }) =>
      await ensurePullRequestRebuilt(await taskOf(dependencies, input), why),
  };
}

async function taskOf(all: PullRequestDependencies, input: EnsureInput): Promise<Task> {
  const policy = { ...input.policy, guardrail: await all.guardrailOf(input.target) };
  return inRepository({ ...all, ...input, policy }, repositoryOf(all.repositories, input.decision));
}

/** The task in the quota's repository, which decisions of earlier versions do not name. */
function inRepository(task: Omit<Task, 'forge' | 'write'>, forge: Forge): Task {
  const dependencies = { ...task, forge };
  return { ...dependencies, write: writesOf(dependencies, task.target, task.decision, 'propose') };
}

async function ensurePullRequest(task: Task): Promise<PullRequestOutcome> {
  const { decision } = task;
  const mayExist =
    currentAttempt() > 1 || decision.pullRequest !== null || Date.now() - decision.decidedAt > SURELY_NEW_MS;
  const opening = new Opening(mayExist);
  const outcome = await findOrOpen(task, opening).catch(async (error: unknown) => {
    if (!opening.mayBeOpen) await unlockFiles(task, hasOpenPullRequest(task));
    throw error;
  });
  // A file is locked for an open pull request only, and one that is waited for has this quota in its queue.
  const keepsFiles = outcome.kind === 'open' || outcome.kind === 'completed' || isFileBusy(outcome);
  if (!keepsFiles) await unlockFiles(task);
  return outcome;
}

async function findOrOpen(task: Task, opening: Opening): Promise<PullRequestOutcome> {
  const { target, decision, forge } = task;
  if (opening.mayExist) {
    const number = await opening.find(async () => await findPullRequest(task, target, decision));
    if (number !== null) return foundOutcome(task, number);
  }

  // People may have taken their time to approve: what they approved is compared with the base as it is.
  const maxBaseAgeMs = isBeforePullRequest(decision.approvalRequirement) ? 0 : BASE_MAX_AGE_MS;
  const alongside = task.config.texts.branchBeginning(target);
  const edit = await editDecision(task.repositories, task, { maxBaseAgeMs, isFirstUse: true, alongside });
  if (edit.kind === 'blocked') {
    // An earlier attempt may have created the branch when the file could still be edited.
    const base = opening.mayExist ? await forge.files.base(BASE_MAX_AGE_MS, decision.source?.base) : null;
    if (base?.kind === 'branch') await discardBranch(task, base.sha);
    return edit;
  }
  const { base } = edit.tree;
  const { source } = decision;
  if (source && !isIn(edit, source.repository, source.base)) {
    return movedElsewhere(edit, `${source.repository} at ${source.base}, where it was when this was decided`);
  }
  const there = inRepository(task, edit.tree.forge);
  if (edit.files.length === 0) {
    if (opening.mayExist) await discardBranch(task, base.sha);
    const useless = (await orphansOf(there)).filter(({ isOwn }) => isOwn);
    await closeOrphans(there, useless, `${base.name} holds these values already`);
    return { kind: 'alreadyInGit', sha: base.sha, limits: edit.limits };
  }
  if (edit.relocation !== undefined) return { kind: 'relocated', relocation: edit.relocation };
  return openLocked(there, edit, opening);
}

/** Locks the files and opens; batched quotas are left out whose files are changed by other pull requests. */
async function openLocked(task: Task, edit: DecisionEdit, opening: Opening): Promise<PullRequestOutcome> {
  const { target, decision } = task;
  const own = edit.pathsByQuota.get(target.quota) ?? [];
  const lock = await task.fileLocks.lock(task, filesOf(task, edit), {
    hasOpenPullRequest: hasOpenPullRequest(task),
    take: ({ path }) => (own.includes(path) ? 'inQueue' : 'ifFree'),
  });
  if (lock.kind === 'locked') return openOrTakeOver(task, edit, opening);
  if (lock.kind === 'joined') return joinedOutcome(task, lock.owner, edit.path);
  const { path, message } = lock;
  if (own.includes(path)) return { kind: 'blocked', reason: 'FileBusy', message };
  const leaving = [...edit.pathsByQuota].filter(([, paths]) => paths.includes(path)).map(([quota]) => quota);
  const alone = { ...task, decision: withoutBatchedQuotas(decision, leaving) };
  const again = await editDecision(task.repositories, alone, { maxBaseAgeMs: BASE_MAX_AGE_MS, isFirstUse: true });
  if (again.kind === 'blocked') return again;
  const leftOut = [...edit.leftOut, ...leaving.map((quota) => ({ quota, why: message }))];
  return openLocked(alone, { ...again, leftOut }, opening);
}

/** Takes an open pull request of the quota over, or closes it, so that there is one. */
async function openOrTakeOver(task: Task, edit: DecisionEdit, opening: Opening): Promise<PullRequestOutcome> {
  const { forge } = task;
  const { base } = edit.tree;
  const orphans = await orphansOf(task);
  const foreign = orphans.find(({ isOwn }) => !isOwn)?.pull;
  if (foreign !== undefined) return leftToPeople(forge, foreign, 'has commits of other people');
  const taken = orphans.find(({ pull }) => pull.baseRef === base.name)?.pull;
  const enabledBy = taken?.autoMerge?.by ?? null;
  if (taken !== undefined && enabledBy !== null && !(await isOwnAccount(forge, taken, enabledBy))) {
    return leftToPeople(forge, taken, `${enabledBy} enabled auto-merge, with which GitHub would merge other values`);
  }
  const instead = taken === undefined ? 'another one' : `#${taken.number}`;
  const others = orphans.filter(({ pull }) => pull !== taken);
  const reopened = await closeOrphans(task, others, `${instead} into ${base.name} raises this quota`);
  if (reopened !== null) return leftToPeople(forge, reopened, 'was reopened after Headroom had closed it');
  if (taken === undefined) return await open(task, edit, opening, async (number) => await foundOutcome(task, number));
  return await opening.send(async () => await takeOver(task, edit, taken));
}

async function takeOver(task: Task, edit: DecisionEdit, taken: PullRequest): Promise<PullRequestOutcome> {
  const { forge, decision } = task;
  // GitHub lets nobody push to a branch that is queued, and what an earlier decision queued is not to be merged.
  await assertTakenOut(task, taken);
  await task.fileLocks.assertLocked(task, filesOf(task, edit));
  // The content may be up to date, but the commit has to be of this decision, or it is never merged.
  const head = await forge.branches.commit(taken.headSha);
  const isCurrent = (await isCommitOf(forge, head, taken, decision)) && (await isUpToDate(task, taken, edit));
  const commit = isCurrent
    ? { sha: head.sha, at: head.committedAt }
    : await rebuild(task, edit, taken.headRef, taken.headSha);
  if (commit === 'foreign') throw notThereYet(taken.headRef, forge.repository, 'its head is another commit');
  const why = 'it was open and not recorded, because its Lease was lost or somebody reopened it';
  await describe(task, { edit, pull: taken, commit }, `Taken over by decision ${decision.id}: ${why}`);
  await addMetadata(task, taken, 'found');
  return { kind: 'open', pullRequest: recordOfNew(task, taken, { edit, commit }), ...leftOutOf(edit) };
}

function leftToPeople(forge: Forge, { number }: PullRequest, why: string): PullRequestOutcome {
  return {
    kind: 'blocked',
    reason: 'ForeignCommit',
    message: `pull request #${number} of ${forge.repository} is open for this quota and ${why}; merge or close it`,
  };
}

/** Whether a decision has an open pull request in the task's repository, by its number, its branch or its commit. */
function hasOpenPullRequest({ forge, config }: Task): (owner: LockOwner) => Promise<boolean> {
  return async ({ target, decision }) => {
    const recorded = decision.pullRequest;
    if (recorded !== null && recorded.repository.toLowerCase() !== forge.repository.toLowerCase()) return false;
    const number = await findPullRequest({ forge, config }, target, decision);
    if (number === null) return await hasTakenOver({ forge, config }, { target, decision });
    return (await forge.pullRequests.get(number)).state === 'open';
  };
}

function isFileBusy(outcome: PullRequestOutcome): boolean {
  return outcome.kind === 'blocked' && outcome.reason === 'FileBusy';
}

/**
 * Also where the activity was cancelled; what stays locked is unlocked with the decision, or after a while by others.
 *
 * @param isOpen after a failure: an attempt that counted as lost may fail when the next one has opened the pull request.
 */
async function unlockFiles(task: Task, isOpen?: (owner: LockOwner) => Promise<boolean>): Promise<void> {
  try {
    await despiteCancellation(async () => {
      if (isOpen === undefined || !(await isOpen(task))) await task.fileLocks.unlock(task);
    });
  } catch (error) {
    const { target, decision, log } = task;
    log.warn(
      { target: targetName(target), decision: decision.id, error: String(error) },
      'the files of a pull request that was not opened could not be unlocked',
    );
  }
}

async function ensurePullRequestRebuilt(task: Task, why: string): Promise<PullRequestOutcome> {
  const { target, decision, forge } = task;
  const number = await findPullRequest(task, target, decision);
  if (number === null) return ensurePullRequest(task);
  const pull = await forge.pullRequests.get(number);
  const recorded = await recordOf(forge, pull, decision, (paths) => ownPath(task, paths));
  if (pull.state !== 'open') return { kind: 'completed', pullRequest: recorded };
  if (!(await headIsOurs(forge, pull, decision))) return { kind: 'open', pullRequest: recorded };
  // An attempt that counts as lost may have enabled it since this was decided.
  if (pull.autoMerge !== undefined) await assertTakenOut(task, pull);

  const trees = new GitTrees();
  const edit = await editDecision(task.repositories, task, { trees });
  if (edit.kind === 'blocked') return edit;
  const { base } = edit.tree;
  if (!isIn(edit, forge.repository, pull.baseRef)) {
    return movedElsewhere(edit, `${forge.repository} at ${pull.baseRef}, to which pull request #${number} belongs`);
  }
  if (edit.files.length === 0) return { kind: 'alreadyInGit', sha: base.sha, limits: edit.limits };
  if (edit.relocation !== undefined) return { kind: 'relocated', relocation: edit.relocation };
  const paths = edit.files.map(({ path }) => path);
  const lock = await lockForOpen(task, { changed: [recorded.path], paths });
  if (lock.kind === 'fileBusy') return { kind: 'blocked', reason: 'FileBusy', message: lock.message };
  const shared = await withJoined(task, { edit, trees }, hasOpenPullRequest(task));
  const commit = (await isUpToDate(task, pull, shared.edit))
    ? { sha: pull.headSha, at: (await forge.branches.commit(pull.headSha)).committedAt }
    : await rebuild(task, shared.edit, pull.headRef, pull.headSha);
  if (commit === 'foreign') return { kind: 'open', pullRequest: recorded };

  const comment = `Rebuilt on ${base.name} at ${base.sha.slice(0, 7)}: ${why}`;
  await describe(task, { edit: shared.edit, pull, commit }, comment);
  return {
    kind: 'open',
    pullRequest: { ...recorded, path: edit.path, headSha: commit.sha, pushedAt: commit.at },
    ...(decision.joined === undefined ? {} : { joined: shared.joined }),
    ...leftOutOf(edit),
  };
}

/** The outcome for a pull request that already exists. */
async function foundOutcome(task: Task, number: number): Promise<PullRequestOutcome> {
  const { forge, decision } = task;
  const pull = await forge.pullRequests.get(number);
  const pullRequest = await recordOf(forge, pull, decision, (paths) => ownPath(task, paths));
  if (pull.state !== 'open') return { kind: 'completed', pullRequest };
  const changed = filesOfDecision({ ...decision, pullRequest }).map(({ path }) => path);
  await lockForOpen(task, { changed, paths: [] });
  // The attempt that opened it may have been interrupted before it added labels and reviewers.
  if (decision.pullRequest === null) await addMetadata(task, pull, 'found');
  return { kind: 'open', pullRequest };
}

/**
 * Locks the files of an open pull request: those that it changes already in any case, because garbage collection may have
 * unlocked them; it waits for others.
 *
 * @param files.paths what it is about to change.
 */
async function lockForOpen(
  task: Task,
  { changed, paths }: { readonly changed: readonly string[]; readonly paths: readonly string[] },
): Promise<FileLockOutcome> {
  const { repository } = task.forge;
  const files = [...new Set([...changed, ...paths])].map((path) => ({ repository, path }));
  return await task.fileLocks.lock(task, files, {
    hasOpenPullRequest: hasOpenPullRequest(task),
    take: ({ path }) => (changed.includes(path) ? 'always' : 'inQueue'),
  });
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
