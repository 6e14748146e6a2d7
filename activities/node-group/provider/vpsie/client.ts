/** Sends requests to VPSie's REST. */
import { requestCancellation } from '../../../kernel/cancellation.ts';
import { type Answer, readAnswer } from './answer.ts';
import { Credentials } from './credentials.ts';
import { timesOf, type VpsieOptions, type VpsieTimes } from './options.ts';
import { Pace } from './pace.ts';
import { providerUnavailable, quotable } from './quoted-message.ts';

export interface VpsieRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base, from its first slash on. */
  readonly path: string;
  readonly body?: object;
}

interface Received {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** A turn with a token: what is needed to send one request at once. */
export type Ready = (request: VpsieRequest) => Promise<Answer>;

/** One for a process, which shares its token and its rate. */
export class VpsieClient {
  readonly times: VpsieTimes;
  readonly #fetch: typeof fetch;
  readonly #pace: Pace;
  readonly #credentials: Credentials;

  constructor(options: VpsieOptions) {
    this.times = timesOf(options);
    this.#fetch = options.fetch ?? fetch;
    this.#pace = new Pace(this.times.requestsPerMinute);
    this.#credentials = new Credentials(options, async (url, body) => {
      await this.#pace.turn();
      return await this.#answered('POST', url, { body });
    });
  }

  /**
   * Waits for the turn of one request, and sees to it that there is a token. The request is then sent without a further wait, and
   * only once: `unknown` where there was no answer.
   * @throws Limited, `ProviderUnavailable`.
   */
  async ready(): Promise<Ready> {
    const { baseUrl, headers } = await this.#credentials.access();
    await this.#pace.turn();
    return async ({ method, path, body }) => {
      const received = await this.#received(method, `${baseUrl}${path}`, {
        headers: { accept: 'application/json', ...(body === undefined ? {} : JSON_BODY), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return this.#read(received);
    };
  }

  /**
   * Sends a request that may be sent twice: again with another token where the first was not accepted.
   * @returns `unknown` only where VPSie did answer.
   * @throws Limited, `ProviderUnavailable` where there was no answer or no token is accepted.
   */
  async ask(request: VpsieRequest): Promise<Exclude<Answer, { kind: 'unauthorized' | 'limited' }>> {
    for (const isLast of [false, true]) {
      const send = await this.ready();
      const answer = await send(request);
      if (answer.kind === 'limited') throw this.#pace.rest(answer.retryAfterMs);
      if (answer.kind === 'unknown' && answer.isUnanswered === true) throw providerUnavailable(answer.message);
      if (answer.kind !== 'unauthorized') return answer;
      if (isLast) break;
    }
    throw providerUnavailable('VPSie does not accept the credentials of its Secret (401)');
  }

  /** After an answer `limited` to a request that `ready` sent. */
  rest(retryAfterMs: number | null): number {
    return this.#pace.rest(retryAfterMs).retryAfterMs;
  }

  #read(received: Received | string): Answer {
    if (typeof received === 'string') return { kind: 'unknown', message: received, isUnanswered: true };
    const answer = readAnswer(received.status, received.retryAfter, received.text);
    if (answer.kind === 'unauthorized') this.#credentials.refused();
    return 'message' in answer ? { ...answer, message: quotable(answer.message, this.#credentials.secrets) } : answer;
  }

  async #answered(method: string, url: string, init: RequestInit): Promise<Received> {
    const received = await this.#received(method, url, init);
    if (typeof received === 'string') throw providerUnavailable(received);
    return received;
  }

  /** The answer, or a sentence that says why there is none. */
  async #received(method: string, url: string, init: RequestInit): Promise<Received | string> {
    const signals = [AbortSignal.timeout(this.times.requestMs)];
    const cancelled = requestCancellation(method);
    if (cancelled !== undefined) signals.push(cancelled);
    try {
      // A redirect would carry the token to somewhere else.
      const response = await this.#fetch(url, { ...init, method, redirect: 'error', signal: AbortSignal.any(signals) });
      return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
    } catch (error) {
      return `VPSie gave no answer: ${reasonOf(error)}`;
    }
  }
}

const JSON_BODY = { 'content-type': 'application/json' };

/** Without the address, which errors of fetch may quote. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  if (error.name === 'TimeoutError') return 'it took too long';
  if (error.name === 'AbortError') return 'the request was given up';
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return code === '' ? 'the connection failed' : `the connection failed (${code})`;
}
