/** Pull requests of a repository on GitHub, and the checks of their heads. */
import type { ChangeRequest, ChangeRequests, MergeMethod } from '../../../domain/kernel/forge.ts';
import {
  type Checks,
  type EnqueueOutcome,
  type MergeRequest,
  type FileChange,
  type ListedCommit,
  type ForgeApproval,
  type ForgePullRequests,
  type MergeOutcome,
  type OpenAtOnceOutcome,
  type OpenBranch,
  type OpenOutcome,
  PLAIN_FILE,
  type PullRequest,
  type PullRequestState,
  type Reopening,
  teamSlug,
} from '../forge.ts';
import { MAX_PAGES } from './client.ts';
import { failure } from '../../kernel/failure.ts';
import type { GitHubBranches } from './branches.ts';
import { checksOf } from './checks.ts';
import type { GitHubFiles } from './files.ts';
import { approvingReviews, type GivenReview, requestingReviews } from './last-words.ts';
import { disableAutoMerge, enableAutoMerge } from './auto-merge.ts';
import { dequeue, enqueue, QUEUE_ACCOUNT, readMerger } from './merge-queue.ts';
import { allowedMethods } from './merge-methods.ts';
import { mergeabilityOf } from './mergeability.ts';
import { lastReopening, ownComments, readOwnOpen } from './graphql.ts';
import { openAtOnce } from './open-at-once.ts';
import { lastReopeningByRest, listOwnOpen } from './own-by-rest.ts';
import { readState } from './pull-request-state.ts';
import { type ListedPullData, loginOf, moment, type PullData, type ReviewData } from './responses.ts';
import type { GitHubRepository } from './repository.ts';

/** GitHub calls the roles `maintain` and `push` write here; a role that an organisation made has the one it extends. */
const WRITERS: ReadonlySet<string> = new Set(['write', 'maintain', 'admin']);

/** For how many milliseconds a list of branches tells that there is none of a name. */
const LISTED_MS = 10_000;

type BaseReads = Pick<GitHubFiles, 'forgetBase' | 'ownOpen' | 'fileAt' | 'isAbsent' | 'forgetBranches'>;

export class GitHubPullRequests implements ForgePullRequests {
  readonly #repository: GitHubRepository;
  readonly #files: BaseReads;
  readonly #branches: Pick<GitHubBranches, 'rules' | 'head'>;

  /** @param files whose base branch a merge moves, and which reads open pull requests with it. */
  constructor(repository: GitHubRepository, files: BaseReads, branches: Pick<GitHubBranches, 'rules' | 'head'>) {
    this.#repository = repository;
    this.#files = files;
    this.#branches = branches;
  }

  async state(
    number: number,
    ahead?: { readonly approvals?: boolean; readonly mergedFile?: string },
  ): Promise<PullRequestState> {
    const oneByOne = { files: this.#files, branches: this.#branches, pullRequests: this };
    return await readState(this.#repository, oneByOne, number, ahead);
  }

  async get(number: number): Promise<PullRequest> {
    const pull = pullRequestOf(await this.#read(number));
    if (pull.mergedBy !== QUEUE_ACCOUNT) return pull;
    return { ...pull, mergedBy: await readMerger(this.#repository.client, number, pull.user) };
  }

  async #read(number: number): Promise<PullData> {
    return await this.#repository.client.data((octokit) =>
      octokit.rest.pulls.get({ ...this.#repository.where, pull_number: number }),
    );
  }

  /** The id by which GraphQL's mutations name it. */
  async #idOf(number: number): Promise<string> {
    return this.#repository.pullIds.get(String(number)) ?? (await this.#read(number)).node_id;
  }

  async enqueue({ number, headSha }: Parameters<ForgePullRequests['enqueue']>[0]): Promise<EnqueueOutcome> {
    const outcome = await enqueue(this.#repository.client, await this.#idOf(number), headSha);
    this.#files.forgetBase();
    return outcome;
  }

  async dequeue(number: number): Promise<void> {
    await dequeue(this.#repository.client, await this.#idOf(number));
  }

  async enableAutoMerge(request: MergeRequest): Promise<EnqueueOutcome> {
    const outcome = await enableAutoMerge(this.#repository.client, await this.#idOf(request.number), request);
    this.#files.forgetBase();
    return outcome;
  }

  async disableAutoMerge(number: number): Promise<void> {
    await disableAutoMerge(this.#repository.client, await this.#idOf(number));
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
    const { client } = this.#repository;
    const found = await readOwnOpen(client, beginning, MAX_PAGES);
    return client.hasGraphQl ? found : await listOwnOpen(this.#repository, beginning);
  }

  async reopened(number: number): Promise<Reopening | null> {
    const { client } = this.#repository;
    const found = await lastReopening(client, number);
    return client.hasGraphQl ? found : await lastReopeningByRest(this.#repository, number);
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

  opensAtOnce(files: readonly FileChange[], branch: string, beginning: string): boolean {
    const { client, nodeId } = this.#repository;
    if (!client.hasGraphQl || nodeId === null) return false;
    // GraphQL does not support file modes.
    return files.every(({ mode }) => mode === PLAIN_FILE) && this.#files.isAbsent(branch, beginning, LISTED_MS);
  }

  async openAtOnce(input: Parameters<ForgePullRequests['openAtOnce']>[0]): Promise<OpenAtOnceOutcome> {
    const { nodeId } = this.#repository;
    if (nodeId === null) return { kind: 'incomplete', message: 'the id of the repository is not known' };
    this.#files.forgetBranches(input.branch);
    return await openAtOnce(this.#repository, nodeId, input);
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
    const [{ user: author }, reviews] = await Promise.all([this.get(number), this.#reviews(number)]);
    const approvals: ForgeApproval[] = [];
    for (const { by, headSha, at } of approvingReviews(reviews ?? [], author)) {
      if (headSha !== null && (await this.#mayWrite(by))) approvals.push({ by, headSha, at });
    }
    return approvals;
  }

  async changeRequests(number: number): Promise<ChangeRequests> {
    const reviews = await this.#reviews(number);
    if (reviews === null) return 'unread';
    const requests: ChangeRequest[] = [];
    for (const { by, type, headSha, at } of requestingReviews(reviews)) {
      if (type === 'Bot' || (await this.#mayWrite(by))) requests.push({ by, headSha, at });
    }
    return requests;
  }

  /**
   * All reviews, the oldest first; null where there are more than are read. The newest are then missing, and with them who
   * took back what he had said.
   */
  async #reviews(number: number): Promise<readonly GivenReview[] | null> {
    const pages = await this.#reviewPages(number);
    if (pages.length >= MAX_PAGES) return null;
    return pages.flat().flatMap(({ user, state, commit_id: headSha, submitted_at: at }) =>
      // A deleted account has no user, and may not write.
      user === null ? [] : [{ by: user.login, type: user.type, state, headSha, at: moment(at) }],
    );
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
    const { client } = this.#repository;
    const pages = await client.pages(
      (octokit, page) => octokit.rest.issues.listComments({ ...this.#repository.where, issue_number: number, ...page }),
      (comments) => comments.length,
    );
    const found = pages
      .flat()
      .flatMap(({ node_id: id, body = '', user }) => (body.includes(text) ? [{ id, body, by: loginOf(user) }] : []));
    const ids = found.map(({ id }) => id);
    const own = await ownComments(client, ids);
    if (!client.hasGraphQl) {
      const account = await client.account();
      return found.filter(({ by }) => by !== null && by === account).map(({ body }) => body);
    }
    return found.filter(({ id }) => own.has(id)).map(({ body }) => body);
  }

  async comment(number: number, body: string): Promise<void> {
    await this.#repository.client.data((octokit) =>
      octokit.rest.issues.createComment({ ...this.#repository.where, issue_number: number, body }),
    );
  }

  async ownAccount(): Promise<string | null> {
    return await this.#repository.client.account();
  }

  /** Who closed a pull request; null where GitHub does not say. */
  async closedBy(number: number): Promise<string | null> {
    const answer = await this.#repository.client.answer([404], (octokit) =>
      octokit.rest.issues.get({ ...this.#repository.where, issue_number: number }),
    );
    return answer.ok ? loginOf(answer.data.closed_by) : null;
  }

  /**
   * Check runs and commit statuses of a commit: they are separate in GitHub, and a repository may use either. A server may
   * know only one of them.
   */
  async checks(sha: string): Promise<Checks> {
    const { client, where } = this.#repository;
    const [runs, statuses] = await Promise.all([
      client.pagesOr404(
        (octokit, page) => octokit.rest.checks.listForRef({ ...where, ref: sha, ...page }),
        (data) => data.check_runs.length,
      ),
      client.pagesOr404(
        (octokit, page) => octokit.rest.repos.getCombinedStatusForRef({ ...where, ref: sha, ...page }),
        (data) => data.statuses.length,
      ),
    ]);
    // Nobody could tell then whether a check fails.
    if ('message' in runs && 'message' in statuses) {
      throw failure({
        type: 'ForgeRejected',
        message: `GitHub shows neither check runs nor commit statuses of ${sha} in ${this.#repository.name}: ${runs.message}; ${statuses.message}`,
        nonRetryable: true,
      });
    }
    return checksOf([
      ...('message' in runs ? [] : runs)
        .flatMap((data) => data.check_runs)
        .map(({ name, status, conclusion }) => ({ kind: 'run', name, status, conclusion }) as const),
      ...('message' in statuses ? [] : statuses)
        .flatMap((data) => data.statuses)
        .map(({ context, state }) => ({ kind: 'status', name: context, state }) as const),
    ]);
  }

  async mergeMethods(): Promise<readonly MergeMethod[]> {
    const { client, where } = this.#repository;
    return allowedMethods(await client.data((octokit) => octokit.rest.repos.get(where)));
  }

  /** Merges, only if the head still is `headSha`. */
  async merge(input: Parameters<ForgePullRequests['merge']>[0]): Promise<MergeOutcome> {
    const { number, headSha, method, title, message } = input;
    const answer = await this.#repository.client.answer([405, 409], (octokit) =>
      octokit.rest.pulls.merge({
        ...this.#repository.where,
        pull_number: number,
        sha: headSha,
        merge_method: method,
        // A rebase has the messages of its commits.
        ...(method === 'rebase' ? {} : { commit_title: title, commit_message: message }),
      }),
    );
    this.#files.forgetBase();
    if (answer.ok) return { kind: 'merged', sha: answer.data.sha };
    // 409: the head moved. 405: not mergeable, which GitHub also returns when the base moved.
    if (answer.status === 409 || /base branch was modified/i.test(answer.message)) return { kind: 'moved' };
    return { kind: 'rejected', message: answer.message, needsMergeQueue: /merge queue/i.test(answer.message) };
  }
}

function autoMergeOf({
  enabled_by: by,
  merge_method: method,
}: NonNullable<PullData['auto_merge']>): NonNullable<PullRequest['autoMerge']> {
  return { by: loginOf(by) ?? 'unknown', method };
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
    ...(data.auto_merge ? { autoMerge: autoMergeOf(data.auto_merge) } : {}),
  };
}
