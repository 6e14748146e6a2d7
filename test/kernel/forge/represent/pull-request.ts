import type { IssueComment, Label, PullRequest, Review } from '../model.ts';
import type { Urls } from './urls.ts';
import { nodeId } from './urls.ts';
import { simpleUser } from './user.ts';

export interface PullRequestFacts {
  readonly urls: Urls;
  readonly owner: string;
  /** GitHub's `repository`, for both sides. */
  readonly repository: Record<string, unknown>;
  readonly labels: readonly Label[];
  readonly mergeCommitSha: string | null;
  /** GitHub's `team` for each that is asked to review. */
  readonly requestedTeams: readonly Record<string, unknown>[];
}

/** GitHub's `pull-request-simple`, as lists show it. */
export function simplePullRequest(pull: PullRequest, facts: PullRequestFacts): Record<string, unknown> {
  const { urls, owner, repository } = facts;
  const self = `${urls.api}/pulls/${pull.number}`;
  const issue = `${urls.api}/issues/${pull.number}`;
  const html = `${urls.html}/pull/${pull.number}`;
  const statuses = `${urls.api}/statuses/${pull.headSha}`;
  const side = (ref: string, sha: string): Record<string, unknown> => ({
    label: `${owner}:${ref}`,
    ref,
    sha,
    user: simpleUser(urls, owner, 'Organization'),
    repo: repository,
  });
  return {
    url: self,
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    issue_url: issue,
    number: pull.number,
    state: pull.state,
    locked: false,
    title: pull.title,
    user: simpleUser(urls, pull.user),
    body: pull.body,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    merged_at: pull.mergedAt,
    merge_commit_sha: facts.mergeCommitSha,
    assignee: null,
    assignees: [],
    requested_reviewers: pull.requestedReviewers.map((login) => simpleUser(urls, login)),
    requested_teams: facts.requestedTeams,
    labels: facts.labels.map((name) => label(urls, name)),
    milestone: null,
    draft: pull.draft,
    commits_url: `${self}/commits`,
    review_comments_url: `${self}/comments`,
    review_comment_url: `${urls.api}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    head: side(pull.headRef, pull.headSha),
    base: side(pull.baseRef, pull.baseSha),
    _links: {
      self: { href: self },
      html: { href: html },
      issue: { href: issue },
      comments: { href: `${issue}/comments` },
      review_comments: { href: `${self}/comments` },
      review_comment: { href: `${urls.api}/pulls/comments{/number}` },
      commits: { href: `${self}/commits` },
      statuses: { href: statuses },
    },
    author_association: association(owner, pull.user),
    auto_merge: pull.autoMerge
      ? {
          enabled_by: simpleUser(urls, pull.autoMerge.by),
          merge_method: pull.autoMerge.method,
          commit_title: pull.autoMerge.title,
          commit_message: pull.autoMerge.message,
        }
      : null,
    active_lock_reason: null,
  };
}

/** GitHub's `issue`, as which a pull request is shown as well: it alone says who closed it. */
export function issue(
  pull: PullRequest,
  facts: Pick<PullRequestFacts, 'urls' | 'owner' | 'labels'> & { readonly comments: number },
): Record<string, unknown> {
  const { urls, owner } = facts;
  const self = `${urls.api}/issues/${pull.number}`;
  const html = `${urls.html}/pull/${pull.number}`;
  return {
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    url: self,
    repository_url: urls.api,
    labels_url: `${self}/labels{/name}`,
    comments_url: `${self}/comments`,
    events_url: `${self}/events`,
    html_url: html,
    number: pull.number,
    state: pull.state,
    title: pull.title,
    body: pull.body,
    user: simpleUser(urls, pull.user),
    labels: facts.labels.map((name) => label(urls, name)),
    assignee: null,
    assignees: [],
    milestone: null,
    locked: false,
    active_lock_reason: null,
    comments: facts.comments,
    pull_request: {
      url: `${urls.api}/pulls/${pull.number}`,
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: pull.mergedAt,
    },
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.closedAt,
    closed_by: pull.closedBy === null ? null : simpleUser(urls, pull.closedBy),
    draft: pull.draft,
    author_association: association(owner, pull.user),
    reactions: noReactions(self),
    timeline_url: `${self}/timeline`,
  };
}

/** GitHub's `label`. */
export function label(urls: Urls, { id, name, color, description }: Label): Record<string, unknown> {
  return {
    id,
    node_id: nodeId('Label', id),
    url: `${urls.api}/labels/${encodeURIComponent(name)}`,
    name,
    color,
    default: false,
    description,
  };
}

/** GitHub's `issue-comment`. */
export function issueComment(urls: Urls, owner: string, comment: IssueComment): Record<string, unknown> {
  const url = `${urls.api}/issues/comments/${comment.id}`;
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url,
    html_url: `${urls.html}/pull/${comment.issue}#issuecomment-${comment.id}`,
    issue_url: `${urls.api}/issues/${comment.issue}`,
    body: comment.body,
    user: simpleUser(urls, comment.user),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: association(owner, comment.user),
    performed_via_github_app: null,
    reactions: noReactions(url),
  };
}

/** GitHub's `pull-request-review`. @param isDeleted whether its author has no account any more */
export function review(urls: Urls, owner: string, submitted: Review, isDeleted: boolean): Record<string, unknown> {
  const html = `${urls.html}/pull/${submitted.pull}#pullrequestreview-${submitted.id}`;
  const pull = `${urls.api}/pulls/${submitted.pull}`;
  return {
    id: submitted.id,
    node_id: nodeId('PullRequestReview', submitted.id),
    user: isDeleted ? null : simpleUser(urls, submitted.user),
    body: submitted.body,
    state: submitted.state,
    html_url: html,
    pull_request_url: pull,
    author_association: association(owner, submitted.user),
    _links: { html: { href: html }, pull_request: { href: pull } },
    submitted_at: submitted.submittedAt,
    commit_id: submitted.commitId,
  };
}

function noReactions(self: string): Record<string, unknown> {
  const none = { '+1': 0, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 };
  return { url: `${self}/reactions`, total_count: 0, ...none };
}

function association(owner: string, login: string): string {
  return login === owner ? 'OWNER' : 'COLLABORATOR';
}
