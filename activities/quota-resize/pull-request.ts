/**
 * Opening the pull request of a decision and keeping it up to date, so that whatever call gets lost, there is one branch,
 * one commit and one pull request.
 */
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import {
  type Decision,
  decidedLimits,
  type LimitChange,
  type PullRequestRef,
} from '../../domain/quota-resize/decision.ts';
import {
  branchName,
  commitMessage,
  pullRequestBody,
  pullRequestTitle,
} from '../../domain/quota-resize/pull-request-text.ts';
import { failure } from '../kernel/failure.ts';
import { blobSha, type PullRequest } from '../ports/github.ts';
import type { PullRequestOutcome, QuotaResizeActivities } from './interface.ts';
import {
  currentAttempt,
  ensureComment,
  findPullRequest,
  type GitHubActivityDependencies,
  headIsOurs,
  isOwnBranch,
  recordOf,
  type Write,
  writesOf,
} from './own-work.ts';
import { findQuotaFile, type QuotaFile } from './quota-file.ts';

/**
 * A decision older than this may have been worked on by an earlier run, so its pull request is looked for before
 * anything is written. A younger one is recognised by its branch alone, which saves a request.
 */
const SURELY_NEW_MS = 30_000;
/** How old the knowledge of the base may be for a new branch: `observeSource` looked a moment ago. */
const BASE_MAX_AGE_MS = 10_000;

/** What one run of an activity is about. */
interface Task {
  readonly target: QuotaTarget;
  readonly decision: Decision;
  readonly write: Write;
}

export function createPullRequestActivities(
  dependencies: GitHubActivityDependencies,
): Pick<QuotaResizeActivities, 'ensurePullRequest' | 'ensurePullRequestRebuilt'> {
  const { github, config } = dependencies;

  async function foundOutcome(number: number, decision: Decision): Promise<PullRequestOutcome> {
    const pull = await github.pullRequest(number);
    const pullRequest = await recordOf(github, pull, decision);
    return { kind: pull.state === 'open' ? 'open' : 'settled', pullRequest };
  }

  /** Deletes the branch of an attempt whose pull request will not be opened after all. */
  async function discardBranch({ target, decision, write }: Task, base: string): Promise<void> {
    const branch = branchName(target, decision.id);
    const comparison = await github.compare(base, branch);
    if (comparison === null || !isOwnBranch(comparison.ahead, decision)) return;
    await write('delete branch', { branch }, () => github.deleteBranch(branch));
  }

  /** The commit of the decision on its branch, made or found, or what stands in its way. */
  async function ensureCommit(
    task: Task,
    file: QuotaFile,
  ): Promise<{ readonly sha: string; readonly at: number } | 'foreign' | { readonly found: number }> {
    const { target, decision, write } = task;
    const branch = branchName(target, decision.id);
    const message = commitMessage(target, decision, changesIn(decision, file));
    const commit = () =>
      write('commit file', { branch, path: file.path, base: file.base.sha }, () =>
        github.commitFile({ branch, path: file.path, fileSha: file.blobSha, text: file.edited, message }),
      );

    const created = await write('create branch', { branch, base: file.base.sha }, () =>
      github.createBranch(branch, file.base.sha),
    );
    if (created === 'created') {
      const committed = await commit();
      if (committed.kind === 'committed') return committed;
    } else {
      const found = await github.pullRequestOfBranch(branch);
      if (found !== null) return { found };
    }
    // Someone was here before: an earlier attempt whose answer was lost, or one that still runs.
    const state = await github.compare(file.base.sha, branch);
    if (state === null) throw notThereYet(branch, github.repository, 'it is gone');
    if (!isOwnBranch(state.ahead, decision)) return 'foreign';
    const [own] = state.ahead;
    if (own === undefined) {
      // Only the branch was made, from this base or an older one.
      if (state.behind > 0) {
        await write('move branch', { branch, sha: file.base.sha }, () =>
          github.moveBranch(branch, file.base.sha, false),
        );
      }
      const committed = await commit();
      if (committed.kind === 'committed') return committed;
      throw notThereYet(branch, github.repository, committed.message);
    }
    const there = await github.fileAt(file.path, own.sha);
    if (there?.sha === blobSha(file.edited)) return { sha: own.sha, at: own.committedAt };
    // The base has moved since that commit, or the decision has grown: the same branch, rebuilt.
    return rebuild(task, file, branch, own.sha);
  }

  /** One commit on top of the base in place of our commit `expected`. */
  async function rebuild(
    { target, decision, write }: Task,
    file: QuotaFile,
    branch: string,
    expected: string,
  ): Promise<{ readonly sha: string; readonly at: number } | 'foreign'> {
    const message = commitMessage(target, decision, changesIn(decision, file));
    const { base, path, mode, edited } = file;
    const commit = await write('commit onto base', { path, base: base.sha }, () =>
      github.commitOnto({ parent: base.sha, parentTree: base.treeSha, path, mode, text: edited, message }),
    );
    // GitHub has no "only if the branch still is": the look right before the write keeps the gap to one round trip.
    const head = await github.branchHead(branch);
    if (head === null) throw notThereYet(branch, github.repository, 'it is gone');
    if (head !== expected) return 'foreign';
    const moved = await write('move branch', { branch, from: expected, sha: commit.sha }, () =>
      github.moveBranch(branch, commit.sha, true),
    );
    if (moved === 'moved') return commit;
    throw failure({
      type: 'GitHubUnavailable',
      message: `GitHub did not move ${branch} of ${github.repository}: ${moved.refused}`,
    });
  }

  async function ensurePullRequest({
    target,
    decision,
    gitPath,
  }: Parameters<QuotaResizeActivities['ensurePullRequest']>[0]): Promise<PullRequestOutcome> {
    const task = { target, decision, write: writesOf(dependencies, target, decision) };
    const mayExist =
      currentAttempt() > 1 || decision.pullRequest !== null || Date.now() - decision.decidedAt > SURELY_NEW_MS;
    if (mayExist) {
      const number = await findPullRequest(github, target, decision);
      if (number !== null) return foundOutcome(number, decision);
    }

    const file = await findQuotaFile(github, target, decidedLimits(decision), {
      template: config.pathTemplate,
      gitPath,
      maxBaseAgeMs: BASE_MAX_AGE_MS,
    });
    if (file.kind === 'blocked') {
      // An earlier attempt, when the file could still be edited, may have left its branch.
      const base = mayExist ? await github.base(BASE_MAX_AGE_MS) : null;
      if (base?.kind === 'branch') await discardBranch(task, base.sha);
      return file;
    }
    if (Object.keys(file.raised).length === 0) {
      if (mayExist) await discardBranch(task, file.base.sha);
      return { kind: 'alreadyInGit', sha: file.base.sha, limits: file.limits };
    }

    const branch = branchName(target, decision.id);
    const commit = await ensureCommit(task, file);
    if (commit === 'foreign') {
      return {
        kind: 'blocked',
        reason: 'ForeignCommit',
        message: `branch ${branch} of ${github.repository} has commits that Headroom did not make and no pull request; open one for it or delete the branch`,
      };
    }
    if ('found' in commit) return foundOutcome(commit.found, decision);

    const { title, body } = textOf(target, decision, file);
    const opened = await task.write('open pull request', { branch, base: file.base.name }, () =>
      github.openPullRequest({ branch, base: file.base.name, title, body }),
    );
    if (opened.kind !== 'opened') {
      const number = await github.pullRequestOfBranch(branch);
      if (number !== null) return foundOutcome(number, decision);
      const why = opened.kind === 'exists' ? 'it says that one exists already, and shows none' : opened.message;
      throw failure({
        type: opened.kind === 'exists' ? 'GitHubUnavailable' : 'GitHubRefused',
        message: `GitHub did not open a pull request for ${branch} in ${github.repository}: ${why}`,
        nonRetryable: opened.kind !== 'exists',
      });
    }
    const { pull } = opened;
    await labelled(pull.number, task);
    const pullRequest: PullRequestRef = {
      number: pull.number,
      url: pull.url,
      repository: github.repository,
      branch,
      base: file.base.name,
      path: file.path,
      headSha: commit.sha,
      openedAt: pull.createdAt,
      pushedAt: commit.at,
    };
    return { kind: 'open', pullRequest };
  }

  async function isUpToDate(pull: PullRequest, file: QuotaFile): Promise<boolean> {
    const { parents } = await github.commit(pull.headSha);
    if (parents.length !== 1 || parents[0] !== file.base.sha) return false;
    const there = await github.fileAt(file.path, pull.headSha);
    return there?.sha === blobSha(file.edited);
  }

  async function labelled(number: number, { write }: Task): Promise<void> {
    const { labels = [] } = config;
    if (labels.length === 0) return;
    await write('label', { number, labels }, () => github.addLabels(number, labels));
  }

  return {
    ensurePullRequest,

    async ensurePullRequestRebuilt({ target, decision, gitPath, why }): Promise<PullRequestOutcome> {
      const task = { target, decision, write: writesOf(dependencies, target, decision) };
      const number = await findPullRequest(github, target, decision);
      if (number === null) return ensurePullRequest({ target, decision, gitPath });
      const pull = await github.pullRequest(number);
      const known = await recordOf(github, pull, decision);
      if (pull.state !== 'open') return { kind: 'settled', pullRequest: known };
      if (!(await headIsOurs(github, pull, decision))) return { kind: 'open', pullRequest: known };

      const limits = decidedLimits(decision);
      const file = await findQuotaFile(github, target, limits, { template: config.pathTemplate, gitPath });
      if (file.kind === 'blocked') return file;
      if (Object.keys(file.raised).length === 0) {
        return { kind: 'alreadyInGit', sha: file.base.sha, limits: file.limits };
      }
      const commit = (await isUpToDate(pull, file))
        ? { sha: pull.headSha, at: (await github.commit(pull.headSha)).committedAt }
        : await rebuild(task, file, pull.headRef, pull.headSha);
      if (commit === 'foreign') return { kind: 'open', pullRequest: known };

      const { title, body } = textOf(target, decision, file);
      // GitHub keeps the description with the line ends of whoever wrote it last.
      if (pull.title !== title || pull.body.replaceAll('\r\n', '\n') !== body) {
        await task.write('edit pull request', { number }, () => github.editPullRequest(number, { title, body }));
      }
      const text = `Rebuilt on ${file.base.name} at ${file.base.sha.slice(0, 7)}: ${why}`;
      await ensureComment(github, task.write, decision, { number, about: `${commit.sha} ${why}`, text });
      return {
        kind: 'open',
        pullRequest: { ...known, path: file.path, headSha: commit.sha, pushedAt: commit.at },
      };
    },
  };
}

/** The changes that this pull request makes: those of the decision that Git does not hold yet, from Git's own values. */
function changesIn(decision: Decision, file: QuotaFile): readonly LimitChange[] {
  return decision.changes
    .filter(({ resource }) => Object.hasOwn(file.raised, resource))
    .map((change) => ({ ...change, from: file.limits[change.resource] ?? change.from }));
}

function textOf(
  target: QuotaTarget,
  decision: Decision,
  file: QuotaFile,
): { readonly title: string; readonly body: string } {
  const changes = changesIn(decision, file);
  const held = Object.entries(file.limits).filter(([resource]) => !Object.hasOwn(file.raised, resource));
  return {
    title: pullRequestTitle(target, changes),
    body: pullRequestBody(target, decision, changes, Object.fromEntries(held)),
  };
}

function notThereYet(branch: string, repository: string, why: string): Error {
  return failure({
    type: 'GitHubUnavailable',
    message: `branch ${branch} of ${repository} changed while it was being written (${why}); it is looked at again`,
  });
}
