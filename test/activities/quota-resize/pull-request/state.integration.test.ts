import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import type { QuotaResizeForgeActivities } from '../../../../activities/quota-resize/forge-activities.ts';
import { createPullRequestStateActivities } from '../../../../activities/quota-resize/pull-request/pull-request-state.ts';
import type { PullRequestObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { pullRequestTexts } from '../../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import {
  asAttempt,
  candidates,
  change,
  decide,
  type GitOps,
  MANIFEST,
  open,
  PATH,
  startGitOps,
  target,
  type Worker,
} from '../gitops-fixture.ts';

/** Opens a pull request and looks at it once. */
async function opened(gitops: GitOps, worker: Worker = gitops.worker()) {
  const decision = await open(worker);
  const observe = () => worker.activities.observePullRequest({ target, decision });
  return { worker, decision, observe, sha: decision.pullRequest.headSha };
}

describe('observing a pull request', () => {
  it('tells what GitHub says about one that was just opened', async () => {
    await using gitops = await startGitOps();
    const { observe, sha } = await opened(gitops);
    expect(await observe()).toEqual({
      number: 1,
      url: `${gitops.forge.url}/acme/gitops/pull/1`,
      state: 'open',
      headSha: sha,
      headIsOurs: true,
      mergeability: 'clean',
      checks: { total: 0, pending: [], failing: [] },
      hasRequiredChecks: false,
      closedBy: 'unknown',
      merge: null,
    });
  });

  it('counts check runs and commit statuses alike', async () => {
    await using gitops = await startGitOps();
    const { observe, sha } = await opened(gitops);
    await gitops.forge.setCheckRun({ sha, name: 'build', status: 'in_progress' });
    await gitops.forge.setCheckRun({ sha, name: 'lint', status: 'completed', conclusion: 'neutral' });
    await gitops.forge.setCheckRun({ sha, name: 'e2e', status: 'completed', conclusion: 'timed_out' });
    await gitops.forge.setStatus({ sha, context: 'ci/old', state: 'pending' });
    await gitops.forge.setStatus({ sha, context: 'ci/older', state: 'error' });
    expect((await observe()).checks).toEqual({ total: 5, pending: ['build', 'ci/old'], failing: ['ci/older', 'e2e'] });
    await gitops.forge.setCheckRun({ sha, name: 'build', status: 'completed', conclusion: 'success' });
    await gitops.forge.setCheckRun({ sha, name: 'e2e', status: 'completed', conclusion: 'skipped' });
    await gitops.forge.setStatus({ sha, context: 'ci/old', state: 'success' });
    await gitops.forge.setStatus({ sha, context: 'ci/older', state: 'success' });
    expect((await observe()).checks).toEqual({ total: 5, pending: [], failing: [] });
  });

  it('reads checks beyond the first page', async () => {
    await using gitops = await startGitOps();
    const { observe, sha } = await opened(gitops);
    for (let index = 0; index < 105; index += 1) {
      await gitops.forge.setCheckRun({ sha, name: `check-${index}`, status: 'queued' });
    }
    expect((await observe()).checks.pending).toHaveLength(105);
  });

  it('sees required checks of a protection and of a ruleset', async () => {
    await using gitops = await startGitOps();
    const { observe } = await opened(gitops);
    for (const as of ['protection', 'ruleset'] as const) {
      await gitops.forge.protectBranch('main', { requiredChecks: ['ci'], as });
      expect(await observe(), `a ${as}`).toMatchObject({ hasRequiredChecks: true, mergeability: 'blocked' });
    }
    await gitops.forge.protectBranch('main', undefined);
    expect(await observe()).toMatchObject({ hasRequiredChecks: false });
  });

  it('knows a head that people pushed, and one that only the record has lost', async () => {
    await using gitops = await startGitOps();
    const { worker, decision } = await opened(gitops);
    const forgotten = { ...decision, pullRequest: { ...decision.pullRequest, headSha: '0'.repeat(40) } };
    const observed = (of: typeof decision) => worker.activities.observePullRequest({ target, decision: of });
    expect(await observed(forgotten)).toMatchObject({ headIsOurs: true });
    const pushed = await gitops.forge.pushCommit({
      branch: decision.pullRequest.branch,
      files: { 'note.md': 'mine' },
      author: 'mona',
    });
    expect(await observed(decision)).toMatchObject({ headIsOurs: false, headSha: pushed });
  });

  it('does not take a commit of somebody else for its own because of a copied trailer', async () => {
    await using gitops = await startGitOps();
    const { worker, decision } = await opened(gitops);
    await gitops.forge.pushCommit({
      branch: decision.pullRequest.branch,
      force: true,
      files: { [PATH]: MANIFEST.replace("'2'", "'900'") },
      message: `amended\n\nHeadroom-Decision: ${decision.id}`,
      author: 'mona',
    });
    expect(await worker.activities.observePullRequest({ target, decision })).toMatchObject({ headIsOurs: false });
  });

  it('reads who approves the present head where an approval is asked for, and comes back when that changes', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, observe } = await opened(gitops);
    await gitops.forge.approveReview(1, 'alice');
    expect(await observe()).not.toHaveProperty('approvals');
    const asking = { ...decision, approvalRequirement: { reason: 'RaiseFromZero', message: 'from 0' } } as const;
    const { observePullRequest, awaitPullRequestChange } = worker.activities;
    const lastSeen = await observePullRequest({ target, decision: asking });
    expect(lastSeen.approvals).toEqual([{ by: 'alice', at: expect.any(Number) as number }]);
    const changed = () => awaitPullRequestChange({ target, decision: asking, lastSeen, quietSince: 0 });
    await expect(changed()).rejects.toMatchObject({ type: 'NotYet' });
    await gitops.forge.dismissReview(1, 'alice', 'bob');
    await changed();
    expect((await observePullRequest({ target, decision: asking })).approvals).toEqual([]);
    await gitops.forge.approveReview(1, 'bob');
    const { branch } = decision.pullRequest;
    await gitops.forge.pushCommit({ branch, files: { 'note.md': 'mine' }, author: 'mona' });
    expect((await observePullRequest({ target, decision: asking })).approvals, 'of the head before').toEqual([]);
  });

  it('reads who requests changes, of whatever head, and comes back when that changes', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, observe, sha } = await opened(gitops);
    const { awaitPullRequestChange } = worker.activities;
    /** A poll of the first minute sees all at once; a quiet one is a request for the pull request. */
    const poll = async (lastSeen: PullRequestObservation, quietFor: number) =>
      await asAttempt(1, () =>
        awaitPullRequestChange({ target, decision, lastSeen, quietSince: Date.now() - quietFor }),
      );
    const before = await observe();
    expect(before).not.toHaveProperty('changesRequested');
    await gitops.forge.requestChanges(1, 'alice');
    const held = await poll(before, 0);
    if (held === null || 'pullRequest' in held) throw new Error('a poll of the first minute reads everything');
    expect(held).toEqual(await observe());
    expect(held.changesRequested).toEqual([{ by: 'alice', headSha: sha, at: expect.any(Number) as number }]);
    await gitops.forge.pushCommit({ branch: decision.pullRequest.branch, files: { a: 'b' }, author: 'mona' });
    const pushed = await observe();
    expect(pushed.changesRequested).toEqual(held.changesRequested);
    for (const quietFor of [0, 10_000_000]) {
      await expect(poll(pushed, quietFor)).rejects.toMatchObject({ type: 'NotYet' });
    }
    await gitops.forge.requestChanges(1, 'bob');
    await poll(pushed, 10_000_000);
    const both = await observe();
    expect(both.changesRequested).toHaveLength(2);
    for (const person of ['alice', 'bob']) await gitops.forge.dismissReview(1, person, 'carol');
    await poll(both, 10_000_000);
    expect(await observe()).not.toHaveProperty('changesRequested');
  });

  it('reads who requests changes with the same request as everything else', async () => {
    await using gitops = await startGitOps();
    const { observe } = await opened(gitops);
    await observe();
    const requests = gitops.forge.requests;
    await gitops.forge.requestChanges(1, 'alice');
    expect(await observe()).toHaveProperty('changesRequested');
    expect(gitops.forge.requests - requests).toBe(1);
  });

  it('reads what was merged from the merged file, which a person may have changed', async () => {
    await using gitops = await startGitOps();
    const { observe, decision } = await opened(gitops);
    const { branch } = decision.pullRequest;
    await gitops.forge.pushCommit({ branch, files: { [PATH]: MANIFEST.replace("'2'", '3') }, author: 'mona' });
    const sha = await gitops.forge.mergePullRequest(1, 'mona');
    expect(await observe()).toMatchObject({
      state: 'closed',
      closedBy: 'mona',
      merge: { sha, by: 'mona', limits: { 'requests.cpu': '3' } },
    });
  });

  it('reads what was merged from values of a chart that changed between the head and the merge', async () => {
    const path = 'managed-resources/prod/team-a/values.yaml';
    const values = (image: string, cpu: string): string =>
      `image: ${image}\nteam: a\nreplicas: 3\nquota:\n  requests.cpu: ${cpu}\n`;
    await using gitops = await startGitOps({ [path]: values('one', '2') });
    const worker = gitops.worker();
    const limits = { 'requests.cpu': '3' };
    const source = await worker.activities.observeSource({
      target,
      limits,
      candidates,
      current: { 'requests.cpu': '2' },
    });
    if (source.kind !== 'found') throw new Error(source.message);
    const decision = await open(worker, decide([change('requests.cpu', '2', '3')], { source }));
    await gitops.forge.pushCommit({ files: { [path]: values('two', '2') } });
    await gitops.forge.mergePullRequest(1, 'mona');
    expect(await gitops.forge.readFile('main', path)).toBe(values('two', '3'));
    const merged = await worker.activities.observePullRequest({ target, decision });
    expect(merged.merge?.limits).toEqual({ 'requests.cpu': '3' });
  });

  it('takes what was decided for merged where the file cannot be read any more', async () => {
    await using gitops = await startGitOps();
    const { observe, decision } = await opened(gitops);
    const { branch } = decision.pullRequest;
    await gitops.forge.pushCommit({ branch, files: { [PATH]: '}{' }, author: 'mona' });
    await gitops.forge.mergePullRequest(1, 'mona');
    expect((await observe()).merge?.limits).toEqual({ 'requests.cpu': '3600m' });
  });

  it('a pull request that a person closed has no merge', async () => {
    await using gitops = await startGitOps();
    const { observe } = await opened(gitops);
    await gitops.forge.closePullRequest(1, 'mona');
    expect(await observe()).toMatchObject({
      state: 'closed',
      merge: null,
      closedBy: 'mona',
    });
  });
});

describe('waiting for a pull request to change', () => {
  /** One poll so long after the last change: the failure that says "not yet", or nothing when there is something new. */
  async function poll(
    { worker, decision }: Awaited<ReturnType<typeof opened>>,
    existing: PullRequestObservation,
    quietFor = 0,
    { awaitPullRequestChange }: Pick<QuotaResizeForgeActivities, 'awaitPullRequestChange'> = worker.activities,
  ) {
    const quietSince = Date.now() - quietFor;
    return asAttempt(1, () => awaitPullRequestChange({ target, decision, lastSeen: existing, quietSince })).then(
      () => null,
      (error: unknown) => error,
    );
  }

  it('comes back after the time that it was given, by the clock of the server, and says that all is as before', async () => {
    await using gitops = await startGitOps();
    const { worker, decision, observe } = await opened(gitops);
    const lastSeen = await observe();
    const input = { target, decision, lastSeen, quietSince: Date.now(), forMs: 300_000 };
    const after = async (passed: number) => {
      const scheduledTimestampMs = 1_000_000;
      const info = { attempt: 2, scheduledTimestampMs };
      const tried = { ...info, currentAttemptScheduledTimestampMs: scheduledTimestampMs + passed };
      const activity = new MockActivityEnvironment(tried);
      return await activity.run(
        async () => await worker.activities.awaitPullRequestChange({ ...input, observes: true }),
      );
    };
    await expect(after(299_500)).rejects.toMatchObject({ type: 'NotYet', nextRetryDelay: 500 });
    expect(await after(300_000)).toMatchObject({ pullRequest: null, isSame: true });
  });

  it('asks once for each poll, at a pace that slows down while nothing changes', async () => {
    await using gitops = await startGitOps();
    const story = await opened(gitops);
    const existing = await story.observe();
    const before = gitops.forge.requests;
    const notYet = { type: 'NotYet', nonRetryable: false, category: 'BENIGN' };
    expect(await poll(story, existing)).toMatchObject({
      ...notYet,
      message: 'waiting for pull request #1 (clean) to be merged, closed or changed',
    });
    expect(gitops.forge.requests - before).toBe(1);
    for (const [quietFor, delay] of [
      [0, 1000],
      [50_000, 6000],
      [100_000, 11_000],
      [10_000_000, 11_000],
    ] as const) {
      const started = Date.now();
      const { nextRetryDelay } = (await poll(story, existing, quietFor)) as { nextRetryDelay: number };
      // It grew by a tenth of the time that went by until the poll was made.
      expect(nextRetryDelay).toBeGreaterThanOrEqual(delay);
      expect(nextRetryDelay).toBeLessThanOrEqual(Math.min(11_000, delay + (Date.now() - started) / 10 + 1));
    }
  });

  it('asks for checks while it is quick, and with one request for each poll once it is slow', async () => {
    await using gitops = await startGitOps();
    const story = await opened(gitops);
    await gitops.forge.setCheckRun({ sha: story.sha, name: 'build', status: 'in_progress' });
    const existing = await story.observe();
    expect(existing.mergeability).toBe('unstable');
    const requestsOf = async (quietFor: number) => {
      const before = gitops.forge.requests;
      expect(await poll(story, existing, quietFor)).toMatchObject({ type: 'NotYet' });
      return gitops.forge.requests - before;
    };
    // Half a minute before it is slow, which a machine that is slow itself may need to ask.
    expect(await requestsOf(70_000), 'the pull request, its check runs and its statuses').toBe(3);
    expect(await requestsOf(100_000)).toBe(1);
    await gitops.forge.setCheckRun({ sha: story.sha, name: 'build', status: 'completed', conclusion: 'success' });
    expect(await poll(story, existing, 10_000_000), 'the end of a check shows in the mergeable state').toBeNull();
  });

  it('asks once an hour after the first minute where webhooks tell of changes', async () => {
    await using gitops = await startGitOps();
    const story = await opened(gitops);
    const existing = await story.observe();
    const timings = { checksPollMin: 15_000, checksPollMax: 300_000, checksPollRamp: 600_000, webhookPoll: 3_600_000 };
    const activities = createPullRequestStateActivities({
      repositories: story.worker.repositories,
      config: { timings, texts: pullRequestTexts(), temporalUi: null },
    });
    const delayAfter = async (quietFor: number) =>
      ((await poll(story, existing, quietFor, activities)) as { nextRetryDelay: number }).nextRetryDelay;
    expect(await delayAfter(30_000)).toBe(15_000);
    expect(await delayAfter(61_000)).toBe(3_600_000);
  });

  it('ends when a check ends, and says until then which one it waits for', async () => {
    await using gitops = await startGitOps();
    const story = await opened(gitops);
    await gitops.forge.setCheckRun({ sha: story.sha, name: 'build', status: 'in_progress' });
    const existing = await story.observe();
    expect(await poll(story, existing)).toMatchObject({
      type: 'NotYet',
      message: 'waiting for checks of pull request #1: build',
    });
    await gitops.forge.setCheckRun({ sha: story.sha, name: 'build', status: 'completed', conclusion: 'failure' });
    expect(await poll(story, existing)).toBeNull();
    const failing = await story.observe();
    expect(await poll(story, failing)).toMatchObject({
      message: 'waiting for failing checks of pull request #1 to pass: build',
    });
  });

  it('ends when the pull request is closed, merged, drafted or pushed to', async () => {
    await using gitops = await startGitOps();
    const story = await opened(gitops);
    let existing = await story.observe();
    await gitops.forge.setDraft(1, true);
    expect(await poll(story, existing), 'drafted').toBeNull();
    existing = await story.observe();
    expect(await poll(story, existing)).toMatchObject({
      message: 'waiting for pull request #1 to be taken out of draft',
    });
    await gitops.forge.setDraft(1, false);
    existing = await story.observe();
    await gitops.forge.pushCommit({ branch: story.decision.pullRequest.branch, files: { a: 'b' } });
    expect(await poll(story, existing), 'pushed to').toBeNull();
    existing = await story.observe();
    await gitops.forge.closePullRequest(1, 'mona');
    expect(await poll(story, existing), 'closed').toBeNull();
  });

  it('is not woken by the moment in which GitHub computes the mergeability again', async () => {
    // Nobody waits for so long: it stays unknown until somebody tries to merge, which computes it at once.
    await using gitops = await startGitOps(undefined, { mergeableDelayMs: 3_600_000 });
    const story = await opened(gitops);
    let existing = await story.observe();
    expect(existing.mergeability).toBe('computing');
    expect(await poll(story, existing)).toMatchObject({
      message: 'waiting until it is known whether pull request #1 can be merged',
    });
    await gitops.forge.setDraft(1, true);
    await expect(gitops.forge.mergePullRequest(1, 'mona')).rejects.toThrow('draft');
    await gitops.forge.setDraft(1, false);
    expect(await poll(story, existing), 'computed').toBeNull();
    existing = await story.observe();
    expect(existing.mergeability).toBe('clean');
    await gitops.forge.pushCommit({ files: { other: 'file' } });
    expect((await story.observe()).mergeability).toBe('computing');
    expect(await poll(story, existing)).toMatchObject({ type: 'NotYet', nextRetryDelay: 1000 });
  });
});
