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
import { requestCancellation } from '../kernel/cancellation.ts';
import { BoundedCache } from './github-cache.ts';
import { failureOf, rateLimited, rateLimitWait, unauthorized } from './github-failures.ts';

export interface GitHubOptions {
  /** The base of the REST API: `https://api.github.com`, or `https://HOST/api/v3`. */
  readonly apiUrl: string;
  readonly owner: string;
  readonly repo: string;
  /** The branch to change; absent or null: the repository's default branch. */
  readonly baseBranch?: string | null | undefined;
  /** Asked at every request, so that a token is replaced without a restart. */
  readonly token: () => string;
  readonly log: Logger;
  /** How long one request may take, its answer read to the end. Default: 30,000. */
  readonly requestTimeoutMs?: number;
  /** The least time between two writes of this process. Default: 1,000, GitHub's advice against its secondary limits. */
  readonly writeSpacingMs?: number;
  /** How many writes may queue for their turn; one more fails as rate-limited and comes again. Default: 20. */
  readonly writeQueue?: number;
}

/** An answer that the caller has a use for although it is no success. */
interface Refusal<Status extends number> {
  readonly ok: false;
  readonly status: Status;
  /** GitHub's own words. */
  readonly message: string;
}

export type Answer<T, Status extends number> = { readonly ok: true; readonly data: T } | Refusal<Status>;

type Ask<T> = (octokit: Octokit) => Promise<{ readonly data: T }>;

const HeadroomOctokit = Octokit.plugin(retry, throttling);

const REQUEST_TIMEOUT_MS = 30_000;
const WRITE_SPACING_MS = 1000;
const WRITE_QUEUE = 20;
/** One pause before a read is tried again; everything longer is left to Temporal's own retries. */
const READ_RETRY_PAUSE_MS = 500;
const UNAUTHORIZED = 401;
/** A token that was refused by mistake is tried again after this long. */
const REFUSED_TOKEN_REST_MS = 60_000;
/** Answers kept for their ETag: a few for each of about a hundred open pull requests. */
const KEPT_ANSWERS = 1000;
/** Objects of git are cached by SHA elsewhere, and are too large to keep twice. */
const NEVER_CONDITIONAL = /\/git\/(?:trees|blobs)\//;

export class GitHubClient {
  readonly owner: string;
  readonly repo: string;
  readonly #octokit: Octokit;
  readonly #token: () => string;
  readonly #log: Logger;
  readonly #answers = new BoundedCache<{ readonly etag: string; readonly response: unknown }>(KEPT_ANSWERS);
  /** Until when GitHub wants no requests, as it said in its last refusal. */
  #limitedUntil = 0;
  /** GitHub locks an account out for a while that goes on sending a token it has refused. */
  #refusedToken: { readonly token: string; readonly words: string; readonly askAgainAt: number } | null = null;

  constructor(options: GitHubOptions) {
    this.owner = options.owner;
    this.repo = options.repo;
    this.#token = () => options.token().trim();
    this.#log = options.log;
    const spacing = options.writeSpacingMs ?? WRITE_SPACING_MS;
    const queue = options.writeQueue ?? WRITE_QUEUE;
    // The pace is one for all writes: the plugin's own groups would queue without an end, longer than an activity lasts.
    const writes = new Bottleneck.Group({
      maxConcurrent: 1,
      minTime: spacing,
      highWater: queue,
      strategy: Bottleneck.strategy.OVERFLOW,
    });
    this.#octokit = new HeadroomOctokit({
      baseUrl: options.apiUrl.replace(/\/+$/, ''),
      userAgent: 'headroom',
      // Octokit's own lines are one for each request, and errors are told by whoever handles them.
      log: {
        debug: () => {},
        info: (line: string) => this.#log.trace(line),
        warn: (line: string) => this.#log.debug(line),
        error: (line: string) => this.#log.debug(line),
      },
      request: { fetch: fetchWhole(options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS) },
      retry: { retries: 1, retryAfterBaseValue: READ_RETRY_PAUSE_MS, doNotRetry: REFUSALS },
      throttle: {
        id: `${options.apiUrl} ${options.owner}/${options.repo}`,
        write: writes,
        notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
        // Sleeping here would hold an activity slot for minutes; the refusal becomes a failure that names the time.
        onRateLimit: () => {},
        onSecondaryRateLimit: () => {},
      },
    });
    // Added last, so it is the outermost: it sees a request once, with all its retries inside.
    this.#octokit.hook.wrap('request', async (request, options) => {
      // The hooks inside were given this very object, one for each request, so it is written to.
      options.headers['authorization'] = `Bearer ${this.#token()}`;
      // Without options of its own a request shares this object with all others, and the retries are counted in it.
      options.request = { ...options.request };
      // A write whose answer was lost may have happened: it is looked for, never repeated blindly.
      if (options.method !== 'GET') {
        options.request['retries'] = 0;
        return request(options);
      }
      const { url } = this.#octokit.request.endpoint(options);
      const kept = NEVER_CONDITIONAL.test(url) ? undefined : this.#answers.get(url);
      if (kept !== undefined) options.headers['if-none-match'] = kept.etag;
      try {
        const response = await request(options);
        const { etag } = response.headers;
        if (etag !== undefined && !NEVER_CONDITIONAL.test(url)) this.#answers.set(url, { etag, response });
        return response;
      } catch (error) {
        if (kept === undefined || !(error instanceof RequestError) || error.status !== 304) throw error;
        return kept.response as Awaited<ReturnType<typeof request>>;
      }
    });
  }

  get repository(): string {
    return `${this.owner}/${this.repo}`;
  }

  /**
   * The data of an answer.
   *
   * @throws {ApplicationFailure} GitHubRateLimited, GitHubUnauthorized, GitHubUnavailable or GitHubRefused.
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

  /** @param refused gets GitHub's refusals that are not about a limit, and throws those it has no use for. */
  async #send<T>(ask: Ask<T>, refused: (error: RequestError) => T): Promise<T> {
    const rest = this.#limitedUntil - Date.now();
    if (rest > 0) throw rateLimited(rest, `GitHub limits the requests for ${this.repository}`);
    const token = this.#token();
    const refusal = this.#refusedToken;
    if (refusal?.token === token && Date.now() < refusal.askAgainAt) throw unauthorized(this.repository, refusal.words);
    try {
      const { data } = await ask(this.#octokit);
      this.#refusedToken = null;
      return data;
    } catch (error) {
      if (error instanceof RequestError && error.status === UNAUTHORIZED) {
        const words = this.#redact(error.message);
        this.#refusedToken = { token, words, askAgainAt: Date.now() + REFUSED_TOKEN_REST_MS };
      }
      if (error instanceof Bottleneck.BottleneckError) {
        throw rateLimited(QUEUE_FULL_WAIT_MS, `too many writes to ${this.repository} wait for their turn`);
      }
      if (asyncLocalStorage.getStore()?.cancellationSignal.aborted === true) {
        throw new CancelledFailure(`a request to GitHub for ${this.repository} was cancelled`);
      }
      const wait = error instanceof RequestError ? rateLimitWait(error, Date.now()) : undefined;
      if (wait !== undefined) this.#limitedUntil = Math.max(this.#limitedUntil, Date.now() + wait);
      try {
        if (wait === undefined && error instanceof RequestError && error.response !== undefined) return refused(error);
        throw error;
      } catch (unhandled) {
        throw failureOf(unhandled, this.repository, Date.now(), (text) => this.#redact(text));
      }
    }
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

  #redact(text: string): string {
    const token = this.#token();
    return token === '' ? text : text.replaceAll(token, '[token]');
  }
}

/** Statuses that a second try does not change; 429 would only be slept on. */
const REFUSALS = Array.from({ length: 100 }, (_, index) => 400 + index).filter((status) => status !== 408);
/** Long enough for most of the queue to be written. */
const QUEUE_FULL_WAIT_MS = 15_000;
/** GitHub's largest. */
const PAGE_SIZE = 100;
/** 1,000 checks or comments on one pull request; what comes after is not looked at. */
const MAX_PAGES = 10;

/**
 * fetch with a time limit over the whole answer. The body is read here, because Octokit takes a body that breaks off
 * for an empty success.
 */
function fetchWhole(timeoutMs: number): typeof fetch {
  return async (input, init) => {
    const signals = [AbortSignal.timeout(timeoutMs)];
    const cancelled = requestCancellation(init?.method ?? 'GET');
    if (cancelled !== undefined) signals.push(cancelled);
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    const body = await response.arrayBuffer();
    const { status, statusText, headers } = response;
    return new Response(NO_BODY.has(status) ? null : body, { status, statusText, headers });
  };
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
