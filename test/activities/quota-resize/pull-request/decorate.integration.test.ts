import { describe, expect, it } from 'vitest';
import type { PermitAsk } from '../../../../activities/forge/write-permits.ts';
import { failure } from '../../../../activities/kernel/failure.ts';
import { resolve } from '../../../domain/quota-resize/policy/policies.ts';
import {
  asAttempt,
  change,
  decide,
  ensureOpen,
  open,
  candidatesByQuota,
  policy,
  startGitOps,
  target,
} from '../gitops-fixture.ts';

const people = {
  collaborators: { 'headroom-bot': 'push', alice: 'push', bob: 'push' },
  teams: { 'quota-owners': { members: ['bob'] } },
} as const;

function reviewedBy(reviewers: string) {
  return resolve({ reviewers }, {}, { mode: 'propose' }).policy;
}

describe('reviewers of the annotation', () => {
  it('are asked once, people and teams, with one request', async () => {
    await using gitops = await startGitOps(undefined, people);
    const worker = gitops.worker({ baseBranch: 'main' });
    const input = { target, decision: decide(), policy: reviewedBy('alice, acme/quota-owners'), candidatesByQuota };
    await worker.activities.ensurePullRequest(input);
    // The last one is the first look at it.
    expect(gitops.forge.requests).toBe(6);
    expect(await worker.github.pullRequests.get(1)).toMatchObject({ requestedReviewers: ['alice', 'quota-owners'] });
    await asAttempt(2, () => gitops.worker().activities.ensurePullRequest(input));
    expect(gitops.effects().filter((effect) => effect.includes('requested_reviewers'))).toHaveLength(1);
  });

  it('are not asked again when they have answered and the record of the pull request was lost', async () => {
    await using gitops = await startGitOps(undefined, people);
    const input = { target, decision: decide(), policy: reviewedBy('alice, acme/quota-owners'), candidatesByQuota };
    await gitops.worker().activities.ensurePullRequest(input);
    await gitops.forge.requestChanges(1, 'alice');
    await gitops.forge.approveReview(1, 'bob');
    const worker = gitops.worker();
    expect(await worker.github.pullRequests.get(1)).toMatchObject({ requestedReviewers: [] });
    await asAttempt(2, () => worker.activities.ensurePullRequest(input));
    expect(gitops.effects().filter((effect) => effect.includes('requested_reviewers'))).toHaveLength(1);
    expect(await worker.github.pullRequests.get(1)).toMatchObject({ requestedReviewers: [] });
  });

  it('that nobody asked before the record was lost are asked then, and who answered unasked is not', async () => {
    await using gitops = await startGitOps(undefined, people);
    const decision = decide();
    await ensureOpen(gitops.worker(), decision);
    await gitops.forge.approveReview(1, 'bob');
    const again = { target, decision, policy: reviewedBy('alice, bob'), candidatesByQuota };
    await asAttempt(2, () => gitops.worker().activities.ensurePullRequest(again));
    expect(await gitops.worker().github.pullRequests.get(1)).toMatchObject({ requestedReviewers: ['alice'] });
  });

  it('that GitHub refuses are said in the log, and the others are asked all the same', async () => {
    await using gitops = await startGitOps(undefined, people);
    const worker = gitops.worker();
    const input = { target, decision: decide(), policy: reviewedBy('alice, nobody-here'), candidatesByQuota };
    expect(await worker.activities.ensurePullRequest(input)).toMatchObject({ kind: 'open' });
    expect(await worker.github.pullRequests.get(1)).toMatchObject({ requestedReviewers: ['alice'] });
    expect(worker.lines).toContainEqual(expect.objectContaining({ reviewer: 'nobody-here', number: 1 }));
  });
});

describe('labels', () => {
  it('are given by templates, with one request', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker({ baseBranch: 'main', templates: { labels: ['quota', 'cluster/{{cluster}}'] } });
    await open(worker);
    // The last one is the first look at it.
    expect(gitops.forge.requests).toBe(6);
    expect(await worker.github.pullRequests.get(1)).toMatchObject({ labels: ['quota', 'cluster/prod'] });
  });

  it('are given although the answer to the opening was lost', async () => {
    await using gitops = await startGitOps();
    const templates = { labels: ['quota'] };
    const decision = decide();
    const ensure = () => ensureOpen(gitops.worker({ templates }), decision);
    gitops.forge.fail({ path: '/graphql', body: 'createPullRequest', action: { kind: 'answer-lost' } });
    await expect(ensure()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    await asAttempt(2, ensure);
    expect(await gitops.worker().github.pullRequests.get(1)).toMatchObject({ labels: ['quota'] });
    await asAttempt(3, ensure);
    expect(gitops.effects().filter((effect) => effect.endsWith('/labels'))).toHaveLength(1);
  });
});

describe('the budget of writes', () => {
  /** Grants everything, and notes who asked for what. */
  function permits() {
    const asked: PermitAsk[] = [];
    return { asked, acquire: async (ask: PermitAsk) => void asked.push(ask), limited: () => Promise.resolve() };
  }

  it('is asked before every write, under a name of its own that the next attempt has too', async () => {
    await using gitops = await startGitOps();
    const budget = permits();
    const decision = decide();
    const ensure = () => ensureOpen(gitops.worker({ permits: budget, graphQl: 'off' }), decision);
    gitops.forge.fail({ method: 'POST', path: '/git/refs', action: { kind: 'status', status: 502 } });
    await expect(ensure()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    await asAttempt(2, ensure);
    expect(budget.asked.map(({ write }) => write)).toEqual([
      'create branch',
      'create branch',
      'commit file',
      'open pull request',
    ]);
    expect(budget.asked[0]).toEqual(budget.asked[1]);
    expect(new Set(budget.asked.map(({ id }) => id)).size).toBe(3);
    expect(budget.asked[0]).toMatchObject({ target: 'team-a/compute', cluster: 'prod', priority: 'threshold' });
    expect(budget.asked.every(({ id }) => id.startsWith(`${decision.id}/`))).toBe(true);
  });

  it('knows what people approved and what is missing from what is merely full', async () => {
    await using gitops = await startGitOps();
    const budget = permits();
    const missing = [{ ...change('requests.cpu', '2', '4'), demand: '1' }];
    await open(gitops.worker({ permits: budget }), decide(missing));
    await open(gitops.worker({ permits: budget }), decide(missing, { approvedBy: 'alice' }));
    expect(new Set(budget.asked.map(({ priority }) => priority))).toEqual(new Set(['demand', 'approved']));
  });

  it('that grants nothing lets nothing be written', async () => {
    await using gitops = await startGitOps();
    const acquire = () =>
      Promise.reject(failure({ type: 'WriteBudgetSpent', message: 'place 3 of 7', nextRetryDelayMs: 900 }));
    const { activities } = gitops.worker({ permits: { acquire, limited: () => Promise.resolve() } });
    await expect(
      activities.ensurePullRequest({ target, decision: decide(), policy, candidatesByQuota }),
    ).rejects.toMatchObject({
      type: 'WriteBudgetSpent',
    });
    expect(gitops.forge.writes).toEqual([]);
  });
});
