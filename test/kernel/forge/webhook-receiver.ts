import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readBody } from './http/api-server.ts';

/** One webhook request as it came in. */
interface Received {
  readonly event: string;
  /** `X-GitHub-Delivery`. */
  readonly guid: string;
  /** `X-Hub-Signature-256`; empty without one. */
  readonly signature: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The body as JSON; undefined for a form. */
  readonly payload: Record<string, unknown> | undefined;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Event and action of each: `pull_request.opened`, `push`. */
  names(): string[];
  /** How requests are answered from now on: with a status, or never. */
  answer(how: number | 'never'): void;
  stop(): Promise<void>;
}

/** A server on a free port of this machine that takes webhooks. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  let how: number | 'never' = 200;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void readBody(request).then((bytes) => {
      const header = (name: string): string => String(request.headers[name] ?? '');
      const body = bytes.toString();
      received.push({
        event: header('x-github-event'),
        guid: header('x-github-delivery'),
        signature: header('x-hub-signature-256'),
        headers: request.headers,
        body,
        payload: header('content-type').includes('json') ? (JSON.parse(body) as Record<string, unknown>) : undefined,
      });
      if (how !== 'never') response.writeHead(how, { 'content-type': 'text/plain' }).end('taken');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/github`,
    received,
    names: () =>
      received.map(({ event, payload }) => {
        const action = payload?.['action'];
        return typeof action === 'string' ? `${event}.${action}` : event;
      }),
    answer: (next) => {
      how = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
