import { requestCancellation } from '../../kernel/cancellation.ts';

/** Responses without a body. */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export interface WholeFetchOptions {
  /** Time limit for one request, including reading the body. */
  readonly timeoutMs: number;
  /** Whether cancelling the activity aborts its request; a request that serves several activities is not aborted. */
  readonly endsWithActivity: boolean;
}

/**
 * fetch with a time limit for the whole response. The body is read here, because Octokit takes a broken body for an
 * empty success.
 */
export function fetchWhole({ timeoutMs, endsWithActivity }: WholeFetchOptions): typeof fetch {
  return async (input, init) => {
    const signals = [AbortSignal.timeout(timeoutMs)];
    const cancelled = endsWithActivity ? requestCancellation(init?.method ?? 'GET') : undefined;
    if (cancelled !== undefined) signals.push(cancelled);
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) });
    const body = await response.arrayBuffer();
    const { status, statusText, headers } = response;
    return new Response(NO_BODY.has(status) ? null : body, { status, statusText, headers });
  };
}
