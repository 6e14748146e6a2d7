import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import type { AccountsOptions } from './accounts.ts';
import { type Forge, type ForgeRepository, startForge } from './forge.ts';
import { createBareRepository } from './git/bare-repository.ts';
import type { ForgeOptions } from './options.ts';

export interface FreshForge {
  readonly forge: Forge;
  /** A client that speaks for the forge's default login; it neither retries nor waits. */
  readonly client: Octokit;
  /** `{ owner, repo }`, for the client's calls. */
  readonly at: { readonly owner: string; readonly repo: string };
  /** Serves one more new repository, `owner/repo`, with these files on `main`. */
  addRepository(
    name: string,
    files: Readonly<Record<string, string>>,
    accounts?: AccountsOptions,
  ): Promise<ForgeRepository>;
  /** Stops the forge, deletes the repository, and throws when an exchange was not as GitHub describes it. */
  stop(): Promise<void>;
}

/** Starts a forge over a new repository that has these files on `main`, as `acme/gitops`. */
export async function startFreshForge(
  files: Readonly<Record<string, string>>,
  options: Partial<Omit<ForgeOptions, 'gitDir'>> = {},
): Promise<FreshForge> {
  const folder = await mkdtemp(join(tmpdir(), 'headroom-forge-'));
  const gitDir = join(folder, 'gitops.git');
  await createBareRepository(gitDir, files);
  const at = { owner: options.owner ?? 'acme', repo: options.repo ?? 'gitops' };
  const forge = await startForge({ ...at, ...options, gitDir });
  return {
    forge,
    client: clientOf(forge, options.token),
    at,
    async addRepository(name, more, accounts = {}) {
      const [owner = '', repo = ''] = name.split('/');
      const another = join(folder, owner, `${repo}.git`);
      await createBareRepository(another, more);
      return forge.addRepository({ ...accounts, owner, repo, gitDir: another });
    },
    async stop() {
      try {
        await forge.stop();
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** A client for a forge. Its warnings are left out: a test that makes requests fail expects them. */
export function clientOf({ url, apiUrl = url }: { url: string; apiUrl?: string }, token?: string): Octokit {
  const quiet = (): void => {};
  return new Octokit({
    baseUrl: apiUrl,
    ...(token === undefined ? {} : { auth: token }),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
}

/** Text as the contents endpoints take it. */
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Branch from `main`, one commit that sets one file, pull request: what a client does, through the API. */
export async function openPullRequest(
  { client, at }: Pick<FreshForge, 'client' | 'at'>,
  {
    branch,
    path,
    content,
    title = `Change ${path}`,
  }: { branch: string; path: string; content: string; title?: string },
): Promise<{ number: number; headSha: string }> {
  const main = await client.git.getRef({ ...at, ref: 'heads/main' });
  await client.git.createRef({ ...at, ref: `refs/heads/${branch}`, sha: main.data.object.sha });
  const existing = await client.repos.getContent({ ...at, path, ref: branch }).catch(() => undefined);
  const sha = existing && !Array.isArray(existing.data) ? existing.data.sha : undefined;
  const commit = await client.repos.createOrUpdateFileContents({
    ...at,
    path,
    branch,
    message: title,
    content: base64(content),
    ...(sha === undefined ? {} : { sha }),
  });
  const pull = await client.pulls.create({ ...at, head: branch, base: 'main', title });
  return { number: pull.data.number, headSha: commit.data.commit.sha ?? '' };
}

/** What a refused request says: its status, its message, and GitHub's list of errors. */
export async function refusal(
  request: Promise<unknown>,
): Promise<{ status: number; message: string; errors: readonly unknown[] }> {
  try {
    await request;
  } catch (cause) {
    const { status, response } = cause as { status?: number; response?: { data?: unknown } };
    const data = response?.data as { message?: string; errors?: unknown[] } | undefined;
    return { status: status ?? 0, message: data?.message ?? String(cause), errors: data?.errors ?? [] };
  }
  throw new Error('the request was expected to be refused, and was not');
}

/** GraphQL's answer about a pull request, or to a mutation. */
export interface GraphQLAnswer {
  readonly data?: { readonly repository?: { readonly pullRequest: Record<string, unknown> } } | null;
  readonly errors?: readonly { readonly type?: string; readonly message: string }[];
}

export async function askGraphQL(
  { forge }: Pick<FreshForge, 'forge'>,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<GraphQLAnswer> {
  const body = JSON.stringify({ query, variables });
  return (await (await fetch(`${forge.url}/graphql`, { method: 'POST', body })).json()) as GraphQLAnswer;
}

/** @param query with the number of a pull request as its variable. */
export async function readPullRequest(
  fresh: Pick<FreshForge, 'forge'>,
  query: string,
  number: number,
): Promise<Record<string, unknown>> {
  const { data, errors } = await askGraphQL(fresh, query, { number });
  const pull = data?.repository?.pullRequest;
  if (pull === undefined || errors !== undefined)
    throw new Error(`no pull request #${number}: ${JSON.stringify(errors)}`);
  return pull;
}
