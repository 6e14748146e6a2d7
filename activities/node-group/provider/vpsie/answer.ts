import { z } from 'zod';
import { isTerminalError } from '../../../../domain/node-group/rules/terminal-error.ts';

/** What an answer of VPSie's REST says about the request that it answers. */
export type Answer =
  /** `data` is null where the answer was `true`, or had none. */
  | { readonly kind: 'done'; readonly data: unknown }
  | { readonly kind: 'gone' }
  /** The token was not accepted, so nothing was done. */
  | { readonly kind: 'unauthorized' }
  /** Too many requests, so nothing was done; milliseconds to wait where the server told them. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number | null }
  /** The same will be said until a person changes the account. */
  | { readonly kind: 'terminal'; readonly message: string }
  /** It may have been done all the same: look before asking again. */
  | {
      readonly kind: 'unknown';
      readonly message: string;
      /** There was no answer at all. */
      readonly isUnanswered?: true;
    };

const bodySchema = z.object({
  error: z.unknown().optional(),
  message: z.string().optional().catch(undefined),
  data: z.unknown().optional(),
});

/**
 * Reads an answer. An error may come with status 200, as `{"error":true}`; a success may be `true` with no data.
 *
 * @param retryAfter - the header Retry-After in seconds, if there is one
 * @param text - the body as it came
 */
export function readAnswer(status: number, retryAfter: string | null, text: string): Answer {
  if (status === 404) return { kind: 'gone' };
  if (status === 401) return { kind: 'unauthorized' };
  if (status === 429) return { kind: 'limited', retryAfterMs: secondsToMs(retryAfter) };
  const body = parse(text);
  if (status >= 200 && status < 300) {
    if (body === true) return { kind: 'done', data: null };
    const read = bodySchema.safeParse(body);
    if (read.success && !saysError(read.data.error)) {
      const { data } = read.data;
      return { kind: 'done', data: data === true ? null : (data ?? null) };
    }
  }
  const message = messageOf(body) ?? `VPSie answered ${status} without a message`;
  return isTerminalError(message) ? { kind: 'terminal', message } : { kind: 'unknown', message };
}

function saysError(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false;
}

/** The message; VPSie has it in `error` where that is a text. */
function messageOf(body: unknown): string | null {
  const read = bodySchema.safeParse(body);
  if (!read.success) return null;
  return read.data.message ?? (typeof read.data.error === 'string' ? read.data.error : null);
}

function secondsToMs(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d+$/u.test(retryAfter) ? Number(retryAfter) * 1000 : null;
}

/** Undefined for what is no JSON, such as the page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
