import type { CheckRun, CommitStatus, PullRequest } from '../model.ts';
import { idOf } from '../people.ts';
import { nodeId, type Urls } from './urls.ts';
import { simpleUser } from './user.ts';

/** GitHub's `check-run`. */
export function checkRun(
  urls: Urls,
  run: CheckRun,
  { owner, repo, since, pulls }: { owner: string; repo: string; since: string; pulls: readonly PullRequest[] },
): Record<string, unknown> {
  const url = `${urls.api}/check-runs/${run.id}`;
  const repository = { id: idOf(`${owner}/${repo}`), url: urls.api, name: repo };
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
    check_suite: { id: idOf(`suite ${run.headSha}`) },
    app: {
      id: idOf('app ci'),
      slug: 'ci',
      node_id: nodeId('App', 'ci'),
      owner: simpleUser(urls.root, owner),
      name: 'CI',
      description: 'The continuous integration of this forge',
      external_url: urls.root,
      html_url: `${urls.root}/apps/ci`,
      created_at: since,
      updated_at: since,
      permissions: { checks: 'write', contents: 'read', metadata: 'read' },
      events: ['check_run', 'check_suite'],
    },
    pull_requests: pulls
      .filter((pull) => pull.state === 'open' && pull.headSha === run.headSha)
      .map((pull) => ({
        id: pull.id,
        number: pull.number,
        url: `${urls.api}/pulls/${pull.number}`,
        head: { ref: pull.headRef, sha: pull.headSha, repo: repository },
        base: { ref: pull.baseRef, sha: pull.baseSha, repo: repository },
      })),
  };
}

/** GitHub's `status`. */
export function commitStatus(urls: Urls, status: CommitStatus): Record<string, unknown> {
  return { ...simpleStatus(urls, status), creator: simpleUser(urls.root, status.creator) };
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
