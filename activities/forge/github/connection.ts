/** The connection to GitHub that all repositories of one credential share: pace, cached responses and rate limits. */
import { setTimeout as pause } from 'node:timers/promises';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import PQueue from 'p-queue';
import type { Logger } from 'pino';
import { BoundedCache } from './cache.ts';
import { isInterrupted } from '../../kernel/cancellation.ts';
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
  /** Runs each request that changes something as a part of the activity's trace. Absent: nothing is traced. */
  readonly traced?: TracedRequest | undefined;
  /** `off`: GraphQL is never asked, and REST is the way. Default: `auto`, wherever the server has it. */
  readonly graphQl?: GraphQlUse;
}

/** Runs something as a step of what is traced, with a name and attributes. */
type TracedRequest = <T>(
  span: { readonly name: string; readonly attributes: Readonly<Record<string, string>> },
  run: () => Promise<T>,
) => Promise<T>;

/** Where GraphQL is asked: wherever the server has it, or nowhere. */
type GraphQlUse = 'auto' | 'off';

const REQUEST_TIMEOUT_MS = 30_000;
const WRITE_SPACING_MS = 1000;
const WRITE_QUEUE = 20;
/** GitHub allows 100 requests at once, to all that use the credential. */
const CONCURRENT_REQUESTS = 10;
/** The pause before a read is tried again; longer pauses are left to Temporal's retries. */
const READ_RETRY_PAUSE_MS = 500;
const UNAUTHORIZED = 401;
/** GitHub waited too long for the request. */
const REQUEST_TIMEOUT = 408;
/** Number of responses cached for their ETag: a few for each of about a hundred open pull requests. */
const KEPT_ANSWERS = 1000;
/** Git objects are cached by SHA elsewhere, and are too large to cache twice. */
const NEVER_CONDITIONAL = /\/git\/(?:trees|blobs)\//;

/** State shared by all repositories of one credential: connection, pace, cached responses and rate limits. */
export interface Connection {
  readonly octokit: Octokit;
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
  const octokit = new Octokit({
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
  });
  const connection: Connection = {
    octokit,
    log,
    graphQlUrl: graphQlUrlOf(apiUrl),
    credentials,
    onLimited: options.onLimited ?? (() => {}),
    graphQlAbsentUntil: options.graphQl === 'off' ? Number.POSITIVE_INFINITY : 0,
    account: null,
    limitedUntil: 0,
    failed: null,
  };
  // A hook that is added later wraps the earlier ones: it sees each request once, with its repetition inside.
  octokit.hook.wrap('request', repeatedRead);
  octokit.hook.wrap('request', paced(connection, options));
  octokit.hook.wrap('request', conditionally(octokit));
  octokit.hook.wrap('request', authorized(connection));
  if (options.traced !== undefined) octokit.hook.wrap('request', tracedWrites(options.traced));
  return connection;
}

type Endpoint = Required<Octokit['request']['endpoint']['DEFAULTS']>;
type Response = Awaited<ReturnType<Octokit['request']>>;
type Hook = (request: (options: Endpoint) => Promise<Response> | Response, options: Endpoint) => Promise<Response>;

/** Whether a request changes something. A GraphQL query is sent as a write is, and says that it `reads`. */
function isWrite({ method, request }: Endpoint): boolean {
  return method !== 'GET' && request['reads'] !== true;
}

/**
 * Sends a read once more that GitHub could not answer. A write whose response was lost may have taken effect: the caller
 * looks for it and never repeats it blindly.
 */
const repeatedRead: Hook = async (request, options) => {
  try {
    return await request(options);
  } catch (error) {
    // Octokit gives 500 to a request without an answer.
    const isUnanswered = error instanceof RequestError && (error.status >= 500 || error.status === REQUEST_TIMEOUT);
    if (isWrite(options) || !isUnanswered) throw error;
    await pause(READ_RETRY_PAUSE_MS);
    return await request(options);
  }
};

/** Why a request was not sent, where it would have had to wait too long or what is so by now forbids it. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
  readonly why: 'queueFull' | 'limited' | 'interrupted';

  constructor(why: NotSent['why']) {
    super(`not sent: ${why}`);
    this.why = why;
  }
}

/** Before everything that has the priority 0. */
const FIRST = 1;

/**
 * Sends a few requests at a time, and writes one after the other, at the distance that GitHub asks for. What `takesBack` a merge
 * goes first, and does not count: GitHub would merge meanwhile.
 */
function paced(
  connection: Pick<Connection, 'limitedUntil'>,
  {
    writeSpacingMs: interval = WRITE_SPACING_MS,
    writeQueue = WRITE_QUEUE,
  }: Pick<GitHubOptions, 'writeSpacingMs' | 'writeQueue'>,
): Hook {
  const requests = new PQueue({ concurrency: CONCURRENT_REQUESTS });
  const turns = new PQueue({ concurrency: 1, interval, intervalCap: 1, strict: interval > 0 });
  return async (request, options) => {
    const isFirst = options.request['takesBack'] === true;
    const place = { priority: isFirst ? FIRST : 0 };
    if (isWrite(options)) {
      if (!isFirst && turns.size >= writeQueue) throw new NotSent('queueFull');
      await turns.add(() => {}, place);
    }
    return await requests.add(() => {
      // Whoever goes on while GitHub limits is locked out for longer, and people have said no to what is cancelled.
      if (Date.now() < connection.limitedUntil) throw new NotSent('limited');
      if (isInterrupted()) throw new NotSent('interrupted');
      return request(options);
    }, place);
  };
}

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

/** The templates of URLs have no names in them, so that they can be told apart and nothing of the content is in a trace. */
function tracedWrites(traced: TracedRequest): Hook {
  return async (request, options) => {
    if (!isWrite(options)) return await request(options);
    const { method, url } = options;
    const template = url.startsWith('/') ? url : new URL(url).pathname;
    const attributes = { 'http.request.method': method, 'url.template': template };
    return await traced({ name: `${method} ${template}`, attributes }, async () => await request(options));
  };
}

/** Sends the ETag of the cached response, and returns that response when nothing has changed. */
function conditionally(octokit: Octokit): Hook {
  const answers = new BoundedCache<{ readonly etag: string; readonly response: Response }>(KEPT_ANSWERS);
  return async (request, options) => {
    if (options.method !== 'GET') return request(options);
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
