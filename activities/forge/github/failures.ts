/** Converts a failed HTTP exchange with GitHub to a failure that says who has to act. */
import { RequestError } from '@octokit/request-error';
import { ApplicationFailure } from '@temporalio/common';
import { formatSpan } from '../../../domain/kernel/time.ts';
import { failure } from '../../kernel/failure.ts';

/** GitHub's recommendation for a secondary rate limit without a time. */
const SECONDARY_LIMIT_WAIT_MS = 60_000;
/** How often to check whether a rejected credential was replaced; this sends nothing to GitHub. */
const TOKEN_RETRY_MS = 5_000;
/** The maximum length of a quoted response. */
const SHOWN_CHARACTERS = 500;

/** The failure during a rate limit of GitHub: the request was rejected or not sent. */
export function rateLimited(waitMs: number, message: string): ApplicationFailure {
  return failure({
    type: 'ForgeRateLimited',
    message: `${message}; asking again in ${formatSpan(waitMs)}`,
    nextRetryDelayMs: waitMs,
    benign: true,
  });
}

/**
 * The failure for a credential that GitHub rejected; nothing more is sent until it is replaced.
 *
 * @param rejected what GitHub rejects: `the token for acme/gitops`.
 * @param words GitHub's message, without secrets.
 * @param advice what a person should check.
 */
export function unauthorized(rejected: string, words: string, advice: string): ApplicationFailure {
  return failure({
    type: 'ForgeUnauthorized',
    message: `GitHub refuses ${rejected} (${words}); ${advice}`,
    nextRetryDelayMs: TOKEN_RETRY_MS,
  });
}

/**
 * How many milliseconds GitHub asks to wait, if the response is a rate limit; undefined for any other response. The
 * remaining time is computed from the response's own date, because the clocks may differ.
 */
export function rateLimitWait(error: RequestError, now: number): number | undefined {
  if (error.status !== 403 && error.status !== 429) return undefined;
  const headers = error.response?.headers ?? {};
  const retryAfter = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(retryAfter)) return Math.max(1, retryAfter) * 1000;
  if (headers['x-ratelimit-remaining'] === '0') {
    const date = Date.parse(headers.date ?? '');
    const reset = Number(headers['x-ratelimit-reset']) * 1000;
    // One second more, because both times are truncated to whole seconds.
    if (Number.isFinite(reset)) return Math.max(0, reset - (Number.isNaN(date) ? now : date)) + 1000;
  }
  return error.status === 429 || /rate limit/i.test(error.message) ? SECONDARY_LIMIT_WAIT_MS : undefined;
}

/** An error of GraphQL, which comes in a response with status 200. */
export interface GraphQlError {
  /** `STALE_DATA`, `NOT_FOUND`, …; some internal errors of GitHub have none. */
  readonly type?: string;
  readonly message: string;
  /** What is wrong with the request itself: `undefinedField`, `argumentNotAccepted` … */
  readonly extensions?: { readonly code?: string };
}

/** The failure for errors of GraphQL that no code handles; `messages` are redacted already. */
export function graphQlFailure(errors: readonly GraphQlError[], repository: string): ApplicationFailure {
  const words = errors.map(({ type, message }) => (type === undefined ? message : `${type}: ${message}`)).join('; ');
  if (errors.every(isTrouble))
    return failure({ type: 'ForgeUnavailable', message: `GitHub could not answer a query: ${words}` });
  return failure({
    type: 'ForgeRejected',
    message: `GitHub refused a query for ${repository}: ${words}`,
    nonRetryable: true,
  });
}

/** Whether an error is GitHub's own: what was asked for may have happened, or happen later. */
export function isTrouble({ type }: GraphQlError): boolean {
  return type === undefined || GRAPHQL_TROUBLES.has(type);
}

/** GitHub's internal errors ("Something went wrong while executing your query") have no type, or one of these. */
const GRAPHQL_TROUBLES: ReadonlySet<string> = new Set(['INTERNAL', 'SERVICE_UNAVAILABLE', 'TIMEOUT']);

/**
 * The failure for a response that no caller handles. It contains only GitHub's message, the method and the path,
 * because the request's headers contain the token.
 *
 * @param redact removes all secrets from a text (the error about an invalid header quotes the header).
 */
export function failureOf(error: unknown, repository: string, now: number, redact: (text: string) => string): Error {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof RequestError)) {
    const words = error instanceof Error ? error.message : String(error);
    return failure({
      type: 'ForgeUnavailable',
      message: `GitHub could not be asked about ${repository}: ${brief(redact(words))}`,
    });
  }
  const { status, response } = error;
  const asked = `${error.request.method} ${pathOf(error.request.url)}`;
  const words = brief(redact(error.message));
  const wait = rateLimitWait(error, now);
  if (wait !== undefined) return rateLimited(wait, `GitHub limits the requests for ${repository} (${asked}: ${words})`);
  if (response === undefined) {
    return failure({ type: 'ForgeUnavailable', message: `no answer from GitHub to ${asked}: ${words}` });
  }
  if (status >= 500 || status === 408) {
    return failure({ type: 'ForgeUnavailable', message: `GitHub answered ${status} to ${asked}: ${words}` });
  }
  return failure({
    type: 'ForgeRejected',
    message: `GitHub refused ${asked} with ${status}: ${words}${adviceOn(status)}`,
    nonRetryable: true,
  });
}

/** On one line: a proxy may respond with a whole HTML page. */
function brief(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}

function adviceOn(status: number): string {
  return status === 403 || status === 404
    ? '; check the permissions of the token or App (contents and pull requests: write)'
    : '';
}

function pathOf(url: string): string {
  try {
    const { pathname } = new URL(url);
    return decodeURIComponent(pathname);
  } catch {
    return 'a request';
  }
}
