/** The connection to GitHub that all repositories of one credential share: pace, cached responses and rate limits. */
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import Bottleneck from 'bottleneck';
import type { Logger } from 'pino';
import { BoundedCache } from './cache.ts';
import type { GitHubCredentials } from './credentials.ts';
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
  /** `off`: GraphQL is never asked, and REST is the way. Default: `auto`, wherever the server has it. */
  readonly graphQl?: GraphQlUse;
}

/** Where GraphQL is asked: wherever the server has it, or nowhere. */
type GraphQlUse = 'auto' | 'off';

const HeadroomOctokit = Octokit.plugin(retry, throttling);

const REQUEST_TIMEOUT_MS = 30_000;
const WRITE_SPACING_MS = 1000;
const WRITE_QUEUE = 20;
/** The pause before a read is tried again; longer pauses are left to Temporal's retries. */
const READ_RETRY_PAUSE_MS = 500;
const UNAUTHORIZED = 401;
/** Number of responses cached for their ETag: a few for each of about a hundred open pull requests. */
const KEPT_ANSWERS = 1000;
/** Git objects are cached by SHA elsewhere, and are too large to cache twice. */
const NEVER_CONDITIONAL = /\/git\/(?:trees|blobs)\//;

/** State shared by all repositories of one credential: connection, pace, cached responses and rate limits. */
export interface Connection {
  readonly octokit: Octokit;
  /** For requests that are sent as a write is and change nothing: they do not wait for the turn of a write. */
  readonly queries: Octokit;
  readonly graphQlUrl: string;
  readonly log: Logger;
  readonly credentials: GitHubCredentials;
  readonly onLimited: (waitMs: number, words: string) => void;
  /** Until when GraphQL is not asked, because the server had none. */
  graphQlAbsentUntil: number;
  /** The account of a credential, by its id, once it was asked for. */
  account: { readonly of: string; readonly login: string } | null;
  /** No requests may be sent before this moment, according to GitHub's last rate limit. */
  limitedUntil: number;
  /** GitHub locks an account for a while if it keeps sending a rejected credential. */
  failed: { readonly authorization: string; readonly words: string; readonly askAgainAt: number } | null;
}

export function connect(options: GitHubOptions): Connection {
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
  const octokitWith = (write: Bottleneck.Group): Octokit =>
    new HeadroomOctokit({
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
        write,
        notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
        // Sleeping here would block an activity slot for minutes; the rate limit becomes a failure with a retry delay.
        onRateLimit: () => {},
        onSecondaryRateLimit: () => {},
      },
    });
  const connection: Connection = {
    octokit: octokitWith(writes),
    queries: octokitWith(new Bottleneck.Group()),
    log,
    graphQlUrl: graphQlUrlOf(apiUrl),
    credentials,
    onLimited: options.onLimited ?? (() => {}),
    graphQlAbsentUntil: options.graphQl === 'off' ? Number.POSITIVE_INFINITY : 0,
    account: null,
    limitedUntil: 0,
    failed: null,
  };
  // A hook that is added later wraps the earlier ones: it sees each request once, with all retries inside.
  for (const octokit of [connection.octokit, connection.queries]) {
    octokit.hook.wrap('request', conditionally(octokit));
    octokit.hook.wrap('request', authorized(connection));
  }
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

/** How often a failed read is repeated. */
const READ_RETRIES = 1;
/** Statuses for which a repetition is useless; for 429 the plugin would only sleep. */
const FAILED_STATUSES = Array.from({ length: 100 }, (_, index) => 400 + index).filter((status) => status !== 408);
