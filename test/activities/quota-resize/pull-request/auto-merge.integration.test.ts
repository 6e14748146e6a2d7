import { describe, expect, it } from 'vitest';
import { untilHeld } from '../../../kernel/forge/until-held.ts';
import { eventually } from '../../../kernel/stack/eventually.ts';
import {
  asAttempt,
  candidatesByQuota,
  change,
  decide,
  ensureOpen,
  type GitOps,
  open,
  policy,
  startGitOps,
  target,
} from '../gitops-fixture.ts';
import { openPlaced, watchedGate } from './watched-gate.ts';

const mutations = ({ forge }: GitOps) =>
  forge.writes.flatMap(({ endpoint = '', effect }) =>
    /AutoMerge|merge$/.test(endpoint) && effect ? [endpoint.replace('POST /graphql ', '')] : [],
  );

/** An open pull request whose base asks for a check, in a repository that allows auto-merge, and a worker with a watched gate. */
async function watched(gitops: GitOps) {
  const { gate, heard, state } = watchedGate();
  const worker = gitops.worker({ mergeGate: gate });
  const decision = await openPlaced(worker);
  state.decision = decision;
  await gitops.forge.protectBranch('main', { requiredChecks: ['ci'] });
  await gitops.forge.setMergeSettings({ autoMerge: true });
  const ask = { target, decision, entersQueue: true, enablesAutoMerge: true };
  const passes = async () => {
    await gitops.forge.setStatus({ sha: decision.pullRequest.headSha, context: 'ci', state: 'success' });
  };
  return { worker, decision, heard, state, ask, passes };
}

describe('GitHub’s own auto-merge', () => {
  it('is enabled once, after the gate has recorded the raise, and the merge is Headroom’s own', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, heard, ask, passes } = await watched(gitops);
    expect(await worker.activities.ensureMerged(ask)).toEqual({ kind: 'queued' });
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({
      autoMergeIsAllowed: true,
      mergeability: 'blocked',
      queueEntry: { by: 'headroom-bot', isOwn: true, autoMerge: 'squash' },
    });
    // The gate is asked again, and nothing is written.
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toEqual({ kind: 'queued' });
    expect(heard).toEqual(['asked', 'expected', 'asked', 'expected']);
    expect(mutations(gitops)).toEqual(['enablePullRequestAutoMerge']);
    await passes();
    await eventually('GitHub merges it', async () => (await worker.github.pullRequests.get(1)).mergedAt !== null);
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toMatchObject({
      kind: 'merged',
      by: 'headroom-bot',
      isOwn: true,
    });
    expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
    const { message } = await worker.github.branches.commit((await gitops.forge.branchTip('main')) ?? '');
    expect(message).toContain(`Headroom-Decision: ${decision.id}`);
  });

  it('is disabled when the gate refuses what it let pass before, also after an attempt whose answer was lost', async () => {
    await using gitops = await startGitOps();
    const { worker, state, ask } = await watched(gitops);
    gitops.forge.fail({ path: '/graphql', body: 'enablePullRequestAutoMerge', action: { kind: 'answer-lost' } });
    await expect(worker.activities.ensureMerged(ask)).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    expect(gitops.forge.autoMergeOf(1)).toEqual({ by: 'headroom-bot', method: 'squash' });
    expect(await asAttempt(2, () => worker.activities.ensureMerged(ask))).toEqual({ kind: 'queued' });
    expect(mutations(gitops)).toEqual(['enablePullRequestAutoMerge']);
    state.refuses = true;
    const asked = worker.activities.ensureMerged({ ...ask, isQueued: true });
    await expect(asked).rejects.toMatchObject({ type: 'PolicyChanged' });
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
  });

  it('is not asked for once nothing is missing, and GitHub’s refusal forgets the raise', async () => {
    await using gitops = await startGitOps();
    const { worker, heard, ask, passes } = await watched(gitops);
    const action = {
      kind: 'field-error',
      field: 'enablePullRequestAutoMerge',
      type: 'UNPROCESSABLE',
      message: 'User is not authorized for this protected branch',
    } as const;
    gitops.forge.fail({ path: '/graphql', body: 'enablePullRequestAutoMerge', action });
    expect(await worker.activities.ensureMerged(ask)).toEqual({
      kind: 'moved',
      why: 'auto-merge was not enabled: User is not authorized for this protected branch',
    });
    expect(heard).toEqual(['asked', 'expected', 'refused']);
    await passes();
    expect(await worker.activities.ensureMerged(ask)).toMatchObject({
      kind: 'moved',
      why: expect.stringContaining('is clean by now') as string,
    });
    expect(mutations(gitops)).toEqual([]);
    const { enablesAutoMerge: _, ...plain } = ask;
    expect(await worker.activities.ensureMerged(plain)).toMatchObject({ kind: 'merged' });
  });

  it('is disabled where the method of then is not the one of now', async () => {
    await using gitops = await startGitOps();
    const { worker, ask } = await watched(gitops);
    expect(await worker.activities.ensureMerged(ask)).toEqual({ kind: 'queued' });
    await gitops.forge.setMergeSettings({ methods: ['rebase'] });
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toMatchObject({
      kind: 'moved',
      why: 'auto-merge was enabled with the method squash, and it is rebase now',
    });
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
    expect(await worker.activities.ensureMerged(ask)).toEqual({ kind: 'queued' });
    expect(gitops.forge.autoMergeOf(1)).toEqual({ by: 'headroom-bot', method: 'rebase' });
  });

  it('is disabled by an act that neither a pause nor a spent budget stops, and only where Headroom enabled it', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, ask, passes } = await watched(gitops);
    await worker.activities.ensureMerged(ask);
    const spent = { acquire: () => Promise.reject(new Error('WriteBudgetSpent')), limited: () => Promise.resolve() };
    const paused = gitops.worker({ permits: spent, guard: () => Promise.reject(new Error('Paused')) });
    expect(await paused.activities.ensureDequeued({ target, decision })).toEqual({ kind: 'dequeued' });
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({
      queueRemoval: { autoMerge: true, by: 'headroom-bot', isOwn: true, enteredAt: expect.any(Number) as number },
    });
    await gitops.forge.enableAutoMerge(1, 'alice', 'merge');
    expect(await paused.activities.ensureDequeued({ target, decision })).toEqual({ kind: 'dequeued' });
    expect(await worker.activities.ensureMerged(ask)).toEqual({ kind: 'moved' });
    expect(gitops.forge.autoMergeOf(1)).toEqual({ by: 'alice', method: 'merge' });
    await passes();
    await eventually('GitHub merges it', async () => (await worker.github.pullRequests.get(1)).mergedAt !== null);
    expect(await worker.activities.ensureMerged(ask)).toMatchObject({ kind: 'merged', by: 'alice', isOwn: false });
  });

  it('that GitHub makes use of in the moment in which it is to be disabled is a merge, and is recorded as one', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, ask, passes } = await watched(gitops);
    await worker.activities.ensureMerged(ask);
    gitops.forge.holdAutoMerges(true);
    await passes();
    expect(gitops.forge.autoMergeOf(1), 'GitHub takes its time').toBeDefined();
    const hold = gitops.forge.hold({ path: '/graphql', body: 'disablePullRequestAutoMerge', when: 'before' });
    const disabling = worker.activities.ensureDequeued({ target, decision });
    await untilHeld(hold, 'auto-merge is about to be disabled');
    gitops.forge.holdAutoMerges(false);
    await eventually('GitHub merges it', () => Promise.resolve(gitops.forge.autoMergeOf(1) === undefined));
    hold.release();
    expect(await disabling).toEqual({ kind: 'moved', why: 'it is merged' });
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({
      merge: { by: 'headroom-bot', isOwn: true },
    });
  });

  it('that a person disabled, or GitHub itself, is told apart', async () => {
    await using gitops = await startGitOps(undefined, {
      collaborators: { 'headroom-bot': 'push', alice: 'push', mallory: 'pull' },
    });
    const { worker, decision, ask } = await watched(gitops);
    await worker.activities.ensureMerged(ask);
    await gitops.forge.disableAutoMerge(1, 'alice');
    const removal = async () => (await worker.activities.observePullRequest({ target, decision })).queueRemoval;
    expect(await removal()).toMatchObject({ autoMerge: true, by: 'alice' });
    expect(await removal()).not.toHaveProperty('isOwn');
    await worker.activities.ensureMerged(ask);
    const { branch } = decision.pullRequest;
    await gitops.forge.pushCommit({ branch, files: { 'NOTES.md': 'mine\n' }, author: 'mallory' });
    expect(await removal()).toMatchObject({
      autoMerge: true,
      by: null,
      reason: expect.stringContaining('without write access') as string,
    });
  });

  it('of the pull request of a lost Lease is disabled before the next decision takes that over', async () => {
    await using gitops = await startGitOps();
    const { ask } = await watched(gitops);
    await gitops.worker().activities.ensureMerged(ask);
    const next = decide([change('requests.cpu', '2', '4')]);
    expect(await ensureOpen(gitops.worker(), next)).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
  });

  it('that could not be disabled has nothing pushed to its branch', async () => {
    await using gitops = await startGitOps();
    const { decision, ask } = await watched(gitops);
    await gitops.worker().activities.ensureMerged(ask);
    const action = {
      kind: 'field-error',
      field: 'disablePullRequestAutoMerge',
      type: 'UNPROCESSABLE',
      message: "Can't disable auto-merge for this pull request.",
    } as const;
    gitops.forge.fail({ path: '/graphql', body: 'disablePullRequestAutoMerge', times: 'always', action });
    const next = decide([change('requests.cpu', '2', '4')]);
    const why = expect.stringContaining('auto-merge is still enabled') as string;
    await expect(ensureOpen(gitops.worker(), next)).rejects.toMatchObject({ type: 'ForgeUnavailable', message: why });
    const { branch, headSha } = decision.pullRequest;
    expect(await gitops.forge.branchTip(branch)).toBe(headSha);
    gitops.forge.clearFaults();
    // The decision that it belongs to has other values by now as well.
    const grown = { ...decision, ...decide([change('requests.cpu', '2', '4')], { id: decision.id }) };
    const rebuilt = { ...grown, pullRequest: decision.pullRequest };
    const input = { target, decision: rebuilt, policy, candidatesByQuota, why: 'the demand grew' };
    expect(await gitops.worker().activities.ensurePullRequestRebuilt(input)).toMatchObject({ kind: 'open' });
    expect(await gitops.forge.branchTip(branch)).not.toBe(headSha);
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
  });

  it('that a person enabled on the pull request of a lost Lease leaves that to people', async () => {
    await using gitops = await startGitOps();
    const { decision } = await watched(gitops);
    await gitops.forge.enableAutoMerge(1, 'alice', 'squash');
    const next = decide([change('requests.cpu', '2', '4')]);
    expect(await ensureOpen(gitops.worker(), next)).toMatchObject({
      kind: 'blocked',
      message: expect.stringContaining('alice enabled auto-merge') as string,
    });
    expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBe(decision.pullRequest.headSha);
  });

  it('is seen, and disabled, where GraphQL did not answer a while ago', async () => {
    await using gitops = await startGitOps();
    const { decision, ask } = await watched(gitops);
    await gitops.worker().activities.ensureMerged(ask);
    const absent = { kind: 'status', status: 404, message: 'Not Found' } as const;
    gitops.forge.fail({ path: '/graphql', action: absent });
    const worker = gitops.worker();
    const seen = await worker.activities.observePullRequest({ target, decision });
    expect(seen).toMatchObject({ queueEntry: { by: 'headroom-bot', isOwn: true, autoMerge: 'squash' } });
    // REST does not tell when it was enabled, and nothing is new at each look.
    expect(await worker.activities.observePullRequest({ target, decision })).toEqual(seen);
    expect(await worker.activities.ensureDequeued({ target, decision })).toEqual({ kind: 'dequeued' });
    expect(gitops.forge.autoMergeOf(1)).toBeUndefined();
  });

  it('takes GraphQL: without, Headroom waits and merges itself', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker({ graphQl: 'off' });
    const decision = await open(worker);
    await gitops.forge.protectBranch('main', { requiredChecks: ['ci'] });
    await gitops.forge.setMergeSettings({ autoMerge: true });
    const seen = await worker.activities.observePullRequest({ target, decision });
    expect(seen.mergeability).toBe('blocked');
    expect(seen).not.toHaveProperty('autoMergeIsAllowed');
  });
});
