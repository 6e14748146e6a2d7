import { ApiError, notFound, validationFailed } from '../api-error.ts';
import { finishRun } from '../checks.ts';
import { type ForgeContext, thisRepository } from '../context.ts';
import type { CheckConclusion, CheckRun } from '../model.ts';
import type { Body } from '../http/body.ts';
import { paginate } from '../http/pagination.ts';
import { created, ok, REPOSITORY, type Route } from '../http/route.ts';
import { checkRun, commitStatus, simpleStatus } from '../represent/check.ts';
import { commitOf } from './commits.ts';

const CONCLUSIONS = [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
] as const satisfies readonly CheckConclusion[];

/** Check runs and commit statuses. */
export const checkRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/commits/{ref}/check-runs`,
    docs: 'checks/runs#list-check-runs-for-a-git-reference',
    wide: ['ref'],
    async handle(call) {
      const { forge, params, query } = call;
      const sha = await commitOf(forge, params['ref'] ?? '');
      const name = query.get('check_name');
      const status = query.get('status');
      const runs =
        query.get('filter') === 'all'
          ? forge.store.state.checkRuns.filter((run) => run.headSha === sha)
          : forge.checks.latestRuns(sha);
      const wanted = runs.filter((run) => (!name || run.name === name) && (!status || run.status === status));
      const { items, headers } = paginate(call, wanted);
      return ok({ total_count: wanted.length, check_runs: items.map((run) => shown(forge, run)) }, headers);
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/check-runs`,
    docs: 'checks/runs#create-a-check-run',
    async handle({ forge, body, user }) {
      const name = body.text('name');
      const headSha = await commitOf(forge, body.text('head_sha'));
      const run = forge.checks.addRun({ name, headSha });
      applyTo(run, body);
      forge.checks.reported(run, 'new', user);
      return created(shown(forge, run));
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/check-runs/{check_run_id}`,
    docs: 'checks/runs#get-a-check-run',
    handle: ({ forge, params }) => ok(shown(forge, runOf(forge, params['check_run_id']))),
  },
  {
    method: 'PATCH',
    path: `${REPOSITORY}/check-runs/{check_run_id}`,
    docs: 'checks/runs#update-a-check-run',
    handle({ forge, params, body, user }) {
      const run = runOf(forge, params['check_run_id']);
      const { status } = run;
      applyTo(run, body);
      forge.checks.reported(run, status, user);
      return ok(shown(forge, run));
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/commits/{ref}/status`,
    docs: 'commits/statuses#get-the-combined-status-for-a-specific-reference',
    wide: ['ref'],
    async handle(call) {
      const { forge, params } = call;
      const sha = await forge.git.commitSha(params['ref'] ?? '');
      if (!sha) throw notFound();
      const latest = forge.checks.latestStatuses(sha);
      const states = latest.map(({ state }) => state);
      const failed = states.includes('failure') || states.includes('error');
      const { items, headers } = paginate(call, latest);
      const passed = states.length > 0 && states.every((state) => state === 'success');
      return ok(
        {
          state: failed ? 'failure' : passed ? 'success' : 'pending',
          statuses: items.map((status) => simpleStatus(forge.urls, status)),
          sha,
          total_count: latest.length,
          repository: thisRepository(forge),
          commit_url: `${forge.urls.api}/commits/${sha}`,
          url: `${forge.urls.api}/commits/${sha}/status`,
        },
        headers,
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/commits/{ref}/statuses`,
    docs: 'commits/statuses#list-commit-statuses-for-a-reference',
    wide: ['ref'],
    async handle(call) {
      const { forge, params } = call;
      const sha = await forge.git.commitSha(params['ref'] ?? '');
      if (!sha) throw notFound();
      const newestFirst = forge.store.state.statuses.filter((status) => status.sha === sha).reverse();
      const { items, headers } = paginate(call, newestFirst);
      return ok(
        items.map((status) => commitStatus(forge.urls, status)),
        headers,
      );
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/statuses/{sha}`,
    docs: 'commits/statuses#create-a-commit-status',
    async handle({ forge, params, body, user }) {
      const sha = params['sha'] ?? '';
      if (!/^[0-9a-f]{40}$/.test(sha)) throw new ApiError(422, 'Sha must be a 40 character SHA1');
      const state = body.choice('state', ['error', 'failure', 'pending', 'success']);
      if (!state) throw validationFailed({ resource: 'Status', code: 'missing_field', field: 'state' });
      const status = forge.checks.addStatus({
        sha: await commitOf(forge, sha),
        state,
        context: body.optionalText('context') ?? 'default',
        description: body.optionalText('description') ?? null,
        targetUrl: body.optionalText('target_url') ?? null,
        creator: user,
      });
      return created(commitStatus(forge.urls, status));
    },
  },
];

function runOf(forge: ForgeContext, id: string | undefined): CheckRun {
  const found = forge.store.state.checkRuns.find((run) => String(run.id) === id);
  if (!found) throw notFound();
  return found;
}

function shown(forge: ForgeContext, run: CheckRun): Record<string, unknown> {
  const { owner, repo, store } = forge;
  return checkRun(forge.urls, run, { owner, repo, since: store.state.createdAt, pulls: store.state.pulls });
}

/** What creating and updating a check run have in common. A conclusion completes it. */
function applyTo(run: CheckRun, body: Body): void {
  const status = body.choice('status', ['queued', 'in_progress', 'completed', 'waiting', 'requested', 'pending']);
  const conclusion = body.choice('conclusion', CONCLUSIONS);
  if (status === 'completed' && !conclusion) {
    throw validationFailed({ resource: 'CheckRun', code: 'missing_field', field: 'conclusion' });
  }
  const output = body.object('output');
  const externalId = body.optionalText('external_id');
  Object.assign(run, {
    ...(externalId === undefined ? {} : { externalId }),
    detailsUrl: body.optionalText('details_url') ?? run.detailsUrl,
    startedAt: body.optionalText('started_at') ?? run.startedAt,
    ...(output
      ? {
          title: output.text('title'),
          summary: output.text('summary'),
          text: output.optionalText('text') ?? null,
        }
      : {}),
  });
  if (conclusion) {
    finishRun(run, conclusion);
    run.completedAt = body.optionalText('completed_at') ?? run.completedAt;
  } else if (status) {
    Object.assign(run, { status, conclusion: null, completedAt: null });
  }
}
