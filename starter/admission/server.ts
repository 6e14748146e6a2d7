/** The port that the API server calls before it stores a schedule. */
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { fastify, type FastifyError, type FastifyReply } from 'fastify';
import type { Counter } from 'prom-client';
import type { ListeningServer } from '../../platform/health/health.ts';
import type { Log } from '../../platform/log/log.ts';
import type { ListenAddress } from '../../domain/kernel/settings/forms.ts';
import type { Pair } from './certificate.ts';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  MalformedReview,
  type ReviewContext,
  readReview,
  reviewDefaults,
  reviewOf,
  reviewSchedule,
  scheduleName,
} from './review.ts';

const DEFAULTING_PATH = '/mutate';
const VALIDATING_PATH = '/validate';

/** A review holds the object twice, and the API server itself takes no more than 3 MB of one. */
const BODY_LIMIT = 3 * 1024 * 1024;
/** The API server waits for ten seconds, unless its configuration says otherwise. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than the API server keeps a connection that it does not use: it closes, and never meets a closed one. */
const KEEP_ALIVE_MS = 120_000;

export interface AdmissionServerOptions {
  readonly address: ListenAddress;
  /** What a schedule is evaluated beside, as it is at this moment. */
  readonly context: () => ReviewContext;
  /** Counts reviews, with the labels `operation` and `allowed`. */
  readonly requests: Counter<'operation' | 'allowed'>;
  readonly log: Log;
}

export interface AdmissionServer extends ListeningServer {
  /** For every connection from now on. Before the first certificate none comes to be. */
  useCertificate(pair: Pair): void;
}

/**
 * Serves `POST /mutate` and `POST /validate` with TLS, and nothing else.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function serveAdmission(options: AdmissionServerOptions): Promise<AdmissionServer> {
  const { address, context, requests, log } = options;
  const server = fastify({
    https: { handshakeTimeout: REQUEST_TIMEOUT_MS },
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    // What is worth a line is said below.
    logger: false,
  });
  // Beside JSON it would take plain text.
  server.removeContentTypeParser('text/plain');
  const connections = openConnections(server.server);
  const refuse = (reply: FastifyReply, status: number, message: string) => {
    // Nobody may make a time series by sending something.
    requests.inc({ operation: 'none', allowed: 'false' });
    log.debug({ status }, `a request to the admission webhooks was refused: ${message}`);
    return reply.code(status).send({ message });
  };
  const answerWith = (path: string, review: (request: AdmissionRequest) => AdmissionResponse): void => {
    server.post(path, (incoming, reply) => {
      const request = readReview(incoming.body);
      const response = review(request);
      const { operation } = request;
      requests.inc({ operation, allowed: String(response.allowed) });
      const fields = { schedule: scheduleName(request), operation };
      if (response.allowed) log.debug(fields, `a schedule passed ${path}`);
      else log.info(fields, `the schedule ${fields.schedule} was refused: ${response.status?.message}`);
      return reply.send(reviewOf(response));
    });
  };
  answerWith(DEFAULTING_PATH, reviewDefaults);
  answerWith(VALIDATING_PATH, (request) => reviewSchedule(request, context()));
  server.setNotFoundHandler((_request, reply) =>
    refuse(reply, 404, `expected POST ${DEFAULTING_PATH} or POST ${VALIDATING_PATH}`),
  );
  server.setErrorHandler<FastifyError>((error, _request, reply) => {
    if (error instanceof MalformedReview) return refuse(reply, 400, error.message);
    const { statusCode = 500 } = error;
    if (statusCode === 413) return refuse(reply, 413, `expected at most ${BODY_LIMIT} bytes`);
    if (statusCode === 415) return refuse(reply, 415, 'expected the content type application/json');
    if (statusCode < 500) return refuse(reply, statusCode, `expected an AdmissionReview in JSON: ${error.message}`);
    log.error({ err: error }, 'a schedule could not be reviewed');
    return refuse(reply, 500, 'the schedule could not be reviewed');
  });
  await server.listen({ host: address.host, port: address.port });
  const { port } = server.server.address() as AddressInfo;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return {
    url: `https://${host}:${port}`,
    useCertificate: ({ certificate, key }) => server.server.setSecureContext({ cert: certificate, key }),
    close: async () => {
      const closed = server.close();
      connections.end();
      await closed;
    },
  };
}

/** Connections from their first byte on: the server itself knows them only once TLS is agreed on, and waits for the others. */
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
