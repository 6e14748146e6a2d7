import { describe, expect, it } from 'vitest';
import { asAttempt, change, decide, ensureOpen, type GitOps, open, startGitOps, target } from '../gitops-fixture.ts';
import { openPlaced, watchedGate } from './watched-gate.ts';

async function queueOnMain(gitops: GitOps): Promise<void> {
  await gitops.forge.protectBranch('main', { as: 'ruleset', mergeQueue: true });
}

/** An open pull request on a branch with a queue, and a worker that asks a watched gate. */
async function watched(gitops: GitOps) {
  const { gate, heard, state } = watchedGate();
  const worker = gitops.worker({ mergeGate: gate });
  const decision = await openPlaced(worker);
  state.decision = decision;
  await queueOnMain(gitops);
  return { worker, decision, heard, state, ask: { target, decision, entersQueue: true } };
}

const mutations = ({ forge }: GitOps) =>
  forge.writes.flatMap(({ endpoint = '', effect }) =>
    /queuePullRequest|merge$/.test(endpoint) && effect ? [endpoint.replace('POST /graphql ', '')] : [],
  );

describe('the merge queue of the base branch', () => {
  it('is entered once, after the gate has recorded the raise, and the merge is Headroom’s own', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, heard, ask } = await watched(gitops);
    expect(await worker.activities.ensureMerged(ask)).toEqual({ kind: 'queued' });
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({
      mergeQueue: true,
      queueEntry: { by: 'headroom-bot', isOwn: true, state: 'checking', position: 1 },
    });
    // The gate is asked again, and nothing is written.
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toEqual({ kind: 'queued' });
    expect(heard).toEqual(['asked', 'expected', 'asked', 'expected']);
    expect(mutations(gitops)).toEqual(['enqueuePullRequest']);
    await gitops.forge.finishQueued(1, 'passed');
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toMatchObject({
      kind: 'merged',
      by: 'headroom-bot',
      isOwn: true,
    });
    expect(await worker.github.pullRequests.get(1)).toMatchObject({ mergedBy: 'headroom-bot' });
    expect(await gitops.forge.branchTip(decision.pullRequest.branch)).toBeUndefined();
  });

  it('is left when the gate refuses what it let pass before', async () => {
    await using gitops = await startGitOps();
    const { worker, state, ask } = await watched(gitops);
    expect(await worker.activities.ensureMerged(ask)).toEqual({ kind: 'queued' });
    state.refuses = true;
    await expect(worker.activities.ensureMerged({ ...ask, isQueued: true })).rejects.toMatchObject({
      type: 'PolicyChanged',
    });
    expect(gitops.forge.isQueued(1)).toBe(false);
  });

  it('is left when the gate refuses an attempt after one whose answer was lost', async () => {
    await using gitops = await startGitOps();
    const { worker, state, ask } = await watched(gitops);
    gitops.forge.fail({ path: '/graphql', body: 'enqueuePullRequest', action: { kind: 'answer-lost' } });
    await expect(worker.activities.ensureMerged(ask)).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    expect(gitops.forge.isQueued(1)).toBe(true);
    expect(await asAttempt(2, () => worker.activities.ensureMerged(ask))).toEqual({ kind: 'queued' });
    expect(mutations(gitops)).toEqual(['enqueuePullRequest']);
    state.refuses = true;
    await expect(asAttempt(2, () => worker.activities.ensureMerged(ask))).rejects.toMatchObject({
      type: 'PolicyChanged',
    });
    expect(gitops.forge.isQueued(1)).toBe(false);
  });

  it('is left for a request for changes that came since', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await queueOnMain(gitops);
    const ask = { target, decision, entersQueue: true };
    expect(await worker.activities.ensureMerged(ask)).toEqual({ kind: 'queued' });
    await gitops.forge.requestChanges(1, 'bob');
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toMatchObject({
      kind: 'moved',
      why: expect.stringContaining('changes are requested by bob') as string,
    });
    expect(gitops.forge.isQueued(1)).toBe(false);
  });

  it('forgets the raise that the forge did not take into the queue', async () => {
    await using gitops = await startGitOps();
    const { gate, heard, state } = watchedGate();
    const worker = gitops.worker({ mergeGate: gate });
    const decision = await openPlaced(worker);
    state.decision = decision;
    await gitops.forge.protectBranch('main', { as: 'ruleset', mergeQueue: true, requiredReviews: 1 });
    expect(await worker.activities.ensureMerged({ target, decision, entersQueue: true })).toMatchObject({
      kind: 'blocked',
      reason: 'MergeQueue',
      message: expect.stringContaining('cannot be put into the merge queue of main: Pull request At least 1') as string,
    });
    expect(heard).toEqual(['asked', 'expected', 'refused']);
  });

  it('is left by the one act that a pause does not stop, and only of what Headroom put there', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await queueOnMain(gitops);
    await worker.activities.ensureMerged({ target, decision, entersQueue: true });
    const paused = gitops.worker({ guard: () => Promise.reject(new Error('Paused')) });
    expect(await paused.activities.ensureDequeued({ target, decision })).toEqual({ kind: 'dequeued' });
    expect(gitops.forge.isQueued(1)).toBe(false);
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({
      queueRemoval: { by: 'headroom-bot', isOwn: true, enteredAt: expect.any(Number) as number },
    });
    await gitops.forge.enqueue(1, 'alice');
    expect(await paused.activities.ensureDequeued({ target, decision })).toEqual({ kind: 'dequeued' });
    expect(gitops.forge.isQueued(1)).toBe(true);
    // What a person put there is neither merged nor recorded as Headroom's.
    expect(await worker.activities.ensureMerged({ target, decision, entersQueue: true })).toEqual({ kind: 'moved' });
    await gitops.forge.finishQueued(1, 'passed');
    expect(await worker.activities.ensureMerged({ target, decision, entersQueue: true })).toMatchObject({
      kind: 'merged',
      by: 'alice',
      isOwn: false,
    });
  });

  it('is left although GitHub says that it failed', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await queueOnMain(gitops);
    await worker.activities.ensureMerged({ target, decision, entersQueue: true });
    const fault = { kind: 'field-error', field: 'dequeuePullRequest', type: 'UNPROCESSABLE', after: true } as const;
    gitops.forge.fail({
      path: '/graphql',
      body: 'dequeuePullRequest',
      action: { ...fault, message: 'Failed to remove' },
    });
    expect(await worker.activities.ensureDequeued({ target, decision })).toEqual({ kind: 'dequeued' });
  });

  it('is left although the budget of writes is spent', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const decision = await open(worker);
    await queueOnMain(gitops);
    await worker.activities.ensureMerged({ target, decision, entersQueue: true });
    const spent = { acquire: () => Promise.reject(new Error('WriteBudgetSpent')), limited: () => Promise.resolve() };
    const without = gitops.worker({ permits: spent });
    expect(await without.activities.ensureDequeued({ target, decision })).toEqual({ kind: 'dequeued' });
    expect(gitops.forge.isQueued(1)).toBe(false);
  });

  it('is not said to be blocked, which would wait for minutes, while the queue does not let it go', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, state, ask } = await watched(gitops);
    await worker.activities.ensureMerged(ask);
    const { source } = decision;
    if (source?.placement === undefined) throw new Error('no placement');
    const notProved = { ...source, placement: { ...source.placement, notProved: 'a variable' } };
    state.decision = { ...decision, source: notProved };
    gitops.forge.fail({
      path: '/graphql',
      body: 'dequeuePullRequest',
      action: { kind: 'field-error', field: 'dequeuePullRequest', type: 'UNPROCESSABLE', message: 'It is locked' },
    });
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toMatchObject({
      kind: 'moved',
      why: expect.stringContaining('the merge queue does not let it go') as string,
    });
    expect(await worker.activities.ensureMerged({ ...ask, isQueued: true })).toMatchObject({ kind: 'blocked' });
    expect(gitops.forge.isQueued(1)).toBe(false);
  });

  it('is left by the pull request of a lost Lease before the next decision takes that over', async () => {
    await using gitops = await startGitOps();
    const decision = await open(gitops.worker());
    await queueOnMain(gitops);
    await gitops.worker().activities.ensureMerged({ target, decision, entersQueue: true });
    const next = decide([change('requests.cpu', '2', '4')]);
    expect(await ensureOpen(gitops.worker(), next)).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(gitops.forge.isQueued(1)).toBe(false);
  });

  it('takes GraphQL', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker({ graphQl: 'off' });
    const decision = await open(worker);
    await queueOnMain(gitops);
    expect(await worker.activities.ensureMerged({ target, decision, entersQueue: true })).toEqual({
      kind: 'blocked',
      reason: 'MergeQueue',
      message:
        'acme/gitops merges into main through a merge queue, which takes GraphQL; add pull request #1 to the queue',
    });
  });
});
