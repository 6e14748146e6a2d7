import { requestCancellation } from '../../kernel/cancellation.ts';

/** Answers that have no body. */
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export interface WholeFetchOptions {
  /** How long one request may take, its answer read to the end. */
  readonly timeoutMs: number;
  /** Whether a request ends with the activity that made it; one whose answer serves several activities does not. */
  readonly endsWithActivity: boolean;
}

/**
 * fetch with a time limit over the whole answer. The body is read here, because Octokit takes a body that breaks off
 * for an empty success.
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
