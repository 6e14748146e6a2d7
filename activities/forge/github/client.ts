/**
 * One way to talk to GitHub: timeouts, retries, pace, limits, conditional requests and failures are decided here and
 * nowhere else.
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
  /** Asked at every request, so that a secret is replaced without a restart. */
  readonly credentials: GitHubCredentials;
  readonly log: Logger;
  /** How long one request may take, its answer read to the end. Default: 30,000. */
  readonly requestTimeoutMs?: number;
  /** The least time between two writes of this process. Default: 1,000, GitHub's advice against its secondary limits. */
  readonly writeSpacingMs?: number;
  /** How many writes may queue for their turn; one more fails as rate-limited and comes again. Default: 20. */
  readonly writeQueue?: number;
  /** Told when GitHub refuses a request for a limit, with the milliseconds to wait and its words. */
  readonly onLimited?: (waitMs: number, words: string) => void;
}

/** An answer that the caller has a use for although it is no success. */
interface ErrorResponse<Status extends number> {
  readonly ok: false;
  readonly status: Status;
  /** GitHub's own words. */
  readonly message: string;
}

export type Answer<T, Status extends number> = { readonly ok: true; readonly data: T } | ErrorResponse<Status>;

/** An answer of GraphQL that the caller has a use for although it is an error. */
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
/** One pause before a read is tried again; everything longer is left to Temporal's own retries. */
const READ_RETRY_PAUSE_MS = 500;
const UNAUTHORIZED = 401;
const LIMITED = 429;
/** Answers kept for their ETag: a few for each of about a hundred open pull requests. */
const KEPT_ANSWERS = 1000;
/** Objects of git are cached by SHA elsewhere, and are too large to keep twice. */
const NEVER_CONDITIONAL = /\/git\/(?:trees|blobs)\//;

/** What all repositories of one credential share: the connection with its pace, its kept answers and GitHub's limits. */
interface Connection {
  readonly octokit: Octokit;
  readonly graphQlUrl: string;
  readonly credentials: GitHubCredentials;
  readonly onLimited: (waitMs: number, words: string) => void;
  /** Until when GitHub wants no requests, as it said in its last refusal. */
  limitedUntil: number;
  /** GitHub locks an account out for a while that goes on sending a credential it has refused. */
  failed: { readonly authorization: string; readonly words: string; readonly askAgainAt: number } | null;
}

/** One repository on GitHub, as one credential sees it. */
export class GitHubClient {
  readonly owner: string;
  readonly repo: string;
  readonly #connection: Connection;

  /** @param options with a `connection` of another client for one more repository of the same credential. */
  constructor(options: GitHubOptions | (Pick<GitHubOptions, 'owner' | 'repo'> & { readonly connection: Connection })) {
    this.owner = options.owner;
    this.repo = options.repo;
    this.#connection = 'connection' in options ? options.connection : connect(options);
  }

  /** The client of another repository: it shares the connection, the pace, the kept answers and the limits. */
  forRepository(owner: string, repo: string): GitHubClient {
    if (owner === this.owner && repo === this.repo) return this;
    return new GitHubClient({ owner, repo, connection: this.#connection });
  }

  get repository(): string {
    return `${this.owner}/${this.repo}`;
  }

  /** Who this client is to GitHub, and where. */
  get credentials(): Pick<GitHubCredentials, 'host' | 'id'> {
    return this.#connection.credentials;
  }

  /**
   * The data of an answer.
   *
   * @throws {ApplicationFailure} ForgeRateLimited, ForgeUnauthorized, ForgeUnavailable or ForgeRejected.
   */
  async data<T>(ask: Ask<T>): Promise<T> {
    return this.#send(ask, (error) => {
      throw error;
    });
  }

  /** As `data`, but refusals with one of the statuses are given to the caller. */
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
   * The data of a query or mutation of GraphQL.
   *
   * @throws {ApplicationFailure} as `data`; an error in the answer is ForgeRejected, unless it is a limit or GitHub's trouble.
   */
  async graphql<T>(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<T> {
    const { data, errors } = await this.#query(query, variables);
    if (data === null) throw graphQlFailure(errors, this.repository);
    return data as T;
  }

  /** As `graphql`, but errors of one of the types, such as `STALE_DATA`, are given to the caller. */
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

  /** Data without any error, or else null with errors, of which there is at least one. */
  async #query(
    query: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly data: unknown; readonly errors: readonly GraphQlError[] }> {
    const url = this.#connection.graphQlUrl;
    const { data = null, errors = [] } = await this.data<GraphQlBody>(async (octokit) => {
      // By its plain address the throttling would know it for GraphQL, and then it takes its errors for its own.
      const response: { data: GraphQlBody } = await octokit.request('POST {+graphQlUrl}', {
        graphQlUrl: url,
        query,
        variables,
        // A query changes nothing, so it may be sent again like every other read.
        request: { retries: isMutation(query) ? 0 : READ_RETRIES },
      });
      throwGraphQlLimit(response, { method: 'POST', url });
      return response;
    });
    if (errors.length > 0) {
      return { data: null, errors: errors.map((error) => ({ ...error, message: this.#redact(error.message) })) };
    }
    return { data, errors: [{ message: 'the answer has neither data nor errors' }] };
  }

  /** @param refused gets GitHub's refusals that are not about a limit, and throws those it has no use for. */
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

  /** Notes that GitHub wants no requests for a while, where the failure says so. */
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
  // The pace is one for all writes: the plugin's own groups would queue without an end, longer than an activity lasts.
  const writes = new Bottleneck.Group({
    maxConcurrent: 1,
    minTime: options.writeSpacingMs ?? WRITE_SPACING_MS,
    highWater: options.writeQueue ?? WRITE_QUEUE,
    strategy: Bottleneck.strategy.OVERFLOW,
  });
  const octokit = new HeadroomOctokit({
    baseUrl: apiUrl,
    userAgent: 'headroom',
    // Octokit's own lines are one for each request, and errors are told by whoever handles them.
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
      // Sleeping here would hold an activity slot for minutes; the refusal becomes a failure that names the time.
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
  // Each is the outermost when it is added: it sees a request once, with all its retries inside.
  octokit.hook.wrap('request', conditionally(octokit));
  octokit.hook.wrap('request', authorized(connection));
  return connection;
}

type Endpoint = Required<Octokit['request']['endpoint']['DEFAULTS']>;
type Response = Awaited<ReturnType<Octokit['request']>>;
type Hook = (request: (options: Endpoint) => Promise<Response> | Response, options: Endpoint) => Promise<Response>;

/** Puts the credential into a request, and sends it once more where it is refused and another one is there at once. */
function authorized(connection: Connection): Hook {
  return async (request, options) => {
    const { credentials } = connection;
    // The hooks inside were given this very object, one for each request, so it is written to.
    for (let renewed = false; ; renewed = true) {
      const authorization = await credentials.authorization();
      options.headers['authorization'] = authorization;
      try {
        return await request(options);
      } catch (error) {
        if (!(error instanceof RequestError) || error.status !== UNAUTHORIZED) throw error;
        const rest = credentials.rejected(authorization);
        // A refused request took no effect, so a write can be repeated as well.
        if (rest === 0 && !renewed) continue;
        const words = credentials.redact(error.message);
        connection.failed = { authorization, words, askAgainAt: Date.now() + rest };
        throw error;
      }
    }
  };
}

/** Asks with the ETag of the answer before, and gives that answer again when nothing has changed. */
function conditionally(octokit: Octokit): Hook {
  const answers = new BoundedCache<{ readonly etag: string; readonly response: Response }>(KEPT_ANSWERS);
  return async (request, options) => {
    // Without options of its own a request shares this object with all others, and the retries are counted in it.
    options.request = { ...options.request };
    // A write whose answer was lost may have happened: it is looked for, never repeated blindly.
    if (options.method !== 'GET') {
      options.request['retries'] ??= 0;
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

/** Beside the REST API: `https://api.github.com/graphql`, or `https://HOST/api/graphql` for `https://HOST/api/v3`. */
function graphQlUrlOf(apiUrl: string): string {
  return `${apiUrl.replace(/\/api\/v3$/, '/api')}/graphql`;
}

/**
 * GraphQL says in a good answer that a limit is reached; from here on it is one as for every other request.
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

/** How often a read is sent again. */
const READ_RETRIES = 1;
/** Statuses that a second try does not change; 429 would only be slept on. */
const FAILED_STATUSES = Array.from({ length: 100 }, (_, index) => 400 + index).filter((status) => status !== 408);
/** Long enough for most of the queue to be written. */
const QUEUE_FULL_WAIT_MS = 15_000;
/** GitHub's largest. */
const PAGE_SIZE = 100;
/** 1,000 checks or comments on one pull request; what comes after is not looked at. */
const MAX_PAGES = 10;
