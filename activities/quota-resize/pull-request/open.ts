/** Opens the pull request of a decision: branch, commit and pull request. */
import { ApplicationFailure } from '@temporalio/common';
import { targetName } from '../../../domain/kernel/target.ts';
import type { PullRequestRef } from '../../../domain/quota-resize/model/decision.ts';
import type { LockedFile } from '../../../domain/quota-resize/model/lease.ts';
import type { PullRequest } from '../../forge/forge.ts';
import { failure } from '../../kernel/failure.ts';
import type { PullRequestOutcome } from '../interface.ts';
import type { DecisionEdit } from '../source/edit.ts';
import { changeFacts, ensureCommit, type OwnCommit } from './decision-branch.ts';
import { addMetadata, type ProposalTask as Task, textOf } from './description.ts';

/** A branch, a commit and a pull request: GitHub counts what a request makes, and not the request. */
const PERMITS_AT_ONCE = 3;

/** What is known about an attempt to open a pull request. */
export class Opening {
  /** Whether an earlier attempt may have opened it. */
  readonly mayExist: boolean;
  #mayBeOpen: boolean;

  constructor(mayExist: boolean) {
    this.mayExist = mayExist;
    this.#mayBeOpen = mayExist;
  }

  /** Until it is certain that no pull request is open, its files stay locked. */
  get mayBeOpen(): boolean {
    return this.#mayBeOpen;
  }

  /** Looks for an open pull request; where it finds none, there is none. */
  async find(look: () => Promise<number | null>): Promise<number | null> {
    const number = await look();
    this.#mayBeOpen = number !== null;
    return number;
  }

  /**
   * Sends what opens a pull request, or what goes on with an open one.
   *
   * @param opensNothing whether an error says that nothing was opened; any other one leaves that unknown.
   */
  async send<T>(request: () => Promise<T>, opensNothing: (error: unknown) => boolean = () => false): Promise<T> {
    this.#mayBeOpen = true;
    try {
      return await request();
    } catch (error) {
      this.#mayBeOpen = !opensNothing(error);
      throw error;
    }
  }
}

/**
 * Opens the pull request: with one request on the first attempt of a fresh decision, where nothing of it can be there yet,
 * and otherwise step by step, looking before each.
 *
 * @param found gives the outcome for a pull request that is there.
 */
export async function open(
  task: Task,
  edit: DecisionEdit,
  opening: Opening,
  found: (number: number) => Promise<PullRequestOutcome>,
): Promise<PullRequestOutcome> {
  const { target, decision, forge, config } = task;
  const branch = config.texts.branch(target, decision.id);
  const { pullRequests } = forge;
  if (!opening.mayExist && pullRequests.opensAtOnce(edit.files, branch, config.texts.branchBeginning(target))) {
    const opened = await openAtOnce(task, edit, opening);
    if (opened !== null) return opened;
    // Some of it may be there, and some of it may be somebody else's.
    const number = await opening.find(async () => await pullRequests.ofBranch(branch));
    if (number !== null) return await found(number);
  }
  return await openStepByStep(task, edit, opening, found);
}

/** Null when not all of it was made. */
async function openAtOnce(task: Task, edit: DecisionEdit, opening: Opening): Promise<PullRequestOutcome | null> {
  const { target, decision, forge, config, log } = task;
  const { base } = edit.tree;
  const branch = config.texts.branch(target, decision.id);
  const message = config.texts.commit(changeFacts(task, edit));
  const texts = textOf(task, edit);
  const about = { branch, base: base.sha, path: edit.files.map(({ path }) => path).join(' ') };
  const outcome = await task.write(
    'open at once',
    about,
    async () => {
      await task.fileLocks.assertLocked(task, filesOf(task, edit));
      const commit = { branch, parent: base, files: edit.files, message };
      return await opening.send(
        async () => await forge.pullRequests.openAtOnce({ ...commit, base: base.name, ...texts }),
      );
    },
    PERMITS_AT_ONCE,
  );
  if (outcome.kind === 'opened') return await openedOutcome(task, edit, outcome.pull, outcome.commit);
  log.warn(
    { target: targetName(target), decision: decision.id, repository: forge.repository, branch, error: outcome.message },
    'a pull request was not opened with one request, and is opened step by step',
  );
  return null;
}

async function openStepByStep(
  task: Task,
  edit: DecisionEdit,
  opening: Opening,
  found: (number: number) => Promise<PullRequestOutcome>,
): Promise<PullRequestOutcome> {
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
  if ('found' in commit) return await found(commit.found);

  const { title, body } = textOf(task, edit);
  const opened = await task.write('open pull request', { branch, base: base.name }, async () => {
    // The write may have waited for its permit.
    await task.fileLocks.assertLocked(task, filesOf(task, edit));
    return await opening.send(
      async () => await forge.pullRequests.open({ branch, base: base.name, title, body }),
      isRejection,
    );
  });
  if (opened.kind !== 'opened') {
    const look = async (): Promise<number | null> => await forge.pullRequests.ofBranch(branch);
    // One that exists is open, also where the forge does not show it yet.
    const number = opened.kind === 'exists' ? await look() : await opening.find(look);
    if (number !== null) return await found(number);
    const why = opened.kind === 'exists' ? 'it says that one exists already, and shows none' : opened.message;
    throw failure({
      type: opened.kind === 'exists' ? 'ForgeUnavailable' : 'ForgeRejected',
      message: `${forge.service} did not open a pull request for ${branch} in ${forge.repository}: ${why}`,
      nonRetryable: opened.kind !== 'exists',
    });
  }
  return await openedOutcome(task, edit, opened.pull, commit);
}

async function openedOutcome(
  task: Task,
  edit: DecisionEdit,
  pull: PullRequest,
  commit: OwnCommit,
): Promise<PullRequestOutcome> {
  await addMetadata(task, pull, 'new');
  return { kind: 'open', pullRequest: recordOfNew(task, pull, { edit, commit }), ...leftOutOf(edit) };
}

/** What the decision records of a pull request that has just got its commit. */
export function recordOfNew(
  { forge }: Task,
  { number, url, headRef, createdAt }: PullRequest,
  { edit, commit }: { readonly edit: DecisionEdit; readonly commit: OwnCommit },
): PullRequestRef {
  return {
    number,
    url,
    repository: forge.repository,
    branch: headRef,
    base: edit.tree.base.name,
    path: edit.path,
    headSha: commit.sha,
    openedAt: createdAt,
    pushedAt: commit.at,
  };
}

export function filesOf({ forge: { repository } }: Task, { files }: DecisionEdit): readonly LockedFile[] {
  return files.map(({ path }) => ({ repository, path }));
}

/** Whether the forge answered that it opens nothing. */
function isRejection(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'ForgeRejected';
}

export function leftOutOf({ leftOut }: DecisionEdit): { readonly leftOut?: readonly string[] } {
  return leftOut.length === 0 ? {} : { leftOut: leftOut.map(({ quota }) => quota) };
}
