/** The port that GitHub sends its webhooks to. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Counter } from 'prom-client';
import { type ListeningServer, urlOf } from '../../../platform/health/health.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { ListenAddress } from '../../../domain/kernel/settings/forms.ts';
import { timelyChunks } from '../../kernel/timely-chunks.ts';
import { webhookEvents } from './delivery.ts';
import { type Answer, BODY_LIMIT, type Delivery } from './receive.ts';
import { Refusals } from './refusals.ts';

export const webhookPath = '/webhooks/github';

export interface WebhookServerOptions {
  readonly address: ListenAddress;
  readonly receive: (delivery: Delivery) => Promise<Answer>;
  /** Counts deliveries, with the labels `event` and `outcome`. */
  readonly deliveries: Counter<'event' | 'outcome'>;
  readonly log: Log;
}

/**
 * GitHub sends a few deliveries at a time. Each connection costs some 150 KB, 64 KB of them for what is read along with the
 * headers, before it can be refused; further ones are closed at once.
 */
const MAX_CONNECTIONS = 32;
/**
 * After so many requests in a second that were refused before their end, connections are closed before they are read: even a refused one leaves 64 KB and more
 * for the garbage collector, which comes later than the next connection.
 */
const MAX_REFUSALS = 16;
/** GitHub gives up after ten seconds. */
const REQUEST_TIMEOUT_MS = 10_000;
/** GitHub sends a body at once. */
const BODY_TIMES = { idleMs: 2_000, longestMs: REQUEST_TIMEOUT_MS };
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

/**
 * Serves `POST /webhooks/github`, and nothing else. It responds as soon as the result is known, without waiting for
 * workflows.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function serveWebhooks(options: WebhookServerOptions): Promise<ListeningServer> {
  const { address, receive, deliveries, log } = options;
  const { fastify } = await import('../../kernel/web-framework.ts');
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
    // The framework's log would contain addresses and headers of all clients.
    logger: false,
  });
  const count = (event: string, outcome: string): void => {
    // Clients may send any event name, and every label value creates a time series.
    deliveries.inc({ event: [...webhookEvents, 'ping'].includes(event) ? event : 'other', outcome });
  };
  const reject = (reply: FastifyReply, event: string, outcome: string, status: number, message: string) => {
    count(event, outcome);
    log.debug({ event, outcome }, `a webhook delivery was rejected: ${message}`);
    return reply.code(status).send({ outcome, message });
  };

  server.server.maxConnections = MAX_CONNECTIONS;
  server.server.headersTimeout = REQUEST_TIMEOUT_MS;

  const refusals = new Refusals(MAX_REFUSALS);
  server.server.prependListener('connection', (socket) => {
    if (refusals.areTooMany(Date.now())) socket.destroy();
  });
  server.addHook('onRequest', admission(reject, refusals));

  // The signature covers the raw bytes, which are read below.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', (_request, body, done) => done(null, body));
  server.post(webhookPath, async (request, reply) => {
    const header = (name: string): string => {
      const value = request.headers[name];
      return typeof value === 'string' ? value : '';
    };
    const event = header('x-github-event');
    const { outcome, status, message } = await receive({
      event,
      id: header('x-github-delivery'),
      signature: header('x-hub-signature-256'),
      length: Number(header('content-length')),
      body: timelyChunks(request.raw, BODY_TIMES),
    });
    // What the client still sends is not read, so the connection cannot serve another request.
    if (!request.raw.complete) {
      void reply.header('connection', 'close');
      refusals.add(Date.now());
    }
    if (status >= 300) return reject(reply, event, outcome, status, message);
    count(event, outcome);
    log.debug({ event, delivery: header('x-github-delivery'), outcome }, `a webhook delivery was received: ${message}`);
    return reply.code(status).send({ outcome, message });
  });
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ outcome: 'not-found', message: `expected POST ${webhookPath}` }),
  );
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const event = request.headers['x-github-event'];
    const name = typeof event === 'string' ? event : '';
    const { statusCode = 500 } = error;
    if (statusCode === 413) return reject(reply, name, 'too-large', 413, `expected at most ${BODY_LIMIT} bytes`);
    if (statusCode === 415)
      return reject(reply, name, 'unsupported', 415, 'expected the content type application/json');
    if (statusCode < 500) return reject(reply, name, 'malformed', statusCode, 'expected a request of GitHub');
    log.error({ err: error }, 'a webhook delivery could not be processed');
    return reject(reply, name, 'failed', 500, 'the delivery could not be processed');
  });
  await server.listen({ host: address.host, port: address.port });
  return { url: urlOf('http', address, server.server), close: async () => await server.close() };
}

type Reject = (reply: FastifyReply, event: string, outcome: string, status: number, message: string) => FastifyReply;

/** Decides before the first byte of a body is read: who sends no signature, no length or too much is not listened to. */
function admission(
  reject: Reject,
  refusals: Refusals,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  return async (request, reply) => {
    if (request.method !== 'POST' || request.url !== webhookPath) return undefined;
    const { 'x-github-event': event, 'x-hub-signature-256': signature, 'content-length': written } = request.headers;
    const refuse = (outcome: string, status: number, message: string): FastifyReply => {
      // What the client still sends is not read, so the connection cannot serve another request.
      void reply.header('connection', 'close');
      refusals.add(Date.now());
      return reject(reply, typeof event === 'string' ? event : '', outcome, status, message);
    };
    if (typeof signature !== 'string' || !SIGNATURE.test(signature)) {
      return refuse('unsigned', 401, 'X-Hub-Signature-256 is missing or no signature');
    }
    const length = Number(written);
    if (written === undefined || !Number.isSafeInteger(length)) {
      return refuse('malformed', 411, 'expected a Content-Length');
    }
    if (length > BODY_LIMIT) return refuse('too-large', 413, `expected at most ${BODY_LIMIT} bytes`);
    return undefined;
  };
}
