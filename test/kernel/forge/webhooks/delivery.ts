import { createHmac } from 'node:crypto';
import type { Hook } from '../model.ts';

/** One request to a webhook and what came of it. */
export interface Delivery {
  readonly id: number;
  /** The `X-GitHub-Delivery`; a redelivery has that of the first. */
  readonly guid: string;
  readonly hookId: number;
  readonly event: string;
  readonly action: string | null;
  readonly redelivery: boolean;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
  /** ISO 8601. */
  readonly deliveredAt: string;
  /** Seconds. */
  readonly durationSeconds: number;
  /** `OK` for an answer of 2xx, as GitHub's list of deliveries says it. */
  readonly status: string;
  /** 0 when nobody answered. */
  readonly statusCode: number;
  readonly response: { readonly headers: Readonly<Record<string, string>>; readonly body: string } | null;
}

/** What is to be delivered. */
export interface Message {
  readonly event: string;
  readonly action: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What a delivery is signed for and said to come from. */
export interface Origin {
  /** `repository` or `integration`, with its id. */
  readonly targetType: 'repository' | 'integration';
  readonly targetId: number;
  /** The host of a GitHub Enterprise Server. */
  readonly enterpriseHost?: string;
}

// GitHub keeps no more of an answer than this for its list; the rest is cut.
const ANSWER_KEPT = 64 * 1024;

/** The request that GitHub would make, signed with the hook's secret where it has one. */
export function requestFor(
  hook: Pick<Hook, 'id' | 'secret' | 'contentType'>,
  message: Message,
  guid: string,
  origin: Origin,
): Delivery['request'] {
  const json = JSON.stringify(message.payload);
  const body = hook.contentType === 'form' ? new URLSearchParams({ payload: json }).toString() : json;
  const sign = (algorithm: string): string =>
    `${algorithm}=${createHmac(algorithm, hook.secret ?? '')
      .update(body)
      .digest('hex')}`;
  return {
    body,
    headers: {
      accept: '*/*',
      'content-type': hook.contentType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
      'user-agent': 'GitHub-Hookshot/f0r9e00',
      'x-github-delivery': guid,
      'x-github-event': message.event,
      'x-github-hook-id': String(hook.id),
      'x-github-hook-installation-target-id': String(origin.targetId),
      'x-github-hook-installation-target-type': origin.targetType,
      ...(origin.enterpriseHost === undefined ? {} : { 'x-github-enterprise-host': origin.enterpriseHost }),
      ...(hook.secret ? { 'x-hub-signature': sign('sha1'), 'x-hub-signature-256': sign('sha256') } : {}),
    },
  };
}

export type Answer = Pick<Delivery, 'status' | 'statusCode' | 'response'>;

/** Makes the request once; whatever goes wrong is an answer. `undefined` when it was broken off by `signal`. */
export async function deliver(
  url: string,
  request: Delivery['request'],
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Answer | undefined> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      // On a connection of its own: one that was kept may be closed by the other side just then, and nothing is sent twice.
      headers: { ...request.headers, connection: 'close' },
      body: request.body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, late.signal]),
    });
    const body = (await answer.text()).slice(0, ANSWER_KEPT);
    return {
      status: answer.ok ? 'OK' : `Invalid HTTP Response: ${answer.status}`,
      statusCode: answer.status,
      response: { headers: Object.fromEntries(answer.headers), body },
    };
  } catch {
    if (signal.aborted) return undefined;
    return { status: late.signal.aborted ? 'timed out' : 'failed to connect to host', statusCode: 0, response: null };
  } finally {
    clearTimeout(timer);
  }
}
