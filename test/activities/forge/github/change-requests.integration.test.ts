/** Who requests changes of a pull request, as GraphQL tells it with everything else, and as REST does. */
import { describe, expect, it } from 'vitest';
import type { ChangeRequests } from '../../../../domain/kernel/forge.ts';
import type { ForgeOptions } from '../../../kernel/forge/forge.ts';
import { type GitOps, open, startGitOps, type Worker } from '../../quota-resize/gitops-fixture.ts';

const ACCOUNTS = {
  collaborators: { 'headroom-bot': 'push', Alice: 'push', bob: 'maintain', reader: 'pull', sorter: 'triage' },
  teams: { platform: { members: ['dora'] } },
} as const;

interface Opened {
  readonly gitops: GitOps;
  readonly worker: Worker;
  readonly number: number;
  readonly headSha: string;
  /** Asked anew. */
  readonly requests: () => Promise<ChangeRequests>;
  readonly names: () => Promise<readonly string[]>;
}

async function withPullRequest(
  graphQl: 'auto' | 'off',
  test: (opened: Opened) => Promise<void>,
  accounts: Partial<ForgeOptions> = ACCOUNTS,
): Promise<void> {
  await using gitops = await startGitOps(undefined, accounts);
  const worker = gitops.worker({ graphQl });
  const { number, headSha } = (await open(worker)).pullRequest;
  const requests = async () => await (await worker.github.pullRequests.state(number)).changeRequests();
  const names = async () => {
    const found = await requests();
    return found === 'unread' ? [found] : found.map(({ by }) => by).toSorted();
  };
  await test({ gitops, worker, number, headSha, requests, names });
}

describe.each(['auto', 'off'] as const)('with GraphQL %s, the requests for changes', (graphQl) => {
  it('are those of people who may write, and of apps, with the head that each has seen', async () => {
    await withPullRequest(graphQl, async ({ gitops, number, headSha, requests, names }) => {
      expect(await requests()).toEqual([]);
      const people = ['Alice', 'bob', 'dora', 'reader', 'sorter', 'stranger', 'review-app[bot]'];
      for (const person of people) await gitops.forge.requestChanges(number, person);
      expect(await names()).toEqual(['Alice', 'bob', 'dora', 'review-app[bot]']);
      expect(await requests()).toContainEqual({ by: 'bob', headSha, at: expect.any(Number) as number });
    });
  });

  it('end with an approval of the same account and with a dismissal, and with nothing else', async () => {
    await withPullRequest(graphQl, async ({ gitops, worker, number, headSha, requests, names }) => {
      const { forge } = gitops;
      await forge.approveReview(number, 'Alice');
      await forge.requestChanges(number, 'Alice');
      await forge.requestChanges(number, 'bob');
      await forge.reviewComment(number, 'Alice', 'And a word more.');
      await forge.approveReview(number, 'dora');
      const { headRef } = await worker.github.pullRequests.get(number);
      await forge.pushCommit({ branch: headRef, files: { 'README.md': 'more\n' } });
      expect(await names()).toEqual(['Alice', 'bob']);
      expect(await requests(), 'of the head before').toMatchObject([{ headSha }, { headSha }]);
      await forge.approveReview(number, 'Alice');
      expect(await names()).toEqual(['bob']);
      await forge.dismissReview(number, 'bob', 'Alice');
      expect(await names()).toEqual([]);
      await forge.dismissReview(number, 'Alice', 'bob');
      expect(await names(), 'an approval is dismissed, and not what it ended').toEqual([]);
      await forge.requestChanges(number, 'bob');
      expect(await names()).toEqual(['bob']);
    });
  });

  it('end when the person may no longer write, and with the account', async () => {
    await withPullRequest(graphQl, async ({ gitops, number, names }) => {
      await gitops.forge.requestChanges(number, 'Alice');
      await gitops.forge.requestChanges(number, 'bob');
      gitops.forge.setAccounts({ collaborators: { ...ACCOUNTS.collaborators, Alice: 'pull' } });
      expect(await names()).toEqual(['bob']);
      gitops.forge.deleteAccount('bob');
      expect(await names()).toEqual([]);
    });
  });

  it('of a person do not end because an app of that name approves', async () => {
    await withPullRequest(graphQl, async ({ gitops, number, names }) => {
      await gitops.forge.requestChanges(number, 'bob');
      await gitops.forge.approveReview(number, 'bob[bot]');
      expect(await names()).toEqual(['bob']);
    });
  });

  it('do not come from a review that is still being written', async () => {
    const tokens = { 'token-of-bob': 'bob' };
    await withPullRequest(
      graphQl,
      async ({ gitops, number, names }) => {
        const { apiUrl } = gitops.forge;
        const post = async (path: string, body: object): Promise<{ id: number }> => {
          const answer = await fetch(`${apiUrl}/repos/acme/gitops/pulls/${number}/reviews${path}`, {
            method: 'POST',
            headers: { authorization: 'Bearer token-of-bob' },
            body: JSON.stringify(body),
          });
          return (await answer.json()) as { id: number };
        };
        const { id } = await post('', { body: 'One moment' });
        expect(await names()).toEqual([]);
        await post(`/${id}/events`, { event: 'REQUEST_CHANGES', body: 'No.' });
        expect(await names()).toEqual(['bob']);
      },
      { ...ACCOUNTS, tokens },
    );
  });

  it('are not lost among a hundred reviews of others', async () => {
    await withPullRequest(graphQl, async ({ gitops, number, names }) => {
      await gitops.forge.requestChanges(number, 'bob');
      for (let index = 0; index < 100; index += 1) await gitops.forge.approveReview(number, `stranger-${index}`);
      await gitops.forge.requestChanges(number, 'Alice');
      expect(await names()).toEqual(['Alice', 'bob']);
    });
  });
});

describe('more reviews than are read', () => {
  it('hold a merge where only REST is asked, and not where GraphQL tells each account’s last word', async () => {
    await withPullRequest('auto', async ({ gitops, worker, number, names }) => {
      await gitops.forge.requestChanges(number, 'bob');
      for (let index = 0; index < 1000; index += 1) await gitops.forge.reviewComment(number, 'reader', 'Bump.');
      expect(await names()).toEqual(['bob']);
      expect(await worker.github.pullRequests.changeRequests(number)).toBe('unread');
      await gitops.forge.approveReview(number, 'bob');
      expect(await names()).toEqual([]);
      expect(await worker.github.pullRequests.changeRequests(number)).toBe('unread');
    });
  });
});

describe.each([
  ['auto', true],
  // GitHub tells only administrators of a repository that a branch protection asks for reviews.
  ['off', false],
] as const)('with GraphQL %s, a branch', (graphQl, showsReviewsOfProtection) => {
  it('is protected where a review or a check is required, and by nothing else', async () => {
    await withPullRequest(graphQl, async ({ gitops, worker, number }) => {
      for (const [as, wanted, counts] of [
        ['protection', { requiredReviews: 1 }, showsReviewsOfProtection],
        ['protection', { requiredChecks: ['ci'] }, true],
        ['protection', {}, false],
        ['ruleset', { requiredReviews: 1 }, true],
        ['ruleset', { requiredChecks: ['ci'] }, true],
        ['ruleset', { requireCodeOwnerReviews: true }, false],
        ['ruleset', {}, false],
      ] as const) {
        await gitops.forge.protectBranch('main', { ...wanted, as });
        const { isProtected } = await (await worker.github.pullRequests.state(number)).rules();
        expect(isProtected, `a ${as} with ${JSON.stringify(wanted)}`).toBe(counts);
      }
    });
  });
});
