import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../stack/eventually.ts';
import {
  askGraphQL,
  type FreshForge,
  type GraphQLAnswer,
  openPullRequest,
  readPullRequest,
  startFreshForge,
} from './fresh-forge.ts';
import type { AccountsOptions } from './accounts.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

const accounts: AccountsOptions = { collaborators: { 'headroom-bot': 'push', alice: 'push', mallory: 'pull' } };

let fresh: FreshForge;
beforeEach(async () => {
  fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { mergeableDelayMs: 0, ...accounts });
  await fresh.forge.protectBranch('main', { requiredChecks: ['ci'] });
  await fresh.forge.setMergeSettings({ autoMerge: true });
});
afterEach(() => fresh.stop());

const READ = `query ($number: Int!) { repository(owner: "acme", name: "gitops") { autoMergeAllowed pullRequest(number: $number) {
  id state mergeStateStatus mergedBy { login } autoMergeRequest { mergeMethod enabledBy { login } }
  timelineItems(itemTypes: [AUTO_MERGE_ENABLED_EVENT, AUTO_SQUASH_ENABLED_EVENT, AUTO_REBASE_ENABLED_EVENT, AUTO_MERGE_DISABLED_EVENT], last: 10) { nodes {
    __typename
    ... on AutoMergeDisabledEvent { reason actor { login } }
  } } } } }`;

async function read(number: number): Promise<Record<string, unknown>> {
  return await readPullRequest(fresh, READ, number);
}

async function enable(number: number, input: Record<string, unknown> = {}): Promise<GraphQLAnswer> {
  const { id: pullRequestId } = await read(number);
  const mutation =
    'mutation ($input: EnablePullRequestAutoMergeInput!) { enablePullRequestAutoMerge(input: $input) { pullRequest { number } } }';
  return await askGraphQL(fresh, mutation, { input: { pullRequestId, mergeMethod: 'SQUASH', ...input } });
}

async function disable(number: number): Promise<GraphQLAnswer> {
  const { id: pullRequestId } = await read(number);
  const mutation =
    'mutation ($input: DisablePullRequestAutoMergeInput!) { disablePullRequestAutoMerge(input: $input) { clientMutationId } }';
  return await askGraphQL(fresh, mutation, { input: { pullRequestId } });
}

const refused = (message: string) => [{ type: 'UNPROCESSABLE', message }];

async function opened(): Promise<{ readonly number: number; readonly headSha: string }> {
  return await openPullRequest(fresh, { branch: 'a', path: 'a.yaml', content: '1\n' });
}

async function passes(sha: string): Promise<void> {
  await fresh.forge.setStatus({ sha, context: 'ci', state: 'success' });
}

describe('auto-merge', () => {
  it('merges when what is required is there, by the method of then, and in the name of whoever enabled it', async () => {
    const { client, at } = fresh;
    const { number, headSha } = await opened();
    expect((await enable(number, { expectedHeadOid: headSha, commitHeadline: 'a title' })).errors).toBeUndefined();
    expect(await read(number)).toMatchObject({
      mergeStateStatus: 'BLOCKED',
      autoMergeRequest: { mergeMethod: 'SQUASH', enabledBy: { login: 'headroom-bot' } },
      timelineItems: { nodes: [{ __typename: 'AutoSquashEnabledEvent' }] },
    });
    const shown = await client.pulls.get({ ...at, pull_number: number });
    expect(shown.data.auto_merge).toMatchObject({ merge_method: 'squash', enabled_by: { login: 'headroom-bot' } });
    await passes(headSha);
    await eventually('it is merged', async () => (await read(number)).state === 'MERGED');
    expect(await read(number)).toMatchObject({ mergedBy: { login: 'headroom-bot' } });
    const main = await client.repos.getCommit({ ...at, ref: 'main' });
    expect(main.data.commit.message).toBe('a title');
  });

  it('is refused where it could be merged at once, where the settings forbid it, and for another head', async () => {
    const { forge } = fresh;
    const { number, headSha } = await opened();
    expect((await enable(number, { expectedHeadOid: 'f'.repeat(40) })).errors).toMatchObject([
      { type: 'UNPROCESSABLE' },
    ]);
    await forge.setMergeSettings({ methods: ['merge'] });
    expect((await enable(number)).errors).toMatchObject([{ type: 'UNPROCESSABLE' }]);
    await forge.setMergeSettings({ methods: ['merge', 'squash', 'rebase'], autoMerge: false });
    expect((await enable(number)).errors).toMatchObject(
      refused('Pull request Auto merge is not allowed for this repository'),
    );
    await forge.setMergeSettings({ autoMerge: true });
    await passes(headSha);
    expect((await enable(number)).errors).toMatchObject(refused('Pull request Pull request is in clean status'));
    await forge.setStatus({ sha: headSha, context: 'other', state: 'failure' });
    expect((await enable(number)).errors).toMatchObject(refused('Pull request Pull request is in unstable status'));
    expect((await disable(number)).errors).toMatchObject([{ type: 'UNPROCESSABLE' }]);
  });

  it('ends with a push by somebody without the right to write, and outlasts one by somebody with it', async () => {
    const { forge } = fresh;
    const { number } = await opened();
    await enable(number);
    await forge.pushCommit({ branch: 'a', files: { 'a.yaml': '2\n' }, author: 'alice' });
    expect(forge.autoMergeOf(number)).toEqual({ by: 'headroom-bot', method: 'squash' });
    await forge.pushCommit({ branch: 'a', files: { 'a.yaml': '3\n' }, author: 'mallory' });
    expect(forge.autoMergeOf(number)).toBeUndefined();
    expect(await read(number)).toMatchObject({
      timelineItems: {
        nodes: [
          { __typename: 'AutoSquashEnabledEvent' },
          { reason: 'Head branch was pushed to by a user without write access', actor: { login: 'mallory' } },
        ],
      },
    });
  });

  it('tells its webhooks', async () => {
    const { forge } = fresh;
    const receiver = await startWebhookReceiver();
    await forge.addHook({ url: receiver.url, events: ['pull_request'] });
    const { number } = await opened();
    await enable(number);
    await disable(number);
    await forge.deliveriesSettled();
    await receiver.stop();
    expect(receiver.names().filter((name) => name.includes('auto_merge'))).toEqual([
      'pull_request.auto_merge_enabled',
      'pull_request.auto_merge_disabled',
    ]);
  });
});
