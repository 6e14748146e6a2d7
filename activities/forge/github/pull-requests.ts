/** Pull requests of a repository on GitHub, and the checks of their heads. */
import type { Mergeability } from '../../../domain/kernel/forge.ts';
import {
  type Checks,
  type ListedCommit,
  type ForgeApproval,
  type ForgePullRequests,
  type MergeOutcome,
  type OpenBranch,
  type OpenOutcome,
  type PullRequest,
  type Reopening,
  teamSlug,
} from '../forge.ts';
import { MAX_PAGES } from './client.ts';
import type { GitHubFiles } from './files.ts';
import { lastReopening, ownComments, readOwnOpen } from './graphql.ts';
import { type ListedPullData, loginOf, moment, type PullData, type ReviewData } from './responses.ts';
import type { GitHubRepository } from './repository.ts';

/** GitHub calls the roles `maintain` and `push` write here; a role that an organisation made has the one it extends. */
const WRITERS: ReadonlySet<string> = new Set(['write', 'maintain', 'admin']);
const ENDED_WELL: ReadonlySet<string> = new Set(['success', 'neutral', 'skipped']);

type BaseReads = Pick<GitHubFiles, 'forgetBase' | 'ownOpen'>;

export class GitHubPullRequests implements ForgePullRequests {
  readonly #repository: GitHubRepository;
  readonly #files: BaseReads;

  /** @param files whose base branch a merge moves, and which reads open pull requests with it. */
  constructor(repository: GitHubRepository, files: BaseReads) {
    this.#repository = repository;
    this.#files = files;
  }

  async get(number: number): Promise<PullRequest> {
    return pullRequestOf(
      await this.#repository.client.data((octokit) =>
        octokit.rest.pulls.get({ ...this.#repository.where, pull_number: number }),
      ),
    );
  }

  /** The number of the pull request of a branch of this repository, an open one first; null when there never was one. */
  async ofBranch(branch: string): Promise<number | null> {
    const found = await this.#repository.client.data((octokit) =>
      octokit.rest.pulls.list({
        ...this.#repository.where,
        head: `${this.#repository.where.owner}:${branch}`,
        state: 'all',
        per_page: 100,
      }),
    );
    const ours = found.filter((pull: ListedPullData) => pull.head.ref === branch);
    return (ours.find((pull) => pull.state === 'open') ?? ours[0])?.number ?? null;
  }

  async ownOpen(beginning: string, maxAgeMs: number): Promise<readonly OpenBranch[]> {
    return await this.#files.ownOpen(beginning, maxAgeMs);
  }

  async allOwnOpen(beginning: string): Promise<readonly OpenBranch[]> {
    return await readOwnOpen(this.#repository.client, beginning, MAX_PAGES);
  }

  async reopened(number: number): Promise<Reopening | null> {
    return await lastReopening(this.#repository.client, number);
  }

  async open(input: {
    readonly branch: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
  }): Promise<OpenOutcome> {
    const { branch, base, title, body } = input;
    const answer = await this.#repository.client.answer([422], (octokit) =>
      octokit.rest.pulls.create({ ...this.#repository.where, head: branch, base, title, body }),
    );
    if (answer.ok) return { kind: 'opened', pull: pullRequestOf(answer.data) };
    return /already exists/i.test(answer.message) ? { kind: 'exists' } : { kind: 'rejected', message: answer.message };
  }

  async edit(number: number, change: { title?: string; body?: string; state?: 'closed' }): Promise<void> {
    await this.#repository.client.data((octokit) =>
      octokit.rest.pulls.update({ ...this.#repository.where, pull_number: number, ...change }),
    );
  }

  async addLabels(number: number, labels: readonly string[]): Promise<void> {
    await this.#repository.client.data((octokit) =>
      octokit.rest.issues.addLabels({ ...this.#repository.where, issue_number: number, labels: [...labels] }),
    );
  }

  /**
   * Requests reviews from people and teams (`org/team`).
   *
   * @returns GitHub's message if it rejects the request; then nobody on the list was asked.
   */
  async requestReviewers(
    number: number,
    names: readonly string[],
  ): Promise<'requested' | { readonly rejected: string }> {
    const answer = await this.#repository.client.answer([422], (octokit) =>
      octokit.rest.pulls.requestReviewers({
        ...this.#repository.where,
        pull_number: number,
        reviewers: names.filter((name) => !name.includes('/')),
        team_reviewers: names.filter((name) => name.includes('/')).map(teamSlug),
      }),
    );
    return answer.ok ? 'requested' : { rejected: answer.message };
  }

  /** Who has reviewed a pull request. */
  async reviewersOf(number: number): Promise<readonly string[]> {
    const pages = await this.#reviewPages(number);
    return [...new Set(pages.flat().flatMap(({ user }) => loginOf(user) ?? []))];
  }

  async approvals(number: number): Promise<readonly ForgeApproval[]> {
    const [{ user: author }, pages] = await Promise.all([this.get(number), this.#reviewPages(number)]);
    // The oldest reviews come first: whoever took an approval back on an unread page would not be heard.
    if (pages.length >= MAX_PAGES) return [];
    const approving = lastWords(pages.flat(), author).filter(({ review }) => review.state === 'APPROVED');
    const approvals: ForgeApproval[] = [];
    for (const { by, review } of approving) {
      const headSha = review.commit_id;
      if (headSha === null || !(await this.#mayWrite(by))) continue;
      approvals.push({ by, headSha, at: moment(review.submitted_at) });
    }
    return approvals;
  }

  #reviewPages(number: number): Promise<ReviewData[][]> {
    return this.#repository.client.pages(
      (octokit, page) => octokit.rest.pulls.listReviews({ ...this.#repository.where, pull_number: number, ...page }),
      (reviews) => reviews.length,
    );
  }

  async #mayWrite(username: string): Promise<boolean> {
    const answer = await this.#repository.client.answer([404], (octokit) =>
      octokit.rest.repos.getCollaboratorPermissionLevel({ ...this.#repository.where, username }),
    );
    return answer.ok && WRITERS.has(answer.data.permission);
  }

  /** The commits of a pull request, oldest first. */
  async commitsOf(number: number): Promise<readonly ListedCommit[]> {
    const pages = await this.#repository.client.pages(
      (octokit, page) => octokit.rest.pulls.listCommits({ ...this.#repository.where, pull_number: number, ...page }),
      (commits) => commits.length,
    );
    return pages.flat().map(({ sha, commit, committer }) => ({
      sha,
      message: commit.message,
      committedAt: moment(commit.committer?.date),
      committer: loginOf(committer),
    }));
  }

  /** The paths that a pull request changes (the first hundred). */
  async filesOf(number: number): Promise<readonly string[]> {
    const files = await this.#repository.client.data((octokit) =>
      octokit.rest.pulls.listFiles({ ...this.#repository.where, pull_number: number, per_page: 100 }),
    );
    return files.map(({ filename }) => filename);
  }

  async ownCommentsWith(number: number, text: string): Promise<readonly string[]> {
    const pages = await this.#repository.client.pages(
      (octokit, page) => octokit.rest.issues.listComments({ ...this.#repository.where, issue_number: number, ...page }),
      (comments) => comments.length,
    );
    const found = pages.flat().flatMap(({ node_id: id, body = '' }) => (body.includes(text) ? [{ id, body }] : []));
    const own = await ownComments(
      this.#repository.client,
      found.map(({ id }) => id),
    );
    return found.filter(({ id }) => own.has(id)).map(({ body }) => body);
  }

  async comment(number: number, body: string): Promise<void> {
    await this.#repository.client.data((octokit) =>
      octokit.rest.issues.createComment({ ...this.#repository.where, issue_number: number, body }),
    );
  }

  /** Who closed a pull request; null where GitHub does not say. */
  async closedBy(number: number): Promise<string | null> {
    const answer = await this.#repository.client.answer([404], (octokit) =>
      octokit.rest.issues.get({ ...this.#repository.where, issue_number: number }),
    );
    return answer.ok ? loginOf(answer.data.closed_by) : null;
  }

  /** Check runs and commit statuses of a commit: they are separate in GitHub, and a repository may use either. */
  async checks(sha: string): Promise<Checks> {
    const [runs, statuses] = await Promise.all([
      this.#repository.client.pages(
        (octokit, page) => octokit.rest.checks.listForRef({ ...this.#repository.where, ref: sha, ...page }),
        (data) => data.check_runs.length,
      ),
      this.#repository.client.pages(
        (octokit, page) => octokit.rest.repos.getCombinedStatusForRef({ ...this.#repository.where, ref: sha, ...page }),
        (data) => data.statuses.length,
      ),
    ]);
    const seen = [
      ...runs
        .flatMap((data) => data.check_runs)
        .map(({ name, status, conclusion }) => ({
          name,
          pending: status !== 'completed',
          failing: status === 'completed' && !ENDED_WELL.has(conclusion ?? ''),
        })),
      ...statuses
        .flatMap((data) => data.statuses)
        .map(({ context, state }) => ({
          name: context,
          pending: state === 'pending',
          failing: state !== 'pending' && state !== 'success',
        })),
    ];
    const names = (which: 'pending' | 'failing') =>
      [...new Set(seen.filter((check) => check[which]).map(({ name }) => name))].toSorted();
    return { total: seen.length, pending: names('pending'), failing: names('failing') };
  }

  /** Squash merge, only if the head still is `headSha`. */
  async merge(input: { number: number; headSha: string; title: string; message: string }): Promise<MergeOutcome> {
    const { number, headSha, title, message } = input;
    const answer = await this.#repository.client.answer([405, 409], (octokit) =>
      octokit.rest.pulls.merge({
        ...this.#repository.where,
        pull_number: number,
        sha: headSha,
        merge_method: 'squash',
        commit_title: title,
        commit_message: message,
      }),
    );
    this.#files.forgetBase();
    if (answer.ok) return { kind: 'merged', sha: answer.data.sha };
    // 409: the head moved. 405: not mergeable, which GitHub also returns when the base moved.
    if (answer.status === 409 || /base branch was modified/i.test(answer.message)) return { kind: 'moved' };
    return { kind: 'rejected', message: answer.message, needsMergeQueue: /merge queue/i.test(answer.message) };
  }
}

/** The last review of each person that is more than a comment; apps and the author are left out. */
function lastWords(
  reviews: readonly ReviewData[],
  author: string | null,
): readonly { readonly by: string; readonly review: ReviewData }[] {
  const latest = new Map<number, { readonly by: string; readonly review: ReviewData }>();
  for (const review of reviews) {
    const { user, state } = review;
    // A deleted account has no user.
    if (user === null || user.type !== 'User' || sameLogin(user.login, author)) continue;
    if (state === 'COMMENTED' || state === 'PENDING') continue;
    latest.set(user.id, { by: user.login, review });
  }
  return [...latest.values()];
}

/** Logins have no case. */
function sameLogin(login: string, other: string | null): boolean {
  return login.toLowerCase() === other?.toLowerCase();
}

function pullRequestOf(data: PullData): PullRequest {
  return {
    number: data.number,
    url: data.html_url,
    state: data.state,
    title: data.title,
    body: data.body ?? '',
    user: loginOf(data.user),
    headSha: data.head.sha,
    headRef: data.head.ref,
    baseRef: data.base.ref,
    createdAt: moment(data.created_at),
    mergedAt: data.merged_at === null ? null : moment(data.merged_at),
    mergedBy: loginOf(data.merged_by),
    mergeSha: data.merged ? data.merge_commit_sha : null,
    mergeability: mergeabilityOf(data),
    commits: data.commits,
    labels: data.labels.map(({ name }) => name),
    requestedReviewers: [
      ...(data.requested_reviewers ?? []).map(({ login }) => login),
      ...(data.requested_teams ?? []).map(({ slug }) => slug),
    ],
  };
}

/** Reads `draft`, `mergeable` and `mergeable_state` as GitHub documents them. */
export function mergeabilityOf({
  draft,
  mergeable,
  mergeable_state: state,
}: Pick<PullData, 'draft' | 'mergeable' | 'mergeable_state'>): Mergeability {
  if (draft === true || state === 'draft') return 'draft';
  if (mergeable === null || state === 'unknown') return 'computing';
  if (!mergeable || state === 'dirty') return 'conflict';
  switch (state) {
    case 'clean':
    case 'has_hooks':
      return 'clean';
    case 'behind':
    case 'blocked':
    case 'unstable':
      return state;
    default:
      return 'unrecognised';
  }
}
