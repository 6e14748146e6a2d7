/**
 * The only client for GitHub: timeouts, retries, pace, rate limits, conditional requests and failures are handled here
 * and nowhere else.
 */
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import { asyncLocalStorage } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import Bottleneck from 'bottleneck';
import type { Logger } from 'pino';
import { BoundedCache } from './cache.ts';
import type { GitHubCredentials } from './credentials.ts';
import { failureOf, type GraphQlError, graphQlFailure, rateLimited, rateLimitWait, unauthorized } from './failures.ts';
import { fetchWhole } from './fetch.ts';

export interface GitHubOptions {
  /** The base of the REST API: `https://api.github.com`, or `https://HOST/api/v3`. */
  readonly apiUrl: string;
  readonly owner: string;
  readonly repo: string;
  /** The branch to change; absent or null: the repository's default branch. */
  readonly baseBranch?: string | null | undefined;
  /** Called at every request, so that a secret can be replaced without a restart. */
  readonly credentials: GitHubCredentials;
  readonly log: Logger;
  /** Time limit for one request in milliseconds, including reading the body. Default: 30,000. */
  readonly requestTimeoutMs?: number;
  /**
   * Minimum milliseconds between two writes of this process. Default: 1,000, GitHub's recommendation against secondary
   * rate limits.
   */
  readonly writeSpacingMs?: number;
  /** How many writes may wait in the queue; a further one fails as rate-limited and is retried. Default: 20. */
  readonly writeQueue?: number;
  /** Called when GitHub rate-limits a request, with the milliseconds to wait and GitHub's message. */
  readonly onLimited?: (waitMs: number, words: string) => void;
}

/** A response that is an error but is handled by the caller. */
interface ErrorResponse<Status extends number> {
  readonly ok: false;
  readonly status: Status;
  /** GitHub's message. */
  readonly message: string;
}

export type Answer<T, Status extends number> = { readonly ok: true; readonly data: T } | ErrorResponse<Status>;

/** A GraphQL response that is an error but is handled by the caller. */
export type GraphQlAnswer<T, Type extends string> =
  | { readonly ok: true; readonly data: T }
  | { readonly ok: false; readonly type: Type; readonly message: string };

interface GraphQlBody {
  readonly data?: unknown;
  readonly errors?: readonly GraphQlError[];
}

type Ask<T> = (octokit: Octokit) => Promise<{ readonly data: T }>;

const HeadroomOctokit = Octokit.plugin(retry, throttling);

const REQUEST_TIMEOUT_MS = 30_000;
const WRITE_SPACING_MS = 1000;
const WRITE_QUEUE = 20;
/** The pause before a read is tried again; longer pauses are left to Temporal's retries. */
const READ_RETRY_PAUSE_MS = 500;
const UNAUTHORIZED = 401;
const LIMITED = 429;
/** Number of responses cached for their ETag: a few for each of about a hundred open pull requests. */
const KEPT_ANSWERS = 1000;
/** Git objects are cached by SHA elsewhere, and are too large to cache twice. */
const NEVER_CONDITIONAL = /\/git\/(?:trees|blobs)\//;

/** State shared by all repositories of one credential: connection, pace, cached responses and rate limits. */
interface Connection {
  readonly octokit: Octokit;
  readonly graphQlUrl: string;
  readonly credentials: GitHubCredentials;
  readonly onLimited: (waitMs: number, words: string) => void;
  /** No requests may be sent before this moment, according to GitHub's last rate limit. */
  limitedUntil: number;
  /** GitHub locks an account for a while if it keeps sending a rejected credential. */
  failed: { readonly authorization: string; readonly words: string; readonly askAgainAt: number } | null;
}

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

  /**
   * The data of a GraphQL query or mutation.
   *
   * @throws {ApplicationFailure} as `data`; an error in the response is ForgeRejected, unless it is a rate limit or a
   *   problem of GitHub.
   */
  async graphql<T>(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<T> {
    const { data, errors } = await this.#query(query, variables);
    if (data === null) throw graphQlFailure(errors, this.repository);
    return data as T;
  }

  /** Like `graphql`, but errors of one of the given types, such as `STALE_DATA`, are returned to the caller. */
  async graphqlAnswer<T, Type extends string>(
    types: readonly Type[],
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
  ): Promise<GraphQlAnswer<T, Type>> {
    const { data, errors } = await this.#query(query, variables);
    if (data !== null) return { ok: true, data: data as T };
    for (const { type: found, message } of errors) {
      const type = types.find((handled) => handled === found);
      if (type !== undefined) return { ok: false, type, message };
    }
    throw graphQlFailure(errors, this.repository);
  }

  /** Returns data without errors, or null with at least one error. */
  async #query(
    query: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly data: unknown; readonly errors: readonly GraphQlError[] }> {
    const url = this.#connection.graphQlUrl;
    const { data = null, errors = [] } = await this.data<GraphQlBody>(async (octokit) => {
      // With its literal URL the throttling plugin would recognize GraphQL and handle its errors itself.
      const response: { data: GraphQlBody } = await octokit.request('POST {+graphQlUrl}', {
        graphQlUrl: url,
        query,
        variables,
        // A query changes nothing, so it may be retried as every other read is: not after a refusal or a limit.
        request: { reads: !isMutation(query) },
      });
      throwGraphQlLimit(response, { method: 'POST', url });
      return response;
    });
    if (errors.length > 0) {
      return { data: null, errors: errors.map((error) => ({ ...error, message: this.#redact(error.message) })) };
    }
    return { data, errors: [{ message: 'the answer has neither data nor errors' }] };
  }

  /** @param onFailure gets GitHub's errors that are not rate limits; it rethrows those it does not handle. */
  async #send<T>(ask: Ask<T>, onFailure: (error: RequestError) => T): Promise<T> {
    const connection = this.#connection;
    const rest = connection.limitedUntil - Date.now();
    if (rest > 0) throw rateLimited(rest, `GitHub limits the requests for ${this.repository}`);
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
      if (error instanceof Bottleneck.BottleneckError) {
        throw rateLimited(QUEUE_FULL_WAIT_MS, `too many writes to ${this.repository} wait for their turn`);
      }
      if (asyncLocalStorage.getStore()?.cancellationSignal.aborted === true) {
        throw new CancelledFailure(`a request to GitHub for ${this.repository} was cancelled`);
      }
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

function connect(options: GitHubOptions): Connection {
  const { log, credentials } = options;
  const apiUrl = options.apiUrl.replace(/\/+$/, '');
  // All writes share one pace: the plugin's own groups have unbounded queues, in which a write could wait longer than
  // its activity lasts.
  const writes = new Bottleneck.Group({
    maxConcurrent: 1,
    minTime: options.writeSpacingMs ?? WRITE_SPACING_MS,
    highWater: options.writeQueue ?? WRITE_QUEUE,
    strategy: Bottleneck.strategy.OVERFLOW,
  });
  const octokit = new HeadroomOctokit({
    baseUrl: apiUrl,
    userAgent: 'headroom',
    // Octokit logs every request, and errors are logged where they are handled.
    log: {
      debug: () => {},
      info: (line: string) => log.trace(credentials.redact(line)),
      warn: (line: string) => log.debug(credentials.redact(line)),
      error: (line: string) => log.debug(credentials.redact(line)),
    },
    request: {
      fetch: fetchWhole({ timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS, endsWithActivity: true }),
    },
    retry: { retries: READ_RETRIES, retryAfterBaseValue: READ_RETRY_PAUSE_MS, doNotRetry: FAILED_STATUSES },
    throttle: {
      id: `${apiUrl} ${credentials.id}`,
      write: writes,
      notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
      // Sleeping here would block an activity slot for minutes; the rate limit becomes a failure with a retry delay.
      onRateLimit: () => {},
      onSecondaryRateLimit: () => {},
    },
  });
  const connection: Connection = {
    octokit,
    graphQlUrl: graphQlUrlOf(apiUrl),
    credentials,
    onLimited: options.onLimited ?? (() => {}),
    limitedUntil: 0,
    failed: null,
  };
  // A hook that is added later wraps the earlier ones: it sees each request once, with all retries inside.
  octokit.hook.wrap('request', conditionally(octokit));
  octokit.hook.wrap('request', authorized(connection));
  return connection;
}

type Endpoint = Required<Octokit['request']['endpoint']['DEFAULTS']>;
type Response = Awaited<ReturnType<Octokit['request']>>;
type Hook = (request: (options: Endpoint) => Promise<Response> | Response, options: Endpoint) => Promise<Response>;

/**
 * Adds the credential to a request, and sends the request once more if the credential is rejected and another one is
 * available at once.
 */
function authorized(connection: Connection): Hook {
  return async (request, options) => {
    const { credentials } = connection;
    // The inner hooks got this same object, one per request, so it is modified in place.
    for (let renewed = false; ; renewed = true) {
      const authorization = await credentials.authorization();
      options.headers['authorization'] = authorization;
      try {
        return await request(options);
      } catch (error) {
        if (!(error instanceof RequestError) || error.status !== UNAUTHORIZED) throw error;
        const rest = credentials.rejected(authorization);
        // A rejected request had no effect, so even a write can be repeated.
        if (rest === 0 && !renewed) continue;
        const words = credentials.redact(error.message);
        connection.failed = { authorization, words, askAgainAt: Date.now() + rest };
        throw error;
      }
    }
  };
}

/** Sends the ETag of the cached response, and returns that response when nothing has changed. */
function conditionally(octokit: Octokit): Hook {
  const answers = new BoundedCache<{ readonly etag: string; readonly response: Response }>(KEPT_ANSWERS);
  return async (request, options) => {
    // Requests without their own options would share this object, in which retries are counted.
    options.request = { ...options.request };
    // A write whose response was lost may have taken effect: the caller looks for it and never repeats it blindly.
    if (options.method !== 'GET') {
      if (options.request['reads'] !== true) options.request['retries'] = 0;
      return request(options);
    }
    const { url } = octokit.request.endpoint(options);
    const cached = NEVER_CONDITIONAL.test(url) ? undefined : answers.get(url);
    if (cached !== undefined) options.headers['if-none-match'] = cached.etag;
    try {
      const response = await request(options);
      const { etag } = response.headers;
      if (etag !== undefined && !NEVER_CONDITIONAL.test(url)) answers.set(url, { etag, response });
      return response;
    } catch (error) {
      if (cached === undefined || !(error instanceof RequestError) || error.status !== 304) throw error;
      return cached.response;
    }
  };
}

/**
 * The GraphQL URL of a REST API: `https://api.github.com/graphql`, or `https://HOST/api/graphql` for
 * `https://HOST/api/v3`.
 */
function graphQlUrlOf(apiUrl: string): string {
  return `${apiUrl.replace(/\/api\/v3$/, '/api')}/graphql`;
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
  const limit = response.data.errors?.find(({ type }) => type === 'RATE_LIMITED');
  if (limit === undefined) return;
  const failed = { ...(response as Response), status: LIMITED };
  throw new RequestError(limit.message, LIMITED, { request: { ...request, headers: {} }, response: failed });
}

function isMutation(query: string): boolean {
  return /^\s*(?:#[^\n]*\n\s*)*mutation\b/.test(query);
}

/** How often a failed read is repeated. */
const READ_RETRIES = 1;
/** Statuses for which a repetition is useless; for 429 the plugin would only sleep. */
const FAILED_STATUSES = Array.from({ length: 100 }, (_, index) => 400 + index).filter((status) => status !== 408);
/** Long enough for most of the queue to be written. */
const QUEUE_FULL_WAIT_MS = 15_000;
/** GitHub's largest. */
const PAGE_SIZE = 100;
/** 1,000 checks or comments of one pull request; later pages are not read. */
export const MAX_PAGES = 10;
