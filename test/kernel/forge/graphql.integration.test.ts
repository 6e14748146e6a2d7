import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { base64, type FreshForge, openPullRequest, startFreshForge } from './fresh-forge.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

const COMMIT = `mutation ($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) {
    commit { oid message committedViaWeb signature { isValid } author { name } committer { name } }
    ref { name target { oid } }
  }
}`;

let fresh: FreshForge;
let main: string;
beforeEach(async () => {
  fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n', 'old/a.yaml': '1\n' }, { mergeableDelayMs: 0 });
  main = (await fresh.forge.branchTip('main')) ?? '';
});
afterEach(() => fresh.stop());

interface GraphQLAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly Record<string, unknown>[];
}

async function ask(query: string, variables: Record<string, unknown> = {}, path = '/graphql'): Promise<GraphQLAnswer> {
  const answer = await fetch(`${fresh.forge.url}${path}`, {
    method: 'POST',
    body: JSON.stringify({ query, variables }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as GraphQLAnswer;
}

/** The variables of a commit to a branch of acme/gitops. */
const commit = (branchName: string, expectedHeadOid: string, given: Record<string, unknown> = {}) => ({
  input: {
    branch: { repositoryNameWithOwner: 'acme/gitops', branchName },
    expectedHeadOid,
    message: { headline: 'Raise the quota', body: 'Because pods wait.' },
    fileChanges: { additions: [{ path: 'quota.yaml', contents: base64('cpu: 2\n') }], deletions: [] },
    ...given,
  },
});

describe('createCommitOnBranch', () => {
  it('commits changed, new and deleted files at once, as GitHub’s own commit', async () => {
    const { forge, client, at } = fresh;
    const fileChanges = {
      additions: [
        { path: 'quota.yaml', contents: base64('cpu: 2\n') },
        { path: 'new/deep/b.yaml', contents: base64('2\n') },
      ],
      deletions: [{ path: 'old/a.yaml' }],
    };
    const answer = await ask(COMMIT, commit('main', main, { fileChanges }));
    const oid = await forge.branchTip('main');
    expect(answer).toEqual({
      data: {
        createCommitOnBranch: {
          commit: {
            oid,
            message: 'Raise the quota\n\nBecause pods wait.',
            committedViaWeb: true,
            signature: { isValid: true },
            author: { name: 'headroom-bot' },
            committer: { name: 'GitHub' },
          },
          ref: { name: 'main', target: { oid } },
        },
      },
    });
    expect(await forge.readFile('main', 'quota.yaml')).toBe('cpu: 2\n');
    expect(await forge.readFile('main', 'new/deep/b.yaml')).toBe('2\n');
    expect(await forge.readFile('main', 'old/a.yaml')).toBeUndefined();
    const shown = await client.repos.getCommit({ ...at, ref: 'main' });
    expect(shown.data).toMatchObject({
      parents: [{ sha: main }],
      author: { login: 'headroom-bot' },
      committer: { login: 'web-flow' },
      commit: { verification: { verified: true } },
    });
  });

  it('refuses a branch that has moved with STALE_DATA, and changes nothing', async () => {
    const { forge } = fresh;
    const moved = await forge.pushCommit({ files: { 'quota.yaml': 'cpu: 9\n' } });
    expect(await ask(COMMIT, commit('main', main))).toEqual({
      data: { createCommitOnBranch: null },
      errors: [
        {
          type: 'STALE_DATA',
          path: ['createCommitOnBranch'],
          locations: [{ line: 2, column: 3 }],
          message: `Expected branch to point to "${main}" but it did not.  Pull and try again.`,
        },
      ],
    });
    expect(await forge.branchTip('main')).toBe(moved);
    expect(forge.writes.at(-1)).toMatchObject({ endpoint: 'POST /graphql createCommitOnBranch', effect: false });
  });

  it('refuses a protected branch, an unknown one, and the deletion of what is not there', async () => {
    const { forge } = fresh;
    const type = async (variables: Record<string, unknown>) => (await ask(COMMIT, variables)).errors?.[0]?.['type'];
    expect(await type(commit('never', main))).toBe('NOT_FOUND');
    const input = { ...commit('main', main).input, branch: { repositoryNameWithOwner: 'acme/other', branchName: 'x' } };
    expect(await type({ input })).toBe('NOT_FOUND');
    expect(await type(commit('main', main, { fileChanges: { deletions: [{ path: 'no.yaml' }] } }))).toBe(
      'UNPROCESSABLE',
    );
    await forge.protectBranch('main', { requiredReviews: 1 });
    expect(await type(commit('main', main))).toBe('BRANCH_PROTECTION_RULE_VIOLATION');
    expect(await forge.branchTip('main')).toBe(main);
  });

  it('takes the id of a ref, and moves the pull request of the branch', async () => {
    const { forge, client, at } = fresh;
    const receiver = await startWebhookReceiver();
    const { number, headSha } = await openPullRequest(fresh, { branch: 'one', path: 'b.yaml', content: '1\n' });
    await forge.addHook({ url: receiver.url, events: ['push', 'pull_request'] });
    const found = await ask(
      '{ repository(owner: "acme", name: "gitops") { ref(qualifiedName: "refs/heads/one") { id } } }',
    );
    const { repository } = found.data as { repository: { ref: { id: string } } };
    await ask(COMMIT, commit('', headSha, { branch: { id: repository.ref.id } }));
    const head = await forge.branchTip('one');
    expect((await client.pulls.get({ ...at, pull_number: number })).data.head.sha).toBe(head);
    await forge.deliveriesSettled();
    expect(receiver.names()).toEqual(['ping', 'push', 'pull_request.synchronize']);
    expect(receiver.received.at(-1)?.payload).toMatchObject({ before: headSha, after: head });
    await receiver.stop();
  });

  it('is a write in the log, and goes wrong as a request of the REST API does', async () => {
    const { forge } = fresh;
    const lost = forge.fail({ path: '/graphql', body: 'createCommitOnBranch', action: { kind: 'answer-lost' } });
    await expect(ask(COMMIT, commit('main', main))).rejects.toThrow('fetch failed');
    expect(lost.hits).toBe(1);
    expect(await forge.readFile('main', 'quota.yaml')).toBe('cpu: 2\n');
    expect(forge.endpoints).toContain('POST /graphql createCommitOnBranch');
    expect(forge.writes).toMatchObject([
      { endpoint: 'POST /graphql createCommitOnBranch', branch: 'main', effect: true, fault: 'answer-lost' },
    ]);

    const held = forge.hold({ path: '/graphql', when: 'before' });
    const asked = ask(COMMIT, commit('main', (await forge.branchTip('main')) ?? ''));
    await held.held;
    const moved = await forge.pushCommit({ files: { 'x.yaml': '1\n' } });
    held.release();
    expect((await asked).errors).toMatchObject([{ type: 'STALE_DATA' }]);
    expect(await forge.branchTip('main')).toBe(moved);
  });
});

describe('a GraphQL query', () => {
  it('reads refs, files and pull requests, also under the address of GitHub Enterprise', async () => {
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
    const query = `query ($number: Int!) {
      viewer { login }
      repository(owner: "acme", name: "gitops") {
        nameWithOwner
        defaultBranchRef { name target { oid ... on Commit { file(path: "quota.yaml") { object { ... on Blob { text } } } } } }
        object(expression: "main:old") { ... on Tree { entries { name type } } }
        pullRequest(number: $number) { state mergeable mergeStateStatus isDraft headRefName }
      }
    }`;
    expect(await ask(query, { number }, '/api/graphql')).toEqual({
      data: {
        viewer: { login: 'headroom-bot' },
        repository: {
          nameWithOwner: 'acme/gitops',
          defaultBranchRef: { name: 'main', target: { oid: main, file: { object: { text: 'cpu: 1\n' } } } },
          object: { entries: [{ name: 'a.yaml', type: 'blob' }] },
          pullRequest: {
            state: 'OPEN',
            mergeable: 'MERGEABLE',
            mergeStateStatus: 'CLEAN',
            isDraft: false,
            headRefName: 'one',
          },
        },
      },
    });
    expect(fresh.forge.writes.filter(({ path }) => path === '/graphql')).toEqual([]);
  });

  it('reads the refs below a folder, under their names in it, with their open pull requests', async () => {
    const { client, at } = fresh;
    const one = await openPullRequest(fresh, { branch: 'team/a/one', path: 'quota.yaml', content: 'cpu: 2\n' });
    const two = await openPullRequest(fresh, { branch: 'team/a/two', path: 'quota.yaml', content: 'cpu: 3\n' });
    await openPullRequest(fresh, { branch: 'team/b/one', path: 'quota.yaml', content: 'cpu: 4\n' });
    await client.pulls.update({ ...at, pull_number: two.number, state: 'closed' });
    const query = `query ($prefix: String!, $query: String, $states: [PullRequestState!]) {
      repository(owner: "acme", name: "gitops") { refs(refPrefix: $prefix, query: $query, first: 10) { totalCount nodes {
        name associatedPullRequests(states: $states, first: 5) { nodes { number viewerDidAuthor } } } } } }`;
    const refs = async (prefix: string, more: Record<string, unknown> = {}) =>
      (await ask(query, { prefix, ...more })).data?.['repository'];
    const pulls = (...numbers: readonly number[]) => ({
      nodes: numbers.map((number) => ({ number, viewerDidAuthor: true })),
    });
    expect(await refs('refs/heads/team/a/', { states: ['OPEN'] })).toEqual({
      refs: {
        totalCount: 2,
        nodes: [
          { name: 'one', associatedPullRequests: pulls(one.number) },
          { name: 'two', associatedPullRequests: pulls() },
        ],
      },
    });
    expect(await refs('refs/heads/team/', { query: 'a/t' })).toMatchObject({
      refs: { nodes: [{ name: 'a/two', associatedPullRequests: pulls(two.number) }] },
    });
    const endless = await ask(
      '{ repository(owner: "acme", name: "gitops") { refs(refPrefix: "refs/heads/") { totalCount } } }',
    );
    expect(endless.errors).toMatchObject([{ type: 'MISSING_PAGINATION_BOUNDARIES' }]);
  });

  it('that GitHub’s schema does not know is refused with an error and 200', async () => {
    const { errors } = await ask('{ repository(owner: "acme", name: "gitops") { colour } }');
    expect(errors).toMatchObject([{ message: expect.stringContaining('"colour"') as string }]);
    expect((await ask('{ repository(owner: ')).errors).toHaveLength(1);
    const missing = await ask('{ repository(owner: "acme", name: "other") { id } }');
    expect(missing).toMatchObject({
      data: { repository: null },
      errors: [{ type: 'NOT_FOUND', path: ['repository'] }],
    });
  });

  it('makes a pull request a draft and ready again', async () => {
    const { client, at } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'quota.yaml', content: 'cpu: 2\n' });
    const get = async () => (await client.pulls.get({ ...at, pull_number: number })).data;
    const pullRequestId = (await get()).node_id;
    const set = (name: string) =>
      ask(`mutation ($id: ID!) { ${name}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`, {
        id: pullRequestId,
      });
    expect(await set('convertPullRequestToDraft')).toMatchObject({
      data: { convertPullRequestToDraft: { pullRequest: { isDraft: true } } },
    });
    expect((await get()).mergeable_state).toBe('draft');
    await set('markPullRequestReadyForReview');
    expect((await get()).draft).toBe(false);
  });
});
