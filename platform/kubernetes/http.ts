import { type RequestContext, ResponseContext } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import { untilAborted } from '../../domain/kernel/until-aborted.ts';

/**
 * Milliseconds for which idle connections are kept, in place of undici's four seconds: a reconcile pass sends several
 * requests at once, and the next pass comes some seconds later. A TLS handshake costs both sides more than a request.
 * The API server closes idle connections after 90 s, load balancers after 60 s at the earliest.
 */
const KEPT_IDLE_MS = 20_000;

/** The name in the API server's audit log, and in `managedFields` where no field manager is given. */
const USER_AGENT = 'headroom';

/** A connection pool with these TLS and TCP options. */
export function keepingAgent(connect: object): Agent {
  return new Agent({ connect, keepAliveTimeout: KEPT_IDLE_MS });
}

/**
 * Sends a request of the generated clients without `fetch`, which takes three times as long.
 *
 * @throws TypeError `fetch failed` with its cause for a broken connection, as fetch does; the signal's reason.
 */
export async function sendRequest(context: RequestContext): Promise<ResponseContext> {
  const dispatcher = context.getDispatcher();
  const signal = context.getSignal();
  const answer = request(context.getUrl(), {
    method: context.getHttpMethod(),
    headers: { 'user-agent': USER_AGENT, ...context.getHeaders() },
    body: bodyOf(context),
    ...(signal === undefined ? {} : { signal }),
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
  const { statusCode, headers, body } = await asFetchFails(
    // While a connection is being opened, undici ignores the signal; the request is not sent after an abort either.
    signal === undefined ? answer : untilAborted(answer, signal),
  );
  const flat = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]);
  return new ResponseContext(statusCode, Object.fromEntries(flat) as Record<string, string>, {
    text: async () => await asFetchFails(body.text()),
    // Streaming responses use a Watch.
    stream: () => null,
    binary: async () => Buffer.from(await asFetchFails(body.arrayBuffer())),
  });
}

/** The generated clients send JSON, which is text by then. */
function bodyOf(context: RequestContext): string | null {
  const body: unknown = context.getBody();
  if (body === undefined || typeof body === 'string') return body ?? null;
  throw new Error('a body that is no text cannot be sent');
}

async function asFetchFails<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')) throw error;
    throw new TypeError('fetch failed', { cause: error });
  }
}
