import { notFound } from '../api-error.ts';
import type { ForgeContext } from '../context.ts';
import { isoSeconds } from '../git/objects.ts';
import { paginate } from '../http/pagination.ts';
import { type Call, created, noContent, ok, REPOSITORY, type Route } from '../http/route.ts';
import type { IssueComment, Label, PullRequest } from '../model.ts';
import { issue, issueComment, label } from '../represent/pull-request.ts';

/** Comments and labels; every issue of this forge is a pull request. */
export const issueRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/issues/{issue_number}`,
    docs: 'issues/issues#get-an-issue',
    handle(call) {
      const { forge } = call;
      const pull = pullOf(call);
      const comments = forge.store.state.comments.filter((comment) => comment.issue === pull.number).length;
      return ok(issue(pull, { urls: forge.urls, owner: forge.owner, labels: labelsOf(forge, pull), comments }));
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
      const now = isoSeconds(new Date());
      const comment: IssueComment = {
        id: forge.store.nextId(),
        issue: pullOf(call).number,
        user,
        body: body.text('body'),
        createdAt: now,
        updatedAt: now,
      };
      forge.store.state.comments.push(comment);
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
        items.map((one) => label(call.forge.urls, one)),
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
        items.map((one) => label(call.forge.urls, one)),
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
      for (const name of call.body.texts('labels') ?? []) {
        if (!sameLabel(forge, name)) {
          forge.store.state.labels.push({ id: forge.store.nextId(), name, color: 'ededed', description: '' });
        }
        const known = sameLabel(forge, name)?.name ?? name;
        if (!pull.labels.includes(known)) pull.labels.push(known);
      }
      pull.updatedAt = isoSeconds(new Date());
      return ok(labelsOf(forge, pull).map((one) => label(forge.urls, one)));
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
      const known = sameLabel(forge, params['name'] ?? '');
      if (!known || !pull.labels.includes(known.name)) throw notFound();
      pull.labels.splice(pull.labels.indexOf(known.name), 1);
      return ok(labelsOf(forge, pull).map((one) => label(forge.urls, one)));
    },
  },
];

/** The labels of a pull request, whole. */
export function labelsOf(forge: ForgeContext, pull: PullRequest): Label[] {
  return pull.labels.flatMap((name) => sameLabel(forge, name) ?? []);
}

/** GitHub takes no notice of the case of a label's name. */
function sameLabel(forge: ForgeContext, name: string): Label | undefined {
  return forge.store.state.labels.find((one) => one.name.toLowerCase() === name.toLowerCase());
}

function pullOf({ forge, params }: Call): PullRequest {
  return forge.pulls.find(Number(params['issue_number']));
}

function commentOf({ forge, params }: Call): IssueComment {
  const found = forge.store.state.comments.find((comment) => String(comment.id) === params['comment_id']);
  if (!found) throw notFound();
  return found;
}
