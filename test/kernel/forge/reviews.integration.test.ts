import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';

const TOKENS = { alices: 'alice', bobs: 'bob' };
const ACCOUNTS = {
  collaborators: { 'headroom-bot': 'push', alice: 'push', bob: 'push', reader: 'pull' },
  teams: { platform: { members: ['alice', 'carol'] } },
} as const;

const CODEOWNERS = '*.yaml @acme/platform\n/managed/ @bob\n/free.yaml\n';
const FILES = { 'quota.yaml': 'cpu: 1\n', 'managed/a.yaml': '1\n', 'free.yaml': '1\n' };

let fresh: FreshForge;
afterEach(() => fresh.stop());

const start = async (files: Record<string, string> = FILES): Promise<void> => {
  fresh = await startFreshForge(files, { ...ACCOUNTS, token: 'ours', tokens: TOKENS, mergeableDelayMs: 0 });
};
const open = (branch: string, path: string) => openPullRequest(fresh, { branch, path, content: `${branch}\n` });
const state = async (number: number): Promise<string> =>
  (await fresh.client.pulls.get({ ...fresh.at, pull_number: number })).data.mergeable_state;
const requested = async (number: number): Promise<{ users: string[]; teams: string[] }> => {
  const { data } = await fresh.client.pulls.listRequestedReviewers({ ...fresh.at, pull_number: number });
  return { users: data.users.map(({ login }) => login), teams: data.teams.map(({ slug }) => slug) };
};

describe('reviewers', () => {
  beforeEach(() => start());

  it('are people and teams with access; anybody else is refused with 422', async () => {
    const { client, at } = fresh;
    const { number } = await open('one', 'quota.yaml');
    const pull = { ...at, pull_number: number };
    await client.pulls.requestReviewers({ ...pull, reviewers: ['alice', 'reader'], team_reviewers: ['platform'] });
    expect(await requested(number)).toEqual({ users: ['alice', 'reader'], teams: ['platform'] });
    for (const wrong of [{ reviewers: ['stranger'] }, { team_reviewers: ['nobodies'] }]) {
      expect(await refusal(client.pulls.requestReviewers({ ...pull, ...wrong }))).toMatchObject({
        status: 422,
        message: expect.stringContaining('is not a collaborator of the acme/gitops repository.') as string,
      });
    }
    expect(await refusal(client.pulls.requestReviewers({ ...pull, reviewers: ['headroom-bot'] }))).toMatchObject({
      status: 422,
      message: 'Review cannot be requested from pull request author.',
    });
    await client.pulls.removeRequestedReviewers({ ...pull, reviewers: ['reader'] });
    expect((await requested(number)).users).toEqual(['alice']);
  });

  it('are no longer asked once they, or one of their team, have reviewed', async () => {
    const { forge } = fresh;
    const { number } = await open('one', 'quota.yaml');
    await forge.requestReview(number, { users: ['bob'], teams: ['platform'] }, 'headroom-bot');
    await forge.reviewComment(number, 'carol', 'Looks fine, waiting for the numbers.');
    expect(await requested(number)).toEqual({ users: ['bob'], teams: [] });
    await forge.approveReview(number, 'bob');
    expect(await requested(number)).toEqual({ users: [], teams: [] });
  });
});

describe('a review', () => {
  beforeEach(() => start());

  it('of the author is neither an approval nor a request for changes', async () => {
    const { client, at, forge } = fresh;
    const { number } = await open('one', 'quota.yaml');
    const own = { ...at, pull_number: number, body: 'Fine.' };
    expect(await refusal(client.pulls.createReview({ ...own, event: 'APPROVE' }))).toMatchObject({
      status: 422,
      errors: ['Can not approve your own pull request'],
    });
    await expect(forge.approveReview(number, 'headroom-bot')).rejects.toThrow('Unprocessable Entity');
    expect((await client.pulls.createReview({ ...own, event: 'COMMENT' })).data.state).toBe('COMMENTED');
  });

  it('counts when its author may write, until it is dismissed', async () => {
    const { client, at, forge } = fresh;
    await forge.protectBranch('main', { requiredReviews: 1 });
    const { number } = await open('one', 'quota.yaml');
    await forge.approveReview(number, 'reader');
    expect(await state(number)).toBe('blocked');
    const review_id = await forge.approveReview(number, 'alice');
    expect(await state(number)).toBe('clean');
    const dismissed = await client.pulls.dismissReview({ ...at, pull_number: number, review_id, message: 'Too early' });
    expect(dismissed.data.state).toBe('DISMISSED');
    expect(await state(number)).toBe('blocked');
    const again = client.pulls.dismissReview({ ...at, pull_number: number, review_id, message: 'Again' });
    expect(await refusal(again)).toMatchObject({ status: 422 });
  });

  it('that is pending is its author’s alone until it is submitted', async () => {
    const { forge, at } = fresh;
    const { number } = await open('one', 'quota.yaml');
    const ask = async (method: string, path: string, token: string, body?: object): Promise<unknown> => {
      const answer = await fetch(`${forge.apiUrl}/repos/${at.owner}/${at.repo}/pulls/${number}/reviews${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return answer.json();
    };
    const { id } = (await ask('POST', '', 'alices', { body: 'One moment' })) as { id: number };
    expect(await ask('GET', '', 'bobs')).toEqual([]);
    expect(await ask('GET', '', 'alices')).toMatchObject([{ state: 'PENDING' }]);
    await ask('POST', `/${id}/events`, 'alices', { event: 'APPROVE' });
    expect(await ask('GET', '', 'bobs')).toMatchObject([{ state: 'APPROVED', body: 'One moment' }]);
  });

  it('is dismissed by a push that changes the diff, where the branch wants fresh ones', async () => {
    const { client, at, forge } = fresh;
    await forge.protectBranch('main', { requiredReviews: 1, dismissStaleReviews: true });
    const { number } = await open('one', 'quota.yaml');
    await forge.approveReview(number, 'alice');
    await forge.pushCommit({ files: { 'free.yaml': '2\n' } });
    await client.pulls.updateBranch({ ...at, pull_number: number });
    expect(await state(number)).toBe('clean');
    await forge.pushCommit({ branch: 'one', files: { 'quota.yaml': 'cpu: 4\n' } });
    expect(await state(number)).toBe('blocked');
    const { data } = await client.pulls.listReviews({ ...at, pull_number: number });
    expect(data.map((review) => review.state)).toEqual(['DISMISSED']);
  });

  it('survives every push where the branch does not care', async () => {
    const { forge } = fresh;
    await forge.protectBranch('main', { requiredReviews: 1 });
    const { number } = await open('one', 'quota.yaml');
    await forge.approveReview(number, 'alice');
    await forge.pushCommit({ branch: 'one', files: { 'quota.yaml': 'cpu: 4\n' } });
    expect(await state(number)).toBe('clean');
  });
});

describe('code owners', () => {
  it('are asked when a pull request opens, and when a push adds a file of theirs', async () => {
    await start({ ...FILES, '.github/CODEOWNERS': CODEOWNERS });
    const { forge } = fresh;
    const { number } = await open('one', 'quota.yaml');
    expect(await requested(number)).toEqual({ users: [], teams: ['platform'] });
    await forge.pushCommit({ branch: 'one', files: { 'managed/a.yaml': '2\n' } });
    expect(await requested(number)).toEqual({ users: ['bob'], teams: ['platform'] });
  });

  it('are not asked for a file without owner, and for a draft only once it is ready', async () => {
    await start({ ...FILES, '.github/CODEOWNERS': CODEOWNERS });
    const { client, at, forge } = fresh;
    expect(await requested((await open('one', 'free.yaml')).number)).toEqual({ users: [], teams: [] });
    await forge.pushCommit({ branch: 'two', files: { 'managed/a.yaml': '2\n' } });
    const draft = await client.pulls.create({ ...at, head: 'two', base: 'main', title: 'Draft', draft: true });
    expect(await requested(draft.data.number)).toEqual({ users: [], teams: [] });
    await forge.setDraft(draft.data.number, false);
    expect(await requested(draft.data.number)).toEqual({ users: ['bob'], teams: [] });
  });

  it('are those of the base branch, from the first of the three places', async () => {
    await start({ ...FILES, CODEOWNERS: '* @alice\n', 'docs/CODEOWNERS': '* @bob\n' });
    const { forge, client, at } = fresh;
    await forge.pushCommit({ branch: 'one', files: { '.github/CODEOWNERS': '* @bob\n', 'quota.yaml': 'cpu: 2\n' } });
    const { data } = await client.pulls.create({ ...at, head: 'one', base: 'main', title: 'Take over' });
    expect(await requested(data.number)).toEqual({ users: ['alice'], teams: [] });
  });

  it('must approve where that is required: one for each group of files, and nobody else', async () => {
    await start({ ...FILES, '.github/CODEOWNERS': CODEOWNERS });
    const { client, at, forge } = fresh;
    await client.repos.updateBranchProtection({
      ...at,
      branch: 'main',
      required_status_checks: null,
      enforce_admins: true,
      restrictions: null,
      required_pull_request_reviews: { required_approving_review_count: 1, require_code_owner_reviews: true },
    });
    const { number } = await open('one', 'quota.yaml');
    await forge.pushCommit({ branch: 'one', files: { 'managed/a.yaml': '2\n' } });
    const merge = () => client.pulls.merge({ ...at, pull_number: number });
    await forge.approveReview(number, 'bob');
    expect(await state(number)).toBe('blocked');
    expect(await refusal(merge())).toMatchObject({
      status: 405,
      message: 'Waiting on code owner review from acme/platform.',
    });
    await forge.approveReview(number, 'alice');
    expect(await state(number)).toBe('clean');
    await merge();
  });

  it('without access are as good as none', async () => {
    await start({ ...FILES, CODEOWNERS: '* @reader @other/team somebody@example.com\n' });
    const { forge } = fresh;
    await forge.protectBranch('main', { requireCodeOwnerReviews: true });
    const { number } = await open('one', 'quota.yaml');
    expect(await requested(number)).toEqual({ users: [], teams: [] });
    expect(await state(number)).toBe('clean');
  });
});
