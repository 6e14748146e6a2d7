/**
 * The only client for GitHub: timeouts, retries, pace, rate limits, conditional requests and failures are handled here
 * and nowhere else.
 */
import { RequestError } from '@octokit/request-error';
import type { Octokit } from '@octokit/rest';
import { asyncLocalStorage } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { connect, type Connection, type GitHubOptions, NotSent } from './connection.ts';
import type { GitHubCredentials } from './credentials.ts';
import { failureOf, type GraphQlError, graphQlFailure, rateLimited, rateLimitWait, unauthorized } from './failures.ts';

/** A response that is an error but is handled by the caller. */
interface ErrorResponse<Status extends number> {
  readonly ok: false;
  readonly status: Status;
  /** GitHub's message. */
  readonly message: string;
}

export type Answer<T, Status extends number> = { readonly ok: true; readonly data: T } | ErrorResponse<Status>;

/** A GraphQL response, or an error that is handled by the caller; `ABSENT`: there is no GraphQL. */
export type GraphQlAnswer<T, Type extends string> =
  | { readonly ok: true; readonly data: T }
  | { readonly ok: false; readonly type: Type | 'ABSENT'; readonly message: string };

interface MutationOptions {
  /**
   * It takes a merge back, which GitHub would make meanwhile: it goes before the writes that wait, and is tried although
   * GraphQL was absent a while ago.
   */
  readonly takesBack?: boolean;
}

interface GraphQlBody {
  readonly data?: unknown;
  readonly errors?: readonly GraphQlError[];
}

type Ask<T> = (octokit: Octokit) => Promise<{ readonly data: T }>;

const UNAUTHORIZED = 401;
const LIMITED = 429;

/** One repository on GitHub, accessed with one credential. */
export class GitHubClient {
  readonly owner: string;
  readonly repo: string;
  readonly #connection: Connection;

  /** @param options with the `connection` of another client, for a further repository of the same credential. */
  constructor(options: GitHubOptions | (Pick<GitHubOptions, 'owner' | 'repo'> & { readonly connection: Connection })) {
    this.owner = options.owner;
    this.repo = options.repo;
    this.#connection = 'connection' in options ? options.connection : connect(options);
  }

  /** The client of another repository, with the same connection, pace, cached responses and rate limits. */
  forRepository(owner: string, repo: string): GitHubClient {
    if (owner === this.owner && repo === this.repo) return this;
    return new GitHubClient({ owner, repo, connection: this.#connection });
  }

  get repository(): string {
    return `${this.owner}/${this.repo}`;
  }

  /** The identity of this client's credential and its host. */
  get credentials(): Pick<GitHubCredentials, 'host' | 'id'> {
    return this.#connection.credentials;
  }

  /** The account that requests are made by, which GraphQL calls the viewer; null where the server does not tell. */
  async account(): Promise<string | null> {
    const connection = this.#connection;
    const { id } = connection.credentials;
    if (connection.account?.of === id) return connection.account.login;
    const login = (await connection.credentials.account()) ?? (await this.#user());
    if (login !== null) connection.account = { of: id, login };
    return login;
  }

  async #user(): Promise<string | null> {
    const answer = await this.answer([403, 404], (octokit) => octokit.rest.users.getAuthenticated());
    return answer.ok ? answer.data.login : null;
  }

  /**
   * The data of a response.
   *
   * @throws {ApplicationFailure} ForgeRateLimited, ForgeUnauthorized, ForgeUnavailable or ForgeRejected.
   */
  async data<T>(ask: Ask<T>): Promise<T> {
    return this.#send(ask, (error) => {
      throw error;
    });
  }

  /** Like `data`, but responses with one of the given error statuses are returned to the caller. */
  async answer<T, Status extends number>(statuses: readonly Status[], ask: Ask<T>): Promise<Answer<T, Status>> {
    return this.#send<Answer<T, Status>>(
      async (octokit) => ({ data: { ok: true, data: (await ask(octokit)).data } }),
      (error) => {
        const status = statuses.find((handled) => handled === error.status);
        if (status === undefined) throw error;
        return { ok: false, status, message: this.#redact(error.message) };
      },
    );
  }

  /** All pages of a list of GitHub. */
  async pages<T>(
    ask: (octokit: Octokit, page: { per_page: number; page: number }) => Promise<{ data: T }>,
    size: (data: T) => number,
  ): Promise<T[]> {
    const pages: T[] = [];
    for (let page = 1; ; page += 1) {
      const data = await this.data((octokit) => ask(octokit, { per_page: PAGE_SIZE, page }));
      pages.push(data);
      if (size(data) < PAGE_SIZE || page >= MAX_PAGES) return pages;
    }
  }

  /** Like `pages`; GitHub's message where it has no such list. */
  async pagesOr404<T>(
    ask: (octokit: Octokit, page: { per_page: number; page: number }) => Promise<{ data: T }>,
    size: (data: T) => number,
  ): Promise<T[] | { readonly message: string }> {
    const pages: T[] = [];
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const answer = await this.answer([404], (octokit) => ask(octokit, { per_page: PAGE_SIZE, page }));
      if (!answer.ok) return { message: answer.message };
      pages.push(answer.data);
      if (size(answer.data) < PAGE_SIZE) break;
    }
    return pages;
  }

  /** Whether GraphQL may be asked: the settings allow it, and the server was not found to have none. */
  get hasGraphQl(): boolean {
    return Date.now() >= this.#connection.graphQlAbsentUntil;
  }

  /**
   * The data of a GraphQL query or mutation without errors. Errors of one of the given types, such as `STALE_DATA`, are
   * returned to the caller, and so is that there is no GraphQL.
   *
   * @throws {ApplicationFailure} as `data`; any other error in the response is ForgeRejected, unless it is a rate limit or
   *   a problem of GitHub.
   */
  async graphqlAnswer<T, Type extends string>(
    types: readonly Type[],
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
    how: MutationOptions = {},
  ): Promise<GraphQlAnswer<T, Type>> {
    const response = await this.graphqlParts<T>(query, variables, how);
    if (response === null) return { ok: false, type: 'ABSENT', message: 'the server has no GraphQL' };
    const { data, errors } = response;
    if (errors.length === 0 && data !== null) return { ok: true, data: data as T };
    for (const { type: found, message } of errors) {
      const type = types.find((handled) => handled === found);
      if (type !== undefined) return { ok: false, type, message };
    }
    const unexplained = [{ message: 'the answer has neither data nor errors' }];
    throw graphQlFailure(errors.length === 0 ? unexplained : errors, this.repository);
  }

  /**
   * The fields of a GraphQL response as they are: of a mutation some may have taken effect and others failed. Null where
   * there is no GraphQL.
   *
   * @throws {ApplicationFailure} as `data`.
   */
  async graphqlParts<T>(
    query: string,
    variables: Readonly<Record<string, unknown>>,
    { takesBack = false }: MutationOptions = {},
  ): Promise<{ readonly data: Partial<T> | null; readonly errors: readonly GraphQlError[] } | null> {
    const connection = this.#connection;
    const isOff = connection.graphQlAbsentUntil === Number.POSITIVE_INFINITY;
    if (takesBack ? isOff : !this.hasGraphQl) return null;
    const url = connection.graphQlUrl;
    // GraphQL reports missing objects in a successful response; a 404 means that there is no GraphQL at this URL.
    const answer = await this.answer<GraphQlBody, 404>([404], async (octokit) => {
      const response: { data: GraphQlBody } = await octokit.request(`POST ${url}`, {
        query,
        variables,
        request: { reads: !isMutation(query), takesBack },
      });
      throwGraphQlLimit(response, { method: 'POST', url });
      return response;
    });
    if (!answer.ok) return this.#withoutGraphQl(`there is no GraphQL at ${url}`);
    const { data = null } = answer.data;
    const errors = (answer.data.errors ?? []).map((error) => ({ ...error, message: this.#redact(error.message) }));
    const unknown = data === null ? errors.find(({ extensions }) => isOfSchema(extensions?.code)) : undefined;
    if (unknown !== undefined)
      return this.#withoutGraphQl(`GraphQL at ${url} is of another version: ${unknown.message}`);
    return { data: data as Partial<T> | null, errors };
  }

  #withoutGraphQl(why: string): null {
    this.#connection.graphQlAbsentUntil = Date.now() + GRAPHQL_ABSENT_MS;
    this.#connection.log.info({ why }, 'several REST requests take the place of one GraphQL query, for an hour');
    return null;
  }

  /** @param onFailure gets GitHub's errors that are not rate limits; it rethrows those it does not handle. */
  async #send<T>(ask: Ask<T>, onFailure: (error: RequestError) => T): Promise<T> {
    const connection = this.#connection;
    if (Date.now() < connection.limitedUntil) throw this.#limitedNow();
    const { credentials, octokit } = connection;
    try {
      const failed = connection.failed;
      if (failed !== null && Date.now() < failed.askAgainAt) {
        if ((await credentials.authorization()) === failed.authorization) throw this.#unauthorized(failed.words);
      }
      const { data } = await ask(octokit);
      connection.failed = null;
      return data;
    } catch (error) {
      if (error instanceof NotSent && error.why === 'queueFull') {
        throw rateLimited(QUEUE_FULL_WAIT_MS, `too many writes to ${this.repository} wait for their turn`);
      }
      if (asyncLocalStorage.getStore()?.cancellationSignal.aborted === true) {
        throw new CancelledFailure(`a request to GitHub for ${this.repository} was cancelled`);
      }
      if (error instanceof NotSent) throw this.#limitedNow();
      if (error instanceof RequestError && error.status === UNAUTHORIZED) {
        throw this.#unauthorized(this.#redact(error.message));
      }
      const wait = error instanceof RequestError ? rateLimitWait(error, Date.now()) : undefined;
      try {
        if (wait === undefined && error instanceof RequestError && error.response !== undefined)
          return onFailure(error);
        throw error;
      } catch (unhandled) {
        throw this.#limited(
          failureOf(unhandled, this.repository, Date.now(), (text) => this.#redact(text)),
          wait,
        );
      }
    }
  }

  #limitedNow(): Error {
    const rest = Math.max(1, this.#connection.limitedUntil - Date.now());
    return rateLimited(rest, `GitHub limits the requests for ${this.repository}`);
  }

  /** Records that GitHub wants no requests for a while, if the failure says so. */
  #limited(failure: Error, wait: number | undefined): Error {
    if (wait === undefined) return failure;
    this.#connection.limitedUntil = Math.max(this.#connection.limitedUntil, Date.now() + wait);
    this.#connection.onLimited(wait, failure.message);
    return failure;
  }

  #unauthorized(words: string): Error {
    const { advice } = this.#connection.credentials;
    return unauthorized(`the token for ${this.repository}`, `401: ${words}`, advice);
  }

  #redact(text: string): string {
    return this.#connection.credentials.redact(text);
  }
}

/**
 * GraphQL reports a rate limit in a successful response; this turns it into the error that other requests get.
 *
 * @throws {RequestError}
 */
function throwGraphQlLimit(
  response: { readonly data: GraphQlBody },
  request: { readonly method: 'POST'; readonly url: string },
): void {
  const limit = response.data.errors?.find(
    // A secondary limit has no type.
    ({ type, message }) => type?.startsWith('RATE_LIMIT') === true || /secondary rate limit/i.test(message),
  );
  if (limit === undefined) return;
  const failed = { ...(response as Awaited<ReturnType<Octokit['request']>>), status: LIMITED };
  throw new RequestError(limit.message, LIMITED, { request: { ...request, headers: {} }, response: failed });
}

/** Whether an error says that an older server does not know a field, a type or an argument: nothing was done then. */
function isOfSchema(code: string | undefined): boolean {
  return code !== undefined && /^(?:undefined|argumentNotAccepted)/.test(code);
}

function isMutation(query: string): boolean {
  return /^\s*(?:#[^\n]*\n\s*)*mutation\b/.test(query);
}

/** Long enough for most of the queue to be written. */
const QUEUE_FULL_WAIT_MS = 15_000;
/** An upgraded or mended server is noticed after an hour. */
const GRAPHQL_ABSENT_MS = 3_600_000;
/** GitHub's largest. */
const PAGE_SIZE = 100;
/** 1,000 checks or comments of one pull request; later pages are not read. */
export const MAX_PAGES = 10;
