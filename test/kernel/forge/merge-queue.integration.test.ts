import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  askGraphQL,
  type FreshForge,
  type GraphQLAnswer,
  openPullRequest,
  readPullRequest,
  refusal,
  startFreshForge,
} from './fresh-forge.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

let fresh: FreshForge;
beforeEach(async () => {
  fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { mergeableDelayMs: 0 });
  await fresh.forge.protectBranch('main', { as: 'ruleset', mergeQueue: true });
});
afterEach(() => fresh.stop());

const READ = `query ($number: Int!) { repository(owner: "acme", name: "gitops") { pullRequest(number: $number) {
  id state mergeStateStatus mergeable isInMergeQueue mergedBy { __typename login }
  mergeQueueEntry { state position enqueuer { login } }
  timelineItems(itemTypes: [ADDED_TO_MERGE_QUEUE_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT], last: 10) { nodes {
    __typename
    ... on AddedToMergeQueueEvent { actor { login } }
    ... on RemovedFromMergeQueueEvent { reason actor { login } }
  } } } } }`;

async function read(number: number): Promise<Record<string, unknown>> {
  return await readPullRequest(fresh, READ, number);
}

async function enqueue(number: number, expectedHeadOid: string): Promise<GraphQLAnswer> {
  const { id: pullRequestId } = await read(number);
  const mutation =
    'mutation ($input: EnqueuePullRequestInput!) { enqueuePullRequest(input: $input) { mergeQueueEntry { position state } } }';
  return await askGraphQL(fresh, mutation, { input: { pullRequestId, expectedHeadOid } });
}

async function dequeue(number: number): Promise<GraphQLAnswer> {
  const { id } = await read(number);
  const mutation =
    'mutation ($input: DequeuePullRequestInput!) { dequeuePullRequest(input: $input) { clientMutationId } }';
  return await askGraphQL(fresh, mutation, { input: { id } });
}

describe('a merge queue', () => {
  it('merges what passes in its own name, by its own method, and says so as a removal too', async () => {
    const { forge, client, at } = fresh;
    await forge.protectBranch('main', { as: 'ruleset', mergeQueue: true, queueMethod: 'merge' });
    const first = await openPullRequest(fresh, { branch: 'a', path: 'a.yaml', content: '1\n' });
    const second = await openPullRequest(fresh, { branch: 'b', path: 'b.yaml', content: '1\n' });
    for (const { number, headSha } of [first, second]) expect((await enqueue(number, headSha)).errors).toBeUndefined();
    expect(await read(second.number)).toMatchObject({
      state: 'OPEN',
      mergeStateStatus: 'UNKNOWN',
      mergeable: 'UNKNOWN',
      isInMergeQueue: true,
      mergeQueueEntry: { state: 'AWAITING_CHECKS', position: 2, enqueuer: { login: 'headroom-bot' } },
    });
    expect(await refusal(client.pulls.merge({ ...at, pull_number: first.number }))).toMatchObject({ status: 405 });
    const sha = await forge.finishQueued(first.number, 'passed');
    expect(await forge.branchTip('main')).toBe(sha);
    expect((await client.git.getCommit({ ...at, commit_sha: sha ?? '' })).data.parents).toHaveLength(2);
    expect(await read(first.number)).toMatchObject({
      state: 'MERGED',
      isInMergeQueue: false,
      mergedBy: { __typename: 'Bot', login: 'github-merge-queue' },
      timelineItems: {
        nodes: [
          { __typename: 'AddedToMergeQueueEvent', actor: { login: 'headroom-bot' } },
          { __typename: 'RemovedFromMergeQueueEvent', reason: 'merged', actor: { login: 'github-merge-queue' } },
        ],
      },
    });
    const shown = await client.pulls.get({ ...at, pull_number: first.number });
    expect(shown.data.merged_by?.login).toBe('github-merge-queue[bot]');
    expect(await read(second.number)).toMatchObject({ mergeQueueEntry: { position: 1 } });
  });

  it('takes out what fails or conflicts, and what a person takes out', async () => {
    const { forge } = fresh;
    const pull = await openPullRequest(fresh, { branch: 'a', path: 'quota.yaml', content: 'cpu: 2\n' });
    const { number, headSha } = pull;
    await enqueue(number, headSha);
    expect(await forge.finishQueued(number, 'failed')).toBeUndefined();
    await forge.enqueue(number, 'alice');
    await forge.dequeue(number, 'alice');
    await enqueue(number, headSha);
    await forge.pushCommit({ files: { 'quota.yaml': 'cpu: 3\n' } });
    expect(await forge.finishQueued(number, 'passed')).toBeUndefined();
    const { timelineItems } = await read(number);
    expect((timelineItems as { nodes: { reason?: string }[] }).nodes.flatMap(({ reason }) => reason ?? [])).toEqual([
      'failed_checks',
      'manual',
      'merge_conflict',
    ]);
    expect((await dequeue(number)).errors).toMatchObject([
      { type: 'UNPROCESSABLE', message: `Failed to remove PR #${number} from the merge queue.` },
    ]);
  });

  it('does not let the branch of what it has be moved, and keeps a draft', async () => {
    const { forge, client, at } = fresh;
    const { number, headSha } = await openPullRequest(fresh, { branch: 'a', path: 'a.yaml', content: '1\n' });
    expect((await enqueue(number, 'f'.repeat(40))).errors).toMatchObject([{ type: 'UNPROCESSABLE' }]);
    await enqueue(number, headSha);
    expect((await enqueue(number, headSha)).errors).toMatchObject([
      { type: 'UNPROCESSABLE', message: 'Pull request is already in the queue' },
    ]);
    const main = (await forge.branchTip('main')) ?? '';
    const moving = client.git.updateRef({ ...at, ref: 'heads/a', sha: main, force: true });
    expect(await refusal(moving)).toMatchObject({
      status: 422,
      message: expect.stringMatching(/^Branches that are queued for merging cannot be updated/) as string,
    });
    await forge.setDraft(number, true);
    expect(forge.isQueued(number)).toBe(true);
    expect((await dequeue(number)).errors).toBeUndefined();
    expect(forge.isQueued(number)).toBe(false);
    expect((await enqueue(number, headSha)).errors).toMatchObject([{ message: 'Pull request is a draft' }]);
  });

  it('tells its webhooks', async () => {
    const { forge } = fresh;
    const receiver = await startWebhookReceiver();
    await forge.addHook({ url: receiver.url, events: ['pull_request'] });
    const { number, headSha } = await openPullRequest(fresh, { branch: 'a', path: 'a.yaml', content: '1\n' });
    await enqueue(number, headSha);
    await forge.closePullRequest(number, 'alice');
    await forge.deliveriesSettled();
    await receiver.stop();
    expect(receiver.names().filter((name) => name.includes('queued'))).toEqual([
      'pull_request.enqueued',
      'pull_request.dequeued',
    ]);
  });
});
