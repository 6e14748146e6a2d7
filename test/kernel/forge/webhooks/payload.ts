import { type ForgeContext, thisRepository } from '../context.ts';
import type { Commit, Signature } from '../git/objects.ts';
import type { CheckRun, Hook } from '../model.ts';
import { changedPull, pullAsIssue, sameLabel, simplePull } from '../pull-request-shown.ts';
import { checkRun, checkSuite } from '../represent/check.ts';
import { fullCommit } from '../represent/commit.ts';
import { hook as shownHook } from '../represent/hook.ts';
import { issueComment, label, review } from '../represent/pull-request.ts';
import { shownTeam } from '../represent/team.ts';
import { organization, simpleUser } from '../represent/user.ts';
import type { Message } from './delivery.ts';
import type { ForgeEvent } from './event.ts';

type Payload = Record<string, unknown>;
type PullRequestEvent = Extract<ForgeEvent, { name: 'pull_request' }>;

/** GitHub's zeros for a branch that is not there. */
const NOWHERE = '0'.repeat(40);
// GitHub carries at most this many commits of a push.
const PUSHED_COMMITS = 2048;

/** The payload that GitHub would send for what happened. */
export async function messageOf(forge: ForgeContext, event: ForgeEvent): Promise<Message> {
  const common = {
    repository: thisRepository(forge),
    organization: organization(forge.urls, forge.owner),
    sender: simpleUser(forge.urls, event.sender),
  };
  const message = (own: Payload): Message => ({
    event: event.name,
    action: 'action' in event ? event.action : null,
    payload: { ...('action' in event ? { action: event.action } : {}), ...own, ...common },
  });
  switch (event.name) {
    case 'pull_request':
      return message(await pullRequestPayload(forge, event));
    case 'pull_request_review': {
      const isDeleted = forge.accounts.isDeleted(event.review.user);
      const shown = review(forge.urls, forge.owner, event.review, isDeleted);
      // Only here GitHub writes a review's state in small letters.
      const state = event.review.state.toLowerCase();
      return message({ review: { ...shown, state }, pull_request: simplePull(forge, event.pull) });
    }
    case 'check_run':
      return message({ check_run: shownRun(forge, event.run) });
    case 'check_suite':
      return message({ check_suite: await suitePayload(forge, event.runs) });
    case 'status':
      return message(await statusPayload(forge, event.status));
    case 'push': {
      const push = await pushPayload(forge, event);
      // In a push, and only there, GitHub writes the repository's dates as seconds.
      const { created_at: createdAt, pushed_at: pushedAt } = common.repository;
      const seconds = (date: unknown): number => Math.floor(Date.parse(String(date)) / 1000);
      const repository = {
        ...common.repository,
        created_at: seconds(createdAt),
        pushed_at: seconds(pushedAt),
        master_branch: forge.defaultBranch,
      };
      return { event: 'push', action: null, payload: { ...push, ...common, repository } };
    }
    case 'issue_comment':
      return message({
        issue: pullAsIssue(forge, event.pull),
        comment: issueComment(forge.urls, forge.owner, event.comment),
      });
  }
}

/** What a hook is told when it is made, and when somebody asks for it. */
export function pingOf(forge: ForgeContext, hook: Hook): Message {
  return {
    event: 'ping',
    action: null,
    payload: {
      zen: 'Keep it logically awesome.',
      hook_id: hook.id,
      hook: shownHook(forge.urls, hook, undefined),
      repository: thisRepository(forge),
      organization: organization(forge.urls, forge.owner),
      sender: simpleUser(forge.urls, forge.owner),
    },
  };
}

async function pullRequestPayload(forge: ForgeContext, event: PullRequestEvent): Promise<Payload> {
  const shown = { number: event.pull.number, pull_request: await changedPull(forge, event.pull) };
  switch (event.action) {
    case 'synchronize':
      return { ...shown, before: event.before, after: event.after };
    case 'dequeued':
    case 'auto_merge_disabled':
      return { ...shown, reason: event.reason };
    case 'edited':
      return { ...shown, changes: event.changes };
    case 'labeled':
    case 'unlabeled': {
      const existing = sameLabel(forge, event.label);
      return { ...shown, ...(existing ? { label: label(forge.urls, existing) } : {}) };
    }
    case 'review_requested':
    case 'review_request_removed':
      return 'user' in event.reviewer
        ? { ...shown, requested_reviewer: simpleUser(forge.urls, event.reviewer.user) }
        : { ...shown, requested_team: shownTeam(forge, event.reviewer.team) };
    default:
      return shown;
  }
}

function shownRun(forge: ForgeContext, run: CheckRun): Payload {
  const { owner, repo, store } = forge;
  const context = { owner, repo, since: store.state.createdAt, pulls: store.state.pulls };
  const shown = checkRun(forge.urls, run, context);
  const suite = checkSuite(forge.urls, [run], context);
  return { ...shown, check_suite: suite };
}

async function suitePayload(forge: ForgeContext, runs: readonly CheckRun[]): Promise<Payload> {
  const { owner, repo, store, git } = forge;
  const suite = checkSuite(forge.urls, runs, { owner, repo, since: store.state.createdAt, pulls: store.state.pulls });
  const commit = await git.commit(runs[0]?.headSha ?? '');
  return {
    ...suite,
    latest_check_runs_count: runs.length,
    check_runs_url: `${forge.urls.api}/check-suites/${String(suite['id'])}/check-runs`,
    head_commit: {
      id: commit.sha,
      tree_id: commit.tree,
      message: commit.message,
      timestamp: commit.committer.date,
      author: person(commit.author),
      committer: person(commit.committer),
    },
  };
}

async function statusPayload(
  forge: ForgeContext,
  status: Extract<ForgeEvent, { name: 'status' }>['status'],
): Promise<Payload> {
  const { urls, git } = forge;
  const heads = (await git.refs('refs/heads/')).filter(({ sha }) => sha === status.sha);
  return {
    id: status.id,
    sha: status.sha,
    name: `${forge.owner}/${forge.repo}`,
    target_url: status.targetUrl,
    avatar_url: simpleUser(urls, status.creator)['avatar_url'],
    context: status.context,
    description: status.description,
    state: status.state,
    commit: fullCommit(forge, await git.commit(status.sha)),
    // GitHub names at most ten branches.
    branches: heads.slice(0, 10).map(({ ref, sha }) => ({
      name: ref.slice('refs/heads/'.length),
      commit: { sha, url: `${urls.api}/commits/${sha}` },
      protected: forge.store.state.protections[ref.slice('refs/heads/'.length)] !== undefined,
    })),
    created_at: status.createdAt,
    updated_at: status.createdAt,
  };
}

async function pushPayload(
  forge: ForgeContext,
  { move: { branch, before, after }, sender }: Extract<ForgeEvent, { name: 'push' }>,
): Promise<Payload> {
  const { git, urls } = forge;
  const since = before ?? (after && branch !== forge.defaultBranch ? await git.branchTip(forge.defaultBranch) : null);
  const shas = after === null ? [] : await git.log(after, { ...(since ? { from: since } : {}), limit: PUSHED_COMMITS });
  const commits = await Promise.all(shas.reverse().map(async (sha) => pushedCommit(forge, await git.commit(sha))));
  const head = after === null ? null : await pushedCommit(forge, await git.commit(after));
  return {
    ref: `refs/heads/${branch}`,
    before: before ?? NOWHERE,
    after: after ?? NOWHERE,
    created: before === null,
    deleted: after === null,
    forced: before !== null && after !== null && !(await git.isAncestor(before, after)),
    base_ref: null,
    compare: `${urls.html}/compare/${(before ?? since ?? NOWHERE).slice(0, 12)}...${(after ?? NOWHERE).slice(0, 12)}`,
    commits,
    head_commit: head,
    pusher: { name: sender, email: `${sender}@users.noreply.github.com` },
  };
}

async function pushedCommit(forge: ForgeContext, commit: Commit): Promise<Payload> {
  const files = await forge.git.diff(commit.parents[0], commit.sha);
  const paths = (...statuses: string[]): string[] =>
    files.filter(({ status }) => statuses.includes(status)).map(({ path }) => path);
  return {
    id: commit.sha,
    tree_id: commit.tree,
    distinct: true,
    message: commit.message,
    timestamp: commit.committer.date,
    url: `${forge.urls.html}/commit/${commit.sha}`,
    author: person(commit.author),
    committer: person(commit.committer),
    added: paths('added', 'copied', 'renamed'),
    removed: [
      ...paths('removed'),
      ...files.flatMap(({ status, previousPath }) => (status === 'renamed' && previousPath ? [previousPath] : [])),
    ],
    modified: paths('modified', 'changed'),
  };
}

function person({ name, email, date }: Signature): Payload {
  const login = /^\d+\+(.+)@users\.noreply\.github\.com$/.exec(email)?.[1];
  return { name, email, date, ...(login === undefined ? {} : { username: login }) };
}
