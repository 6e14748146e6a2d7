/** What a caller of the webhooks sees: the certificate that it is shown, and answers. */
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';

/** The serial number of the certificate that a server shows, which has to be trusted by the authorities for its address. */
export async function shownSerial(url: string, authorities: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca: authorities }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
      socket.end();
    });
    socket.once('error', reject);
  });
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Until a request is answered, in milliseconds: twice as long as the API server may wait for a webhook. */
const ANSWER_MS = 60_000;

/** Sends a request over a connection of its own; a body that is no text is sent as JSON. @throws the signal's error after a minute. */
export async function send(
  url: string,
  {
    ca,
    method = 'POST',
    headers = {},
    servername,
    body,
  }: {
    readonly ca: string | Buffer | undefined;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** The name that the certificate has to be for, where the header names another host. */
    readonly servername?: string;
    readonly body?: unknown;
  },
): Promise<Answer> {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  return await new Promise((resolve, reject) => {
    const request = httpsRequest(url, {
      method,
      ca,
      agent: new Agent({ keepAlive: false }),
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(servername === undefined ? {} : { servername }),
      headers: { 'content-type': 'application/json', ...headers },
    });
    request.once('response', (response) => {
      text(response).then((answer) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(answer) });
      }, reject);
    });
    request.once('error', reject);
    request.end(sent);
  });
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}
