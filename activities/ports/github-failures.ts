/**
 * What an HTTP exchange with GitHub that went wrong means, as a failure that says who must move next.
 */
import { RequestError } from '@octokit/request-error';
import { ApplicationFailure } from '@temporalio/common';
import { formatSpan } from '../../domain/kernel/time.ts';
import { failure } from '../kernel/failure.ts';

/** GitHub's advice where a secondary limit names no time. */
const SECONDARY_LIMIT_WAIT_MS = 60_000;
/** How often it is looked whether a refused token was replaced; nothing is sent to GitHub for that. */
const TOKEN_LOOK_MS = 5_000;

/** The failure while a limit of GitHub is in force; nothing was sent, or GitHub refused it. */
export function rateLimited(waitMs: number, message: string): ApplicationFailure {
  return failure({
    type: 'GitHubRateLimited',
    message: `${message}; asking again in ${formatSpan(waitMs)}`,
    nextRetryDelayMs: waitMs,
    benign: true,
  });
}

/** The failure for a token that GitHub refused: until another one is in its place nothing more is sent. */
export function unauthorized(repository: string, words: string): ApplicationFailure {
  return failure({
    type: 'GitHubUnauthorized',
    message: `GitHub refuses the token for ${repository} (401: ${words}); check that it has not expired or been revoked and put a valid one in its place, no restart is needed where it is read from a file`,
    nextRetryDelayMs: TOKEN_LOOK_MS,
  });
}

/**
 * How long GitHub asks to wait, in milliseconds, when the answer is about a limit; undefined for any other answer.
 * The time left is counted from the answer's own date, because the two clocks may differ.
 */
export function rateLimitWait(error: RequestError, now: number): number | undefined {
  if (error.status !== 403 && error.status !== 429) return undefined;
  const headers = error.response?.headers ?? {};
  const retryAfter = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(retryAfter)) return Math.max(1, retryAfter) * 1000;
  if (headers['x-ratelimit-remaining'] === '0') {
    const date = Date.parse(headers.date ?? '');
    const reset = Number(headers['x-ratelimit-reset']) * 1000;
    // One second more, because both are cut to whole seconds.
    if (Number.isFinite(reset)) return Math.max(0, reset - (Number.isNaN(date) ? now : date)) + 1000;
  }
  return error.status === 429 || /rate limit/i.test(error.message) ? SECONDARY_LIMIT_WAIT_MS : undefined;
}

/**
 * The failure for an answer that no code handles. Only GitHub's own words, the method and the path go into it: the
 * request's headers hold the token.
 *
 * @param redact takes the token out of a text, whoever put it there (an invalid header's error quotes the header).
 */
export function failureOf(error: unknown, repository: string, now: number, redact: (text: string) => string): Error {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof RequestError)) {
    const words = error instanceof Error ? error.message : String(error);
    return failure({
      type: 'GitHubUnavailable',
      message: `GitHub could not be asked about ${repository}: ${redact(words)}`,
    });
  }
  const { status, response } = error;
  const asked = `${error.request.method} ${pathOf(error.request.url)}`;
  const words = redact(error.message);
  const wait = rateLimitWait(error, now);
  if (wait !== undefined) return rateLimited(wait, `GitHub limits the requests for ${repository} (${asked}: ${words})`);
  if (response === undefined) {
    return failure({ type: 'GitHubUnavailable', message: `no answer from GitHub to ${asked}: ${words}` });
  }
  if (status === 401) return unauthorized(repository, words);
  if (status >= 500 || status === 408) {
    return failure({ type: 'GitHubUnavailable', message: `GitHub answered ${status} to ${asked}: ${words}` });
  }
  const hint =
    status === 403 || status === 404 ? '; check the permissions of the token (contents and pull requests: write)' : '';
  return failure({
    type: 'GitHubRefused',
    message: `GitHub refused ${asked} with ${status}: ${words}${hint}`,
    nonRetryable: true,
  });
}

function pathOf(url: string): string {
  try {
    const { pathname } = new URL(url);
    return decodeURIComponent(pathname);
  } catch {
    return 'a request';
  }
}
