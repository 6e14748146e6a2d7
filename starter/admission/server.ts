/** The port that the API server calls before it stores an object. */
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply } from 'fastify';
import type { Counter } from 'prom-client';
import { type ListeningServer, urlOf } from '../../platform/health/health.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Pair } from './certificate.ts';
import { BodyMemory, BodyRefused } from '../kernel/body-memory.ts';
import { timelyChunks } from '../kernel/timely-chunks.ts';
import { MalformedReview, objectName, readReview, reviewOf } from './review.ts';
import type { AdmissionWebhooks } from './webhooks.ts';

/** A review contains the object twice, and the API server limits objects to 3 MB. */
const BODY_LIMIT = 3 * 1024 * 1024;
/** An API server has one connection for each review that it waits for. */
const MAX_CONNECTIONS = 64;
/** The API server waits for ten seconds, unless its configuration says otherwise. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The API server sends a body at once. */
const BODY_TIMES = { idleMs: 2_000, longestMs: REQUEST_TIMEOUT_MS };
/** Longer than the API server keeps an idle connection, so that it never uses one that was closed here. */
const KEEP_ALIVE_MS = 120_000;

export interface AdmissionServerOptions {
  readonly webhooks: Pick<AdmissionWebhooks, 'name' | 'kind' | 'reviews' | 'address'>;
  /** Counts reviews, with the name of the webhooks. */
  readonly requests: Counter<'webhooks' | 'operation' | 'allowed'>;
  readonly log: Log;
}

export interface AdmissionServer extends ListeningServer {
  /** For every connection from now on. Before the first certificate none comes to be. */
  useCertificate(pair: Pair): void;
}

/**
 * Serves reviews as POST requests with TLS, one path each.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function serveAdmission(options: AdmissionServerOptions): Promise<AdmissionServer> {
  const { requests, log } = options;
  const { name: webhooks, kind, reviews, address } = options.webhooks;
  const expected = Object.keys(reviews)
    .map((path) => `POST ${path}`)
    .join(' or ');
  const { fastify } = await import('../kernel/web-framework.ts');
  const server = fastify({
    https: { handshakeTimeout: REQUEST_TIMEOUT_MS },
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    // Errors worth logging are logged below.
    logger: false,
  });
  server.server.maxConnections = MAX_CONNECTIONS;
  // Beside JSON it would take plain text.
  server.removeAllContentTypeParsers();
  const memory = new BodyMemory(BODY_LIMIT);
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', (request, payload, done) => {
    readText(memory, timelyChunks(payload, BODY_TIMES)).then((text) => parseJson(request, text, done), done);
  });
  const connections = openConnections(server.server);
  const reject = (reply: FastifyReply, status: number, message: string) => {
    // The operation of an invalid request is not used as a label, because clients could create time series with it.
    requests.inc({ webhooks, operation: 'none', allowed: 'false' });
    log.debug({ status }, `a request to the admission webhooks was rejected: ${message}`);
    return reply.code(status).send({ message });
  };
  // Before a byte of the body is read.
  server.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return undefined;
    const length = Number(request.headers['content-length'] ?? Number.NaN);
    const refuse = (status: number, message: string): FastifyReply => {
      // What the client still sends is not read, so the connection cannot serve another request.
      void reply.header('connection', 'close');
      return reject(reply, status, message);
    };
    if (!Number.isSafeInteger(length)) return refuse(411, 'expected a Content-Length');
    if (length > BODY_LIMIT) return refuse(413, `expected at most ${BODY_LIMIT} bytes`);
    return undefined;
  });
  for (const [path, review] of Object.entries(reviews)) {
    server.post(path, (incoming, reply) => {
      const request = readReview(incoming.body);
      const response = review(request);
      const { operation } = request;
      requests.inc({ webhooks, operation, allowed: String(response.allowed) });
      const fields = { kind, name: objectName(request), operation };
      if (response.allowed) log.debug(fields, `the ${kind} ${fields.name} passed ${path}`);
      else log.info(fields, `the ${kind} ${fields.name} was denied: ${response.status?.message}`);
      return reply.send(reviewOf(response));
    });
  }
  server.setNotFoundHandler((_request, reply) => reject(reply, 404, `expected ${expected}`));
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    if (error instanceof MalformedReview) return reject(reply, 400, error.message);
    if (!request.raw.complete) void reply.header('connection', 'close');
    if (error instanceof BodyRefused) return reject(reply, error.statusCode, error.message);
    const { statusCode = 500 } = error;
    if (statusCode === 413) return reject(reply, 413, `expected at most ${BODY_LIMIT} bytes`);
    if (statusCode === 415) return reject(reply, 415, 'expected the content type application/json');
    if (statusCode < 500) return reject(reply, statusCode, `expected an AdmissionReview in JSON: ${error.message}`);
    log.error({ err: error }, `a ${kind} could not be reviewed`);
    return reject(reply, 500, `the ${kind} could not be reviewed`);
  });
  await server.listen({ host: address.host, port: address.port });
  return {
    url: urlOf('https', address, server.server),
    useCertificate: ({ certificate, key }) => server.server.setSecureContext({ cert: certificate, key }),
    close: async () => {
      const closed = server.close();
      connections.end();
      await closed;
    },
  };
}

async function readText(memory: BodyMemory, chunks: AsyncIterable<Buffer>): Promise<string> {
  const body = memory.open();
  try {
    for await (const chunk of chunks) body.append(chunk);
    return body.text();
  } finally {
    body.release();
  }
}

/**
 * Tracks connections from their first byte on: the server itself knows them only after the TLS handshake, and would
 * wait for the others at shutdown.
 */
function openConnections(server: Server): { readonly end: () => void } {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return {
    end: () => {
      for (const socket of open) socket.destroy();
    },
  };
}
