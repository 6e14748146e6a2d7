import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../stack/eventually.ts';
import { type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';

describe('mergeable_state', () => {
  let fresh: FreshForge;
  let pull: { number: number; headSha: string };
  beforeEach(async () => {
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { mergeableDelayMs: 0 });
    pull = await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
  });
  afterEach(() => fresh.stop());

  const state = async (): Promise<string> => {
    const { client, at } = fresh;
    return (await client.pulls.get({ ...at, pull_number: pull.number })).data.mergeable_state;
  };
  const merge = (): Promise<unknown> =>
    fresh.client.pulls.merge({ ...fresh.at, pull_number: pull.number, sha: pull.headSha, merge_method: 'squash' });

  it('is clean without checks and without protection', async () => {
    expect(await state()).toBe('clean');
    await merge();
  });

  it('is unstable while a check that is not required runs or has failed, and the merge goes through', async () => {
    const { forge } = fresh;
    await forge.setCheckRun({ sha: pull.headSha, name: 'lint', status: 'in_progress' });
    expect(await state()).toBe('unstable');
    await forge.setCheckRun({ sha: pull.headSha, name: 'lint', status: 'completed', conclusion: 'failure' });
    expect(await state()).toBe('unstable');
    await forge.setCheckRun({ sha: pull.headSha, name: 'lint', status: 'completed', conclusion: 'skipped' });
    expect(await state()).toBe('clean');
    await forge.setStatus({ sha: pull.headSha, context: 'old-ci', state: 'pending' });
    expect(await state()).toBe('unstable');
    await merge();
  });

  it('is blocked while a required check is missing, pending or failing, each with its 405', async () => {
    const { forge } = fresh;
    await forge.protectBranch('main', { requiredChecks: ['ci'] });
    expect(await state()).toBe('blocked');
    expect(await refusal(merge())).toMatchObject({ status: 405, message: 'Required status check "ci" is expected.' });
    await forge.setCheckRun({ sha: pull.headSha, name: 'ci', status: 'queued' });
    expect(await state()).toBe('blocked');
    expect(await refusal(merge())).toMatchObject({ status: 405, message: 'Required status check "ci" is pending.' });
    await forge.setCheckRun({ sha: pull.headSha, name: 'ci', status: 'completed', conclusion: 'failure' });
    expect(await state()).toBe('blocked');
    expect(await refusal(merge())).toMatchObject({ status: 405, message: 'Required status check "ci" is failing.' });
    await forge.setCheckRun({ sha: pull.headSha, name: 'ci', status: 'completed', conclusion: 'success' });
    expect(await state()).toBe('clean');
    await merge();
  });

  it('takes a commit status for a required check as well', async () => {
    const { forge, client, at } = fresh;
    await forge.protectBranch('main', { requiredChecks: ['build'] });
    await client.repos.createCommitStatus({ ...at, sha: pull.headSha, state: 'success', context: 'build' });
    expect((await client.repos.getCombinedStatusForRef({ ...at, ref: 'one' })).data.state).toBe('success');
    expect(await state()).toBe('clean');
  });

  it('is blocked until it is approved', async () => {
    const { forge, client, at } = fresh;
    await forge.protectBranch('main', { requiredReviews: 1 });
    expect(await state()).toBe('blocked');
    expect((await refusal(merge())).message).toBe(
      'At least 1 approving review is required by reviewers with write access.',
    );
    const own = client.pulls.createReview({ ...at, pull_number: pull.number, event: 'APPROVE' });
    expect(await refusal(own)).toMatchObject({ status: 422, errors: ['Can not approve your own pull request'] });
    await forge.requestChanges(pull.number, 'bob');
    await forge.approveReview(pull.number, 'alice');
    expect(await state()).toBe('blocked');
    await forge.approveReview(pull.number, 'bob');
    expect(await state()).toBe('clean');
    const reviews = await client.pulls.listReviews({ ...at, pull_number: pull.number });
    expect(reviews.data.map((review) => review.state)).toEqual(['CHANGES_REQUESTED', 'APPROVED', 'APPROVED']);
    await merge();
  });

  it('is behind under a strict protection once the base moved, until the branch is updated', async () => {
    const { forge, client, at } = fresh;
    await forge.protectBranch('main', { requiredChecks: ['ci'], requireUpToDate: true });
    await forge.setCheckRun({ sha: pull.headSha, name: 'ci', status: 'completed', conclusion: 'success' });
    expect(await state()).toBe('clean');
    await forge.pushCommit({ files: { 'other.yaml': '1\n' } });
    expect(await state()).toBe('behind');
    expect(await refusal(merge())).toMatchObject({ status: 405, message: 'Required status check "ci" is expected.' });
    await client.pulls.updateBranch({ ...at, pull_number: pull.number });
    expect(await state()).toBe('blocked');
  });

  it('is clean behind a base whose protection is not strict', async () => {
    const { forge } = fresh;
    await forge.protectBranch('main', { requiredChecks: ['ci'] });
    await forge.setCheckRun({ sha: pull.headSha, name: 'ci', status: 'completed', conclusion: 'neutral' });
    await forge.pushCommit({ files: { 'other.yaml': '1\n' } });
    expect(await state()).toBe('clean');
  });

  it('is draft for a draft, whose merge is refused', async () => {
    await fresh.forge.setDraft(pull.number, true);
    expect(await state()).toBe('draft');
    expect(await refusal(merge())).toMatchObject({ status: 405, message: 'Pull Request is still a draft' });
  });

  it('is as without it where a merge queue rules, which takes nothing directly, and the rules of the branch say so', async () => {
    const { forge, client, at } = fresh;
    await forge.protectBranch('main', { mergeQueue: true });
    expect(await state()).toBe('clean');
    expect(await refusal(merge())).toMatchObject({
      status: 405,
      message: 'Changes must be made through the merge queue',
    });
    const rules = await client.repos.getBranchRules({ ...at, branch: 'main' });
    expect(rules.data.map(({ type }) => type)).toEqual(['merge_queue']);
  });

  it('shows a classic protection and a ruleset in their own endpoints', async () => {
    const { forge, client, at } = fresh;
    const unprotected = client.repos.getBranchProtection({ ...at, branch: 'main' });
    expect(await refusal(unprotected)).toMatchObject({ status: 404, message: 'Branch not protected' });
    await forge.protectBranch('main', { requiredChecks: ['ci'], requiredReviews: 2, requireUpToDate: true });
    const classic = await client.repos.getBranchProtection({ ...at, branch: 'main' });
    expect(classic.data.required_status_checks).toMatchObject({ contexts: ['ci'], strict: true });
    expect(classic.data.required_pull_request_reviews?.required_approving_review_count).toBe(2);
    const branch = await client.repos.getBranch({ ...at, branch: 'main' });
    expect(branch.data.protected).toBe(true);
    expect(branch.data.protection.required_status_checks?.contexts).toEqual(['ci']);
    expect((await client.repos.getBranchRules({ ...at, branch: 'main' })).data).toEqual([]);

    await forge.protectBranch('main', { requiredChecks: ['ci'], requiredReviews: 1, as: 'ruleset' });
    const rules = await client.repos.getBranchRules({ ...at, branch: 'main' });
    expect(rules.data.map(({ type }) => type)).toEqual([
      'deletion',
      'non_fast_forward',
      'required_status_checks',
      'pull_request',
    ]);
    const hidden = client.repos.getBranchProtection({ ...at, branch: 'main' });
    expect(await refusal(hidden)).toMatchObject({ status: 404, message: 'Branch not protected' });
    expect(await state()).toBe('blocked');
  });

  it('keeps direct writes off a protected branch', async () => {
    const { forge, client, at } = fresh;
    await forge.protectBranch('main', { requiredReviews: 1 });
    const direct = client.repos.createOrUpdateFileContents({
      ...at,
      path: 'new.yaml',
      message: 'Straight to main',
      content: '',
    });
    expect(await refusal(direct)).toMatchObject({ status: 409 });
    const forced = client.git.updateRef({ ...at, ref: 'heads/main', sha: pull.headSha });
    expect(await refusal(forced)).toMatchObject({
      status: 422,
      message: 'Changes must be made through a pull request.',
    });
  });
});

describe('the check run ci', () => {
  it.each([
    { checks: 'pass', ends: 'clean' },
    { checks: 'fail', ends: 'unstable' },
  ] as const)('ends by itself: $checks gives $ends', async ({ checks, ends }) => {
    const fresh = await startFreshForge({ 'a.yaml': '1\n' }, { checks, checkDelayMs: 20, mergeableDelayMs: 0 });
    const { client, at } = fresh;
    const { number, headSha } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '2\n' });
    const first = await client.checks.listForRef({ ...at, ref: headSha });
    expect(first.data.check_runs.map(({ name }) => name)).toEqual(['ci']);
    await eventually('it has ended', async () => {
      const { data } = await client.checks.listForRef({ ...at, ref: headSha });
      return data.check_runs[0]?.status === 'completed';
    });
    expect((await client.pulls.get({ ...at, pull_number: number })).data.mergeable_state).toBe(ends);
    await fresh.stop();
  });

  it('stays pending until a person ends it, and comes anew with every head', async () => {
    const fresh = await startFreshForge({ 'a.yaml': '1\n' }, { checks: 'pending', mergeableDelayMs: 0 });
    const { client, at, forge } = fresh;
    const { number, headSha } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '2\n' });
    const state = async () => (await client.pulls.get({ ...at, pull_number: number })).data.mergeable_state;
    expect(await state()).toBe('unstable');
    await forge.setCheckRun({ sha: headSha, name: 'ci', status: 'completed', conclusion: 'success' });
    expect(await state()).toBe('clean');
    await forge.pushCommit({ branch: 'one', files: { 'b.yaml': '1\n' } });
    expect(await state()).toBe('unstable');
    await fresh.stop();
  });

  it('is made and ended through the API too', async () => {
    const fresh = await startFreshForge({ 'a.yaml': '1\n' });
    const { client, at, forge } = fresh;
    const sha = (await forge.branchTip('main')) ?? '';
    const run = await client.checks.create({ ...at, name: 'build', head_sha: sha, status: 'in_progress' });
    await client.checks.update({ ...at, check_run_id: run.data.id, status: 'completed', conclusion: 'success' });
    const runs = await client.checks.listForRef({ ...at, ref: 'main', check_name: 'build' });
    expect(runs.data.check_runs).toMatchObject([{ name: 'build', status: 'completed', conclusion: 'success' }]);
    await fresh.stop();
  });
});
