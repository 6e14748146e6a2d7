/** The port that GitHub sends its webhooks to. */
import type { AddressInfo } from 'node:net';
import { fastify, type FastifyError, type FastifyReply } from 'fastify';
import type { Counter } from 'prom-client';
import type { ListeningServer } from '../../../platform/health/health.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { ListenAddress } from '../../../domain/kernel/settings/forms.ts';
import { webhookEvents } from './delivery.ts';
import type { Answer, Delivery } from './receive.ts';

export const webhookPath = '/webhooks/github';

export interface WebhookServerOptions {
  readonly address: ListenAddress;
  readonly receive: (delivery: Delivery) => Promise<Answer>;
  /** Counts deliveries, with the labels `event` and `outcome`. */
  readonly deliveries: Counter<'event' | 'outcome'>;
  readonly log: Log;
}

/** GitHub's largest payloads are pushes of thousands of commits, from which nothing is needed. */
const BODY_LIMIT = 5 * 1024 * 1024;
/** GitHub gives up after ten seconds. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Serves `POST /webhooks/github`, and nothing else. It responds as soon as the result is known, without waiting for
 * workflows.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function serveWebhooks(options: WebhookServerOptions): Promise<ListeningServer> {
  const { address, receive, deliveries, log } = options;
  const server = fastify({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: REQUEST_TIMEOUT_MS,
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

  // The signature covers the raw bytes.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
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
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    });
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
  const { port } = server.server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return { url: `http://${host}:${port}`, close: async () => await server.close() };
}
