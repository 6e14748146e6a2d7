import { describe, expect, it } from 'vitest';
import { type GitOps, open, startGitOps, type Worker } from '../../quota-resize/gitops-fixture.ts';

const ACCOUNTS = {
  collaborators: {
    'headroom-bot': 'push',
    Alice: 'push',
    bob: 'maintain',
    carol: 'admin',
    reader: 'pull',
    sorter: 'triage',
  },
  teams: { platform: { members: ['dora'] } },
} as const;

interface Opened {
  readonly gitops: GitOps;
  readonly worker: Worker;
  readonly number: number;
  readonly headSha: string;
}

async function withPullRequest(test: (opened: Opened) => Promise<void>): Promise<void> {
  await using gitops = await startGitOps(undefined, ACCOUNTS);
  const worker = gitops.worker();
  const { number, headSha } = (await open(worker)).pullRequest;
  await test({ gitops, worker, number, headSha });
}

const namesOf = async ({ worker, number }: Opened): Promise<readonly string[]> =>
  (await worker.github.pullRequests.approvals(number)).map(({ by }) => by);

describe('the approvals of a pull request', () => {
  it('are those of people who may write, with the head that each has seen', async () => {
    await withPullRequest(async (opened) => {
      const { gitops, worker, number, headSha } = opened;
      const people = ['Alice', 'bob', 'carol', 'dora', 'reader', 'sorter', 'stranger', 'review-app[bot]'];
      for (const person of people) await gitops.forge.approveReview(number, person);
      const approvals = await worker.github.pullRequests.approvals(number);
      expect(approvals).toEqual(
        ['Alice', 'bob', 'carol', 'dora'].map((by) => ({ by, headSha, at: expect.any(Number) as number })),
      );
    });
  });

  it('end with a request for changes and with a dismissal, and not with a comment', async () => {
    await withPullRequest(async (opened) => {
      const { gitops, number } = opened;
      await gitops.forge.approveReview(number, 'Alice');
      await gitops.forge.reviewComment(number, 'Alice', 'And a word more.');
      expect(await namesOf(opened)).toEqual(['Alice']);
      await gitops.forge.requestChanges(number, 'Alice');
      expect(await namesOf(opened)).toEqual([]);
      await gitops.forge.dismissReview(number, 'Alice', 'bob');
      expect(await namesOf(opened), 'the approval before the dismissed request is not the last word').toEqual([]);
      await gitops.forge.approveReview(number, 'Alice');
      expect(await namesOf(opened)).toEqual(['Alice']);
      await gitops.forge.dismissReview(number, 'Alice', 'bob');
      expect(await namesOf(opened)).toEqual([]);
    });
  });

  it('are never the author’s', async () => {
    await using gitops = await startGitOps(undefined, { ...ACCOUNTS, login: 'Alice' });
    const worker = gitops.worker();
    const { number } = (await open(worker)).pullRequest;
    await expect(gitops.forge.approveReview(number, 'Alice')).rejects.toThrow('Unprocessable Entity');
    // The stand-in compares the case of logins, and GitHub does not.
    await gitops.forge.approveReview(number, 'alice');
    expect(await worker.github.pullRequests.approvals(number)).toEqual([]);
  });

  it('end when the person may no longer write', async () => {
    await withPullRequest(async (opened) => {
      const { gitops, number } = opened;
      await gitops.forge.approveReview(number, 'Alice');
      gitops.forge.setAccounts({ collaborators: { ...ACCOUNTS.collaborators, Alice: 'pull' } });
      expect(await namesOf(opened)).toEqual([]);
    });
  });

  it('keep the head that they were given for', async () => {
    await withPullRequest(async (opened) => {
      const { gitops, worker, number, headSha } = opened;
      await gitops.forge.approveReview(number, 'Alice');
      const { headRef } = await worker.github.pullRequests.get(number);
      const pushed = await gitops.forge.pushCommit({ branch: headRef, files: { 'README.md': 'more\n' } });
      await gitops.forge.approveReview(number, 'bob');
      expect(await worker.github.pullRequests.approvals(number)).toMatchObject([
        { by: 'Alice', headSha },
        { by: 'bob', headSha: pushed },
      ]);
    });
  });

  it('are read over all pages, and none counts when there are more reviews than are read', async () => {
    await withPullRequest(async (opened) => {
      const { gitops, number } = opened;
      await gitops.forge.approveReview(number, 'Alice');
      for (let comment = 0; comment < 100; comment += 1) await gitops.forge.reviewComment(number, 'reader', 'Bump.');
      await gitops.forge.requestChanges(number, 'Alice');
      await gitops.forge.approveReview(number, 'bob');
      expect(await namesOf(opened)).toEqual(['bob']);
      for (let comment = 0; comment < 900; comment += 1) await gitops.forge.reviewComment(number, 'reader', 'Bump.');
      expect(await namesOf(opened)).toEqual([]);
    });
  });
});
