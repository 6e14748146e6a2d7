/** Credentials change: what Headroom does under another account than it opened a pull request with is its own all the same. */
import { describe, expect, it } from 'vitest';
import { createPullRequestEnds } from '../../../../activities/quota-resize/pull-request/pull-request-ends.ts';
import type { PullRequestObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { type GitOps, open, PATH, startGitOps, target, type Worker } from '../gitops-fixture.ts';

const NOW = 'headroom-app';

async function started(): Promise<GitOps> {
  return await startGitOps(undefined, {
    tokens: { 'second-token': NOW },
    collaborators: { [NOW]: 'push', alice: 'push' },
  });
}

/** What workers with the account that opened a pull request, and with another one, see of it. */
async function seen(
  gitops: GitOps,
  see: (worker: Worker) => Promise<unknown>,
): Promise<Readonly<Record<'opener' | 'now', unknown>>> {
  return {
    opener: await see(gitops.worker({ token: () => 'first-token' })),
    now: await see(gitops.worker({ token: () => 'second-token' })),
  };
}

describe('the account that Headroom has now', () => {
  it('merges as Headroom does', async () => {
    await using gitops = await started();
    const decision = await open(gitops.worker());
    const { repository, number } = decision.pullRequest;
    await gitops.forge.mergePullRequest(number, NOW);
    const merge = ({ merge: found }: Pick<PullRequestObservation, 'merge'>) => found?.isOwn;
    const observed = async ({ activities }: Worker) => merge(await activities.observePullRequest({ target, decision }));
    expect(await seen(gitops, observed)).toEqual({ opener: false, now: true });
    const ended = async ({ repositories }: Worker) =>
      await createPullRequestEnds(repositories).endOf({ repository, number });
    expect(await seen(gitops, ended)).toMatchObject({ opener: { isOwn: false }, now: { isOwn: true } });
  });

  it('is the same whether its name is written in capitals or not', async () => {
    await using gitops = await started();
    const decision = await open(gitops.worker());
    await gitops.forge.mergePullRequest(decision.pullRequest.number, NOW.toUpperCase());
    const observed = async ({ activities }: Worker) =>
      (await activities.observePullRequest({ target, decision })).merge?.isOwn;
    expect(await seen(gitops, observed)).toEqual({ opener: false, now: true });
  });

  it('closes as Headroom does, for a decision that joined', async () => {
    await using gitops = await started();
    const decision = await open(gitops.worker());
    const { pullRequest } = decision;
    await gitops.forge.closePullRequest(pullRequest.number, NOW);
    const joinedTo = { namespace: 'team-z', quota: 'compute', decision: 'ffffffff' };
    const joined = { ...decision, pullRequest: { ...pullRequest, joinedTo } };
    const observed = async ({ activities }: Worker) =>
      (await activities.observePullRequest({ target, decision: joined })).isClosedByOwn;
    expect(await seen(gitops, observed)).toEqual({ opener: undefined, now: true });
  });

  it('approves nothing as a person would', async () => {
    await using gitops = await started();
    const decision = await open(gitops.worker());
    for (const by of [NOW, 'alice']) await gitops.forge.approveReview(decision.pullRequest.number, by);
    const asking = {
      ...decision,
      approvalRequirement: { reason: 'ApprovalRequired', message: 'the policy asks' },
    } as const;
    const observed = async ({ activities }: Worker) =>
      (await activities.observePullRequest({ target, decision: asking })).approvals?.map(({ by }) => by);
    expect(await seen(gitops, observed)).toEqual({ opener: [NOW, 'alice'], now: ['alice'] });
  });

  it('commits as Headroom does', async () => {
    await using gitops = await started();
    const worker = gitops.worker();
    const decision = await open(worker);
    const { branch, headSha } = decision.pullRequest;
    const { message } = await worker.github.branches.commit(headSha);
    const decided = (await gitops.forge.readFile(branch, PATH)) ?? '';
    await gitops.forge.pushCommit({ branch, files: { [PATH]: decided }, message, author: NOW, force: true });
    const observed = async ({ activities }: Worker) =>
      (await activities.observePullRequest({ target, decision })).headIsOurs;
    expect(await seen(gitops, observed)).toEqual({ opener: false, now: true });
  });
});
