import type { CheckRun, CommitStatus, PullRequest } from '../model.ts';
import { idOf } from '../people.ts';
import { nodeId, type Urls } from './urls.ts';
import { simpleUser } from './user.ts';

export interface CheckFacts {
  readonly owner: string;
  readonly repo: string;
  readonly since: string;
  readonly pulls: readonly PullRequest[];
}

/** GitHub's `check-run`. */
export function checkRun(urls: Urls, run: CheckRun, facts: CheckFacts): Record<string, unknown> {
  const url = `${urls.api}/check-runs/${run.id}`;
  return {
    id: run.id,
    node_id: nodeId('CheckRun', run.id),
    name: run.name,
    head_sha: run.headSha,
    external_id: run.externalId,
    url,
    html_url: `${urls.html}/runs/${run.id}`,
    details_url: run.detailsUrl ?? `${urls.html}/runs/${run.id}`,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: 0,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: suiteId(run) },
    app: ciApp(urls, facts),
    pull_requests: pullsOf(urls, run, facts),
  };
}

/** GitHub's check suite as webhooks carry it: everything that CI says about one commit. */
export function checkSuite(urls: Urls, runs: readonly CheckRun[], facts: CheckFacts): Record<string, unknown> {
  const [first] = runs;
  if (!first) throw new Error('a check suite has at least one check run');
  const id = suiteId(first);
  const completed = runs.every(({ status }) => status === 'completed');
  return {
    id,
    node_id: nodeId('CheckSuite', id),
    head_branch: facts.pulls.find(({ headSha }) => headSha === first.headSha)?.headRef ?? null,
    head_sha: first.headSha,
    status: completed ? 'completed' : 'in_progress',
    conclusion: completed ? suiteConclusion(runs) : null,
    url: `${urls.api}/check-suites/${id}`,
    before: null,
    after: first.headSha,
    pull_requests: pullsOf(urls, first, facts),
    app: ciApp(urls, facts),
    created_at: first.startedAt,
    updated_at: runs
      .map(({ completedAt, startedAt }) => completedAt ?? startedAt)
      .sort()
      .at(-1),
  };
}

// The worst of its runs counts, in this order.
const WORST_FIRST = ['failure', 'timed_out', 'action_required', 'cancelled', 'success', 'neutral', 'skipped'] as const;

function suiteConclusion(runs: readonly CheckRun[]): string {
  return WORST_FIRST.find((candidate) => runs.some(({ conclusion }) => conclusion === candidate)) ?? 'neutral';
}

function suiteId({ headSha }: CheckRun): number {
  return idOf(`suite ${headSha}`);
}

function ciApp(urls: Urls, { owner, since }: CheckFacts): Record<string, unknown> {
  return {
    id: idOf('app ci'),
    slug: 'ci',
    node_id: nodeId('App', 'ci'),
    owner: simpleUser(urls, owner, 'Organization'),
    name: 'CI',
    description: 'The continuous integration of this forge',
    external_url: urls.root,
    html_url: `${urls.root}/apps/ci`,
    created_at: since,
    updated_at: since,
    permissions: { checks: 'write', contents: 'read', metadata: 'read' },
    events: ['check_run', 'check_suite'],
  };
}

function pullsOf(urls: Urls, { headSha }: CheckRun, { owner, repo, pulls }: CheckFacts): Record<string, unknown>[] {
  const repository = { id: idOf(`${owner}/${repo}`), url: urls.api, name: repo };
  return pulls
    .filter((pull) => pull.state === 'open' && pull.headSha === headSha)
    .map((pull) => ({
      id: pull.id,
      number: pull.number,
      url: `${urls.api}/pulls/${pull.number}`,
      head: { ref: pull.headRef, sha: pull.headSha, repo: repository },
      base: { ref: pull.baseRef, sha: pull.baseSha, repo: repository },
    }));
}

/** GitHub's `status`. */
export function commitStatus(urls: Urls, status: CommitStatus): Record<string, unknown> {
  return { ...simpleStatus(urls, status), creator: simpleUser(urls, status.creator) };
}

/** GitHub's `simple-commit-status`, as the combined status lists them. */
export function simpleStatus(urls: Urls, status: CommitStatus): Record<string, unknown> {
  return {
    id: status.id,
    node_id: nodeId('Status', status.id),
    url: `${urls.api}/statuses/${status.sha}`,
    avatar_url: `${urls.root}/avatars/${encodeURIComponent(status.creator)}`,
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.createdAt,
    updated_at: status.createdAt,
  };
}
