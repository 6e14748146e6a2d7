/** Gateways in front of a Temporal server, which admit some callers or some calls. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

export interface Admitted {
  /** Of the client's certificate. */
  readonly fingerprint256: string;
  readonly apiKey: string;
}

export interface Gateway {
  readonly address: string;
  /** From now on only these are admitted, also on connections that are open. */
  admit(admitted: Admitted): void;
  stop(): Promise<void>;
}

const PERMISSION_DENIED = '7';
const UNAUTHENTICATED = '16';

/**
 * Admits one client certificate and one API key at a time.
 *
 * @param temporal the server's address, without TLS.
 */
export async function startGateway(temporal: string, server: Pair, first: Admitted): Promise<Gateway> {
  let admitted = first;
  const sessions = new Set<ServerHttp2Session>();
  const upstream = connect(`http://${temporal}`);
  const listening = createSecureServer({
    cert: server.certificate,
    key: server.key,
    requestCert: true,
    // The certificate is compared with the one that is admitted.
    rejectUnauthorized: false,
  });
  listening.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  listening.on('stream', (stream, headers) => {
    const socket = stream.session?.socket as TLSSocket | undefined;
    const peer = socket?.getPeerX509Certificate();
    const isAdmitted =
      peer?.fingerprint256 === admitted.fingerprint256 && headers.authorization === `Bearer ${admitted.apiKey}`;
    if (isAdmitted) forward(upstream, temporal, stream, headers);
    else refuse(stream, UNAUTHENTICATED);
  });

  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    address: `127.0.0.1:${(listening.address() as AddressInfo).port}`,
    admit: (next) => {
      admitted = next;
      // Polls that wait would go on for a minute.
      for (const session of sessions) session.destroy();
    },
    stop: async () => {
      upstream.destroy();
      for (const session of sessions) session.destroy();
      listening.close();
      await once(listening, 'close');
    },
  };
}

/** Passes a call on to the server behind, and its answer back. */
function forward(
  upstream: ClientHttp2Session,
  temporal: string,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): void {
  const request = upstream.request({
    ...(headers as Record<string, string>),
    ':authority': temporal,
    ':scheme': 'http',
    // It is for the gateway alone.
    authorization: '',
  });
  let trailers: IncomingHttpHeaders = {};
  request.once('response', (answer) => {
    if (answer['grpc-status'] !== undefined) {
      // An error is told by headers alone, and a client takes it from nothing else.
      stream.respond(answer, { endStream: true });
      return;
    }
    stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond(answer, { waitForTrailers: true });
    request.pipe(stream);
  });
  request.once('trailers', (given) => {
    trailers = given;
  });
  stream.once('close', () => request.close());
  request.once('error', () => stream.close());
  stream.once('error', () => request.close());
  stream.pipe(request);
}

function refuse(stream: ServerHttp2Stream, status: string): void {
  const refusal = { 'grpc-status': status, 'grpc-message': 'not admitted' };
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...refusal }, { endStream: true });
}

export interface OperatorGate {
  readonly address: string;
  /** From now on administrators are let through. */
  open(): void;
  stop(): Promise<void>;
}

/** In front of a server without TLS, refuses what only administrators may, as Temporal Cloud does with everybody. */
export async function startOperatorGate(temporal: string): Promise<OperatorGate> {
  let isOpen = false;
  const sessions = new Set<ServerHttp2Session>();
  const upstream = connect(`http://${temporal}`);
  const listening = createServer();
  listening.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  listening.on('stream', (stream, headers) => {
    if (!isOpen && headers[':path']?.includes('.OperatorService/') === true) refuse(stream, PERMISSION_DENIED);
    else forward(upstream, temporal, stream, headers);
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    address: `127.0.0.1:${(listening.address() as AddressInfo).port}`,
    open: () => {
      isOpen = true;
    },
    stop: async () => {
      upstream.destroy();
      for (const session of sessions) session.destroy();
      listening.close();
      await once(listening, 'close');
    },
  };
}
