import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { blobSha } from '../../../../activities/forge/git-blob.ts';
import { createGitHubForge } from '../../../../activities/forge/github/forge.ts';
import { GitHubClient } from '../../../../activities/forge/github/client.ts';
import type { GitHubOptions } from '../../../../activities/forge/github/connection.ts';
import { tokenCredentials } from '../../../../activities/forge/github/credentials.ts';

const TOKEN = 'a-recognisable-token';

interface Scripted {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An HTTP server that gives these answers one after the other, the last one for ever, and a client of it. */
async function startGraphQl(answers: readonly Scripted[], prefix = '', options: Partial<GitHubOptions> = {}) {
  const requests: { readonly path: string; readonly authorization: string; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url = '', headers } = request;
      requests.push({ path: url, authorization: headers.authorization ?? '', body });
      const answer = answers[Math.min(requests.length, answers.length) - 1];
      response.writeHead(answer?.status ?? 200, { 'content-type': 'application/json', ...answer?.headers });
      response.end(JSON.stringify(answer?.body));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const limits: number[] = [];
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`;
  const client = new GitHubClient({
    apiUrl,
    owner: 'acme',
    repo: 'gitops',
    credentials: tokenCredentials({ apiUrl, token: () => TOKEN }),
    writeSpacingMs: 0,
    log: pino({ level: 'silent' }),
    onLimited: (waitMs) => limits.push(waitMs),
    ...options,
  });
  return {
    client,
    requests,
    limits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** The data of an answer. */
async function ask(
  client: GitHubClient,
  query: string,
  variables?: Readonly<Record<string, unknown>>,
  how?: { readonly takesBack: true },
) {
  const answer = await client.graphqlAnswer([], query, variables, how);
  return answer.ok ? answer.data : answer;
}

const error = (type: string | undefined, message: string): Scripted => ({
  body: { data: null, errors: [{ ...(type === undefined ? {} : { type }), message }] },
});

describe('GraphQL', () => {
  it('is asked beside the REST API, with the same credential', async () => {
    await using github = await startGraphQl([{ body: { data: { viewer: { login: 'bot' } } } }]);
    expect(await ask(github.client, 'query ($n: Int) { viewer { login } }', { n: 1 })).toEqual({
      viewer: { login: 'bot' },
    });
    expect(github.requests).toEqual([
      {
        path: '/graphql',
        authorization: `Bearer ${TOKEN}`,
        body: JSON.stringify({ query: 'query ($n: Int) { viewer { login } }', variables: { n: 1 } }),
      },
    ]);
    await using enterprise = await startGraphQl([{ body: { data: {} } }], '/api/v3');
    await ask(enterprise.client, '{ viewer { login } }');
    expect(enterprise.requests[0]?.path).toBe('/api/graphql');
  });

  it('gives an error of an expected type to the caller, and any other is a refusal in GitHub’s words', async () => {
    await using github = await startGraphQl([error('STALE_DATA', 'Expected branch to point to "a" but it did not.')]);
    const mutation = 'mutation { createCommitOnBranch { commit { oid } } }';
    expect(await github.client.graphqlAnswer(['STALE_DATA'], mutation)).toEqual({
      ok: false,
      type: 'STALE_DATA',
      message: 'Expected branch to point to "a" but it did not.',
    });
    await expect(ask(github.client, mutation)).rejects.toMatchObject({
      type: 'ForgeRejected',
      nonRetryable: true,
      message: 'GitHub refused a query for acme/gitops: STALE_DATA: Expected branch to point to "a" but it did not.',
    });
  });

  it('has limits and troubles like every other request', async () => {
    await using limited = await startGraphQl([
      { ...error('RATE_LIMITED', 'API rate limit exceeded'), headers: { 'retry-after': '31' } },
    ]);
    await expect(ask(limited.client, '{ viewer { login } }')).rejects.toMatchObject({
      type: 'ForgeRateLimited',
      nextRetryDelay: 31_000,
    });
    await expect(limited.client.forRepository('acme', 'other').data((o) => o.rest.meta.get())).rejects.toMatchObject({
      type: 'ForgeRateLimited',
    });
    expect(limited.requests, 'nothing is asked of any repository until then').toHaveLength(1);
    expect(limited.limits).toEqual([31_000]);

    await using away = await startGraphQl([{ status: 502, body: { message: 'bad gateway' } }]);
    await expect(ask(away.client, '{ viewer { login } }')).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    expect(away.requests, 'a query is asked twice').toHaveLength(2);
    await expect(ask(away.client, 'mutation { x }')).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    expect(away.requests, 'a mutation is sent once').toHaveLength(3);

    await using secondary = await startGraphQl([error(undefined, 'You have exceeded a secondary rate limit.')]);
    await expect(ask(secondary.client, 'mutation { x }')).rejects.toMatchObject({
      type: 'ForgeRateLimited',
      nextRetryDelay: 60_000,
    });

    await using trouble = await startGraphQl([error(undefined, 'Something went wrong')]);
    await expect(ask(trouble.client, 'mutation { x }')).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    await using empty = await startGraphQl([{ body: {} }]);
    await expect(ask(empty.client, 'mutation { x }')).rejects.toMatchObject({ type: 'ForgeUnavailable' });
  });

  it('is not asked again for an hour where something else answers with a page, nor where it is switched off', async () => {
    await using page = await startGraphQl([{ status: 404, body: `<html>\n${'<p>'.repeat(1000)}` }]);
    const absent = { ok: false, type: 'ABSENT', message: 'the server has no GraphQL' };
    expect(page.client.hasGraphQl).toBe(true);
    expect(await ask(page.client, '{ viewer { login } }')).toEqual(absent);
    expect(await ask(page.client.forRepository('acme', 'other'), 'mutation { x }')).toEqual(absent);
    expect(page.requests).toHaveLength(1);
    expect(page.client.hasGraphQl).toBe(false);
    const message = "Field 'isMergeQueueEnabled' doesn't exist on type 'PullRequest'";
    const errors = [{ path: ['query'], extensions: { code: 'undefinedField' }, locations: [], message }];
    await using old = await startGraphQl([{ body: { errors } }]);
    expect(await ask(old.client, '{ viewer { login } }'), 'an older server').toEqual(absent);
    expect(old.client.hasGraphQl).toBe(false);
    await using off = await startGraphQl([{ body: { data: {} } }], '', { graphQl: 'off' });
    expect(await ask(off.client, '{ viewer { login } }')).toEqual(absent);
    expect(off.requests).toEqual([]);
  });

  it('asks a query at once where a write waits for its turn', async () => {
    await using github = await startGraphQl([{ body: { data: {} } }], '', { writeSpacingMs: 60_000 });
    await ask(github.client, 'mutation { x }');
    // The next write would be sent in a minute.
    await ask(github.client, '{ viewer { login } }');
    expect(github.requests).toHaveLength(2);
  });

  it('refuses a write for which too many wait already, without sending it', async () => {
    await using github = await startGraphQl([{ body: { data: {} } }], '', { writeSpacingMs: 60_000, writeQueue: 1 });
    await ask(github.client, 'mutation { x }');
    // Its turn is in a minute.
    void ask(github.client, 'mutation { y }').catch(() => {});
    await expect(ask(github.client, 'mutation { z }')).rejects.toMatchObject({
      type: 'ForgeRateLimited',
      nonRetryable: false,
      nextRetryDelay: 15_000,
      message: expect.stringContaining('too many writes to acme/gitops wait for their turn'),
    });
    expect(github.requests).toHaveLength(1);
  });

  it('sends what takes a merge back before the writes that wait, however many there are', async () => {
    await using github = await startGraphQl([{ body: { data: {} } }], '', { writeSpacingMs: 300, writeQueue: 2 });
    const sent = [ask(github.client, 'mutation { a }'), ask(github.client, 'mutation { b }')];
    sent.push(ask(github.client, 'mutation { c }'));
    sent.push(ask(github.client, 'mutation { takesBack }', {}, { takesBack: true }));
    await Promise.all(sent);
    expect(github.requests.map(({ body }) => /\{ (\w+) \}/.exec(body)?.[1])).toEqual(['a', 'takesBack', 'b', 'c']);
  });

  it('does not send a write that waits for its turn while its activity is cancelled', async () => {
    await using github = await startGraphQl([{ body: { data: {} } }], '', { writeSpacingMs: 200 });
    await ask(github.client, 'mutation { a }');
    const activity = new MockActivityEnvironment();
    const waiting = activity.run(async () => await ask(github.client, 'mutation { b }'));
    activity.cancel('CANCELLED');
    await expect(waiting).rejects.toBeInstanceOf(CancelledFailure);
    expect(github.requests).toHaveLength(1);
  });

  it('does not send what waits for its turn while GitHub says that it limits', async () => {
    const limits = { ...error('RATE_LIMITED', 'API rate limit exceeded'), headers: { 'retry-after': '31' } };
    await using github = await startGraphQl([limits], '', { writeSpacingMs: 200 });
    const first = ask(github.client, 'mutation { a }');
    const second = ask(github.client, 'mutation { b }');
    await expect(first).rejects.toMatchObject({ type: 'ForgeRateLimited' });
    await expect(second).rejects.toMatchObject({ type: 'ForgeRateLimited', nonRetryable: false });
    expect(github.requests, 'GitHub locks out whoever goes on').toHaveLength(1);
    expect(github.limits, 'it was limited once').toEqual([31_000]);
  });

  it('is asked to take a merge back although it did not answer a while ago', async () => {
    await using github = await startGraphQl([{ status: 404, body: {} }, { body: { data: {} } }]);
    expect(await ask(github.client, '{ viewer { login } }')).toMatchObject({ type: 'ABSENT' });
    expect(await ask(github.client, 'mutation { x }')).toMatchObject({ type: 'ABSENT' });
    expect(await ask(github.client, 'mutation { x }', {}, { takesBack: true })).toEqual({});
    expect(github.requests).toHaveLength(2);
  });

  it('has the token in no failure, whoever put it there', async () => {
    const answers = [
      error('FORBIDDEN', `${TOKEN} may not`),
      error('RATE_LIMITED', `${TOKEN} rate limit`),
      error(undefined, TOKEN),
      { status: 401, body: { message: TOKEN } },
      { status: 500, body: { message: TOKEN } },
    ];
    for (const answer of answers) {
      await using github = await startGraphQl([answer]);
      const failure: unknown = await ask(github.client, 'mutation { x }').catch((thrown: unknown) => thrown);
      expect(String(failure)).toMatch(/GitHub/);
      expect(`${String(failure)} ${(failure as Error).stack} ${JSON.stringify(failure)}`).not.toContain(TOKEN);
    }
    await using stale = await startGraphQl([error('STALE_DATA', TOKEN)]);
    expect(JSON.stringify(await stale.client.graphqlAnswer(['STALE_DATA'], 'mutation { x }'))).not.toContain(TOKEN);
  });
});

describe('files by GraphQL', () => {
  const texts = ['one\n', 'ärger\n', '\ufeffbom\n'];
  const files = texts.map((text) => ({ sha: blobSha(text), size: 6 }));
  const blob = (text: string): Scripted => ({
    body: { content: Buffer.from(text).toString('base64'), encoding: 'base64', sha: blobSha(text), size: 6, url: '' },
  });

  it('are taken where their text has their SHA, and read one by one where it has not', async () => {
    const repository = { b0: { text: texts[0] }, b1: { text: '\ufffdrger\n' }, b2: null };
    await using github = await startGraphQl([{ body: { data: { repository } } }, blob('ärger\n'), blob('\ufeffbom\n')]);
    const read = await createGitHubForge({ client: github.client }).files.fileTexts(files);
    expect(files.map(({ sha }) => read.get(sha))).toEqual(texts);
    expect(github.requests.map(({ path }) => path)).toEqual([
      '/graphql',
      ...files.slice(1).map(({ sha }) => `/repos/acme/gitops/git/blobs/${sha}`),
    ]);
  });

  it('are read one by one by a credential that GraphQL refuses', async () => {
    const forbidden = error('FORBIDDEN', 'Resource not accessible by integration');
    await using github = await startGraphQl([forbidden, ...texts.map(blob)]);
    const read = await createGitHubForge({ client: github.client }).files.fileTexts(files);
    expect([...read.keys()]).toEqual(files.map(({ sha }) => sha));
    expect(github.requests).toHaveLength(4);
  });

  it('are no query for a single file', async () => {
    await using github = await startGraphQl([blob('one\n')]);
    expect([
      ...(await createGitHubForge({ client: github.client }).files.fileTexts(files.slice(0, 1))).values(),
    ]).toEqual(['one\n']);
    expect(github.requests.map(({ path }) => path)).toEqual([`/repos/acme/gitops/git/blobs/${files[0]?.sha}`]);
  });
});

describe('the base branch with open pull requests', () => {
  const rest = { body: { name: 'main', commit: { sha: 'a1', commit: { tree: { sha: 'b2' } } } } };
  const branch = { kind: 'branch', name: 'main', sha: 'a1', treeSha: 'b2' };

  it('is one query, whose list is there for the next question and names own ones only', async () => {
    const pulls = [
      { number: 7, headRefName: 'headroom/prod/a/b/1', viewerDidAuthor: true },
      { number: 8, headRefName: 'headroom/prod/a/b/2', viewerDidAuthor: false },
      { number: 9, headRefName: 'headroom/prod/a/b/3', viewerDidAuthor: true },
    ];
    const prefix = 'refs/heads/headroom/prod/a/b/';
    const nodes = pulls.map((pull, index) => ({
      prefix,
      name: `${index + 1}`,
      associatedPullRequests: { nodes: [pull] },
    }));
    const base = { name: 'main', target: { oid: 'a1', tree: { oid: 'b2' } } };
    const answer = (hasNextPage: boolean): Scripted => ({
      body: { data: { repository: { id: 'R_1', base, refs: { pageInfo: { hasNextPage }, nodes } } } },
    });
    await using github = await startGraphQl([answer(false), answer(true)]);
    const { files, pullRequests } = createGitHubForge({ client: github.client });
    expect(await files.base(0, undefined, { beginning: 'headroom/prod/a/b/' })).toEqual(branch);
    expect(await pullRequests.ownOpen('headroom/prod/a/b/', 60_000)).toEqual([
      { number: 9, branch: 'headroom/prod/a/b/3' },
      { number: 7, branch: 'headroom/prod/a/b/1' },
    ]);
    const opensAtOnce = (id: string, beginning: string): boolean =>
      pullRequests.opensAtOnce([], `headroom/prod/a/b/${id}`, beginning);
    expect(opensAtOnce('4', 'headroom/prod/a/b/')).toBe(true);
    expect(opensAtOnce('3', 'headroom/prod/a/b/'), 'its branch is there').toBe(false);
    expect(opensAtOnce('4', 'headroom/prod/a/'), 'never listed').toBe(false);
    expect(opensAtOnce('4', ''), 'cannot be listed').toBe(false);
    expect(github.requests).toHaveLength(1);
    await pullRequests.ownOpen('headroom/prod/a/b/', -1);
    expect(github.requests).toHaveLength(2);
    expect(opensAtOnce('4', 'headroom/prod/a/b/'), 'not all are listed').toBe(false);
  });

  it('is read over REST, and without them, by a credential that GraphQL refuses', async () => {
    const forbidden = error('FORBIDDEN', 'Resource not accessible by integration');
    await using github = await startGraphQl([forbidden, rest, forbidden]);
    const { files, pullRequests } = createGitHubForge({ client: github.client, baseBranch: 'main' });
    expect(await files.base(0, undefined, { beginning: 'headroom/prod/a/b/' })).toEqual(branch);
    expect(await pullRequests.ownOpen('headroom/prod/a/b/', 60_000)).toEqual([]);
    expect(github.requests.map(({ path }) => path)).toEqual([
      '/graphql',
      '/repos/acme/gitops/branches/main',
      '/graphql',
    ]);
  });
});
