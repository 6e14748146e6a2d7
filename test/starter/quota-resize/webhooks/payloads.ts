/** Webhooks as GitHub sends them, as much of them as anybody reads, and Leases that name the pull requests they mean. */
import { Webhooks } from '@octokit/webhooks';
import { type LeaseObject, quotaLeaseLabels, withMemory } from '../../../../domain/quota-resize/model/lease.ts';
import type { Decision, PullRequestRef } from '../../../../domain/quota-resize/model/decision.ts';

export const SECRET = 'It is a secret to everybody';
export const NOW = Date.parse('2026-11-20T12:00:00Z');
export const HEAD = 'a'.repeat(40);

const repository = { id: 1, full_name: 'acme/gitops', pushed_at: '2026-11-20T11:00:00Z' };
const AT = '2026-11-20T11:59:58Z';

export const payloads = {
  pull_request: (number = 7, at = AT) => ({
    action: 'synchronize',
    number,
    pull_request: { number, updated_at: at, head: { ref: `headroom/team-a/${number}`, sha: HEAD } },
    repository,
  }),
  pull_request_review: (number = 7) => ({
    action: 'submitted',
    review: { submitted_at: AT, state: 'approved' },
    pull_request: { number, updated_at: '2026-11-20T08:00:00Z', head: { ref: 'x', sha: 'b'.repeat(40) } },
    repository,
  }),
  issue_comment: (number = 7, onPull = true) => ({
    action: 'created',
    issue: { number, updated_at: AT, ...(onPull ? { pull_request: { url: 'x' } } : {}) },
    comment: { updated_at: AT },
    repository,
  }),
  check_run: (overrides: object = {}) => ({
    action: 'completed',
    check_run: {
      head_sha: HEAD,
      started_at: '2026-11-20T09:00:00Z',
      completed_at: AT,
      pull_requests: [],
      check_suite: { head_branch: null },
      ...overrides,
    },
    repository,
  }),
  check_suite: (overrides: object = {}) => ({
    action: 'completed',
    check_suite: { head_sha: HEAD, head_branch: 'main', updated_at: AT, pull_requests: [], ...overrides },
    repository,
  }),
  status: (branches: readonly string[] = []) => ({
    sha: HEAD,
    state: 'success',
    updated_at: AT,
    branches: branches.map((name) => ({ name })),
    repository,
  }),
  push: (branch = 'main', changed: readonly string[] = []) => ({
    ref: `refs/heads/${branch}`,
    commits: changed.map((path) => ({ added: [], removed: [], modified: [path] })),
    // GitHub writes seconds in this event alone.
    repository: { ...repository, pushed_at: Date.parse(AT) / 1000 },
  }),
} as const;

/** A request as GitHub would send it. */
export async function signed(event: string, payload: unknown, options: { secret?: string; id?: string } = {}) {
  const { secret = SECRET, id = crypto.randomUUID() } = options;
  const text = JSON.stringify(payload);
  const signature = await new Webhooks({ secret }).sign(text);
  return { event, id, signature, ...bodyOf(Buffer.from(text)) };
}

/** A body as it comes in: in chunks. */
export function bodyOf(bytes: Buffer): { readonly length: number; readonly body: readonly Buffer[] } {
  const middle = Math.floor(bytes.length / 2);
  return { length: bytes.length, body: [bytes.subarray(0, middle), bytes.subarray(middle)] };
}

/** The Lease of a quota whose decision has a pull request. */
export function lease(
  quota: string,
  pullRequest: Partial<PullRequestRef> | null = {},
  overrides: { holder?: string | null; merge?: Decision['merge'] } = {},
): LeaseObject {
  const target = { cluster: 'prod', namespace: 'team-a', quota };
  const { holder = 'headroom/0000abcd', merge = null } = overrides;
  const decision: Decision = {
    id: '0000abcd',
    quotaUid: 'uid',
    decidedAt: NOW,
    changes: [],
    evidence: [],
    demandByMessage: false,
    approvalRequirement: null,
    merge,
    pullRequest:
      pullRequest === null
        ? null
        : {
            number: 7,
            url: 'https://github.com/acme/gitops/pull/7',
            repository: 'acme/gitops',
            branch: 'headroom/team-a/7',
            base: 'main',
            path: 'quota.yaml',
            headSha: HEAD,
            openedAt: NOW,
            pushedAt: NOW,
            ...pullRequest,
          },
  };
  const memory = { lastModified: null, lastRecommendation: null, rejections: [], raises: [], decision };
  return {
    metadata: {
      name: `state-team-a-${quota}`,
      labels: quotaLeaseLabels,
      annotations: withMemory({}, target, memory),
    },
    spec: holder === null ? {} : { holderIdentity: holder },
  };
}
