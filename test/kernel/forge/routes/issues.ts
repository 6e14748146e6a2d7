import { notFound } from '../api-error.ts';
import { isoSeconds } from '../git/objects.ts';
import { paginate } from '../http/pagination.ts';
import { type Call, created, noContent, ok, REPOSITORY, type Route } from '../http/route.ts';
import type { IssueComment, PullRequest } from '../model.ts';
import { labelsOf, pullAsIssue, sameLabel } from '../pull-request-shown.ts';
import { issueEvent, stateEvents } from '../represent/issue-event.ts';
import { issueComment, label } from '../represent/pull-request.ts';

/** Comments and labels; every issue of this forge is a pull request. */
export const issueRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/issues/{issue_number}`,
    docs: 'issues/issues#get-an-issue',
    handle: (call) => ok(pullAsIssue(call.forge, pullOf(call))),
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/issues/{issue_number}/events`,
    docs: 'issues/events#list-issue-events',
    handle(call) {
      const { items, headers } = paginate(call, stateEvents(pullOf(call)));
      return ok(
        items.map((event) => issueEvent(call.forge.urls, event)),
        headers,
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/issues/{issue_number}/comments`,
    docs: 'issues/comments#list-issue-comments',
    handle(call) {
      const { number } = pullOf(call);
      const since = call.query.get('since') ?? '';
      const comments = call.forge.store.state.comments.filter(
        (comment) => comment.issue === number && comment.updatedAt >= since,
      );
      const { items, headers } = paginate(call, comments);
      return ok(
        items.map((comment) => issueComment(call.forge.urls, call.forge.owner, comment)),
        headers,
      );
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/issues/{issue_number}/comments`,
    docs: 'issues/comments#create-an-issue-comment',
    handle(call) {
      const { forge, body, user } = call;
      const pull = pullOf(call);
      const now = isoSeconds(new Date());
      const comment: IssueComment = {
        id: forge.store.nextId(),
        issue: pull.number,
        user,
        body: body.text('body'),
        createdAt: now,
        updatedAt: now,
      };
      forge.pulls.comment(pull, comment);
      return created(issueComment(forge.urls, forge.owner, comment));
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/issues/comments/{comment_id}`,
    docs: 'issues/comments#get-an-issue-comment',
    handle: (call) => ok(issueComment(call.forge.urls, call.forge.owner, commentOf(call))),
  },
  {
    method: 'PATCH',
    path: `${REPOSITORY}/issues/comments/{comment_id}`,
    docs: 'issues/comments#update-an-issue-comment',
    handle(call) {
      const comment = commentOf(call);
      comment.body = call.body.text('body');
      comment.updatedAt = isoSeconds(new Date());
      return ok(issueComment(call.forge.urls, call.forge.owner, comment));
    },
  },
  {
    method: 'DELETE',
    path: `${REPOSITORY}/issues/comments/{comment_id}`,
    docs: 'issues/comments#delete-an-issue-comment',
    handle(call) {
      const { comments } = call.forge.store.state;
      comments.splice(comments.indexOf(commentOf(call)), 1);
      return noContent();
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/labels`,
    docs: 'issues/labels#list-labels-for-a-repository',
    handle(call) {
      const { items, headers } = paginate(call, call.forge.store.state.labels);
      return ok(
        items.map((item) => label(call.forge.urls, item)),
        headers,
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/issues/{issue_number}/labels`,
    docs: 'issues/labels#list-labels-for-an-issue',
    handle(call) {
      const { items, headers } = paginate(call, labelsOf(call.forge, pullOf(call)));
      return ok(
        items.map((item) => label(call.forge.urls, item)),
        headers,
      );
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/issues/{issue_number}/labels`,
    docs: 'issues/labels#add-labels-to-an-issue',
    handle(call) {
      const { forge } = call;
      const pull = pullOf(call);
      for (const name of call.body.texts('labels') ?? []) forge.pulls.label(pull, name, true, call.user);
      return ok(labelsOf(forge, pull).map((item) => label(forge.urls, item)));
    },
  },
  {
    method: 'DELETE',
    path: `${REPOSITORY}/issues/{issue_number}/labels/{name}`,
    docs: 'issues/labels#remove-a-label-from-an-issue',
    wide: ['name'],
    handle(call) {
      const { forge, params } = call;
      const pull = pullOf(call);
      const existing = sameLabel(forge, params['name'] ?? '');
      if (!existing || !pull.labels.includes(existing.name)) throw notFound();
      forge.pulls.label(pull, existing.name, false, call.user);
      return ok(labelsOf(forge, pull).map((item) => label(forge.urls, item)));
    },
  },
];

function pullOf({ forge, params }: Call): PullRequest {
  return forge.pulls.find(Number(params['issue_number']));
}

function commentOf({ forge, params }: Call): IssueComment {
  const found = forge.store.state.comments.find((comment) => String(comment.id) === params['comment_id']);
  if (!found) throw notFound();
  return found;
}
