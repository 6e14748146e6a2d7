import { ApiError, validationFailed } from '../api-error.ts';
import { paginate } from '../http/pagination.ts';
import { type Answer, type Call, created, ok, REPOSITORY, type Route } from '../http/route.ts';
import type { PullRequest } from '../model.ts';
import { fileChange, fullCommit } from '../represent/commit.ts';
import { fullPull as full, simplePull as simple } from '../pull-request-shown.ts';

/** Pull requests: their life, files and commits. */
export const pullRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/pulls`,
    docs: 'pulls/pulls#list-pull-requests',
    async handle(call) {
      const { forge } = call;
      const { items, headers } = paginate(call, await listed(call));
      return ok(
        items.map((pull) => simple(forge, pull)),
        headers,
      );
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/pulls`,
    docs: 'pulls/pulls#create-a-pull-request',
    async handle({ forge, body, user }) {
      const missing = ['head', 'base', 'title'].filter((field) => !body.optionalText(field));
      if (missing.length > 0) {
        throw validationFailed(
          ...missing.map((field) => ({ resource: 'PullRequest', code: 'missing_field' as const, field })),
        );
      }
      const pull = await forge.pulls.open({
        head: body.text('head'),
        base: body.text('base').replace(/^refs\/heads\//, ''),
        title: body.text('title'),
        body: body.optionalText('body') ?? null,
        draft: body.flag('draft') ?? false,
        user,
      });
      return created(await full(forge, pull));
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/pulls/{pull_number}`,
    docs: 'pulls/pulls#get-a-pull-request',
    async handle(call) {
      const { forge, format } = call;
      const pull = await pullOf(call);
      if (format === 'diff' || format === 'patch') {
        const text = await forge.git.diffText(pull.mergeBaseSha, pull.headSha);
        return { status: 200, body: text, contentType: `application/vnd.github.${format}; charset=utf-8` };
      }
      return ok(await full(forge, pull));
    },
  },
  {
    method: 'PATCH',
    path: `${REPOSITORY}/pulls/{pull_number}`,
    docs: 'pulls/pulls#update-a-pull-request',
    async handle(call) {
      const { forge, body, user } = call;
      const pull = await pullOf(call);
      const title = body.optionalText('title');
      const base = body.optionalText('base');
      const state = body.choice('state', ['open', 'closed']);
      if (title === '') throw validationFailed({ resource: 'PullRequest', code: 'missing_field', field: 'title' });
      await forge.pulls.edit(
        pull,
        {
          ...(title === undefined ? {} : { title }),
          ...(body.has('body') ? { body: body.optionalText('body') ?? null } : {}),
          ...(base === undefined ? {} : { base }),
          ...(state === undefined ? {} : { state }),
        },
        user,
      );
      return ok(await full(forge, pull));
    },
  },
  {
    method: 'PUT',
    path: `${REPOSITORY}/pulls/{pull_number}/merge`,
    docs: 'pulls/pulls#merge-a-pull-request',
    async handle({ forge, params, body, user }) {
      const pull = forge.pulls.find(Number(params['pull_number']));
      const method = body.choice('merge_method', ['merge', 'squash', 'rebase']);
      const sha = body.optionalText('sha');
      const title = body.optionalText('commit_title');
      const message = body.optionalText('commit_message');
      const merged = await forge.pulls.merge(pull, {
        by: user,
        ...(method === undefined ? {} : { method }),
        ...(sha === undefined ? {} : { sha }),
        ...(title === undefined ? {} : { title }),
        ...(message === undefined ? {} : { message }),
      });
      return ok({ sha: merged, merged: true, message: 'Pull Request successfully merged' });
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/pulls/{pull_number}/merge`,
    docs: 'pulls/pulls#check-if-a-pull-request-has-been-merged',
    async handle(call): Promise<Answer> {
      if ((await pullOf(call)).mergedAt) return { status: 204 };
      throw new ApiError(404, 'Not Found');
    },
  },
  {
    method: 'PUT',
    path: `${REPOSITORY}/pulls/{pull_number}/update-branch`,
    docs: 'pulls/pulls#update-a-pull-request-branch',
    async handle({ forge, params, body, user }) {
      const pull = forge.pulls.find(Number(params['pull_number']));
      const expected = body.optionalText('expected_head_sha');
      await forge.pulls.updateBranch(pull, { by: user, ...(expected === undefined ? {} : { expected }) });
      return {
        status: 202,
        body: { message: 'Updating pull request branch.', url: `${forge.urls.html}/pull/${pull.number}` },
      };
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/pulls/{pull_number}/files`,
    docs: 'pulls/pulls#list-pull-requests-files',
    async handle(call) {
      const { forge } = call;
      const pull = await pullOf(call);
      const { items, headers } = paginate(call, await forge.pulls.files(pull));
      return ok(
        items.map((file) => fileChange(forge.urls, pull.headSha, file)),
        headers,
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/pulls/{pull_number}/commits`,
    docs: 'pulls/pulls#list-commits-on-a-pull-request',
    async handle(call) {
      const { forge } = call;
      const { items, headers } = paginate(call, await forge.pulls.commits(await pullOf(call)));
      const commits = await Promise.all(items.map((sha) => forge.git.commit(sha)));
      return ok(
        commits.map((commit) => fullCommit(forge, commit)),
        headers,
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/commits/{commit_sha}/pulls`,
    docs: 'commits/commits#list-pull-requests-associated-with-a-commit',
    wide: ['commit_sha'],
    async handle(call) {
      const { forge, params } = call;
      const sha = await forge.git.commitSha(params['commit_sha'] ?? '');
      if (!sha) throw new ApiError(422, `No commit found for SHA: ${params['commit_sha']}`);
      const found: PullRequest[] = [];
      for (const pull of forge.store.state.pulls) {
        await forge.pulls.refresh(pull);
        const own =
          pull.headSha === sha || pull.mergeCommitSha === sha || (await forge.pulls.commits(pull)).includes(sha);
        if (own) found.push(pull);
      }
      const { items, headers } = paginate(call, found);
      return ok(
        items.map((pull) => simple(forge, pull)),
        headers,
      );
    },
  },
];

async function pullOf({ forge, params }: Call): Promise<PullRequest> {
  const pull = forge.pulls.find(Number(params['pull_number']));
  await forge.pulls.refresh(pull);
  return pull;
}

async function listed({ forge, query }: Call): Promise<PullRequest[]> {
  await Promise.all(forge.store.state.pulls.map((pull) => forge.pulls.refresh(pull)));
  const state = query.get('state') ?? 'open';
  const head = query.get('head');
  const base = query.get('base');
  const [owner = '', ref = ''] = head?.includes(':') ? splitOnce(head) : [];
  const sort = query.get('sort') ?? 'created';
  const ascending = (query.get('direction') ?? (sort === 'created' ? 'desc' : 'asc')) === 'asc';
  const found = forge.store.state.pulls.filter(
    (pull) =>
      (state === 'all' || pull.state === state) &&
      (base === null || pull.baseRef === base) &&
      // GitHub filters by head only when it carries the owner, and otherwise takes no notice of it.
      (ref === '' || (owner.toLowerCase() === forge.owner.toLowerCase() && pull.headRef === ref)),
  );
  const key = (pull: PullRequest): string => (sort === 'updated' ? pull.updatedAt : pull.createdAt);
  found.sort((a, b) => key(a).localeCompare(key(b)) || a.number - b.number);
  return ascending ? found : found.reverse();
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(':');
  return [text.slice(0, at), text.slice(at + 1)];
}
